// A Problem is everything a policy may know before the run: the graph, the machine, what things
// cost, and what a plan must obey. It owns these parts together with its copies. All are immutable,
// so any number of threads may read it.

#ifndef TUTTI_PLAN_PROBLEM_H_
#define TUTTI_PLAN_PROBLEM_H_

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tutti/base/result.h"
#include "tutti/base/shared.h"
#include "tutti/costs/costs.h"
#include "tutti/graph/graph.h"
#include "tutti/machine/machine.h"
#include "tutti/plan/constraints.h"

namespace tutti {

class Problem {
 public:
  // Attributes of the graph that restrict devices (`colocate`, `only_on`; graph/groups.h) hold in
  // addition to the constraints. Fails as Costs::build does; also (invalid_input) on names that do
  // not exist, and (infeasible) if some op is left without a device.
  static Result<Problem> make(Shared<Graph> graph, Shared<Machine> machine,
                              const CostSpec& costs = {}, const Constraints& constraints = {});
  // The same graph, machine and costs with these constraints in place of its own. Fails as make
  // does.
  Result<Problem> with_constraints(const Constraints& constraints) const;
  // The same with this share of every memory that is limited.
  Problem with_memory_share(double share) const;
  // The same with no more than these devices. An op that may run on none of them keeps its own.
  Problem within(std::span<const DeviceId> devices) const;
  // On the same machine, a graph whose ops each stand for several of this one's, without
  // constraints; see Costs::gathered.
  Result<Problem> gathered(Graph graph, std::span<const int32_t> into) const;

  const Graph& graph;
  const Machine& machine;
  const Costs& costs;

  // The devices that may run the op, by id, never none: those that can run it, less what pins and
  // forbidden pairs take away, for every op of its colocation group. State::devices_for is
  // stricter: it also knows what is placed already and how much memory is left.
  std::span<const DeviceId> devices_for(OpId op) const {
    return choices_[choice_of_.empty() ? 0 : static_cast<size_t>(choice_of_[op.index])];
  }
  bool allows(OpId op, DeviceId device) const;

  // The colocation group of an op, or -1; members() lists a group by ascending op.
  int colocation_group(OpId op) const { return group_of_.empty() ? -1 : group_of_[op.index]; }
  int colocation_group_count() const { return static_cast<int>(groups_.size()); }
  std::span<const OpId> members(int group) const { return groups_[static_cast<size_t>(group)]; }

  // kUnlimitedBytes where nothing is enforced.
  int64_t memory_limit(MemoryId memory) const { return memory_limits_[memory.index]; }
  bool has_memory_limits() const { return has_memory_limits_; }

  // Where a graph input is at the start: an invalid id means in every memory.
  MemoryId home(ValueId input) const;

  // The weights whose residence names a memory, by id: a plan says which memories keep them
  // (tutti/plan/weights.h).
  std::span<const ValueId> homed_weights() const { return homed_weights_; }
  bool has_homed_weights() const { return !homed_weights_.empty(); }
  bool is_homed_weight(ValueId value) const;
  // Whether kept weights are loaded during the run. Normally they are in place when it begins.
  bool cold() const { return cold_; }
  // The same for policies that place ops: weights with homes are kept wherever they are read, as if
  // they were everywhere; or drafts count them only while their readers run.
  Problem with_kept_weights() const;
  Problem with_streamed_weights() const;
  bool weights_are_streamed() const { return weights_are_streamed_; }

  // For other problems about the same graph or machine.
  Shared<Graph> shared_graph() const { return parts_->graph; }
  Shared<Machine> shared_machine() const { return parts_->machine; }

  // Digest of the effect of the constraints, however they are written. Graph, machine and costs
  // have digests of their own.
  uint64_t constraints_fingerprint() const;

 private:
  friend class ProblemBuilder;
  struct Parts {
    Shared<Graph> graph;
    Shared<Machine> machine;
    Costs costs;
  };
  explicit Problem(std::shared_ptr<const Parts> parts)
      : graph(*parts->graph),
        machine(*parts->machine),
        costs(parts->costs),
        parts_(std::move(parts)) {}

  std::vector<std::vector<DeviceId>> choices_;  // distinct lists of devices
  std::vector<int32_t> choice_of_;              // by op; empty: the first list for all
  std::vector<int32_t> group_of_;               // by op; empty: no groups
  std::vector<std::vector<OpId>> groups_;
  std::vector<int64_t> memory_limits_;
  bool has_memory_limits_ = false;
  std::vector<std::pair<ValueId, MemoryId>> homes_;  // inputs that are not everywhere
  std::vector<ValueId> homed_weights_;
  bool cold_ = false;
  bool weights_are_streamed_ = false;
  std::shared_ptr<const Parts> parts_;  // what the references refer to
};

}  // namespace tutti

#endif  // TUTTI_PLAN_PROBLEM_H_
