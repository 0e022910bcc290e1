#include "tutti/calibrate/measure/race.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tutti/base/check.h"
#include "tutti/calibrate/measure/turns.h"

namespace tutti {
namespace {

double mean_log(const Raced& raced) {
  double sum = 0;
  for (const double time : raced.times_ns) sum += std::log(std::max(1.0, time));
  return sum / static_cast<double>(raced.times_ns.size());
}

// Over all plans with two runs or more; 0 if there are none.
double pooled_spread(const std::vector<Raced>& plans) {
  double squares = 0;
  double freedom = 0;
  for (const Raced& raced : plans) {
    if (raced.times_ns.size() < 2) continue;
    const double mean = mean_log(raced);
    for (const double time : raced.times_ns) {
      squares += std::pow(std::log(std::max(1.0, time)) - mean, 2);
    }
    freedom += static_cast<double>(raced.times_ns.size() - 1);
  }
  return freedom > 0 ? std::sqrt(squares / freedom) : 0;
}

class Race {
 public:
  Race(Runtime& runtime, const Problem& problem, std::span<const Plan> plans,
       const RaceSettings& settings)
      : runtime_(runtime), problem_(problem), plans_(plans), settings_(settings) {
    result_.plans.resize(plans.size());
    for (size_t i = 0; i < plans.size(); ++i) left_.push_back(i);
  }

  Result<RaceResult> go() {
    for (int64_t turn = 0; turn < settings_.most_each && !left_.empty(); ++turn) {
      if (!take_turn(turn)) break;
      drop_slow();
      if (left_.size() == 1) break;
    }
    if (result_.runs == 0 || left_.empty()) return error_;
    result_.spread = pooled_spread(result_.plans);
    const auto faster = [&](size_t a, size_t b) {
      return result_.plans[a].mean_ns() < result_.plans[b].mean_ns();
    };
    result_.best = *std::min_element(left_.begin(), left_.end(), faster);
    return std::move(result_);
  }

 private:
  // One run of each that is left. False if there is nothing more to be had.
  bool take_turn(int64_t turn) {
    std::vector<size_t> order = left_;
    Rng rng = Rng(settings_.seed).split(static_cast<uint64_t>(turn));
    shuffle(std::span(order), rng);
    for (const size_t plan : order) {
      if (settings_.stop.now() || result_.runs >= settings_.runs) return false;
      Raced& raced = result_.plans[plan];
      const Result<Trace> trace = runtime_.run(problem_, plans_[plan]);
      // A run that was stopped says nothing about its plan.
      if (!trace && settings_.stop.now()) return false;
      if (!trace) {
        error_ = trace.error();
        raced.refusal = trace.error().message;
        raced.times_ns.clear();
        std::erase(left_, plan);
        continue;
      }
      ++result_.runs;
      raced.times_ns.push_back(static_cast<double>(trace->makespan.count()));
      if (settings_.on_run) settings_.on_run(plan, *trace);
    }
    return true;
  }

  void drop_slow() {
    const double spread = pooled_spread(result_.plans);
    if (spread == 0 && result_.runs < 2 * static_cast<int64_t>(left_.size())) return;
    double best = std::numeric_limits<double>::infinity();
    for (const size_t at : left_) best = std::min(best, mean_log(result_.plans[at]));
    std::erase_if(left_, [&](size_t at) {
      const auto runs = static_cast<double>(result_.plans[at].times_ns.size());
      const double error = spread * std::sqrt(2 / runs);
      return mean_log(result_.plans[at]) - best > settings_.certain * error;
    });
  }

  Runtime& runtime_;
  const Problem& problem_;
  std::span<const Plan> plans_;
  const RaceSettings& settings_;
  std::vector<size_t> left_;
  RaceResult result_;
  Error error_ = failed("stopped before a run had ended");
};

}  // namespace

double Raced::mean_ns() const {
  if (times_ns.empty()) return std::numeric_limits<double>::infinity();
  return std::exp(mean_log(*this));
}

Result<RaceResult> race(Runtime& runtime, const Problem& problem, std::span<const Plan> plans,
                        const RaceSettings& settings) {
  TUTTI_CHECK(!plans.empty());
  return Race(runtime, problem, plans, settings).go();
}

}  // namespace tutti
