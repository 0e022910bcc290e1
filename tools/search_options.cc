#include "tools/search_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <csignal>
#include <limits>

#include "tutti/policy/doppler/model.h"
#include "tutti/search/planners.h"

// METIS has handlers of SIGTERM while it cuts, which leave by a jump that only its own thread may
// make: the program would crash if another thread got the signal. It asks the C library for them by
// this name; the program's own definition goes before the C library's.
extern "C" __sighandler_t __sysv_signal(int number, __sighandler_t handler) noexcept {  // NOLINT
  if (number == SIGINT || number == SIGTERM) return SIG_DFL;
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  return ::sigaction(number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

namespace tutti {
namespace {

// The one thing a signal handler can reach.
std::atomic<bool> interrupted{false};

void on_interrupt(int /*signal*/) {
  interrupted.store(true, std::memory_order_relaxed);
  std::signal(SIGINT, SIG_DFL);  // a second Ctrl-C ends the program
  std::signal(SIGTERM, SIG_DFL);
}

Result<std::shared_ptr<const DopplerModel>> load_network(const std::string& path) {
  Result<Source> source = Source::open(path);
  if (!source) return source.error();
  const Result<TensorFile> file = read_tensors(*source);
  if (!file) return file.error();
  Result<DopplerModel> model = DopplerModel::load(*file, path);
  if (!model) return model.error();
  return std::make_shared<const DopplerModel>(std::move(*model));
}

}  // namespace

std::optional<Duration> parse_time(const std::string& text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] =
      std::from_chars(text.data(), end, number, std::chars_format::fixed);  // no blanks, no hex
  if (error != std::errc{}) return std::nullopt;
  const std::string unit(rest, end);
  double factor = 0;
  if (unit == "ns") factor = 1;
  if (unit == "us") factor = 1e3;
  if (unit == "ms") factor = 1e6;
  if (unit == "s") factor = 1e9;
  if (unit == "m") factor = 60e9;
  if (unit == "h") factor = 3600e9;
  const double ns = number * factor;
  if (factor == 0 || !(ns >= 0 && ns <= static_cast<double>(kLongestTimeNs)))  // NaN too
    return std::nullopt;
  return Duration(static_cast<int64_t>(ns));
}

CLI::Validator is_time_or(const std::string& word) {
  return CLI::Validator(
      [word](const std::string& text) {
        return text == word || parse_time(text)
                   ? std::string()
                   : "must be a time such as 500ns, 50us, 2ms or 1s, or " + word;
      },
      "TIME");
}

std::optional<std::chrono::milliseconds> parse_budget(const std::string& text) {
  const std::optional<Duration> time = parse_time(text);
  if (!time || *time < std::chrono::milliseconds(1)) return std::nullopt;
  return std::chrono::duration_cast<std::chrono::milliseconds>(*time);
}

CLI::Validator is_budget() {
  return CLI::Validator(
      [](const std::string& text) {
        return parse_budget(text) ? std::string() : "must be a time such as 500ms, 20s, 2m or 1h";
      },
      "TIME");
}

Stop stop_on_interrupt() {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);  // batch systems send it some time before they kill
  return Stop(&interrupted);
}

void SearchOptions::add_budget_to(CLI::App& command, const std::string& what,
                                  const std::string& evaluations_are) {
  command
      .add_option(
          "--budget", budget,
          "Time limit for " + what +
              ", such as 500ms, 20s or 2m, counted from the start of the command and kept "
              "within 5 % unless the first plan takes longer. Without --budget and --evaluations: "
              "a count that takes a second or two")
      ->check(is_budget());
  command.add_option("--evaluations", evaluations, evaluations_are)
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000'000'000}))
      ->excludes("--budget");
}

void SearchOptions::add_to(CLI::App& command) {
  add_budget_to(command);
  command
      .add_option(
          "--scenarios", scenarios,
          "If costs have noise: draws of durations that a search averages over; default: 8, "
          "or fewer if --budget is too short for that")
      ->check(CLI::Range(1, 10000));
  command
      .add_option("--tail-weight", tail_weight,
                  "Minimise the mean plus this factor times the mean of the worst quarter of the "
                  "scenarios")
      ->check(finite_range(0, 1e6));
  command.add_option(
      "--network", network,
      "Trained model of the policy doppler, also where auto or a search asks it: a "
      "model.safetensors made by tutti train; default: the one that comes with tutti");
}

Result<void> SearchOptions::require_use(std::span<const PolicyEntry> entries) const {
  const auto spends = [&](auto what) {
    return std::any_of(entries.begin(), entries.end(),
                       [&](const PolicyEntry& entry) { return what(entry.spends); });
  };
  const bool learned = std::any_of(entries.begin(), entries.end(),
                                   [](const PolicyEntry& entry) { return entry.learned; });
  if (!network.empty() && !learned) {
    return invalid_input(
        fmt::format("--network is for policies that ask a trained model, and {}; leave it out",
                    entries.size() == 1 ? entries[0].name + " does not" : "none of these does"));
  }
  const std::string reason =
      entries.size() == 1 ? entries[0].name + " does not" : std::string("none of these does");
  if (!spends([](Spends on) { return on != Spends::nothing; })) {
    SearchOptions search = *this;
    search.network.clear();
    return search.require_none(fmt::format("is for policies that search, and {}", reason));
  }
  if (spends([](Spends on) { return on == Spends::simulations; })) return {};
  SearchOptions aim = *this;
  aim.budget.clear();
  aim.evaluations.reset();
  aim.network.clear();
  return aim.require_none(fmt::format("is for policies that search by simulation, and {}", reason));
}

Result<void> SearchOptions::require_none(const std::string& because) const {
  const char* given = !budget.empty()    ? "--budget"
                      : evaluations      ? "--evaluations"
                      : scenarios        ? "--scenarios"
                      : tail_weight      ? "--tail-weight"
                      : !network.empty() ? "--network"
                                         : nullptr;
  if (given == nullptr) return {};
  return invalid_input(fmt::format("{} {}; leave it out", given, because));
}

bool default_is_of_use(const CLI::App& command, const CLI::Option& option) {
  const auto given = [&](const char* flag) {
    const CLI::Option* found = command.get_option_no_throw(flag);
    return found != nullptr && found->count() > 0;
  };
  SearchOptions search;
  if (option.check_lname("budget")) search.budget = "1s";
  if (option.check_lname("evaluations")) search.evaluations = 1;
  if (option.check_lname("scenarios")) search.scenarios = 1;
  if (option.check_lname("tail-weight")) search.tail_weight = 1;
  if (option.check_lname("network")) search.network = "model";
  const bool is_start = option.check_lname("from") || option.check_lname("state");
  const bool is_search = !search.require_none("");
  const bool searches = command.get_option_no_throw("--tail-weight") != nullptr;
  if (!searches || !(is_search || is_start)) return true;
  if (given("--plan") || given("--online")) return false;

  std::vector<std::string> names = {"auto"};
  std::vector<PolicyEntry> entries;
  if (given("--policy")) names = command.get_option("--policy")->results();
  if (given("--policies")) names = command.get_option("--policies")->results();
  if (is_start) return names == std::vector<std::string>{"auto"};
  if (command.get_option_no_throw("--policies") != nullptr && !given("--policies")) {
    return search.require_use(planning_policies(nullptr)).has_value();
  }
  for (const std::string& name : names) {
    Result<PolicyEntry> entry = find_planner(name, {});
    if (!entry) return true;  // pipeline, or a slip, which the command names
    entries.push_back(std::move(*entry));
  }
  return search.require_use(entries).has_value();
}

Budget SearchOptions::to_budget() const {
  return {
      .wall_clock = parse_budget(budget), .evaluations = evaluations, .stop = stop_on_interrupt()};
}

Result<AutoSettings> SearchOptions::settings(const ModelOptions& model,
                                             const CommonOptions& common) const {
  AutoSettings settings;
  if (!network.empty()) {
    Result<std::shared_ptr<const DopplerModel>> loaded = load_network(network);
    if (!loaded) return loaded.error();
    settings.trained_model = std::move(*loaded);
  }
  settings.model = {.model = model.sim_model(),
                    .order = model.ready_order(),
                    .scenarios = {.seed = common.seed,
                                  .count = scenarios.value_or(8),
                                  .tail_weight = tail_weight.value_or(0)}};
  settings.budget = to_budget();
  settings.seed = common.seed;
  settings.threads = common.thread_count();
  return settings;
}

void ObjectiveOptions::add_to(CLI::App& command) {
  command
      .add_option("--objective", objective,
                  "makespan: the time of one pass of the graph; throughput: the time per pass when "
                  "passes follow one another")
      ->check(CLI::IsMember({"makespan", "throughput"}))
      ->capture_default_str();
  command
      .add_option("--passes", passes,
                  fmt::format("throughput: passes in flight, fewer if memory is too small for "
                              "them; default: {}",
                              kUsualPasses))
      ->check(CLI::Range(1, kMostPasses));
}

Result<void> ObjectiveOptions::check(const ModelOptions& model) const {
  if (passes && !throughput()) {
    return invalid_input(
        "--passes is for repeated passes, and this is about one; give --objective throughput, or "
        "leave it out");
  }
  if (throughput() && model.sim_model() != SimModel::physical) {
    return invalid_input(fmt::format(
        "--objective throughput needs the physical model; the {} one has no steady state",
        model.model));
  }
  if (throughput() && model.ready_order() != ReadyOrder::priority) {
    return invalid_input(
        "--order is for one pass: repeated passes go by priority; leave it out, or leave out "
        "--objective throughput");
  }
  return {};
}

Budget CommandClock::rest_of(Budget budget, int plans) const {
  if (!budget.wall_clock) return budget;
  using std::chrono::milliseconds;
  const auto spent = Stop::Clock::now() - begin_ + kept_;
  const auto left = *budget.wall_clock - std::chrono::duration_cast<milliseconds>(spent);
  budget.wall_clock = std::max(milliseconds(1), left / plans);
  return budget;
}

void tell_of_interrupt(const char* what) {
  if (interrupted.load(std::memory_order_relaxed)) {
    fmt::print(stderr, "tutti: interrupted: {}\n", what);
  }
}

int with_interrupt(int exit_code) {
  constexpr int kInterrupted = 128 + SIGINT;
  const bool cut_short = interrupted.load(std::memory_order_relaxed);
  return cut_short && (exit_code == 0 || exit_code == 1) ? kInterrupted : exit_code;
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
