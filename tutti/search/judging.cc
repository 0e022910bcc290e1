#include "tutti/search/judging.h"

#include <algorithm>

#include "tutti/base/parallel.h"

namespace tutti {
namespace {

constexpr size_t kFinalists = 4;
constexpr int kFinalScenarios = 512;
// Under a count of simulations, the share of it that the final may add.
constexpr double kFinalShare = 0.1;

}  // namespace

double Judging::simulations(size_t entrants) {
  return static_cast<double>(kJudgingScenarios * entrants + kFinalScenarios * kFinalists);
}

const Entrant* Judging::judge(std::vector<Entrant>& entrants) {
  judges_.resize(static_cast<size_t>(work_.threads));
  std::vector<Record> records;
  for (Entrant* entrant : by_cost(entrants)) records.push_back({entrant});
  if (!Judge(work_.problem, work_.model.model, work_.model.order).depends_on_seed()) {
    for (const Record& record : records) {  // one scenario is as good as another
      record.entrant->tried.makespan = nanoseconds_of(record.entrant->candidate->cost);
    }
    return records.empty() ? nullptr : records.front().entrant;
  }
  Scenarios fresh = work_.model.scenarios;
  fresh.seed = fresh_seed(fresh.seed);
  judged_on_ = 0;
  while (judged_on_ < kJudgingScenarios &&
         judge_in(fresh.seed + static_cast<uint64_t>(judged_on_), records)) {
    ++judged_on_;
  }
  const bool complete = judged_on_ == kJudgingScenarios;
  judged_on_ = std::max(1, judged_on_);
  for (Record& record : records) settle(record, fresh);
  if (complete) hold_final(fresh, records);
  const Entrant* winner = nullptr;
  for (const Record& record : records) {  // after a final, only the finalists
    if (!record.entrant->candidate) continue;
    if (winner == nullptr || record.entrant->candidate->cost < winner->candidate->cost) {
      winner = record.entrant;
    }
  }
  return winner;
}

void Judging::settle(Record& record, const Scenarios& fresh) const {
  Entrant& entrant = *record.entrant;
  if (!entrant.candidate) return;
  if (record.makespans.empty()) {
    entrant.candidate.reset();
    entrant.tried.refusal = "not judged: the budget was short";
    entrant.tried.late = true;
    return;
  }
  record.makespans.resize(static_cast<size_t>(judged_on_));  // one that not all have seen
  entrant.candidate->cost = cost_of(record.makespans, fresh);
  entrant.tried.makespan = nanoseconds_of(cost_of(record.makespans, {}));
}

// Leaves the finalists in the records; the others keep the figures they left with.
void Judging::hold_final(const Scenarios& fresh, std::vector<Record>& records) {
  std::erase_if(records, [](const Record& record) { return !record.entrant->candidate; });
  std::stable_sort(records.begin(), records.end(), [](const Record& a, const Record& b) {
    return a.entrant->candidate->cost < b.entrant->candidate->cost;
  });
  if (records.size() > kFinalists) records.erase(records.begin() + kFinalists, records.end());
  const int64_t affordable = static_cast<int64_t>(kFinalShare * static_cast<double>(count_)) /
                             std::max<int64_t>(1, static_cast<int64_t>(records.size()));
  const int64_t scenarios =
      work_.progress.timed() ? kFinalScenarios : std::min<int64_t>(kFinalScenarios, affordable);
  for (int64_t i = 0; i < scenarios; ++i) {
    if (!judge_in(fresh.seed + static_cast<uint64_t>(kJudgingScenarios + i), records)) break;
    ++judged_on_;
  }
  for (Record& record : records) settle(record, fresh);
}

bool Judging::judge_in(uint64_t seed, std::vector<Record>& records) {
  std::vector<int64_t> spent(records.size(), 0);
  std::vector<uint8_t> late(records.size(), 0);
  const auto judge_one = [&](size_t index, int thread, const Stop& until) {
    Entrant& entrant = *records[index].entrant;
    if (!entrant.candidate) return;
    auto& judge = judges_[static_cast<size_t>(thread)];
    if (!judge) judge.emplace(work_.problem, work_.model.model, work_.model.order);
    const Result<Duration> makespan = judge->makespan(entrant.candidate->plan, seed, kNever, until);
    spent[index] = 1;
    if (!makespan) {
      entrant.candidate.reset();
      entrant.tried.refusal = "its plan does not run in every scenario: memory is short";
    } else if (*makespan == kNever) {
      late[index] = 1;
    } else {
      records[index].makespans.push_back(static_cast<double>(makespan->count()));
    }
  };
  size_t first = 0;
  if (judged_on_ == 0) {  // one there must be, whatever the clock says
    while (first < records.size() && (first == 0 || records[first - 1].makespans.empty())) {
      judge_one(first++, 0, {});
    }
  }
  const Stop stop = work_.progress.until(1);
  parallel_for(static_cast<int>(records.size() - first), work_.threads, [&](int index, int thread) {
    judge_one(first + static_cast<size_t>(index), thread, stop);
  });
  for (const int64_t count : spent) work_.evaluations += count;
  return std::none_of(late.begin(), late.end(), [](uint8_t is) { return is != 0; });
}

}  // namespace tutti
