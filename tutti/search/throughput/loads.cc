#include "tutti/search/throughput/loads.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace tutti {

LoadModel::LoadModel(const Problem& problem)
    : problem_(problem), serial_(problem.costs.has_given_transfers()) {
  find_units();
  find_payers();
  find_flows();
}

void LoadModel::find_units() {
  const Graph& graph = problem_.graph;
  unit_of_.assign(static_cast<size_t>(graph.size()), -1);
  std::vector<int32_t> unit_of_group(static_cast<size_t>(problem_.colocation_group_count()), -1);
  for (const OpId op : graph.topological_order()) {
    const int group = problem_.colocation_group(op);
    int32_t unit = group < 0 ? -1 : unit_of_group[static_cast<size_t>(group)];
    if (unit < 0) {
      unit = units();
      members_.emplace_back();
      if (group >= 0) unit_of_group[static_cast<size_t>(group)] = unit;
    }
    unit_of_[static_cast<size_t>(op.index)] = unit;
    members_[static_cast<size_t>(unit)].push_back(op);
  }
  const auto wide = static_cast<size_t>(devices());
  work_ns_.assign(members_.size() * wide, std::numeric_limits<double>::infinity());
  weight_bytes_.assign(members_.size(), 0);
  for (size_t unit = 0; unit < members_.size(); ++unit) {
    for (const DeviceId device : problem_.machine.devices()) {
      double work = 0;
      for (const OpId op : members_[unit]) {
        if (!problem_.allows(op, device)) work = std::numeric_limits<double>::infinity();
        work += static_cast<double>(problem_.costs.run_time(op, device).count());
      }
      work_ns_[unit * wide + static_cast<size_t>(device.index)] =
          work / problem_.machine.device(device).slots;
    }
    std::vector<ValueId> weights;
    for (const OpId op : members_[unit]) {
      for (const ValueId value : graph.operands(op)) {
        if (graph.producer(value).valid() || !graph.is_weight(value)) continue;
        if (problem_.is_homed_weight(value)) continue;  // it can be streamed
        if (std::find(weights.begin(), weights.end(), value) != weights.end()) continue;
        weights.push_back(value);
        weight_bytes_[unit] += static_cast<double>(graph.bytes(value));
      }
    }
  }
}

// With given times, devices pay alike if they are of one kind and either all or none of them works
// on the host's memory; otherwise, if they share a memory.
void LoadModel::find_payers() {
  const Machine& machine = problem_.machine;
  for (const DeviceId device : machine.devices()) {
    const auto same = [&](DeviceId other) {
      if (!serial_) return machine.memory_of(other) == machine.memory_of(device);
      const auto on_host = [&](DeviceId one) {
        return machine.memory_of(one) == machine.host_memory();
      };
      return machine.device(other).kind == machine.device(device).kind &&
             on_host(other) == on_host(device);
    };
    const auto known = std::find_if(payers_.begin(), payers_.end(), same);
    payer_.push_back(static_cast<int32_t>(known - payers_.begin()));
    if (known == payers_.end()) payers_.push_back(device);
  }
}

namespace {

// What a device that pays takes for the value, out of its memory and into it, in ns.
struct Payment {
  double out = 0;
  double in = 0;
};

class Payments {
 public:
  Payments(const Problem& problem, bool serial) : problem_(problem), serial_(serial) {
    for (const DeviceId device : problem.machine.devices()) {
      const MemoryId memory = problem.machine.memory_of(device);
      if (!host_ && memory == problem.machine.host_memory()) host_ = device;
    }
  }

  Payment of(ValueId value, DeviceId payer) const {
    if (problem_.machine.memory_of(payer) == problem_.machine.host_memory()) return {};
    if (!problem_.graph.producer(value).valid())
      return {.in = from(problem_.home(value), value, payer)};
    return serial_ ? given(value, payer) : by_route(value, payer);
  }

 private:
  // To and from a device that stands for the host, or else the nearest one.
  Payment given(ValueId value, DeviceId payer) const {
    const Machine& machine = problem_.machine;
    Payment payment;
    for (const EdgeId edge : problem_.graph.consumers(value)) {
      Duration out = kNever;
      Duration in = kNever;
      for (const DeviceId other : machine.devices()) {
        if (host_ ? other != *host_ : machine.memory_of(other) == machine.memory_of(payer))
          continue;
        out = std::min(out, problem_.costs.transfer_time(edge, payer, other));
        in = std::min(in, problem_.costs.transfer_time(edge, other, payer));
      }
      if (out == kNever) return {};  // there is no other memory
      payment.out = std::max(payment.out, static_cast<double>(out.count()));
      payment.in = std::max(payment.in, static_cast<double>(in.count()));
    }
    return payment;
  }

  // To and from the memory that is nearest.
  Payment by_route(ValueId value, DeviceId payer) const {
    const Machine& machine = problem_.machine;
    const MemoryId memory = machine.memory_of(payer);
    double out = kForever;
    double in = kForever;
    for (const DeviceId other : machine.devices()) {
      const MemoryId there = machine.memory_of(other);
      if (there == memory) continue;
      out = std::min(out, time(value, memory, there));
      in = std::min(in, time(value, there, memory));
    }
    return {.out = out == kForever ? 0 : out, .in = in == kForever ? 0 : in};
  }

  double from(MemoryId home, ValueId value, DeviceId payer) const {
    const double in = time(value, home, problem_.machine.memory_of(payer));
    return in == kForever ? 0 : in;
  }

  double time(ValueId value, MemoryId from, MemoryId to) const {
    if (from == to) return 0;
    if (problem_.machine.route(from, to) == nullptr) return kForever;
    return static_cast<double>(problem_.costs.transfer_time(value, from, to).count());
  }

  static constexpr double kForever = std::numeric_limits<double>::infinity();
  const Problem& problem_;
  bool serial_;
  std::optional<DeviceId> host_{};  // a device on the host's memory
};

}  // namespace

void LoadModel::find_flows() {
  const Graph& graph = problem_.graph;
  const Payments payments(problem_, serial_);
  flows_of_.resize(members_.size());
  for (const ValueId value : graph.values()) {
    const OpId producer = graph.producer(value);
    if (!producer.valid() && (graph.is_weight(value) || !problem_.home(value).valid())) continue;
    UnitFlow flow{.from = producer.valid() ? unit_of(producer) : -1};
    for (const EdgeId edge : graph.consumers(value)) {
      const int32_t reader = unit_of(graph.edge_to(edge));
      if (reader != flow.from) flow.to.push_back(reader);
    }
    std::sort(flow.to.begin(), flow.to.end());
    flow.to.erase(std::unique(flow.to.begin(), flow.to.end()), flow.to.end());
    if (flow.to.empty()) continue;
    bool free = true;
    for (const DeviceId payer : payers_) {
      const Payment payment = payments.of(value, payer);
      flow.out_ns.push_back(payment.out);
      flow.in_ns.push_back(payment.in);
      free = free && payment.out == 0 && payment.in == 0;
    }
    if (free) continue;
    const auto number = static_cast<int32_t>(flows_.size());
    if (flow.from >= 0) flows_of_[static_cast<size_t>(flow.from)].push_back(number);
    for (const int32_t reader : flow.to) flows_of_[static_cast<size_t>(reader)].push_back(number);
    flows_.push_back(std::move(flow));
  }
}

DeviceLoads::DeviceLoads(const LoadModel& model, std::vector<int32_t> device_of_unit)
    : model_(&model),
      device_of_(std::move(device_of_unit)),
      work_ns_(static_cast<size_t>(model.devices()), 0),
      out_ns_(work_ns_),
      in_ns_(work_ns_),
      bytes_(static_cast<size_t>(model.problem().machine.memory_count()), 0),
      seen_(static_cast<size_t>(model.devices()), 0) {
  const Machine& machine = model.problem().machine;
  for (int32_t unit = 0; unit < model.units(); ++unit) {
    const int32_t device = device_of(unit);
    work_ns_[static_cast<size_t>(device)] += model.work_ns(unit, device);
    bytes_[static_cast<size_t>(machine.memory_of(DeviceId{device}).index)] +=
        model.weight_bytes(unit);
  }
  for (const UnitFlow& flow : model.flows()) count(flow, 1);
}

void DeviceLoads::count(const UnitFlow& flow, double sign) {
  ++stamp_;
  const int32_t sender = flow.from < 0 ? -1 : device_of(flow.from);
  if (sender >= 0) seen_[static_cast<size_t>(sender)] = stamp_;
  bool leaves = false;
  for (const int32_t reader : flow.to) {
    const int32_t device = device_of(reader);
    if (seen_[static_cast<size_t>(device)] == stamp_) continue;
    seen_[static_cast<size_t>(device)] = stamp_;
    in_ns_[static_cast<size_t>(device)] += sign * model_->in_ns(flow, device);
    leaves = true;
  }
  if (leaves && sender >= 0) {
    out_ns_[static_cast<size_t>(sender)] += sign * model_->out_ns(flow, sender);
  }
}

void DeviceLoads::move(int32_t unit, int32_t device) {
  const int32_t from = device_of(unit);
  if (from == device) return;
  const Machine& machine = model_->problem().machine;
  for (const int32_t flow : model_->flows_of(unit)) {
    count(model_->flows()[static_cast<size_t>(flow)], -1);
  }
  device_of_[static_cast<size_t>(unit)] = device;
  for (const int32_t flow : model_->flows_of(unit)) {
    count(model_->flows()[static_cast<size_t>(flow)], 1);
  }
  work_ns_[static_cast<size_t>(from)] -= model_->work_ns(unit, from);
  work_ns_[static_cast<size_t>(device)] += model_->work_ns(unit, device);
  const double bytes = model_->weight_bytes(unit);
  bytes_[static_cast<size_t>(machine.memory_of(DeviceId{from}).index)] -= bytes;
  bytes_[static_cast<size_t>(machine.memory_of(DeviceId{device}).index)] += bytes;
}

double DeviceLoads::load_ns(int32_t device) const {
  const auto at = static_cast<size_t>(device);
  if (model_->serial()) return work_ns_[at] + out_ns_[at] + in_ns_[at];
  return std::max(work_ns_[at], std::max(out_ns_[at], in_ns_[at]));
}

double DeviceLoads::largest_ns() const {
  double largest = 0;
  for (int32_t i = 0; i < model_->devices(); ++i) largest = std::max(largest, load_ns(i));
  return largest;
}

double DeviceLoads::bytes(int32_t device) const {
  return bytes_[static_cast<size_t>(model_->problem().machine.memory_of(DeviceId{device}).index)];
}

double DeviceLoads::limit_bytes(int32_t device) const {
  const Problem& problem = model_->problem();
  const int64_t limit = problem.memory_limit(problem.machine.memory_of(DeviceId{device}));
  return limit == kUnlimitedBytes ? std::numeric_limits<double>::infinity()
                                  : static_cast<double>(limit);
}

bool DeviceLoads::fits() const {
  for (int32_t i = 0; i < model_->devices(); ++i) {
    if (bytes(i) > limit_bytes(i) + 0.5) return false;
  }
  return true;
}

std::vector<Duration> device_loads(const LoadModel& model, const Plan& plan) {
  std::vector<int32_t> device_of;
  for (int32_t unit = 0; unit < model.units(); ++unit) {
    device_of.push_back(plan.placement[model.members(unit)[0].index].index);
  }
  const DeviceLoads loads(model, std::move(device_of));
  std::vector<Duration> rounded;
  for (int32_t i = 0; i < model.devices(); ++i) {
    const double ns = model.serial() ? loads.load_ns(i) : loads.work_ns(i);
    // Sums of whole nanoseconds: what is beyond a thousandth is no rounding.
    rounded.emplace_back(static_cast<int64_t>(std::ceil(ns - 1e-3)));
  }
  return rounded;
}

Plan plan_of_units(const LoadModel& model, std::span<const int32_t> device_of_unit) {
  const Graph& graph = model.problem().graph;
  Plan plan;
  plan.placement.resize(static_cast<size_t>(graph.size()));
  plan.priority.resize(static_cast<size_t>(graph.size()));
  int64_t place = 0;
  for (const OpId op : graph.topological_order()) {
    plan.placement[op.index] = DeviceId{device_of_unit[static_cast<size_t>(model.unit_of(op))]};
    plan.priority[op.index] = place++;
  }
  return plan;
}

}  // namespace tutti
