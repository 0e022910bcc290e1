// A RememberedRun is the last complete run of a plan, with some of its states. A search changes a
// few ops at a time; the run of the next plan is the same until the first of them matters, and
// continues from there.
//
// One object serves one thread, one problem, and one scenario: a seed and an order of ready ops.

#ifndef TUTTI_RUNTIME_SIM_REMEMBERED_RUN_H_
#define TUTTI_RUNTIME_SIM_REMEMBERED_RUN_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"
#include "tutti/runtime/sim/ledger.h"
#include "tutti/runtime/sim/physical_state.h"

namespace tutti {

class RememberedRun {
 public:
  // False for graphs so small or so large that copying states costs more than it saves.
  static bool pays_for(const Problem& problem);

  // Keeps a reference to the problem.
  explicit RememberedRun(const Problem& problem) : problem_(&problem) {}

  // The latest state of the run that a run of `plan` comes through as well, but for the devices of
  // ops that have not become ready; null if there is none.
  const PhysicalState* shared_with(const Plan& plan);
  // Whether books of memory were kept, and what memories took and gave before that state.
  bool has_books() const { return has_books_; }
  std::span<const LedgerCall> calls() const { return {calls_.data(), shared_calls_}; }

  // The new run begins: after the state of shared_with, or from nothing.
  void begin(bool shared);
  // Called between instants of the new run.
  void look_at(const PhysicalState& state, size_t calls);
  // The new run has come to its end and is the one to remember.
  void complete(const Plan& plan, const PhysicalState& state, const Ledger& ledger);

 private:
  static constexpr int kStates = 10;
  struct Kept {
    std::optional<PhysicalState> state{};
    size_t calls = 0;   // of the ledger before it
    bool kept = false;  // belongs to the run
  };

  // When a run of a plan in which this op has another device can first differ from this one.
  Duration moved_matters_at(OpId op) const;

  const Problem* problem_;
  bool complete_ = false;
  bool has_books_ = false;
  std::vector<DeviceId> placement_;
  std::vector<int64_t> priority_;
  std::vector<Duration> finish_;    // by op
  std::vector<Duration> ready_at_;  // by op
  std::vector<LedgerCall> calls_;
  std::array<Kept, kStates> states_;    // by the share of ops that have finished
  std::array<Kept, kStates> new_ones_;  // of the run that has begun
  int next_ = 0;                        // state to be kept next
  size_t shared_ = 0;                   // how many of states_ the new run shares
  size_t shared_calls_ = 0;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_REMEMBERED_RUN_H_
