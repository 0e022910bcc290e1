// What one pass of a graph asks of each device: its work, and the transfers that it sends and
// takes. In the steady state no pass can take less time than the most loaded device needs for it.
//
// Ops that must share a device (colocation groups) are one unit. Transfers count as in the max-load
// of Tarnawski et al. (NeurIPS 2020): a value that leaves a device counts once for it, and once for
// each device that takes it; only devices with a memory of their own pay, and what they pay is the
// time to or from the host's memory.
//
// If transfer times are given, the load of a device is work and transfers together, which is that
// paper's formula: they take the device's own time. Otherwise links work while devices do,
// transfers take the time of the quickest route, and the load is the largest of work, transfers out
// and transfers in; this guides a search, and the simulator knows better.

#ifndef TUTTI_SEARCH_THROUGHPUT_LOADS_H_
#define TUTTI_SEARCH_THROUGHPUT_LOADS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"

namespace tutti {

// A value that other units than its own read.
struct UnitFlow {
  int32_t from = -1;             // unit; -1: a graph input, on the host
  std::vector<int32_t> to{};     // units, ascending
  std::vector<double> out_ns{};  // by kind of memory: what the sender pays
  std::vector<double> in_ns{};   // what a taker pays
};

class LoadModel {
 public:
  // Keeps a reference to the problem.
  explicit LoadModel(const Problem& problem);

  const Problem& problem() const { return problem_; }
  int32_t units() const { return static_cast<int32_t>(members_.size()); }
  int32_t devices() const { return problem_.machine.size(); }
  int32_t unit_of(OpId op) const { return unit_of_[static_cast<size_t>(op.index)]; }
  std::span<const OpId> members(int32_t unit) const { return members_[static_cast<size_t>(unit)]; }
  // The run times of the unit's ops over the device's slots; infinite where it cannot run.
  double work_ns(int32_t unit, int32_t device) const {
    return work_ns_[static_cast<size_t>(unit) * static_cast<size_t>(devices()) +
                    static_cast<size_t>(device)];
  }
  // Of weights without a home, which take room wherever the unit runs.
  double weight_bytes(int32_t unit) const { return weight_bytes_[static_cast<size_t>(unit)]; }
  const std::vector<UnitFlow>& flows() const { return flows_; }
  // The flows that a unit sends or takes.
  std::span<const int32_t> flows_of(int32_t unit) const {
    return flows_of_[static_cast<size_t>(unit)];
  }
  // What a device pays for the flow; devices of one kind pay alike.
  double out_ns(const UnitFlow& flow, int32_t device) const {
    return flow.out_ns[static_cast<size_t>(payer_[static_cast<size_t>(device)])];
  }
  double in_ns(const UnitFlow& flow, int32_t device) const {
    return flow.in_ns[static_cast<size_t>(payer_[static_cast<size_t>(device)])];
  }
  // Whether transfers take a device's own time.
  bool serial() const { return serial_; }

 private:
  void find_units();
  void find_payers();
  void find_flows();

  const Problem& problem_;
  bool serial_;
  std::vector<int32_t> unit_of_;
  std::vector<std::vector<OpId>> members_;
  std::vector<double> work_ns_;
  std::vector<double> weight_bytes_;
  std::vector<int32_t> payer_;    // by device
  std::vector<DeviceId> payers_;  // one device of each kind of payer
  std::vector<UnitFlow> flows_;
  std::vector<std::vector<int32_t>> flows_of_;
};

// The loads of all devices under a placement of units, kept while units move.
class DeviceLoads {
 public:
  DeviceLoads(const LoadModel& model, std::vector<int32_t> device_of_unit);

  int32_t device_of(int32_t unit) const { return device_of_[static_cast<size_t>(unit)]; }
  const std::vector<int32_t>& placement() const { return device_of_; }
  void move(int32_t unit, int32_t device);
  double load_ns(int32_t device) const;
  double work_ns(int32_t device) const { return work_ns_[static_cast<size_t>(device)]; }
  double largest_ns() const;
  // Of weights, in the memory that the device works on.
  double bytes(int32_t device) const;
  // Whether the weights fit into every memory.
  bool fits() const;
  double limit_bytes(int32_t device) const;

 private:
  // Adds what the flow asks of devices, or takes it away.
  void count(const UnitFlow& flow, double sign);

  const LoadModel* model_;
  std::vector<int32_t> device_of_;
  std::vector<double> work_ns_;
  std::vector<double> out_ns_;
  std::vector<double> in_ns_;
  std::vector<double> bytes_;  // by memory
  std::vector<int32_t> seen_;  // by device: the last flow that it was counted for
  int32_t stamp_ = 0;
};

// By device, rounded up: the work of one pass, and its transfers where they take the device's own
// time. The largest of them bounds the time per pass of the plan.
std::vector<Duration> device_loads(const LoadModel& model, const Plan& plan);

// Units on devices as a plan; within a pass, ops in topological order.
Plan plan_of_units(const LoadModel& model, std::span<const int32_t> device_of_unit);

}  // namespace tutti

#endif  // TUTTI_SEARCH_THROUGHPUT_LOADS_H_
