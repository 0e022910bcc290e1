#include "tutti/plan/problem.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "tutti/base/fingerprint.h"
#include "tutti/graph/groups.h"
#include "tutti/graph/names.h"

namespace tutti {

// Resolves names and turns the constraints into tables by id.
class ProblemBuilder {
 public:
  ProblemBuilder(std::shared_ptr<const Problem::Parts> parts, const Constraints& constraints)
      : constraints_(constraints), problem_(std::move(parts)) {}

  Result<Problem> build() {
    allow_what_costs_allow();
    if (!constraints_.colocations.empty() || !constraints_.pins.empty() || forbids_by_op()) {
      names_.emplace(problem_.graph);
    }
    for (const auto& pin : constraints_.pins) apply_pin(pin);
    for (const auto& rule : constraints_.forbidden) apply_forbidden(rule);
    for (const auto& group : constraints_.colocations) join_all(group);
    obey_attributes();
    gather_groups();
    limit_memories();
    place_inputs();
    if (!error_) require_a_device();
    if (error_) return *error_;
    tabulate_choices();
    return std::move(problem_);
  }

 private:
  using Mask = std::vector<bool>;  // by device

  void fail(Error error) {
    if (!error_) error_ = std::move(error);
  }

  bool forbids_by_op() const {
    return std::any_of(constraints_.forbidden.begin(), constraints_.forbidden.end(),
                       [](const Constraints::Forbidden& rule) { return !rule.op.empty(); });
  }

  // Masks are kept once per distinct set: a million ops usually share one.
  int intern(const Mask& mask) {
    const auto [entry, added] = mask_index_.try_emplace(mask, static_cast<int>(masks_.size()));
    if (added) masks_.push_back(mask);
    return entry->second;
  }

  void allow_what_costs_allow() {
    const auto devices = static_cast<size_t>(problem_.machine.size());
    const Costs& costs = problem_.costs;
    // By class first: a machine has few of them.
    std::map<std::vector<bool>, int> by_class;
    mask_of_.resize(static_cast<size_t>(problem_.graph.size()));
    std::vector<DeviceId> example(static_cast<size_t>(costs.device_class_count()));
    for (const DeviceId device : problem_.machine.devices()) {
      example[static_cast<size_t>(costs.device_class(device))] = device;
    }
    std::vector<bool> able(example.size());
    for (const OpId op : problem_.graph.ops()) {
      for (size_t i = 0; i < example.size(); ++i) able[i] = costs.can_run(op, example[i]);
      auto known = by_class.find(able);
      if (known == by_class.end()) {
        Mask mask(devices);
        for (const DeviceId device : problem_.machine.devices()) {
          mask[static_cast<size_t>(device.index)] =
              able[static_cast<size_t>(costs.device_class(device))];
        }
        known = by_class.emplace(able, intern(mask)).first;
      }
      mask_of_[static_cast<size_t>(op.index)] = known->second;
    }
  }

  std::optional<OpId> find_op(const std::string& name) {
    const std::optional<OpId> op = names_->find(name);
    if (!op) {
      fail(invalid_input(fmt::format("the constraints name op '{}', which graph '{}' does not have",
                                     name, problem_.graph.name())));
    }
    return op;
  }

  std::optional<DeviceId> find_device(const std::string& name) {
    const std::optional<DeviceId> device = problem_.machine.find_device(name);
    if (!device) {
      fail(invalid_input(
          fmt::format("the constraints name device '{}', which machine '{}' does not have", name,
                      problem_.machine.name())));
    }
    return device;
  }

  void restrict_to(OpId op, const Mask& allowed) {
    Mask mask = masks_[static_cast<size_t>(mask_of_[static_cast<size_t>(op.index)])];
    for (size_t i = 0; i < mask.size(); ++i) mask[i] = mask[i] && allowed[i];
    mask_of_[static_cast<size_t>(op.index)] = intern(mask);
  }

  void apply_pin(const Constraints::Pin& pin) {
    const std::optional<OpId> op = find_op(pin.op);
    Mask allowed(static_cast<size_t>(problem_.machine.size()));
    for (const std::string& name : pin.devices) {
      if (const auto device = find_device(name)) allowed[static_cast<size_t>(device->index)] = true;
    }
    if (op) restrict_to(*op, allowed);
  }

  void apply_forbidden(const Constraints::Forbidden& rule) {
    Mask allowed(static_cast<size_t>(problem_.machine.size()), true);
    if (!rule.device.empty()) {
      if (const auto device = find_device(rule.device)) {
        allowed[static_cast<size_t>(device->index)] = false;
      }
    }
    for (const DeviceId device : problem_.machine.devices()) {
      if (!rule.device_kind.empty() && problem_.machine.device(device).kind == rule.device_kind) {
        allowed[static_cast<size_t>(device.index)] = false;
      }
    }
    if (!rule.op.empty()) {
      if (const auto op = find_op(rule.op)) restrict_to(*op, allowed);
      return;
    }
    for (const OpId op : problem_.graph.ops()) {
      if (rule.op_kind.empty() || problem_.graph.op_kind_name(op) == rule.op_kind) {
        restrict_to(op, allowed);
      }
    }
  }

  // Union of groups that share an op, by the smallest op of each. Ways to the root are shortened as
  // they are walked, so that a group of all ops costs no more than many small ones.
  int32_t root(int32_t op) {
    while (parent_[static_cast<size_t>(op)] != op) {
      int32_t& up = parent_[static_cast<size_t>(op)];
      up = parent_[static_cast<size_t>(up)];
      op = up;
    }
    return op;
  }

  void join(OpId one, OpId other) {
    if (parent_.empty()) {
      parent_.resize(static_cast<size_t>(problem_.graph.size()));
      std::iota(parent_.begin(), parent_.end(), 0);
    }
    const int32_t a = root(one.index);
    const int32_t b = root(other.index);
    parent_[static_cast<size_t>(std::max(a, b))] = std::min(a, b);
  }

  void join_all(const std::vector<std::string>& group) {
    std::optional<OpId> first;
    for (const std::string& name : group) {
      const std::optional<OpId> op = find_op(name);
      if (!op) return;
      if (!first) first = op;
      join(*first, *op);
    }
  }

  // What the graph itself says of where its ops may run.
  void obey_attributes() {
    std::unordered_map<std::string_view, OpId> first;
    for (const OpId op : problem_.graph.ops()) {
      for (const auto& [name, value] : problem_.graph.attributes(op)) {
        if (name == kColocateAttribute) join(first.emplace(value, op).first->second, op);
        if (name != kOnlyOnAttribute) continue;
        Mask allowed(static_cast<size_t>(problem_.machine.size()));
        for (const DeviceId device : problem_.machine.devices()) {
          allowed[static_cast<size_t>(device.index)] =
              problem_.machine.device(device).kind == value;
        }
        restrict_to(op, allowed);
      }
    }
  }

  void gather_groups() {
    if (parent_.empty() || error_) return;
    std::map<int32_t, std::vector<OpId>> members;
    for (const OpId op : problem_.graph.ops()) members[root(op.index)].push_back(op);
    problem_.group_of_.assign(static_cast<size_t>(problem_.graph.size()), -1);
    for (auto& [first, ops] : members) {
      if (ops.size() < 2) continue;
      Mask shared(static_cast<size_t>(problem_.machine.size()), true);
      for (const OpId op : ops) {
        const Mask& own = masks_[static_cast<size_t>(mask_of_[static_cast<size_t>(op.index)])];
        for (size_t i = 0; i < shared.size(); ++i) shared[i] = shared[i] && own[i];
      }
      for (const OpId op : ops) {
        mask_of_[static_cast<size_t>(op.index)] = intern(shared);
        problem_.group_of_[static_cast<size_t>(op.index)] =
            static_cast<int32_t>(problem_.groups_.size());
      }
      problem_.groups_.push_back(std::move(ops));
    }
  }

  void limit_memories() {
    const Machine& machine = problem_.machine;
    for (int32_t i = 0; i < machine.memory_count(); ++i) {
      problem_.memory_limits_.push_back(
          constraints_.memory ? machine.memory(MemoryId{i}).capacity_bytes : kUnlimitedBytes);
    }
    for (const auto& limit : constraints_.memory_limits) {
      bool found = false;
      for (int32_t i = 0; i < machine.memory_count(); ++i) {
        if (machine.memory(MemoryId{i}).name != limit.memory) continue;
        found = true;
        if (constraints_.memory) problem_.memory_limits_[static_cast<size_t>(i)] = limit.bytes;
      }
      if (!found) {
        fail(invalid_input(
            fmt::format("the constraints limit memory '{}', which machine '{}' does not have",
                        limit.memory, machine.name())));
      }
    }
    problem_.cold_ = constraints_.cold;
    problem_.has_memory_limits_ =
        std::any_of(problem_.memory_limits_.begin(), problem_.memory_limits_.end(),
                    [](int64_t bytes) { return bytes != kUnlimitedBytes; });
  }

  void place_inputs() {
    const Graph& graph = problem_.graph;
    for (const ValueId value : graph.values()) {
      if (graph.producer(value).valid()) continue;
      const Residence& residence = graph.residence(value);
      if (residence.where == Residence::Where::host) {
        problem_.homes_.emplace_back(value, problem_.machine.host_memory());
      } else if (residence.where == Residence::Where::device) {
        const std::optional<DeviceId> device = problem_.machine.find_device(residence.device);
        if (!device) {
          fail(invalid_input(
              fmt::format("input '{}' is on device '{}', which machine '{}' does not "
                          "have; choose another machine or change the graph",
                          graph.value_name(value), residence.device, problem_.machine.name())));
          return;
        }
        problem_.homes_.emplace_back(value, problem_.machine.memory_of(*device));
      }
    }
    for (const auto& [value, home] : problem_.homes_) {
      if (graph.is_weight(value)) problem_.homed_weights_.push_back(value);
    }
    forbid_unreachable();
  }

  // A device that an input's home does not reach cannot run the input's readers. Device memories
  // reach all devices: only a host's may not.
  void forbid_unreachable() {
    mask_by_rules_ = mask_of_;
    for (const auto& [value, home] : problem_.homes_) {
      Mask allowed(static_cast<size_t>(problem_.machine.size()));
      bool all = true;
      for (const DeviceId device : problem_.machine.devices()) {
        const bool reached =
            problem_.machine.route(home, problem_.machine.memory_of(device)) != nullptr;
        allowed[static_cast<size_t>(device.index)] = reached;
        all = all && reached;
      }
      if (all) continue;
      for (const EdgeId edge : problem_.graph.consumers(value)) {
        restrict_to(problem_.graph.edge_to(edge), allowed);
      }
    }
  }

  // Which kinds of devices the op has no time on; nothing if it has one on each.
  std::string what_costs_exclude(OpId op) const {
    std::vector<std::string> kinds;
    for (const DeviceId device : problem_.machine.devices()) {
      const std::string& kind = problem_.machine.device(device).kind;
      if (problem_.costs.can_run(op, device)) continue;
      if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
    }
    if (kinds.empty()) return "";
    return fmt::format("; its kind '{}' has no time on '{}'", problem_.graph.op_kind_name(op),
                       fmt::join(kinds, "', '"));
  }

  bool has_device(int mask) const {
    const Mask& devices = masks_[static_cast<size_t>(mask)];
    return std::find(devices.begin(), devices.end(), true) != devices.end();
  }

  // Of an op that has a device but for its inputs on the host.
  std::string what_links_exclude(OpId op) const {
    const std::span<const ValueId> operands = problem_.graph.operands(op);
    const MemoryId host = problem_.machine.host_memory();
    const auto input = std::find_if(operands.begin(), operands.end(), [&](ValueId value) {
      return std::binary_search(problem_.homes_.begin(), problem_.homes_.end(),
                                std::pair(value, host));
    });
    return fmt::format(
        "input '{}' is on '{}', from which machine '{}' has no link to a device that may run op "
        "'{}'; add a [[link]] to the machine, or give the input another residence",
        problem_.graph.value_name(*input), problem_.machine.memory(host).name,
        problem_.machine.name(), problem_.graph.op_name(op));
  }

  void require_a_device() {
    for (const OpId op : problem_.graph.ops()) {
      const auto at = static_cast<size_t>(op.index);
      if (has_device(mask_of_[at])) continue;
      if (has_device(mask_by_rules_[at])) {
        fail(infeasible(what_links_exclude(op)));
        return;
      }
      fail(infeasible(fmt::format(
          "op '{}' is left without a device: pins, forbidden pairs, colocation and costs together "
          "exclude every device of machine '{}'{}",
          problem_.graph.op_name(op), problem_.machine.name(), what_costs_exclude(op))));
      return;
    }
  }

  void tabulate_choices() {
    for (const Mask& mask : masks_) {
      std::vector<DeviceId> devices;
      for (size_t i = 0; i < mask.size(); ++i) {
        if (mask[i]) devices.push_back(DeviceId{static_cast<int32_t>(i)});
      }
      problem_.choices_.push_back(std::move(devices));
    }
    const bool one_for_all = std::all_of(mask_of_.begin(), mask_of_.end(),
                                         [&](int mask) { return mask == mask_of_.front(); });
    if (mask_of_.empty() || (one_for_all && mask_of_.front() == 0)) return;
    problem_.choice_of_.assign(mask_of_.begin(), mask_of_.end());
  }

  const Constraints& constraints_;
  Problem problem_;
  std::optional<NameIndex> names_;
  std::vector<Mask> masks_;
  std::map<Mask, int> mask_index_;
  std::vector<int> mask_of_;        // by op
  std::vector<int> mask_by_rules_;  // the same, whatever its inputs reach
  std::vector<int32_t> parent_;
  std::optional<Error> error_;
};

Result<Problem> Problem::make(Shared<Graph> graph, Shared<Machine> machine, const CostSpec& spec,
                              const Constraints& constraints) {
  Result<Costs> costs = Costs::build(*graph, *machine, spec);
  if (!costs) return costs.error();
  auto parts =
      std::make_shared<const Parts>(Parts{std::move(graph), std::move(machine), std::move(*costs)});
  return ProblemBuilder(std::move(parts), constraints).build();
}

Result<Problem> Problem::with_constraints(const Constraints& constraints) const {
  return ProblemBuilder(parts_, constraints).build();
}

Result<Problem> Problem::gathered(Graph made, std::span<const int32_t> into) const {
  const Shared<Graph> shared(std::move(made));
  Result<Costs> sums = costs.gathered(*shared, into);
  if (!sums) return sums.error();
  auto parts = std::make_shared<const Parts>(Parts{shared, parts_->machine, std::move(*sums)});
  return ProblemBuilder(std::move(parts), {}).build();
}

bool Problem::allows(OpId op, DeviceId device) const {
  const std::span<const DeviceId> devices = devices_for(op);
  return std::binary_search(devices.begin(), devices.end(), device);
}

Problem Problem::with_memory_share(double share) const {
  Problem problem = *this;
  for (int64_t& bytes : problem.memory_limits_) {
    if (bytes != kUnlimitedBytes) bytes = static_cast<int64_t>(share * static_cast<double>(bytes));
  }
  return problem;
}

Problem Problem::with_kept_weights() const {
  Problem problem = *this;
  std::erase_if(problem.homes_, [&](const std::pair<ValueId, MemoryId>& entry) {
    return is_homed_weight(entry.first);
  });
  problem.homed_weights_.clear();
  return problem;
}

Problem Problem::with_streamed_weights() const {
  Problem problem = *this;
  problem.weights_are_streamed_ = true;
  return problem;
}

bool Problem::is_homed_weight(ValueId value) const {
  return std::binary_search(homed_weights_.begin(), homed_weights_.end(), value);
}

Problem Problem::within(std::span<const DeviceId> devices) const {
  Problem problem = *this;
  for (std::vector<DeviceId>& choice : problem.choices_) {
    std::vector<DeviceId> left;
    std::copy_if(choice.begin(), choice.end(), std::back_inserter(left), [&](DeviceId device) {
      return std::find(devices.begin(), devices.end(), device) != devices.end();
    });
    if (!left.empty()) choice = std::move(left);
  }
  return problem;
}

uint64_t Problem::constraints_fingerprint() const {
  Fingerprint fingerprint;
  for (const OpId op : graph.ops()) {
    fingerprint.add(static_cast<int32_t>(colocation_group(op)));
    const std::span<const DeviceId> devices = devices_for(op);
    fingerprint.add(static_cast<uint64_t>(devices.size()));
    for (const DeviceId device : devices) fingerprint.add(device.index);
  }
  for (const int64_t limit : memory_limits_) fingerprint.add(limit);
  if (cold_) fingerprint.add(int32_t{1});
  return fingerprint.value();
}

MemoryId Problem::home(ValueId input) const {
  const auto found = std::lower_bound(
      homes_.begin(), homes_.end(), input,
      [](const std::pair<ValueId, MemoryId>& entry, ValueId id) { return entry.first < id; });
  return found != homes_.end() && found->first == input ? found->second : MemoryId{};
}

}  // namespace tutti
