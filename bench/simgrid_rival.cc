// Our physical simulator compared with SimGrid on the same work: one layered graph, eight unequal
// hosts, one link per pair, a HEFT placement, ops of a host strictly one after another. SimGrid
// runs with its plain CM02 network, which divides bandwidth max-min as our shared links do.
//
// SimGrid lets activities on one host share it, so edges chain the ops of each host in order. It
// keeps one engine per process, so each of its runs is a child process that reports its own
// processor time; ours are timed the same way. A run consumes its activities, so "whole" is the
// cost of one more simulation, and "run" excludes making the activities. Ours starts from the plan.

#include <fmt/format.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "tutti/base/check.h"
#include "tutti/graph/make/layered.h"
#include "tutti/plan/problem.h"
#include "tutti/policy/registry.h"
#include "tutti/runtime/sim/physical.h"

namespace tutti {
namespace {

namespace sg = simgrid::s4u;

constexpr int kHosts = 8;
constexpr double kBytesPerSecond = 1e9;
constexpr double kLatencySeconds = 1e-5;

double flops_per_s(int host) {
  return 1e9 * (1 + host % 4);
}

template <class T>
T must(Result<T> result) {
  if (!result) std::fprintf(stderr, "simgrid_rival: %s\n", result.error().message.c_str());
  TUTTI_CHECK(result.has_value());
  return std::move(*result);
}

Machine machine_of_pairs() {
  MachineSpec spec;
  spec.name = "pairs-8";
  for (int i = 0; i < kHosts; ++i) {
    MachineSpec::DeviceSpec device;
    device.device.name = fmt::format("h{}", i);
    device.device.kind = "cpu";
    device.device.flops_per_s = flops_per_s(i);
    spec.devices.push_back(device);
  }
  for (int i = 0; i < kHosts; ++i) {
    for (int j = i + 1; j < kHosts; ++j) {
      MachineSpec::LinkSpec link;
      link.name = fmt::format("l{}_{}", i, j);
      link.ends[0] = fmt::format("h{}", i);
      link.ends[1] = fmt::format("h{}", j);
      link.latency = Duration(static_cast<int64_t>(kLatencySeconds * 1e9));
      link.bytes_per_s = kBytesPerSecond;
      link.sharing = Sharing::shared;
      link.full_duplex = false;
      spec.links.push_back(link);
    }
  }
  return must(Machine::build(spec));
}

struct Outcome {
  double makespan_s = 0;
  double run_s = 0;    // of processor time, the engine's run alone
  double whole_s = 0;  // including the activities, which each of its simulations creates again
};

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Builds the platform, which is not timed, then the activities, and runs them.
Outcome simulate_with_simgrid(const Problem& problem, const Plan& plan) {
  std::vector<std::string> words = {"simgrid_rival", "--cfg=network/model:CM02",
                                    "--cfg=network/crosstraffic:0", "--log=root.thresh:critical"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  int count = static_cast<int>(arguments.size());
  sg::Engine engine(&count, arguments.data());
  auto* zone = sg::create_full_zone("zone");
  std::vector<sg::Host*> hosts;
  for (int i = 0; i < kHosts; ++i) {
    hosts.push_back(zone->create_host(fmt::format("h{}", i), flops_per_s(i))->seal());
  }
  for (int i = 0; i < kHosts; ++i) {
    for (int j = i + 1; j < kHosts; ++j) {
      auto* link = zone->create_link(fmt::format("l{}_{}", i, j), kBytesPerSecond)
                       ->set_latency(kLatencySeconds)
                       ->seal();
      zone->add_route(hosts[static_cast<size_t>(i)]->get_netpoint(),
                      hosts[static_cast<size_t>(j)]->get_netpoint(), nullptr, nullptr,
                      {sg::LinkInRoute(link)});
    }
  }
  zone->seal();

  const double made_from = cpu_seconds();
  const Graph& graph = problem.graph;
  std::vector<sg::ExecPtr> execs;
  for (const OpId op : graph.ops()) {
    execs.push_back(sg::Exec::init()
                        ->set_flops_amount(graph.flops(op))
                        ->set_name(std::string(graph.op_name(op))));
  }
  // Every activity is kept: dropping a communication that others wait for is fatal in SimGrid 3.32.
  std::vector<sg::CommPtr> comms;
  std::map<std::pair<OpId, OpId>, bool> linked;  // SimGrid refuses the same edge twice
  const auto link_ops = [&](OpId from, OpId to) {
    if (linked.emplace(std::pair{from, to}, true).second) {
      execs[static_cast<size_t>(from.index)]->add_successor(execs[static_cast<size_t>(to.index)]);
    }
  };
  for (const OpId op : graph.ops()) {
    for (const ValueId value : graph.outputs(op)) {
      std::map<int32_t, sg::CommPtr> comm_to;
      for (const EdgeId edge : graph.consumers(value)) {
        const OpId reader = graph.edge_to(edge);
        const int32_t from = plan.placement[op.index].index;
        const int32_t to = plan.placement[reader.index].index;
        if (from == to) {
          link_ops(op, reader);
          continue;
        }
        sg::CommPtr& comm = comm_to[to];
        if (!comm) {
          comm = sg::Comm::sendto_init(hosts[static_cast<size_t>(from)],
                                       hosts[static_cast<size_t>(to)]);
          comm->set_payload_size(static_cast<double>(graph.bytes(value)));
          comm->set_name(fmt::format("c{}_{}", op.index, to));
          execs[static_cast<size_t>(op.index)]->add_successor(comm);
          comms.push_back(comm);
        }
        comm->add_successor(execs[static_cast<size_t>(reader.index)]);
      }
    }
  }
  for (const std::vector<OpId>& order : plan.strict_order) {
    for (size_t i = 1; i < order.size(); ++i) link_ops(order[i - 1], order[i]);
  }
  for (const OpId op : graph.ops()) {
    execs[static_cast<size_t>(op.index)]->set_host(
        hosts[static_cast<size_t>(plan.placement[op.index].index)]);
  }
  for (const sg::CommPtr& comm : comms) comm->vetoable_start();
  for (const sg::ExecPtr& exec : execs) exec->vetoable_start();
  const double begin = cpu_seconds();
  engine.run();
  const double end = cpu_seconds();
  return {.makespan_s = engine.get_clock(), .run_s = end - begin, .whole_s = end - made_from};
}

// SimGrid allows one engine per process, so each run has its own.
Outcome in_child(const Problem& problem, const Plan& plan) {
  int ends[2];
  TUTTI_CHECK(pipe(ends) == 0);
  const pid_t child = fork();
  TUTTI_CHECK(child >= 0);
  if (child == 0) {
    const Outcome outcome = simulate_with_simgrid(problem, plan);
    TUTTI_CHECK(write(ends[1], &outcome, sizeof outcome) == sizeof outcome);
    _exit(0);
  }
  Outcome outcome;
  TUTTI_CHECK(read(ends[0], &outcome, sizeof outcome) == sizeof outcome);
  waitpid(child, nullptr, 0);
  close(ends[0]);
  close(ends[1]);
  return outcome;
}

double median(std::vector<double> numbers) {
  std::nth_element(numbers.begin(), numbers.begin() + static_cast<int64_t>(numbers.size() / 2),
                   numbers.end());
  return numbers[numbers.size() / 2];
}

int compare(int32_t ops, int repeats, int32_t operands) {
  const Problem problem = must(Problem::make(
      must(make_layered({.ops = ops, .operands = operands, .bytes = 1 << 20, .flops = 1e7})),
      machine_of_pairs()));
  const Graph& graph = problem.graph;
  const Machine& machine = problem.machine;
  Plan plan = must(make_plan(**find_policy("heft"), problem, {}, 1));
  plan.strict_order.resize(static_cast<size_t>(machine.size()));
  std::vector<OpId> by_start(graph.topological_order().begin(), graph.topological_order().end());
  std::stable_sort(by_start.begin(), by_start.end(),
                   [&](OpId a, OpId b) { return plan.priority[a.index] < plan.priority[b.index]; });
  for (const OpId op : by_start) {
    plan.strict_order[static_cast<size_t>(plan.placement[op.index].index)].push_back(op);
  }

  PhysicalSimulator simulator(problem);
  std::vector<double> ours;
  std::vector<double> their_run;
  std::vector<double> their_whole;
  double our_makespan = 0;
  double their_makespan = 0;
  for (int i = 0; i < repeats; ++i) {  // alternating, so that both see the same machine state
    const Outcome rival = in_child(problem, plan);
    their_run.push_back(rival.run_s);
    their_whole.push_back(rival.whole_s);
    their_makespan = rival.makespan_s;
    must(simulator.run(plan, {}));  // the fork has write-protected our pages: touch them first
    constexpr int kInner = 200;
    const double begin = cpu_seconds();
    for (int k = 0; k < kInner; ++k) {
      our_makespan = static_cast<double>(must(simulator.run(plan, {})).count()) * 1e-9;
    }
    ours.push_back((cpu_seconds() - begin) / kInner);
  }
  const double difference = std::abs(our_makespan / their_makespan - 1);
  fmt::print(
      "{{\"ops\":{},\"edges\":{},\"repeats\":{},\"tutti_ms\":{:.4f},\"simgrid_run_ms\":{:.3f},"
      "\"simgrid_whole_ms\":{:.3f},\"times_faster_run\":{:.0f},\"times_faster_whole\":{:.0f},"
      "\"tutti_makespan_s\":{:.6f},\"simgrid_makespan_s\":{:.6f},\"difference\":{:.2e}}}\n",
      ops, graph.edge_count(), repeats, 1e3 * median(ours), 1e3 * median(their_run),
      1e3 * median(their_whole), median(their_run) / median(ours),
      median(their_whole) / median(ours), our_makespan, their_makespan, difference);
  return difference < 1e-3 ? 0 : 1;
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  const int ops = argc > 1 ? std::atoi(argv[1]) : 1000;
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 7;
  const int operands = argc > 3 ? std::atoi(argv[3]) : 3;  // of each op
  return tutti::compare(ops, repeats, operands);
}
