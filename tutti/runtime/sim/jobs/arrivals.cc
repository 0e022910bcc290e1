#include "tutti/runtime/sim/jobs/arrivals.h"

#include <utility>

#include "tutti/base/file/document.h"
#include "tutti/base/file/fields.h"
#include "tutti/base/random.h"

namespace tutti {

constexpr double kMeanBurst = 4;

Result<JobList> add_jobs(Cluster& cluster, std::vector<Graph> graphs) {
  JobList jobs;
  for (Graph& graph : graphs) {
    auto job = cluster.add_job(std::move(graph));
    if (!job) return job.error();
    jobs.push_back(std::move(*job));
  }
  return jobs;
}

std::vector<Arrival> draw_arrivals(const JobList& jobs, const ArrivalSpec& spec, uint64_t seed) {
  const double mean_ns = 1e9 / spec.jobs_per_s;
  Rng rng = Rng(seed).split(0x6a6f6273);
  std::vector<Arrival> arrivals;
  double now = 0;
  int in_burst = 0;
  for (int i = 0; i < spec.jobs; ++i) {
    if (in_burst == 0) {
      const bool alone = spec.process == ArrivalSpec::Process::poisson;
      const double mean = alone ? 1 : kMeanBurst;
      in_burst = 1;
      while (!alone && rng.uniform() >= 1 / mean) ++in_burst;
      now += rng.exponential() * mean_ns * mean;
    }
    --in_burst;
    arrivals.push_back({nanoseconds_of(now), jobs[rng.below(jobs.size())]});
  }
  return arrivals;
}

Result<std::vector<NamedArrival>> read_arrivals(Source& source) {
  const Result<Document> document = read_document(source);
  if (!document) return document.error();
  const std::string& file = source.name();
  Fields fields(*document, file, "a file of arrivals");
  fields.schema_version(1);
  std::vector<NamedArrival> arrivals;
  for (const Document& item : fields.items("arrival")) {
    Fields entry(item, file, "an arrival");
    NamedArrival arrival{.line = item.line};
    arrival.time = Duration(entry.integer("time_ns", {.most = kLongestTimeNs}));
    arrival.job = entry.text("job");
    if (!arrivals.empty() && arrival.time < arrivals.back().time)
      entry.fail("an arrival is earlier than the one before it; sort them by \"time_ns\"");
    if (Result<void> done = entry.done(); !done) return done.error();
    arrivals.push_back(std::move(arrival));
  }
  if (arrivals.empty()) fields.fail("there is no [[arrival]] in it; say when which job comes");
  if (Result<void> done = fields.done(); !done) return done.error();
  return arrivals;
}

}  // namespace tutti
