// Who wins: every entrant meets the same fresh scenarios, which nobody has searched on, and the
// best few of them meet again in more, since the least of many means is partly luck. Where nothing
// depends on the seed, what the search knows is all there is to know.

#ifndef TUTTI_SEARCH_JUDGING_H_
#define TUTTI_SEARCH_JUDGING_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tutti/search/asking.h"

namespace tutti {

inline constexpr int kJudgingScenarios = 32;

// The first of the fresh scenarios of a search that plans by those of `seed`: far from them.
inline uint64_t fresh_seed(uint64_t seed) {
  return seed + (uint64_t{1} << 32);
}

class Judging {
 public:
  // `work` counts the simulations. Under a count, the final may add a share of it.
  Judging(AutoWork& work, int64_t count) : work_(work), count_(count) {}

  // Fills in the makespans, and takes the plan away from those that do not run in every scenario or
  // that time was too short for; one is judged in any case. Gives the winner, or none if nobody is
  // left.
  const Entrant* judge(std::vector<Entrant>& entrants);

  // Fresh scenarios that the winner's makespan is the mean of.
  int judged_on() const { return judged_on_; }

  // Simulations that judging so many entrants may take.
  static double simulations(size_t entrants);

 private:
  // An entrant and its makespans so far.
  struct Record {
    Entrant* entrant;
    std::vector<double> makespans{};
  };

  // One scenario for all that are still in. False if there was no time for all.
  bool judge_in(uint64_t seed, std::vector<Record>& records);
  // The figures of an entrant over the scenarios that all have seen.
  void settle(Record& record, const Scenarios& fresh) const;
  void hold_final(const Scenarios& fresh, std::vector<Record>& records);

  AutoWork& work_;
  int64_t count_;
  int judged_on_ = 1;
  std::vector<std::optional<Judge>> judges_{};  // by thread
};

}  // namespace tutti

#endif  // TUTTI_SEARCH_JUDGING_H_
