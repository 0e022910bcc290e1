#include "tools/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tools/print/run_output.h"
#include "tools/search_options.h"
#include "tutti/base/fingerprint.h"
#include "tutti/base/statistics.h"
#include "tutti/trace/stats.h"

namespace tutti {
namespace {

// What is printed about all runs.
struct Figures {
  Summary makespans;
  std::optional<uint64_t> results{};
  std::optional<Verified> verified{};
};

// Enough to find one that is near the median.
constexpr size_t kKeptTraces = 101;

Summary summary_of_times(const std::vector<Duration>& makespans) {
  std::vector<double> times;
  for (const Duration time : makespans) times.push_back(static_cast<double>(time.count()));
  return summary_of(times);
}

// The run whose makespan is nearest to the median, which lies between two runs if their count is
// even.
const Trace& typical(const std::vector<Trace>& traces, double median) {
  const auto distance = [&](const Trace& trace) {
    return std::abs(static_cast<double>(trace.makespan.count()) - median);
  };
  return *std::min_element(traces.begin(), traces.end(), [&](const Trace& a, const Trace& b) {
    return distance(a) < distance(b);
  });
}

Result<Verified> verified_results(const Graph& graph, uint64_t seed, const ResultOf& result,
                                  const Stop& stop) {
  Result<Verified> verified = verify(graph, seed, result, stop);
  if (!verified || verified->good) return verified;
  return failed(fmt::format(
      "the run came to wrong numbers: value '{}' is {:.1e} of its largest number away from the "
      "float64 reference, and {:.0e} is allowed",
      verified->worst_value, verified->worst, verified->allowed));
}

void print_json(const Problem& problem, const RunArguments& arguments, const Runs& runs,
                const Figures& figures) {
  const Summary& makespans = figures.makespans;
  JsonWriter json;
  json.open_object().field("schema_version", 1).field("graph", problem.graph.name());
  json.field("machine", problem.machine.name()).field("runtime", to_text(runs.traces[0].runtime));
  json.field("ranks", runs.ranks);
  json.field("policy", runs.policy).field("bulk_synchronous", arguments.bulk_synchronous);
  if (runs.predicted) json.field("predicted_ns", *runs.predicted);
  json.field("median_ns", nanoseconds_of(makespans.median))
      .field("least_ns", nanoseconds_of(makespans.least));
  json.field("mean_ns", makespans.mean).key("half_interval_ns");
  makespans.count > 1 ? json.value(makespans.half_interval) : json.null();
  json.key("makespans_ns").open_list();
  for (const Duration makespan : runs.makespans) json.value(makespan.count());
  json.close_list();
  if (figures.results) json.field("results_fingerprint", fingerprint_text(*figures.results));
  if (runs.stopped) json.field("stopped", true);
  if (figures.verified) {
    json.key("verified").open_object().field("good", figures.verified->good);
    json.field("values", figures.verified->values).field("worst", figures.verified->worst);
    json.field("worst_value", figures.verified->worst_value).close_object();
  }
  add_devices(json, problem, trace_stats(problem, typical(runs.traces, makespans.median)));
  json.close_object();
  fmt::print("{}", json.text());
}

void print_text(const Problem& problem, const RunArguments& arguments, const Runs& runs,
                const Figures& figures) {
  const Summary& makespans = figures.makespans;
  const TraceStats stats = trace_stats(problem, typical(runs.traces, makespans.median));
  const std::string spread =
      makespans.count == 1 ? "one run, so that nothing is known of its spread"
                           : fmt::format("median of {}; least {}, mean {} ± {}", makespans.count,
                                         to_text(nanoseconds_of(makespans.least)),
                                         to_text(nanoseconds_of(makespans.mean)),
                                         to_text(nanoseconds_of(makespans.half_interval)));
  fmt::print("{}: measured makespan {} ({})\n", runs.policy,
             to_text(nanoseconds_of(makespans.median)), spread);
  if (runs.predicted) {
    fmt::print(
        "predicted by the simulator: {}, {:+.1f} % of what was measured{}\n",
        to_text(*runs.predicted),
        100 * (static_cast<double>(runs.predicted->count()) / std::max(1.0, makespans.median) - 1),
        arguments.inputs.costs.empty() ? "; the costs are nominal, tutti calibrate measures them"
                                       : "");
  }
  fmt::print("ran for real ({}{}{}), transfers: {}, moved: {}\n", to_text(runs.traces[0].runtime),
             runs.ranks > 1 ? fmt::format(", ranks: {}", runs.ranks) : "",
             arguments.bulk_synchronous ? ", bulk-synchronous" : "", stats.transfer_count,
             bytes_to_text(stats.bytes_moved));
  if (figures.verified) {
    fmt::print(
        "verified: {} values equal the float64 reference's, to {:.1e} of their largest "
        "number ({:.0e} is allowed)\n",
        figures.verified->values, figures.verified->worst, figures.verified->allowed);
  }
  fmt::print("{}", device_table(problem, stats));
}

}  // namespace

void RunArguments::add_to(CLI::App& command) {
  inputs.add_to(command);
  common.add_to(command);
  source.add_to(command);
  command
      .add_option(
          "--runtime", runtime,
          "local: on this host's cores and GPUs; starpu: on the cores of one host or, under "
          "mpirun or srun, of several")
      ->check(CLI::IsMember({"local", "starpu"}))
      ->capture_default_str();
  command.add_option(
      "--scheduler", scheduler,
      "starpu: let this scheduler of StarPU's decide within each host, such as dmda");
  command.add_option("--trace", trace,
                     "Write a Chrome trace of the median run here; - is standard output");
  command.add_option("--repeats", repeats, "Measured runs")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command.add_option("--warm-up", warm_up, "Warm-up runs before the measured ones")
      ->check(CLI::Range(0, 100000))
      ->capture_default_str();
  command.add_flag("--verify", verify,
                   "Compare the results with the float64 reference, which is slow");
  command.add_flag("--bulk-synchronous", bulk_synchronous,
                   "local: wait for all devices after each level of the graph, for comparison");
  command.add_flag("--direct", direct,
                   "local: copy between GPU partitions directly, not through the host's memory");
}

Result<void> RunArguments::check() const {
  if (Result<void> good = source.check(); !good) return good;
  if (runtime == "starpu" && (bulk_synchronous || direct)) {
    return invalid_input("--bulk-synchronous and --direct are for --runtime local; leave them out");
  }
  if (runtime != "starpu" && !scheduler.empty()) {
    return invalid_input("--scheduler is for --runtime starpu; leave it out, or ask for that");
  }
  return {};
}

void Runs::add(Trace trace) {
  makespans.push_back(trace.makespan);
  if (traces.size() < kKeptTraces) traces.push_back(std::move(trace));
}

Result<uint64_t> results_fingerprint(const Graph& graph, const ResultOf& result) {
  Fingerprint fingerprint;
  for (const ValueId value : graph.values()) {
    if (!graph.producer(value).valid() || !graph.consumers(value).empty()) continue;
    const Result<std::vector<std::byte>> bytes = result(value);
    if (!bytes) return bytes.error();
    fingerprint.add(value.index);
    fingerprint.add(std::string_view(reinterpret_cast<const char*>(bytes->data()), bytes->size()));
  }
  return fingerprint.value();
}

int report_runs(const RunArguments& arguments, const Problem& problem, const Runs& runs,
                const ResultOf& result) {
  Figures figures{.makespans = summary_of_times(runs.makespans)};
  if (runs.stopped) {
    const std::string note =
        fmt::format("the figures are of the {} of {} runs that had ended{}", runs.makespans.size(),
                    arguments.repeats, arguments.verify ? ", and nothing was verified" : "");
    tell_of_interrupt(note.c_str());
  } else {
    const Result<uint64_t> results = results_fingerprint(problem.graph, result);
    if (!results) return report(results.error());
    figures.results = *results;
  }
  // Before verifying, which takes long: what was measured is kept whatever comes of that.
  if (!arguments.trace.empty()) {
    const auto written =
        write_trace_to(arguments.trace, problem, typical(runs.traces, figures.makespans.median));
    if (!written) return report(written.error());
  }
  if (arguments.verify && !runs.stopped) {
    const Stop stop = stop_on_interrupt();
    const auto verified = verified_results(problem.graph, arguments.common.seed, result, stop);
    if (verified) {
      figures.verified = *verified;
    } else if (stop.now()) {
      tell_of_interrupt("nothing was verified");
    } else {
      return report(verified.error());
    }
  }
  if (arguments.trace == "-") return 0;
  if (arguments.common.json) {
    print_json(problem, arguments, runs, figures);
    return 0;
  }
  print_text(problem, arguments, runs, figures);
  if (!arguments.trace.empty()) {
    fmt::print("trace of the median run written to {}; open it at ui.perfetto.dev\n",
               arguments.trace);
  }
  return 0;
}

}  // namespace tutti
