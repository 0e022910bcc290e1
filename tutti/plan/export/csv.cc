#include <fmt/format.h>

#include <iterator>

#include "tutti/plan/export/export.h"

namespace tutti {
namespace {

// In quotes where RFC 4180 asks for it.
std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

std::string plan_to_csv(const Plan& plan, const Problem& problem) {
  std::string text = "op,kind,device,priority,start_ns,finish_ns\n";
  for (const OpId op : problem.graph.ops()) {
    fmt::format_to(std::back_inserter(text), "{},{},{},{},", csv_field(problem.graph.op_name(op)),
                   csv_field(problem.graph.op_kind_name(op)),
                   csv_field(problem.machine.device(plan.placement[op.index]).name),
                   plan.priority[op.index]);
    if (plan.start.empty()) {  // the policy has no timeline of its own
      text += ",\n";
    } else {
      fmt::format_to(std::back_inserter(text), "{},{}\n", plan.start[op.index].count(),
                     plan.finish[op.index].count());
    }
  }
  return text;
}

}  // namespace tutti
