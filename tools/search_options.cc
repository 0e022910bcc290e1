#include "tools/search_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <limits>

namespace tutti {
namespace {

// The one thing a signal handler can reach.
std::atomic<bool> interrupted{false};

void on_interrupt(int /*signal*/) {
  interrupted.store(true, std::memory_order_relaxed);
  std::signal(SIGINT, SIG_DFL);  // a second Ctrl-C ends the program
}

// "20s", "500ms", "2m", "1h", with a fraction if you like; none if it is not that.
std::optional<std::chrono::milliseconds> parse_budget(const std::string& text) {
  size_t digits = 0;
  double number = 0;
  try {
    number = std::stod(text, &digits);
  } catch (const std::exception&) {
    return std::nullopt;
  }
  const std::string unit = text.substr(digits);
  double factor = 0;
  if (unit == "ms") factor = 1;
  if (unit == "s") factor = 1e3;
  if (unit == "m") factor = 60e3;
  if (unit == "h") factor = 3600e3;
  const double ms = number * factor;
  if (!(ms >= 1 && ms <= 1e12)) return std::nullopt;  // NaN too
  return std::chrono::milliseconds(static_cast<int64_t>(ms));
}

}  // namespace

void SearchOptions::add_to(CLI::App& command) {
  command
      .add_option("--budget", budget,
                  "Wall clock for auto and other searches, such as 500ms, 20s, 2m; they keep to it "
                  "within 5 %. Without it and --evaluations: a count that takes a second or two")
      ->check([](const std::string& text) {
        return parse_budget(text) ? std::string() : "must be a time such as 500ms, 20s, 2m or 1h";
      });
  command
      .add_option("--evaluations", evaluations,
                  "Simulations a search may spend; the same count and seed give the same plan")
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000'000'000}))
      ->excludes("--budget");
  command
      .add_option("--scenarios", scenarios,
                  "Draws of durations that a search takes the mean over, where costs have noise")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  command
      .add_option("--tail-weight", tail_weight,
                  "Aim at the mean plus this times the mean of the worst quarter of the scenarios")
      ->check([](const std::string& text) {
        double number = -1;
        const bool good = CLI::detail::lexical_cast(text, number) && number >= 0 && number <= 1e6;
        return good ? std::string() : "must be a number from 0 to 1000000";
      });
}

Budget SearchOptions::to_budget() const {
  std::signal(SIGINT, on_interrupt);
  return {
      .wall_clock = parse_budget(budget), .evaluations = evaluations, .stop = Stop(&interrupted)};
}

AutoSettings SearchOptions::settings(const ModelOptions& model, const CommonOptions& common) const {
  AutoSettings settings;
  settings.model = {
      .model = model.sim_model(),
      .order = model.ready_order(),
      .scenarios = {.seed = common.seed, .count = scenarios, .tail_weight = tail_weight}};
  settings.budget = to_budget();
  settings.seed = common.seed;
  settings.threads = common.thread_count();
  return settings;
}

Budget CommandClock::rest_of(Budget budget, int plans) const {
  if (!budget.wall_clock) return budget;
  using std::chrono::milliseconds;
  const auto spent = Stop::Clock::now() - begin_ + kept_;
  const auto left = *budget.wall_clock - std::chrono::duration_cast<milliseconds>(spent);
  budget.wall_clock = std::max(milliseconds(1), left / plans);
  return budget;
}

OnRound show_rounds(double lower_bound_ns) {
  if (!shows_progress()) return {};
  return [lower_bound_ns](const IslandsState& state) {
    double best = std::numeric_limits<double>::infinity();
    for (const Walk& walk : state.walks) best = std::min(best, walk.best_cost);
    fmt::print(stderr, "\r\033[Ksearch: round {} of {}, {} simulations, best {}, gap {:.1f} %{}",
               (state.rounds - 1) % kRounds + 1, kRounds, state.evaluations,
               to_text(nanoseconds_of(best)),
               lower_bound_ns > 0 ? 100 * (best / lower_bound_ns - 1) : 0.0,
               state.rounds % kRounds == 0 ? "\r\033[K" : "");
  };
}

}  // namespace tutti
