#include "tutti/graph/import/stablehlo/opcodes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace tutti {
namespace {

struct Renamed {
  std::string_view name;
  std::string_view opcode;
};

constexpr Renamed kRenamed[] = {
    {"broadcast_in_dim", "broadcast"},
    {"case", "conditional"},
    {"constant_like", "broadcast"},
    {"create_token", "after-all"},
    {"dot_general", "dot"},
    {"dynamic_broadcast_in_dim", "broadcast"},
    {"dynamic_conv", "convolution"},
    {"dynamic_gather", "gather"},
    {"dynamic_iota", "iota"},
    {"dynamic_pad", "pad"},
    {"dynamic_reshape", "reshape"},
    {"if", "conditional"},
    {"optimization_barrier", "opt-barrier"},
    {"real_dynamic_slice", "dynamic-slice"},
    {"rng_uniform", "rng"},
    {"top_k", "topk"},
    {"torch_index_select", "gather"},
};

using Attributes = std::vector<std::pair<std::string, std::string>>;

std::string_view first_attribute(const MlirOp& op, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (const std::string_view value = op.attribute(key); !value.empty()) return value;
  }
  return {};
}

// The bracket behind a key within an attribute: "lhs_contracting_dimensions = [2]".
std::vector<int64_t> numbers_behind(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  const size_t open = text.find('[', at);
  const size_t close = text.find(']', at);
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  return mlir_numbers(text.substr(open, close - open + 1));
}

// "[0] x [1]"
std::array<std::vector<int64_t>, 2> number_pair(std::string_view text) {
  const size_t middle = text.find(']');
  if (middle == std::string_view::npos) return {};
  return {mlir_numbers(text.substr(0, middle + 1)), mlir_numbers(text.substr(middle + 1))};
}

void add_dot(const MlirOp& op, const std::vector<const HloType*>& operands, Attributes& into) {
  std::array<std::vector<int64_t>, 2> batch;
  std::array<std::vector<int64_t>, 2> summed;
  const std::string_view numbers = op.attribute("dot_dimension_numbers");
  if (op.name.ends_with(".dot")) {  // the last axis of the left with the first of the right
    const size_t rank =
        operands.empty() || operands[0]->leaves.empty() ? 0 : operands[0]->leaves[0].dims.size();
    summed = {std::vector<int64_t>{static_cast<int64_t>(rank) - 1}, std::vector<int64_t>{0}};
  } else if (!numbers.empty()) {
    batch = {numbers_behind(numbers, "lhs_batching_dimensions"),
             numbers_behind(numbers, "rhs_batching_dimensions")};
    summed = {numbers_behind(numbers, "lhs_contracting_dimensions"),
              numbers_behind(numbers, "rhs_contracting_dimensions")};
  } else {
    batch = number_pair(op.attribute("batching_dims"));
    summed = number_pair(op.attribute("contracting_dims"));
  }
  into.emplace_back("lhs_batch_dims", hlo_list(batch[0]));
  into.emplace_back("rhs_batch_dims", hlo_list(batch[1]));
  into.emplace_back("lhs_contracting_dims", hlo_list(summed[0]));
  into.emplace_back("rhs_contracting_dims", hlo_list(summed[1]));
}

// "[b, f, 0, 1]" as "bf01"
std::string labels_in(std::string_view text) {
  std::string labels;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) labels += c;
  }
  return labels;
}

// raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2],
// ...
std::string raw_labels(std::string_view text) {
  const auto place = [&](const std::string& key, char label, std::string& labels) {
    const size_t at = text.find(key);
    if (at == std::string_view::npos) return;
    const std::string_view rest = text.substr(at + key.size());
    const size_t digit = rest.find_first_of("0123456789");
    if (digit == std::string_view::npos) return;
    const auto axis = static_cast<size_t>(rest[digit] - '0');
    if (labels.size() <= axis) labels.resize(axis + 1, '?');
    labels[axis] = label;
  };
  const auto side = [&](const std::string& name, const std::string& first, char first_label,
                        const std::string& second, char second_label) {
    std::string labels;
    place(name + "_" + first, first_label, labels);
    place(name + "_" + second, second_label, labels);
    char spatial = '0';
    for (const int64_t axis : numbers_behind(text, name + "_spatial_dimensions")) {
      if (axis < 0 || axis > 9 || spatial > '9') break;
      if (labels.size() <= static_cast<size_t>(axis))
        labels.resize(static_cast<size_t>(axis) + 1, '?');
      labels[static_cast<size_t>(axis)] = spatial++;
    }
    return labels;
  };
  return side("input", "batch_dimension", 'b', "feature_dimension", 'f') + "_" +
         side("kernel", "input_feature_dimension", 'i', "output_feature_dimension", 'o') + "->" +
         side("output", "batch_dimension", 'b', "feature_dimension", 'f');
}

std::string convolution_labels(std::string_view text) {
  if (text.find("input_batch_dimension") != std::string_view::npos) return raw_labels(text);
  std::array<std::string, 3> sides;
  size_t at = 0;
  for (std::string& side : sides) {
    const size_t open = text.find('[', at);
    const size_t close = text.find(']', at);
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) break;
    side = labels_in(text.substr(open, close - open));
    at = close + 1;
  }
  return sides[0] + "_" + sides[1] + "->" + sides[2];
}

// A splat "dense<2> : tensor<4xi64>" stands for as many numbers as its type says.
std::string window_size(std::string_view text) {
  std::vector<int64_t> numbers = mlir_numbers(text);
  const size_t type = text.find(": tensor<");
  if (numbers.size() == 1 && type != std::string_view::npos) {
    int64_t count = 1;
    const char* begin = text.data() + type + 9;
    std::from_chars(begin, text.data() + text.size(), count);
    if (count > 0 && count <= 64) numbers.assign(static_cast<size_t>(count), numbers[0]);
  }
  return fmt::format("{{size={}}}", fmt::join(numbers, "x"));
}

void add_compare(const MlirOp& op, Attributes& into) {
  for (const char* direction : {"LT", "LE", "GT", "GE", "EQ", "NE"}) {
    const bool pretty = std::find(op.words.begin(), op.words.end(), direction) != op.words.end();
    const std::string_view generic = op.attribute("comparison_direction");
    if (pretty || generic.find(fmt::format(" {}>", direction)) != std::string_view::npos ||
        generic == fmt::format("\"{}\"", direction)) {
      into.emplace_back("direction", direction);
      return;
    }
  }
}

}  // namespace

std::string stablehlo_opcode(std::string_view name) {
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view dialect = name.substr(0, dot);
  std::string_view rest = name.substr(dot + 1);
  if (dialect == "func" && rest == "call") return "call";
  if (dialect == "arith" && rest == "constant") return "constant";
  if (dialect != "stablehlo" && dialect != "mhlo" && dialect != "chlo") return {};
  if (dialect == "chlo" && rest.starts_with("broadcast_")) rest.remove_prefix(10);
  for (const Renamed& renamed : kRenamed) {
    if (renamed.name == rest) return std::string(renamed.opcode);
  }
  std::string opcode(rest);
  std::replace(opcode.begin(), opcode.end(), '_', '-');
  return opcode;
}

std::vector<std::pair<std::string, std::string>> stablehlo_attributes(
    const MlirOp& op, std::string_view opcode, const std::vector<const HloType*>& operands) {
  Attributes into;
  if (opcode == "dot") {
    add_dot(op, operands, into);
  } else if (opcode == "convolution") {
    into.emplace_back("dim_labels", convolution_labels(
                                        first_attribute(op, {"dim_numbers", "dimension_numbers"})));
  } else if (opcode == "compare") {
    add_compare(op, into);
  } else if (opcode == "reduce-window" || opcode == "select-and-scatter") {
    into.emplace_back("window", window_size(op.attribute("window_dimensions")));
  } else if (opcode == "custom-call") {
    const std::string_view target = op.attribute("call_target_name");
    into.emplace_back("custom_call_target",
                      target.empty() ? fmt::format("\"{}\"", op.symbol) : std::string(target));
    if (op.attribute("has_side_effect").starts_with("true")) {
      into.emplace_back("custom_call_has_side_effect", "true");
    }
  } else {
    const std::string_view dims =
        first_attribute(op, {"dims", "dim", "dimensions", "dimension", "broadcast_dimensions",
                             "permutation", "iota_dimension"});
    if (!dims.empty()) into.emplace_back("dimensions", hlo_list(mlir_numbers(dims)));
  }
  return into;
}

std::vector<int64_t> mlir_numbers(std::string_view text) {
  if (const size_t dense = text.find("dense<"); dense != std::string_view::npos) {
    text = text.substr(dense + 6, text.find('>', dense) - dense - 6);
  }
  if (const size_t type = text.find(':'); type != std::string_view::npos) {
    text = text.starts_with("array<") ? text.substr(type + 1) : text.substr(0, type);
  } else if (text.starts_with("array<")) {
    return {};  // array<i64>
  }
  std::vector<int64_t> numbers;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool digit = text[at] >= '0' && text[at] <= '9';
    if (!digit &&
        !(text[at] == '-' && at + 1 < text.size() && text[at + 1] >= '0' && text[at + 1] <= '9')) {
      continue;
    }
    int64_t number = 0;
    const auto [end, code] = std::from_chars(text.data() + at, text.data() + text.size(), number);
    if (code == std::errc()) numbers.push_back(number);
    at = static_cast<size_t>(end - text.data());
  }
  return numbers;
}

std::string hlo_list(const std::vector<int64_t>& numbers) {
  return fmt::format("{{{}}}", fmt::join(numbers, ","));
}

MlirLiteral read_mlir_literal(std::string_view literal) {
  MlirLiteral read{.whole = literal};
  std::string_view inside = literal;
  if (const size_t dense = literal.find("dense<"); dense == 0) {
    // A type may stand behind it: dense<1> : tensor<4xi32>.
    const size_t end = literal.substr(0, 128).find('>');
    if (end == std::string_view::npos) return read;
    inside = literal.substr(6, end - 6);
  } else if (literal.starts_with("dense")) {
    return read;
  } else {
    inside = literal.substr(0, literal.find(' '));
  }
  if (inside.empty() || inside.size() > 64 || inside.front() == '[' || inside.front() == '"') {
    return read;
  }
  read.splat = true;
  read.text = inside;
  char* end = nullptr;
  const double number = std::strtod(read.text.c_str(), &end);
  if (end == read.text.c_str() + read.text.size()) {
    if (number == 0) {
      read.text = "0";
    } else if (std::abs(number) < 1e15 && number == std::floor(number)) {
      read.text = fmt::format("{}", static_cast<int64_t>(number));  // "5.0e+00" as HLO's "5"
    }
  }
  return read;
}

}  // namespace tutti
