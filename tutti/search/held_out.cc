#include "tutti/search/held_out.h"

#include <algorithm>

#include "tutti/base/parallel.h"

namespace tutti {
namespace {

constexpr size_t kFinalists = 4;
constexpr int kFinalScenarios = 512;
// Under a count of simulations, the share of it that the final may add.
constexpr double kFinalShare = 0.1;

// The first held-out scenario of a search on the scenarios from `seed` on: far from them.
uint64_t first_held_out(uint64_t seed) {
  return seed + (uint64_t{1} << 32);
}

}  // namespace

double HeldOut::simulations(size_t candidates) {
  return static_cast<double>(kHeldOutScenarios * candidates + kFinalScenarios * kFinalists);
}

const Candidate* HeldOut::choose(std::vector<Candidate>& candidates) {
  simulators_.resize(static_cast<size_t>(work_.threads));
  std::vector<Record> records;
  for (Candidate* candidate : by_cost(candidates)) records.push_back({candidate});
  if (!ScenarioSimulator(work_.problem, work_.model.model, work_.model.order).depends_on_seed()) {
    for (const Record& record : records) {  // all scenarios are the same
      record.candidate->tried.makespan = nanoseconds_of(record.candidate->found->cost);
    }
    return records.empty() ? nullptr : records.front().candidate;
  }
  Scenarios held_out = work_.model.scenarios;
  held_out.seed = first_held_out(held_out.seed);
  scenarios_ = 0;
  while (scenarios_ < kHeldOutScenarios &&
         simulate_in(held_out.seed + static_cast<uint64_t>(scenarios_), records)) {
    ++scenarios_;
  }
  const bool complete = scenarios_ == kHeldOutScenarios;
  scenarios_ = std::max(1, scenarios_);
  for (Record& record : records) settle(record, held_out);
  if (complete) hold_final(held_out, records);
  const Candidate* winner = nullptr;
  for (const Record& record : records) {  // after a final, only the finalists
    if (!record.candidate->found) continue;
    if (winner == nullptr || record.candidate->found->cost < winner->found->cost) {
      winner = record.candidate;
    }
  }
  return winner;
}

void HeldOut::settle(Record& record, const Scenarios& held_out) const {
  Candidate& candidate = *record.candidate;
  if (!candidate.found) return;
  if (record.makespans.empty()) {
    candidate.found.reset();
    candidate.tried.refusal = "not compared: the budget was short";
    candidate.tried.late = true;
    return;
  }
  record.makespans.resize(
      static_cast<size_t>(scenarios_));  // drops one that not all were simulated in
  candidate.found->cost = cost_of(record.makespans, held_out);
  candidate.tried.makespan = nanoseconds_of(cost_of(record.makespans, {}));
}

// Leaves the finalists in the records; the others keep their figures.
void HeldOut::hold_final(const Scenarios& held_out, std::vector<Record>& records) {
  std::erase_if(records, [](const Record& record) { return !record.candidate->found; });
  std::stable_sort(records.begin(), records.end(), [](const Record& a, const Record& b) {
    return a.candidate->found->cost < b.candidate->found->cost;
  });
  if (records.size() > kFinalists) records.erase(records.begin() + kFinalists, records.end());
  const int64_t affordable = static_cast<int64_t>(kFinalShare * static_cast<double>(count_)) /
                             std::max<int64_t>(1, static_cast<int64_t>(records.size()));
  const int64_t scenarios =
      work_.progress.timed() ? kFinalScenarios : std::min<int64_t>(kFinalScenarios, affordable);
  for (int64_t i = 0; i < scenarios; ++i) {
    if (!simulate_in(held_out.seed + static_cast<uint64_t>(kHeldOutScenarios + i), records)) break;
    ++scenarios_;
  }
  for (Record& record : records) settle(record, held_out);
}

bool HeldOut::simulate_in(uint64_t seed, std::vector<Record>& records) {
  std::vector<int64_t> spent(records.size(), 0);
  std::vector<uint8_t> late(records.size(), 0);
  const auto simulate_one = [&](size_t index, int thread, const Stop& until) {
    Candidate& candidate = *records[index].candidate;
    if (!candidate.found) return;
    auto& simulator = simulators_[static_cast<size_t>(thread)];
    if (!simulator) simulator.emplace(work_.problem, work_.model.model, work_.model.order);
    const Result<Duration> makespan =
        simulator->makespan(candidate.found->plan, seed, kNever, until);
    spent[index] = 1;
    if (!makespan) {
      candidate.found.reset();
      candidate.tried.refusal = "its plan does not run in every scenario: memory is short";
    } else if (*makespan == kNever) {
      late[index] = 1;
    } else {
      records[index].makespans.push_back(static_cast<double>(makespan->count()));
    }
  };
  size_t first = 0;
  if (scenarios_ == 0) {  // at least one, whatever the clock says
    while (first < records.size() && (first == 0 || records[first - 1].makespans.empty())) {
      simulate_one(first++, 0, {});
    }
  }
  const Stop stop = work_.progress.until(1);
  parallel_for(static_cast<int>(records.size() - first), work_.threads, [&](int index, int thread) {
    simulate_one(first + static_cast<size_t>(index), thread, stop);
  });
  for (const int64_t count : spent) work_.evaluations += count;
  return std::none_of(late.begin(), late.end(), [](uint8_t is) { return is != 0; });
}

Result<HeldOutMean> held_out_mean(const Problem& problem, const SearchModel& model, uint64_t seed,
                                  bool searched, const Stop& stop, const Plan& plan) {
  ScenarioSimulator simulator(problem, model.model, model.order);
  const bool held_out = searched && simulator.depends_on_seed();
  const uint64_t first = held_out ? first_held_out(seed) : seed;
  Duration sum{0};
  int scenarios = 0;
  do {
    const Result<Duration> makespan =
        simulator.makespan(plan, first + static_cast<uint64_t>(scenarios));
    if (!makespan) return makespan.error();
    sum += *makespan;
    ++scenarios;
  } while (held_out && scenarios < kHeldOutScenarios && !stop.now());
  return HeldOutMean{.makespan = sum / scenarios, .scenarios = scenarios};
}

}  // namespace tutti
