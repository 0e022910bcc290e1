// How soon a job that arrives at an idle server starts: from the moment its record is on the disk
// to the first instruction of its first op; and how long the disk took.
//
//   serve_start FOLDER [JOBS] [POLICY]
//
// A real server without HTTP in this process, on one core of this host; one job at a time, with a
// pause between two, so that all threads sleep when a job comes. Prints one JSON object, times in
// microseconds.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tutti/machine/discover.h"
#include "tutti/policy/registry.h"
#include "tutti/serve/daemon.h"
#include "tutti/serve/run/jobs_runner.h"

namespace tutti {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kJob =
    R"({"format": "tutti-graph", "schema_version": 1, "name": "one",
 "ops": [{"name": "a", "kind": "stamp", "run_time_ns": 10000, "outputs": [{"bytes": 64}]},
         {"name": "b", "kind": "stamp", "run_time_ns": 10000, "operands": ["a"]}]})";

std::atomic<int64_t> synced_at{0};
std::atomic<int64_t> sync_total{0};
std::atomic<int64_t> started_at{0};

int64_t clock_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch())
      .count();
}

// The first op of a job notes when it began.
Result<void> stamp(const OpCall& /*call*/) {
  int64_t none = 0;
  started_at.compare_exchange_strong(none, clock_ns());
  return {};
}

double at(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(part * static_cast<double>(values.size() - 1))];
}

Result<std::unique_ptr<Runner>> runner_by(const std::string& policy, ClientShares& shares) {
  Result<Machine> machine = discover_groups(1, 1);
  if (!machine) return machine.error();
  Result<Cluster> cluster = Cluster::make(std::move(*machine), {});
  if (!cluster) return cluster.error();
  RealWorldOptions world;
  world.ops = OpTable();
  world.ops.add("stamp", "cpu", stamp);
  Result<std::unique_ptr<JobWorld>> real = make_real_world(std::move(*cluster), std::move(world));
  if (!real) return real.error();
  const Result<const PolicyEntry*> entry = find_decider(policy);
  if (!entry) return entry.error();
  const MakeDecider make = [entry](const Cluster&, const std::vector<Counter>&) {
    return Result<std::unique_ptr<Decider>>((*entry)->tuned_decider());
  };
  return make_jobs_runner(std::move(*real), {.policy = policy, .decider = make, .places = 2},
                          shares);
}

int fail(const Error& error) {
  fmt::print(stderr, "serve_start: {}\n", error.message);
  return 1;
}

int run(const std::string& folder, int jobs, const std::string& policy) {
  ClientShares shares;
  Result<std::unique_ptr<Runner>> runner = runner_by(policy, shares);
  if (!runner) return fail(runner.error());
  DaemonOptions options;
  options.folder = folder;
  // Only the first sync after a submission is that of its acceptance.
  options.on_synced = [](const JournalFigures& figures) {
    int64_t none = 0;
    if (synced_at.compare_exchange_strong(none, clock_ns())) {
      sync_total.store(figures.sync_time.count());
    }
  };
  auto daemon = Daemon::open(options, shares, std::move(*runner), nullptr);
  if (!daemon) return fail(daemon.error());
  const auto content = std::make_shared<const std::string>(kJob);
  std::vector<double> start_us;
  std::vector<double> sync_us;
  for (int i = 0; i < jobs; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const int64_t before = (*daemon)->figures().journal.sync_time.count();
    synced_at.store(0);
    started_at.store(0);
    const std::string id = fmt::format("j{}-{}", ::getpid(), i);
    const SubmitAnswer answer = (*daemon)->submit({.id = id}, content);
    if (answer.what != SubmitAnswer::What::accepted) return fail(failed(answer.sentence));
    const auto job = (*daemon)->wait(id, std::chrono::seconds(30));
    if (!job || job->state != JobState::done) return fail(failed("a job did not end well"));
    if (i == 0) continue;  // warm-up
    start_us.push_back(static_cast<double>(started_at.load() - synced_at.load()) / 1000);
    sync_us.push_back(static_cast<double>(sync_total.load() - before) / 1000);
  }
  fmt::print(
      "{{\"policy\": \"{}\", \"jobs\": {}, \"start_us_p50\": {:.1f}, \"start_us_p90\": {:.1f}, "
      "\"start_us_p99\": {:.1f}, \"sync_us_p50\": {:.1f}, \"sync_us_p90\": {:.1f}}}\n",
      policy, start_us.size(), at(start_us, 0.5), at(start_us, 0.9), at(start_us, 0.99),
      at(sync_us, 0.5), at(sync_us, 0.9));
  return 0;
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: serve_start FOLDER [JOBS] [POLICY]\n");
    return 2;
  }
  return tutti::run(argv[1], std::max(2, argc > 2 ? std::atoi(argv[2]) : 300),
                    argc > 3 ? argv[3] : "critical_path");
}
