#include "tools/compare_real.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/inputs.h"
#include "tools/table.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/base/fingerprint.h"
#include "tutti/base/random.h"
#include "tutti/kernels/inputs.h"
#include "tutti/runtime/sim/sim.h"
#include "tutti/trace/check.h"

namespace tutti {
namespace {

LocalOptions options_for(const Problem& problem, const RealComparisonSettings& settings,
                         bool bulk_synchronous) {
  LocalOptions options;
  options.bulk_synchronous = bulk_synchronous;
  options.staged = settings.staged;
  options.keep_inputs = true;
  options.stop = settings.stop;
  options.input = [&problem, seed = settings.seed](ValueId value, const Block& block) {
    fill_input(problem.graph, value, seed, block);
  };
  return options;
}

void run_row(LocalRuntime& runtime, const Problem& problem, const RealEntry& entry,
             const RealComparisonSettings& settings, bool counts, RealRow& row) {
  runtime.set_options(options_for(problem, settings, entry.bulk_synchronous));
  const Result<Trace> trace = runtime.run(problem, entry.plan);
  if (!trace && settings.stop.now()) return;  // which says nothing about the row
  if (!trace) {
    row.error = trace.error().message;
    row.kind = trace.error().kind;
    return;
  }
  const auto faults = check_trace(problem, *trace, rules_for(*trace, &entry.plan));
  if (!faults.empty()) row.error = "the run does not pass the check: " + faults[0];
  for (const OpSpan& span : trace->ops) {
    row.misplaced += span.device != entry.plan.placement[static_cast<size_t>(span.op.index)];
  }
  if (counts) row.times_ns.push_back(static_cast<double>(trace->makespan.count()));
}

Duration of_ns(double ns) {
  return Duration(static_cast<int64_t>(ns));
}

// The row of the least mean; none if nothing ran.
const RealRow* best_of(const std::vector<RealRow>& rows) {
  const RealRow* best = nullptr;
  for (const RealRow& row : rows) {
    if (row.times_ns.empty() || !row.error.empty()) continue;
    if (best == nullptr || summary_of(row.times_ns).mean < summary_of(best->times_ns).mean) {
      best = &row;
    }
  }
  return best;
}

}  // namespace

std::vector<size_t> order_of_turn(size_t rows, uint64_t seed, int turn) {
  Rng rng = Rng(seed).split(static_cast<uint64_t>(turn));
  std::vector<size_t> order(rows);
  for (size_t i = 0; i < rows; ++i) order[i] = i;
  for (size_t i = rows; i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  return order;
}

std::vector<RealRow> compare_for_real(const Problem& problem, LocalRuntime& runtime,
                                      const std::vector<RealEntry>& entries,
                                      const RealComparisonSettings& settings) {
  std::vector<RealRow> rows;
  for (const RealEntry& entry : entries) {
    RealRow row{.name = entry.name,
                .bulk_synchronous = entry.bulk_synchronous,
                .plan_seconds = entry.plan_seconds};
    const Result<Trace> simulated = SimRuntime().run(problem, entry.plan);
    if (simulated && !entry.bulk_synchronous) {
      row.predicted_ns = static_cast<double>(simulated->makespan.count());
    }
    rows.push_back(std::move(row));
  }
  const int turns = settings.warm_up + settings.repeats;
  for (int turn = 0; turn < turns; ++turn) {
    if (shows_progress()) fmt::print(stderr, "\r\033[Kturn {} of {} ...", turn + 1, turns);
    for (const size_t at : order_of_turn(rows.size(), settings.seed, turn)) {
      if (settings.stop.now()) break;
      if (!rows[at].error.empty()) continue;
      run_row(runtime, problem, entries[at], settings, turn >= settings.warm_up, rows[at]);
    }
  }
  if (shows_progress()) fmt::print(stderr, "\r\033[K");
  return rows;
}

std::string real_rows_to_json(const Problem& problem, const std::vector<RealRow>& rows,
                              const RealSetting& setting) {
  JsonWriter json;
  json.open_object().field("schema_version", 1).field("graph", problem.graph.name());
  json.field("machine", problem.machine.name()).field("runtime", setting.runtime);
  if (!setting.hosts.empty()) {
    json.key("hosts").open_list();
    for (const std::string& host : setting.hosts) json.value(host);
    json.close_list();
  }
  if (setting.stopped) json.field("stopped", true);
  json.key("results").open_list();
  for (const RealRow& row : rows) {
    json.open_object().field("policy", row.name).field("bulk_synchronous", row.bulk_synchronous);
    if (!row.scheduler.empty()) json.field("scheduler", row.scheduler);
    if (!row.error.empty() || row.times_ns.empty()) {
      json.field("error", row.error.empty() ? "stopped before it was measured" : row.error);
      json.close_object();
      continue;
    }
    const Summary summary = summary_of(row.times_ns);
    json.key("measured_ns").open_object().field("mean", summary.mean);
    json.key("half_interval");
    summary.count > 1 ? json.value(summary.half_interval) : json.null();
    json.field("median", summary.median).field("least", summary.least).key("stddev");
    summary.count > 1 ? json.value(summary.deviation) : json.null();
    json.close_object();
    json.key("predicted_ns");
    row.predicted_ns ? json.value(*row.predicted_ns) : json.null();
    json.field("plan_seconds", row.plan_seconds).field("misplaced_ops", row.misplaced);
    if (row.results) json.field("results_fingerprint", fingerprint_text(*row.results));
    json.key("makespans_ns").open_list();
    for (const double time : row.times_ns) json.value(static_cast<int64_t>(time));
    json.close_list().close_object();
  }
  json.close_list().close_object();
  return json.text();
}

std::string real_rows_to_table(const Problem& problem, const std::vector<RealRow>& rows,
                               const RealSetting& setting) {
  const RealRow* best = best_of(rows);
  std::string text = fmt::format(
      "graph {} (ops: {}), machine {} (devices: {}), run for real {}\n", problem.graph.name(),
      problem.graph.size(), problem.machine.name(), problem.machine.size(),
      setting.hosts.empty() ? "on this host" : fmt::format("on {} ranks", setting.hosts.size()));
  Table table({"policy", "measured", "± 95 %", "least", "runs", "predicted", "over the best"});
  for (const RealRow& row : rows) {
    if (row.times_ns.empty() || !row.error.empty()) continue;
    const Summary summary = summary_of(row.times_ns);
    const Summary first = summary_of(best->times_ns);
    const bool tie = summary.mean - first.mean <= summary.half_interval + first.half_interval;
    table.add({row.name + (row.bulk_synchronous ? ", bulk-synchronous" : ""),
               to_text(of_ns(summary.mean)),
               summary.count > 1 ? to_text(of_ns(summary.half_interval)) : "-",
               to_text(of_ns(summary.least)), std::to_string(summary.count),
               row.predicted_ns ? to_text(of_ns(*row.predicted_ns)) : "-",
               &row == best ? "best"
                            : fmt::format("{:+.1f} %{}", 100 * (summary.mean / first.mean - 1),
                                          tie ? " (tie)" : "")});
  }
  if (best != nullptr) text += table.text();
  for (const RealRow& row : rows) {
    if (!row.error.empty()) text += fmt::format("  {}: {}\n", row.name, row.error);
  }
  return text;
}

int report_rows(const Problem& problem, const std::vector<RealRow>& rows,
                const RealSetting& setting, bool json) {
  fmt::print("{}", json ? real_rows_to_json(problem, rows, setting)
                        : real_rows_to_table(problem, rows, setting));
  bool all_failed = true;
  for (const RealRow& row : rows) {
    if (row.error.empty() && !row.times_ns.empty()) return 0;
    all_failed = all_failed && !row.error.empty();
  }
  if (!all_failed) return report(failed("stopped before anything was measured"));
  const RealRow& last = rows.back();
  return report({last.kind, last.error});
}

}  // namespace tutti
