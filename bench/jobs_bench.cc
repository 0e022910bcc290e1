// What deciding costs devices while jobs arrive on this host: real ops that compute for a given
// time, more of them ready than there are devices, of one core each. Any time in which a device has
// no op is then due to deciding or handing over.
//
//   jobs_bench [--devices N] [--op-us T] [--ops N] [--jobs N] [--width N] [--depth N] [--repeats N]
//   [--policies a,b]
//
// Prints one line of JSON for each run and, for each policy, the medians: the gap between the end
// of an op and the start of the next on its device (p50, p99), the share of device time without an
// op, deciding per op. One more core than devices should be free: the scheduler needs it.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "tutti/base/check.h"
#include "tutti/graph/builder.h"
#include "tutti/runtime/arriving/real_cluster.h"
#include "tutti/search/deciders.h"

namespace tutti {
namespace {

struct Setup {
  int devices = 1;
  int64_t op_us = 50;
  int ops = 200;
  int jobs = 20;
  int width = 0;  // chains of a job; 0: no op depends on another
  int depth = 2;
  int repeats = 5;
  std::vector<std::string> policies = {"fifo", "heft", "graphene"};
};

Result<Cluster> make_cluster(const Setup& setup) {
  MachineSpec spec{.name = "bench", .hosts = {{.name = "host"}}};
  for (int i = 0; i < setup.devices; ++i) {
    spec.devices.push_back(
        {.device = {.name = fmt::format("cpu{}", i), .kind = "cpu", .flops_per_s = 1e9},
         .uses_host_memory = true});
  }
  Result<Machine> machine = Machine::build(std::move(spec));
  if (!machine) return machine.error();
  return Cluster::make(std::move(*machine), CostSpec{});
}

Result<Graph> make_graph(const Setup& setup) {
  GraphBuilder builder("chains");
  const std::vector<GivenTime> time = {{"", std::chrono::microseconds(setup.op_us)}};
  const ValueSpec output{.bytes = 0};
  std::vector<ValueId> ends;
  for (int i = 0; i < setup.ops; ++i) {
    const bool follows = setup.width > 0 && i >= setup.width;
    std::vector<ValueId> operands;
    if (follows) operands.push_back(ends[static_cast<size_t>(i - setup.width)]);
    const std::string name = fmt::format("op{}", i);
    const OpId op = builder.add_op({.name = name,
                                    .kind = "spin",
                                    .operands = operands,
                                    .outputs = {&output, 1},
                                    .run_times = time});
    ends.push_back(builder.outputs(op).front());
  }
  return std::move(builder).build();
}

OpTable spinning(const Setup& setup) {
  OpTable table;
  table.add("spin", "cpu", [setup](const OpCall&) -> Result<void> {
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(setup.op_us);
    while (std::chrono::steady_clock::now() < until) {
    }
    return {};
  });
  return table;
}

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
}

struct Figures {
  double gap_p50_us = 0;
  double gap_p99_us = 0;
  double idle_share = 0;
  double deciding_us_per_op = 0;
  double us_per_op = 0;
};

Figures figures_of(const RealJobsRun& run, const Setup& setup) {
  std::vector<std::vector<OpSpan>> by_device(static_cast<size_t>(setup.devices));
  for (const JobRecord& job : run.run.jobs) {
    for (const OpSpan& span : job.trace.ops)
      by_device[static_cast<size_t>(span.device.index)].push_back(span);
  }
  std::vector<double> gaps;
  double busy = 0;
  double whole = 0;
  double ops = 0;
  for (std::vector<OpSpan>& spans : by_device) {
    std::sort(spans.begin(), spans.end(),
              [](const OpSpan& a, const OpSpan& b) { return a.start < b.start; });
    for (size_t i = 0; i < spans.size(); ++i) {
      busy += static_cast<double>((spans[i].finish - spans[i].start).count());
      if (i > 0)
        gaps.push_back(static_cast<double>((spans[i].start - spans[i - 1].finish).count()) / 1e3);
    }
    ops += static_cast<double>(spans.size());
    if (!spans.empty())
      whole += static_cast<double>((spans.back().finish - spans.front().start).count());
  }
  double deciding = 0;
  for (const Duration time : run.decision_times) deciding += static_cast<double>(time.count());
  return {quantile(gaps, 0.5), quantile(gaps, 0.99), 1 - busy / whole, deciding / ops / 1e3,
          whole / ops / 1e3};
}

int main_of(const Setup& setup) {
  Result<Cluster> cluster = make_cluster(setup);
  const Result<Graph> graph = make_graph(setup);
  TUTTI_CHECK(cluster && graph);
  std::vector<Arrival> arrivals;
  for (int i = 0; i < setup.jobs; ++i) {
    auto job = cluster->add_job(Graph(*graph));
    TUTTI_CHECK(job.has_value());
    arrivals.push_back({Duration(0), std::move(*job)});
  }
  RealClusterOptions options;
  options.queue_depth = setup.depth;
  auto real = RealCluster::open(*cluster, spinning(setup), options);
  if (!real) {
    fmt::print(stderr, "jobs_bench: {}\n", real.error().message);
    return 2;
  }
  TUTTI_CHECK((*real)->load(arrivals).has_value());
  std::map<std::string, std::vector<Figures>> all;
  for (int repeat = -1; repeat < setup.repeats; ++repeat) {  // the first is a warm-up
    for (const std::string& name : setup.policies) {
      const auto entry = find_any_decider(name);
      TUTTI_CHECK(entry.has_value());
      const auto decider = (*entry)->make_decider((*entry)->tuned());
      const Result<RealJobsRun> run = (*real)->run(*decider, 1);
      if (!run) {
        fmt::print(stderr, "jobs_bench: {}: {}\n", name, run.error().message);
        return 1;
      }
      if (repeat < 0) continue;
      const Figures f = figures_of(*run, setup);
      all[name].push_back(f);
      fmt::print(
          R"({{"policy":"{}","repeat":{},"devices":{},"op_us":{},"depth":{},"gap_p50_us":{:.3f},)"
          R"("gap_p99_us":{:.3f},"idle_share":{:.5f},"deciding_us_per_op":{:.3f},"us_per_op":{:.3f}}})"
          "\n",
          name, repeat, setup.devices, setup.op_us, setup.depth, f.gap_p50_us, f.gap_p99_us,
          f.idle_share, f.deciding_us_per_op, f.us_per_op);
    }
  }
  fmt::print("\n{:<10} {:>10} {:>10} {:>8} {:>16} {:>10}\n", "policy", "gap p50", "gap p99", "idle",
             "deciding per op", "per op");
  for (const auto& [name, figures] : all) {
    const auto median = [&](double Figures::*which) {
      std::vector<double> values;
      for (const Figures& f : figures) values.push_back(f.*which);
      return quantile(values, 0.5);
    };
    fmt::print("{:<10} {:>7.2f} us {:>7.2f} us {:>6.2f} % {:>13.2f} us {:>7.2f} us\n", name,
               median(&Figures::gap_p50_us), median(&Figures::gap_p99_us),
               100 * median(&Figures::idle_share), median(&Figures::deciding_us_per_op),
               median(&Figures::us_per_op));
  }
  return 0;
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  tutti::Setup setup;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    const std::string value = argv[i + 1];
    if (flag == "--devices") setup.devices = std::stoi(value);
    if (flag == "--op-us") setup.op_us = std::stoll(value);
    if (flag == "--ops") setup.ops = std::stoi(value);
    if (flag == "--jobs") setup.jobs = std::stoi(value);
    if (flag == "--width") setup.width = std::stoi(value);
    if (flag == "--depth") setup.depth = std::stoi(value);
    if (flag == "--repeats") setup.repeats = std::stoi(value);
    if (flag == "--policies") {
      setup.policies.clear();
      for (size_t at = 0; at <= value.size();) {
        const size_t end = std::min(value.find(',', at), value.size());
        setup.policies.push_back(value.substr(at, end - at));
        at = end + 1;
      }
    }
  }
  return tutti::main_of(setup);
}
