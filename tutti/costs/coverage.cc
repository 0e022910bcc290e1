#include "tutti/costs/coverage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "tutti/base/suggest.h"
#include "tutti/graph/kind/kind.h"

namespace tutti {
namespace {

constexpr int kMostEdits = 2;

std::string without_digits(std::string_view name) {
  std::string rest(name);
  std::erase_if(rest, [](unsigned char c) { return std::isdigit(c) != 0; });
  return rest;
}

std::string in_small_letters(std::string_view name) {
  std::string small(name);
  std::transform(small.begin(), small.end(), small.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small;
}

// "sm16" and "sm32" are two names of one family; "gpu2" where there is only "gpu" is a slip.
bool are_numbered_alike(std::string_view a, std::string_view b) {
  const std::string stem = without_digits(a);
  return stem == without_digits(b) && stem.size() < a.size() && stem.size() < b.size();
}

// How many edits a slip would have taken; none if it does not look like one. Something of the
// shorter name must be left, or "a" would be a slip for "b". Another case is one edit.
std::optional<int> edits_of_slip(std::string_view written, std::string_view meant) {
  if (written == meant || are_numbered_alike(written, meant)) return std::nullopt;
  if (in_small_letters(written) == in_small_letters(meant)) return 1;
  const int edits = edits_between(written, meant);
  const int shorter = static_cast<int>(std::min(written.size(), meant.size()));
  if (edits > kMostEdits || edits >= shorter) return std::nullopt;
  return edits;
}

bool is_known_kind(std::string_view name) {
  const auto kinds = known_kinds();
  return std::any_of(kinds.begin(), kinds.end(),
                     [&](const OpKind& kind) { return kind.name == name; });
}

// What a row of any sort is about.
struct RowNames {
  std::string_view what;  // the key of its list
  std::string_view kind;  // of op
  std::string_view device_kind;
  bool measured = false;  // a program wrote it, for whatever ops there were
  int line = 0;
};

std::vector<RowNames> rows_by_kind(const CostSpec& spec) {
  std::vector<RowNames> rows;
  for (const CostSpec::RunTime& row : spec.run_times) {
    rows.push_back({"run_time", row.kind, row.device_kind, !row.points.empty(), row.line});
  }
  for (const CostSpec::Efficiency& row : spec.efficiencies) {
    rows.push_back({"efficiency", row.kind, row.device_kind, false, row.line});
  }
  return rows;
}

class NameCheck {
 public:
  NameCheck(const Graph& graph, const Machine& machine, const CostSpec& spec,
            const std::string& file)
      : graph_(graph), spec_(spec), file_(file), rows_(rows_by_kind(spec)) {
    for (const DeviceId id : machine.devices()) {
      const std::string& kind = machine.device(id).kind;
      if (std::find(device_kinds_.begin(), device_kinds_.end(), kind) == device_kinds_.end()) {
        device_kinds_.push_back(kind);
      }
    }
  }

  Result<void> run() {
    find_op_time_slips();
    for (size_t i = 0; i < graph_.op_kinds().size(); ++i) {
      for (const std::string& device_kind : device_kinds_) {
        if (!has_row(graph_.op_kinds()[i], device_kind)) find_slips(i, device_kind);
      }
    }
    if (!error_) return {};
    return *error_;
  }

 private:
  bool has_op_kind(std::string_view kind) const {
    const auto& kinds = graph_.op_kinds();
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
  }
  bool has_device_kind(std::string_view kind) const {
    return kind.empty() ||
           std::find(device_kinds_.begin(), device_kinds_.end(), kind) != device_kinds_.end();
  }

  bool has_row(std::string_view kind, std::string_view device_kind) const {
    return std::any_of(rows_.begin(), rows_.end(), [&](const RowNames& row) {
      return row.what == "run_time" && row.kind == kind &&
             (row.device_kind.empty() || row.device_kind == device_kind);
    });
  }

  bool is_all_given(size_t kind, const std::string& device_kind) const {
    if (spec_.ignore_given_times || !graph_.has_given_run_times()) return false;
    for (const OpId op : graph_.ops()) {
      if (static_cast<size_t>(graph_.op_kind(op).index) != kind) continue;
      if (!graph_.given_run_time(op, device_kind)) return false;
    }
    return true;
  }

  // Rows for that pair, but for one name that nothing here has.
  void find_slips(size_t kind_index, const std::string& device_kind) {
    const std::string& kind = graph_.op_kinds()[kind_index];
    for (const RowNames& row : rows_) {
      const bool fits = row.device_kind.empty() || row.device_kind == device_kind;
      if (row.kind == kind && !has_device_kind(row.device_kind)) {
        const auto edits = edits_of_slip(row.device_kind, device_kind);
        if (edits && !is_all_given(kind_index, device_kind)) {
          note(*edits, row, "device_kind", row.device_kind, device_kind);
        }
      }
      if (fits && !row.measured && !has_op_kind(row.kind) &&
          !(is_known_kind(row.kind) && is_known_kind(kind))) {
        const auto edits = edits_of_slip(row.kind, kind);
        if (edits && !is_all_given(kind_index, device_kind)) {
          note(*edits, row, "kind", row.kind, kind);
        }
      }
    }
  }

  // Rows for single ops: their device kinds alone. The graph may be a part of what was measured.
  void find_op_time_slips() {
    std::set<std::string_view> seen;
    for (const CostSpec::OpTime& row : spec_.op_times) seen.insert(row.device_kind);
    for (const CostSpec::OpTime& row : spec_.op_times) {
      if (has_device_kind(row.device_kind)) continue;
      for (const std::string& device_kind : device_kinds_) {
        const auto edits = edits_of_slip(row.device_kind, device_kind);
        if (!edits || seen.contains(device_kind)) continue;
        note(*edits, {"op_time", row.op, row.device_kind, false, row.line}, "device_kind",
             row.device_kind, device_kind);
      }
    }
  }

  // Of several names that may have been meant, the nearest.
  void note(int edits, const RowNames& row, std::string_view key, std::string_view written,
            std::string_view meant) {
    if (edits >= fewest_edits_) return;
    fewest_edits_ = edits;
    error_ = invalid_input(
        fmt::format("{}:{}: {} says {} = \"{}\", but {} of that kind; did you mean \"{}\"?", file_,
                    row.line, row.what, key, written,
                    key == "kind" ? "the graph has no op" : "the machine has no device", meant));
  }

  const Graph& graph_;
  const CostSpec& spec_;
  const std::string& file_;
  const std::vector<RowNames> rows_;
  std::vector<std::string> device_kinds_;
  int fewest_edits_ = kMostEdits + 1;
  std::optional<Error> error_;
};

}  // namespace

std::vector<CoverageGap> coverage_gaps(const Costs& costs) {
  const Graph& graph = costs.graph();
  const Machine& machine = costs.machine();
  std::vector<DeviceId> examples(static_cast<size_t>(costs.device_class_count()));
  for (const DeviceId device : machine.devices()) {
    examples[static_cast<size_t>(costs.device_class(device))] = device;
  }
  // By op kind, which classes of devices some op of it cannot run on.
  std::vector<std::vector<bool>> lacking(graph.op_kinds().size(),
                                         std::vector<bool>(examples.size()));
  for (const OpId op : graph.ops()) {
    std::vector<bool>& row = lacking[static_cast<size_t>(graph.op_kind(op).index)];
    for (size_t i = 0; i < examples.size(); ++i) {
      if (!costs.can_run(op, examples[i])) row[i] = true;
    }
  }
  std::vector<CoverageGap> gaps;
  std::map<std::vector<std::string>, size_t> by_device_kinds;
  for (size_t kind = 0; kind < lacking.size(); ++kind) {
    std::vector<std::string> device_kinds;
    for (size_t i = 0; i < examples.size(); ++i) {
      const std::string& name = machine.device(examples[i]).kind;
      const bool named =
          std::find(device_kinds.begin(), device_kinds.end(), name) != device_kinds.end();
      if (lacking[kind][i] && !named) device_kinds.push_back(name);
    }
    if (device_kinds.empty()) continue;
    const auto [known, is_new] = by_device_kinds.try_emplace(device_kinds, gaps.size());
    if (is_new) gaps.push_back({.op_kinds = {}, .device_kinds = device_kinds});
    gaps[known->second].op_kinds.push_back(graph.op_kinds()[kind]);
  }
  return gaps;
}

std::string first_names(const std::vector<std::string>& names) {
  constexpr size_t kMost = 8;
  const auto count = static_cast<std::ptrdiff_t>(std::min(names.size(), kMost));
  std::string text = fmt::format("'{}'", fmt::join(names.begin(), names.begin() + count, "', '"));
  if (names.size() > kMost) text += fmt::format(" and {} more", names.size() - kMost);
  return text;
}

std::string to_text(const std::vector<CoverageGap>& gaps) {
  std::string text;
  for (const CoverageGap& gap : gaps) {
    text += fmt::format("{}{} {} on {}", text.empty() ? "" : "; ",
                        gap.op_kinds.size() == 1 ? "kind" : "kinds", first_names(gap.op_kinds),
                        first_names(gap.device_kinds));
  }
  return text;
}

Result<void> check_names(const Graph& graph, const Machine& machine, const CostSpec& spec,
                         const std::string& file) {
  return NameCheck(graph, machine, spec, file).run();
}

}  // namespace tutti
