#include "tutti/costs/work.h"

#include <algorithm>
#include <cctype>

namespace tutti {
namespace {

void append(std::string& text, std::string_view part) {
  if (!text.empty()) text += ' ';
  text += part;
}

}  // namespace

std::string canonical_einsum(std::string_view text) {
  std::string letters;
  std::string canonical;
  for (const char c : text) {
    if (std::isalpha(static_cast<unsigned char>(c)) == 0) {
      canonical += c;
      continue;
    }
    size_t place = letters.find(c);
    if (place == std::string::npos) {
      place = letters.size();
      letters += c;
    }
    // There are no more than 52 letters, small ones first.
    canonical += static_cast<char>(place < 26 ? 'a' + place : 'A' + (place - 26));
  }
  return canonical;
}

OpWork work_of(const Graph& graph, OpId op) {
  OpWork work{.flops = graph.flops(op)};
  for (const ValueId value : graph.operands(op)) {
    work.read_bytes += static_cast<double>(graph.bytes(value));
  }
  for (const ValueId value : graph.outputs(op)) {
    work.written_bytes += static_cast<double>(graph.bytes(value));
  }
  // These read no more of their operands than they write.
  const std::string_view kind = graph.op_kind_name(op);
  if (kind == "slice" || kind == "embedding" || kind == "last_token") {
    work.read_bytes = std::min(work.read_bytes, work.written_bytes);
  }
  bool has_einsum = false;
  for (const auto& [key, value] : graph.attributes(op)) {
    has_einsum = has_einsum || key == "einsum";
    if (key == "einsum") append(work.variant, "einsum=" + canonical_einsum(value));
    if (key == "axis" || key == "permutation") {
      append(work.variant, std::string(key) + "=" + std::string(value));
    }
    // A causal softmax leaves out what lies ahead; from which row on does not change the way.
    if (key == "first_row" && kind == "softmax") append(work.variant, "causal");
  }
  if (kind == "matmul" && !has_einsum) append(work.variant, "einsum=ab,bc->ac");  // its default
  if (!graph.outputs(op).empty()) {
    const DType dtype = graph.dtype(graph.outputs(op).front());
    if (dtype != DType::unknown && dtype != DType::f32) append(work.variant, to_text(dtype));
  }
  return work;
}

}  // namespace tutti
