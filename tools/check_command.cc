// tutti check: the independent judge of plans and traces. What its rules do not tell, such as
// whether a run would stand still for want of memory, the simulator is asked. Rules that could not
// be applied are told with the reason, so that "good" says no more than was looked at.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "tools/answer.h"
#include "tools/commands.h"
#include "tools/inputs.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/plan/check/check.h"
#include "tutti/plan/file.h"
#include "tutti/runtime/sim/replay.h"
#include "tutti/trace/check.h"
#include "tutti/trace/file.h"

namespace tutti {
namespace {

struct CheckArguments {
  ProblemInputs inputs;
  bool json = false;
  std::string plan;
  std::string trace;
};

Result<std::optional<Plan>> plan_to_check(const std::string& path, const Problem& problem) {
  if (path.empty()) return std::optional<Plan>{};
  Result<Source> source = Source::open(path);
  if (!source) return source.error();
  Result<Plan> plan = read_plan(*source, problem);
  if (!plan) return plan.error();
  warn_of_another_problem(path, *plan, problem);
  return std::optional<Plan>(std::move(*plan));
}

Result<std::optional<Trace>> trace_to_check(const std::string& path, const Problem& problem,
                                            std::vector<NotApplied>& not_applied) {
  if (path.empty()) return std::optional<Trace>{};
  Result<Source> source = Source::open(path);
  if (!source) return source.error();
  Result<Trace> trace = read_trace(*source, problem, &not_applied);
  if (!trace) return trace.error();
  return std::optional<Trace>(std::move(*trace));
}

// What was found, of the plan and of the trace.
struct Found {
  std::string of;
  Judgement judgement;
};

void append(Judgement& all, Judgement more) {
  for (Fault& fault : more.faults) all.faults.push_back(std::move(fault));
  for (NotApplied& one : more.not_applied) all.not_applied.push_back(std::move(one));
}

void set_aside(Judgement& all, std::span<const Rule> rules) {
  for (const Rule& rule : rules) {
    all.not_applied.push_back({std::string(rule.name), "an earlier rule is broken"});
  }
}

// A plan may break no rule and yet come to a stand under memory limits.
Judgement judge(const Problem& problem, const Plan& plan) {
  Judgement all = judge_plan(problem, plan);
  if (all.good()) {
    append(all, replay_plan(problem, plan));
  } else {
    set_aside(all, plan_replay_rules());
  }
  return all;
}

// The bound is by mean costs: a real run, or one that was lucky in its draws, may be quicker.
void judge_bound(const Trace& trace, const TraceRules& rules, Duration bound, Judgement& all) {
  if (rules.timeless) {
    all.not_applied.push_back({"bound", "a run of the null runtime takes no time"});
  } else if (rules.measured || trace.sampled) {
    const double ratio = static_cast<double>(trace.makespan.count()) /
                         static_cast<double>(std::max<int64_t>(bound.count(), 1));
    all.not_applied.push_back(
        {"bound",
         fmt::format("it is by mean costs, which {} may beat; the makespan is {:.3g} of it",
                     rules.measured ? "real devices" : "draws", ratio)});
  } else if (trace.makespan < bound) {
    all.faults.push_back({"bound", fmt::format("makespan {} is below the lower bound {}",
                                               to_text(trace.makespan), to_text(bound))});
  }
}

// `plan` is null if none was given, or one that is not good.
Judgement judge(const LoadedProblem& loaded, const Plan* plan, const Trace& trace, Duration bound,
                const std::vector<NotApplied>& not_applied) {
  const Problem& problem = *loaded.problem;
  TraceRules rules = rules_for(trace, plan);
  rules.doubted = true;
  rules.costs_measured = loaded.calibration.has_value();
  Judgement all = judge_trace(problem, trace, rules);
  judge_bound(trace, rules, bound, all);
  if (all.good() && (plan == nullptr || check_plan(problem, *plan, 1).empty())) {
    append(all, replay_trace(problem, plan, trace));
  } else {
    set_aside(all, trace_replay_rules());
  }
  all.not_applied.insert(all.not_applied.begin(), not_applied.begin(), not_applied.end());
  return all;
}

size_t fault_count(const std::vector<Found>& found) {
  size_t count = 0;
  for (const Found& one : found) count += one.judgement.faults.size();
  return count;
}

void print_json(const std::vector<Found>& found, const Bounds& bounds) {
  JsonWriter json;
  json.open_object().field("schema_version", 2).field("good", fault_count(found) == 0);
  json.field("lower_bound_ns", bounds.strongest()).key("faults").open_list();
  for (const Found& one : found) {
    for (const Fault& fault : one.judgement.faults) {
      json.open_object().field("of", one.of).field("rule", fault.rule);
      json.field("fault", fault.sentence).close_object();
    }
  }
  json.close_list().key("not_applied").open_list();
  for (const Found& one : found) {
    for (const NotApplied& rule : one.judgement.not_applied) {
      json.open_object().field("of", one.of).field("rule", rule.rule);
      json.field("reason", rule.reason).close_object();
    }
  }
  json.close_list().close_object();
  fmt::print("{}", json.text());
}

// Rules with the same reason together, in the order of the first.
void print_not_applied(const std::vector<Found>& found) {
  struct Line {
    std::string rules;  // with what they are of
    std::string of;
    std::string reason;
  };
  std::vector<Line> lines;
  for (const Found& one : found) {
    for (const NotApplied& rule : one.judgement.not_applied) {
      const auto same = std::find_if(lines.begin(), lines.end(), [&](const Line& line) {
        return line.of == one.of && line.reason == rule.reason;
      });
      if (same == lines.end()) {
        lines.push_back({one.of + ": " + rule.rule, one.of, rule.reason});
      } else {
        same->rules += ", " + rule.rule;
      }
    }
  }
  if (lines.empty()) return;
  fmt::print("rules not applied, or not in full:\n");
  for (const Line& line : lines) fmt::print("  {}: {}\n", line.rules, line.reason);
}

void print_text(const std::vector<Found>& found, const Bounds& bounds, bool with_plan) {
  const size_t faults = fault_count(found);
  if (faults == 0) {
    const bool all = std::all_of(found.begin(), found.end(), [](const Found& one) {
      return one.judgement.not_applied.empty();
    });
    fmt::print("good: every rule {}holds{}; lower bound {}\n", all ? "" : "that can be applied ",
               with_plan ? ", and a simulated run of the plan ends" : "",
               to_text(bounds.strongest()));
  } else {
    fmt::print("{} rule{} broken\n", faults, faults == 1 ? " is" : "s are");
  }
  for (const Found& one : found) {
    for (const Fault& fault : one.judgement.faults) {
      fmt::print("  {}: {}: {}\n", one.of, fault.rule, fault.sentence);
    }
  }
  print_not_applied(found);
}

int run_check(const CheckArguments& arguments) {
  if (arguments.plan.empty() && arguments.trace.empty()) {
    return report(invalid_input("tutti check needs --plan, --trace or both"));
  }
  if (arguments.plan == "-" && arguments.trace == "-") {
    return report(
        invalid_input("standard input (-) can be read only once; put the plan in a file"));
  }
  const Result<LoadedProblem> loaded = arguments.inputs.load();
  if (!loaded) return report(loaded.error());
  const Problem& problem = *loaded->problem;
  const Result<std::optional<Plan>> plan = plan_to_check(arguments.plan, problem);
  if (!plan) return report(plan.error());
  std::vector<NotApplied> not_applied;
  const Result<std::optional<Trace>> trace = trace_to_check(arguments.trace, problem, not_applied);
  if (!trace) return report(trace.error());

  const Bounds bounds = lower_bounds(problem);
  std::vector<Found> found;
  if (*plan) found.push_back({"plan", judge(problem, **plan)});
  if (*trace) {
    found.push_back({"trace", judge(*loaded, *plan ? &**plan : nullptr, **trace, bounds.strongest(),
                                    not_applied)});
  }
  if (arguments.json) {
    print_json(found, bounds);
  } else {
    print_text(found, bounds, plan->has_value());
  }
  return fault_count(found) == 0 ? 0 : 2;
}

}  // namespace

void add_check_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("check", "Check a plan or a trace against the rules");
  accept_seed(*command);
  command->footer(
      "Example: tutti check graph.json --machine p100-4 --plan plan.json --trace trace.json");
  auto arguments = std::make_shared<CheckArguments>();
  arguments->inputs.add_to(*command);
  arguments->inputs.add_noise_to(*command);
  arguments->inputs.add_cold_to(*command);
  command->add_flag("--json", arguments->json, "Print the verdict as JSON");
  command->add_option("--plan", arguments->plan, "Plan file");
  command->add_option("--trace", arguments->trace, "Trace file, made by simulate --trace");
  command->callback([arguments, &exit_code] { exit_code = run_check(*arguments); });
}

}  // namespace tutti
