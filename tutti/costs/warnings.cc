#include "tutti/costs/warnings.h"

#include <fmt/format.h>

#include <algorithm>

#include "tutti/base/file/source.h"
#include "tutti/costs/coverage.h"
#include "tutti/graph/names.h"
#include "tutti/machine/file.h"
#include "tutti/machine/units.h"

namespace tutti {
namespace {

// For each op whether some row or given time states its run time, on any kind of device.
std::vector<bool> which_have_times(const Graph& graph, const CostSpec& spec,
                                   const NameIndex& names) {
  std::vector<bool> timed(static_cast<size_t>(graph.size()), false);
  std::vector<bool> kind_has_row(graph.op_kinds().size(), false);
  for (size_t i = 0; i < kind_has_row.size(); ++i) {
    kind_has_row[i] =
        std::any_of(spec.run_times.begin(), spec.run_times.end(),
                    [&](const CostSpec::RunTime& row) { return row.kind == graph.op_kinds()[i]; });
  }
  for (const CostSpec::OpTime& row : spec.op_times) {
    if (const auto op = names.find(row.op)) timed[static_cast<size_t>(op->index)] = true;
  }
  const auto kinds = static_cast<int>(graph.device_kinds().size());
  for (const OpId op : graph.ops()) {
    const auto at = static_cast<size_t>(op.index);
    if (kind_has_row[static_cast<size_t>(graph.op_kind(op).index)]) timed[at] = true;
    for (int kind = -1; kind < kinds && !spec.ignore_given_times; ++kind) {
      const std::vector<Duration>* column = graph.run_time_column(kind);
      if (column != nullptr && (*column)[op.index].count() >= 0) timed[at] = true;
    }
  }
  return timed;
}

// Ops without any known work are usually a mistake. Bytes alone say little if other ops have times
// and none has flops. Commands are left out: a roofline cannot know their work.
std::string unknown_work(const Graph& graph, const std::vector<bool>& timed,
                         const std::string& graph_file) {
  const bool others_have_times = std::find(timed.begin(), timed.end(), true) != timed.end();
  bool states_flops = false;
  for (const OpId op : graph.ops()) states_flops = states_flops || graph.flops(op) > 0;
  int32_t count = 0;
  std::vector<std::string> kinds;
  for (const OpId op : graph.ops()) {
    if (timed[static_cast<size_t>(op.index)] || graph.flops(op) > 0) continue;
    if (graph.command(op) != nullptr) continue;
    int64_t bytes = 0;
    for (const ValueId value : graph.operands(op)) bytes += graph.bytes(value);
    for (const ValueId value : graph.outputs(op)) bytes += graph.bytes(value);
    if (bytes > 0 && (states_flops || !others_have_times)) continue;
    ++count;
    const std::string kind(graph.op_kind_name(op));
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
  }
  if (count == 0) return "";
  return fmt::format(
      "{}: {} ops have neither time nor flops and count as launch overhead and bytes alone, of {} "
      "{}; give their times with --costs",
      graph_file, count, kinds.size() == 1 ? "kind" : "kinds", first_names(kinds));
}

// The first row by name for an op that the graph lacks.
std::string unknown_op(const CostSpec& spec, const NameIndex& names, const std::string& file) {
  const auto unknown =
      std::find_if(spec.op_times.begin(), spec.op_times.end(),
                   [&](const CostSpec::OpTime& row) { return !names.find(row.op); });
  if (unknown == spec.op_times.end()) return "";
  return fmt::format("{}: the graph has no op '{}'", file, one_line(unknown->op));
}

// Costs are by kind of device: a cpu of four cores is not the cpu of one that was measured. What
// was measured stands in parentheses after the machine's name.
std::string other_units(const CostSpec& spec, const Machine& machine,
                        const std::string& costs_file) {
  if (!spec.calibration || !spec.calibration->machine.ends_with(')')) return "";
  const std::string& text = spec.calibration->machine;
  const size_t begin = text.rfind(" (");
  if (begin == std::string::npos) return "";
  const std::string measured = text.substr(begin + 2, text.size() - begin - 3);
  const std::string here = units_text(machine);
  const std::string other = first_difference(measured, here);
  if (other.empty()) return "";
  return fmt::format(
      "{}: run times were measured on devices of {} (kind:cores), and machine '{}' has {}; measure "
      "it with tutti calibrate",
      costs_file, one_line(other), machine.name(), here);
}

// A device cannot run ops that have no time there.
std::string uncovered(const Costs& costs, const std::string& graph_file) {
  const std::vector<CoverageGap> gaps = coverage_gaps(costs);
  if (gaps.empty()) return "";
  std::vector<std::string> without_rates;
  for (const DeviceId id : devices_without_rates(costs.machine())) {
    const Device& device = costs.machine().device(id);
    const bool concerned = std::any_of(gaps.begin(), gaps.end(), [&](const CoverageGap& gap) {
      const auto& kinds = gap.device_kinds;
      return std::find(kinds.begin(), kinds.end(), device.kind) != kinds.end();
    });
    if (concerned) without_rates.push_back(device.name);
  }
  const std::string rates = without_rates.empty()
                                ? ""
                                : fmt::format(" (machine '{}' states no flops_per_s of {})",
                                              costs.machine().name(), first_names(without_rates));
  return fmt::format(
      "{}: ops without a time on a kind of device cannot run there: {}{}; give times with --costs, "
      "or flops and rates",
      graph_file, to_text(gaps), rates);
}

}  // namespace

std::vector<std::string> cost_warnings(const Costs& costs, const CostSpec& spec,
                                       const std::string& graph_file,
                                       const std::string& costs_file) {
  const Graph& graph = costs.graph();
  const NameIndex names(graph);
  std::vector<std::string> warnings = {
      unknown_op(spec, names, costs_file),
      unknown_work(graph, which_have_times(graph, spec, names), graph_file),
      other_units(spec, costs.machine(), costs_file), uncovered(costs, graph_file)};
  std::erase(warnings, "");
  return warnings;
}

}  // namespace tutti
