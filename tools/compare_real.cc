#include "tools/compare_real.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/inputs.h"
#include "tools/table.h"
#include "tutti/base/json_writer.h"
#include "tutti/base/random.h"
#include "tutti/kernels/inputs.h"
#include "tutti/runtime/local/local.h"
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
  if (!trace) {
    row.error = trace.error().message;
    return;
  }
  const auto faults = check_trace(problem, *trace, rules_for(*trace, &entry.plan));
  if (!faults.empty()) row.error = "the run does not pass the check: " + faults[0];
  if (counts) row.times_ns.push_back(static_cast<double>(trace->makespan.count()));
}

std::vector<size_t> shuffled(size_t count, Rng rng) {
  std::vector<size_t> order(count);
  for (size_t i = 0; i < count; ++i) order[i] = i;
  for (size_t i = count; i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  return order;
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

Result<std::vector<RealRow>> compare_for_real(const Problem& problem,
                                              const std::vector<RealEntry>& entries,
                                              const RealComparisonSettings& settings) {
  Result<std::unique_ptr<LocalRuntime>> runtime =
      LocalRuntime::open(problem.machine, OpTable::standard());
  if (!runtime) return runtime.error();
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
    for (const size_t at :
         shuffled(rows.size(), Rng(settings.seed).split(static_cast<uint64_t>(turn)))) {
      if (settings.stop.now()) break;
      if (!rows[at].error.empty()) continue;
      run_row(**runtime, problem, entries[at], settings, turn >= settings.warm_up, rows[at]);
    }
  }
  if (shows_progress()) fmt::print(stderr, "\r\033[K");
  return rows;
}

std::string real_rows_to_json(const Problem& problem, const std::vector<RealRow>& rows) {
  JsonWriter json;
  json.open_object().field("schema_version", 1).field("graph", problem.graph.name());
  json.field("machine", problem.machine.name()).field("runtime", "local");
  json.key("results").open_list();
  for (const RealRow& row : rows) {
    json.open_object().field("policy", row.name).field("bulk_synchronous", row.bulk_synchronous);
    if (!row.error.empty() || row.times_ns.empty()) {
      json.field("error", row.error.empty() ? "stopped before it was measured" : row.error);
      json.close_object();
      continue;
    }
    const Summary summary = summary_of(row.times_ns);
    json.key("measured_ns").open_object().field("mean", summary.mean);
    json.field("half_interval", summary.half_interval).field("median", summary.median);
    json.field("least", summary.least).field("stddev", summary.deviation).close_object();
    json.key("predicted_ns");
    row.predicted_ns ? json.value(*row.predicted_ns) : json.null();
    json.field("plan_seconds", row.plan_seconds).key("makespans_ns").open_list();
    for (const double time : row.times_ns) json.value(static_cast<int64_t>(time));
    json.close_list().close_object();
  }
  json.close_list().close_object();
  return json.text();
}

std::string real_rows_to_table(const Problem& problem, const std::vector<RealRow>& rows) {
  const RealRow* best = best_of(rows);
  std::string text = fmt::format(
      "graph {} (ops: {}), machine {} (devices: {}), run for real on this host\n",
      problem.graph.name(), problem.graph.size(), problem.machine.name(), problem.machine.size());
  Table table({"policy", "measured", "± 95 %", "least", "runs", "predicted", "over the best"});
  for (const RealRow& row : rows) {
    if (row.times_ns.empty() || !row.error.empty()) continue;
    const Summary summary = summary_of(row.times_ns);
    const Summary first = summary_of(best->times_ns);
    const bool tie = summary.mean - first.mean <= summary.half_interval + first.half_interval;
    table.add({row.name + (row.bulk_synchronous ? ", bulk-synchronous" : ""),
               to_text(of_ns(summary.mean)), to_text(of_ns(summary.half_interval)),
               to_text(of_ns(summary.least)), std::to_string(summary.count),
               row.predicted_ns ? to_text(of_ns(*row.predicted_ns)) : "-",
               &row == best ? "best"
                            : fmt::format("{:+.1f} %{}", 100 * (summary.mean / first.mean - 1),
                                          tie ? " (tie)" : "")});
  }
  text += table.text();
  for (const RealRow& row : rows) {
    if (!row.error.empty()) text += fmt::format("  {}: {}\n", row.name, row.error);
  }
  return text;
}

}  // namespace tutti
