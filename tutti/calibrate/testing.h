// For tests: a machine whose true costs nobody is told. It stands for a real one, is slower than
// its data sheet, has noise, and now and then something happens to an op.

#ifndef TUTTI_CALIBRATE_TESTING_H_
#define TUTTI_CALIBRATE_TESTING_H_

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tutti/calibrate/experiment.h"
#include "tutti/graph/make/chainmm.h"
#include "tutti/graph/make/cholesky.h"
#include "tutti/graph/make/ffnn.h"
#include "tutti/machine/preset.h"
#include "tutti/runtime/sim/sim.h"

namespace tutti::testing {

class HiddenMachine : public Runtime {
 public:
  struct Truth {
    CostSpec costs{};
    double speed = 0.5;          // of devices and links, against the data sheet
    std::set<int64_t> spikes{};  // runs in which the first op takes 500 times as long
    std::string slower_kind{};   // takes `slower` times as long
    int64_t slower_from = 0;     // from that run on
    double slower = 1;
  };

  HiddenMachine(const Machine& sheet, Truth truth, int64_t runs = 0)
      : truth_(std::move(truth)), machine_(slowed(sheet, truth_.speed)), runs_(runs) {}

  const Machine& truth() const { return *machine_; }
  int64_t runs() const { return runs_; }

  // The graph on this machine, without noise. Borrows the graph.
  Problem clean_problem(const Graph& graph) const {
    CostSpec clean = truth_.costs;
    clean.run_time_noise = {};
    clean.transfer_noise = {};
    return Problem::make(Shared<Graph>::borrowed(graph), machine_, clean).value();
  }

  Result<Trace> run(const Problem& problem, const Plan& plan) override {
    CostSpec spec = truth_.costs;
    if (runs_ >= truth_.slower_from && !truth_.slower_kind.empty()) {
      bool known = false;
      for (CostSpec::Efficiency& row : spec.efficiencies) {
        known |= row.kind == truth_.slower_kind;
        if (row.kind == truth_.slower_kind) row.efficiency /= truth_.slower;
      }
      if (!known) {
        spec.efficiencies.push_back(
            {.kind = truth_.slower_kind, .device_kind = "", .efficiency = 1 / truth_.slower});
      }
    }
    const Result<Problem> real = Problem::make(problem.shared_graph(), machine_, spec);
    if (!real) return real.error();
    SimRuntime sim(SimModel::physical,
                   {.seed = static_cast<uint64_t>(runs_), .sample = real->costs.has_noise()});
    Result<Trace> trace = sim.run(*real, plan);
    if (trace && truth_.spikes.contains(runs_)) {
      OpSpan& span = trace->ops.front();
      span.finish = span.start + 500 * (span.finish - span.start);
      trace->makespan = std::max(trace->makespan, span.finish);
    }
    ++runs_;
    return trace;
  }

  Result<Trace> run_online(const Problem& /*problem*/, Policy& /*policy*/) override {
    return failed("no online policies here");
  }

 private:
  static Machine slowed(const Machine& sheet, double speed) {
    MachineSpec spec = sheet.spec();
    for (MachineSpec::DeviceSpec& item : spec.devices) {
      item.device.flops_per_s *= speed;
      item.device.bytes_per_s *= speed;
      for (auto& [dtype, rate] : item.device.flops_per_s_by_dtype) rate *= speed;
    }
    for (MachineSpec::LinkSpec& link : spec.links) {
      link.bytes_per_s *= speed;
      link.latency = link.latency * 3;
    }
    return Machine::build(std::move(spec)).value();
  }

  Truth truth_;
  Shared<Machine> machine_;
  int64_t runs_;
};

// Each kind reaches another share of the peak, products least of all on the CPU.
inline CostSpec true_costs() {
  CostSpec spec;
  const std::pair<const char*, double> shares[] = {{"matmul", 0.7}, {"add", 0.5},   {"sum", 0.4},
                                                   {"relu", 0.6},   {"gemm", 0.65}, {"potrf", 0.1}};
  for (const auto& [kind, share] : shares) {
    spec.efficiencies.push_back(
        {.kind = kind, .device_kind = "gpu", .efficiency = share, .launch_overhead_ns = 9000});
    spec.efficiencies.push_back({.kind = kind,
                                 .device_kind = "cpu",
                                 .efficiency = 0.8 * share,
                                 .launch_overhead_ns = 2000});
  }
  spec.run_time_noise = {.model = NoiseSpec::Model::log_normal, .spread = 0.04};
  spec.transfer_noise = {.model = NoiseSpec::Model::log_normal, .spread = 0.05};
  return spec;
}

inline bool everything_runs(std::string_view /*kind*/, std::string_view /*device_kind*/) {
  return true;
}

// Small enough to be run often.
inline Graph chain(int64_t size) {
  return std::move(make_chainmm({.size = size, .split = {2, 2, 2}, .devices = 2}).value().graph);
}
inline Graph network(int64_t batch) {
  return std::move(
      make_ffnn({.batch = batch, .sizes = {512, 1024, 512}, .data_shards = 4, .devices = 2})
          .value()
          .graph);
}
inline Graph tiles(int64_t count, int64_t size) {
  return make_cholesky({.tiles = count, .tile_size = size, .devices = 2}).value();
}

}  // namespace tutti::testing

#endif  // TUTTI_CALIBRATE_TESTING_H_
