#include "tutti/graph/import/hlo/scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "tutti/graph/limits.h"

namespace tutti {
namespace {

constexpr int kDeepestTuple = 64;

struct Element {
  std::string_view name;
  DType dtype;
  int64_t bytes;  // a pair of 4-bit numbers still takes one each
};

constexpr Element kElements[] = {
    {"pred", DType::boolean, 1}, {"s8", DType::i8, 1},         {"u8", DType::u8, 1},
    {"s16", DType::i16, 2},      {"u16", DType::unknown, 2},   {"s32", DType::i32, 4},
    {"u32", DType::unknown, 4},  {"s64", DType::i64, 8},       {"u64", DType::unknown, 8},
    {"f16", DType::f16, 2},      {"bf16", DType::bf16, 2},     {"f32", DType::f32, 4},
    {"f64", DType::f64, 8},      {"c64", DType::unknown, 8},   {"c128", DType::unknown, 16},
    {"s4", DType::unknown, 1},   {"u4", DType::unknown, 1},    {"s2", DType::unknown, 1},
    {"u2", DType::unknown, 1},   {"token", DType::unknown, 0}, {"opaque", DType::unknown, 0},
};

std::optional<Element> find_element(std::string_view name) {
  for (const Element& element : kElements) {
    if (element.name == name) return element;
  }
  // f8e4m3fn and its many kin.
  if (name.starts_with("f8") || name.starts_with("f4")) return Element{name, DType::unknown, 1};
  return std::nullopt;
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-' || c == ':' || static_cast<unsigned char>(c) >= 0x80;
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  // Past blanks and comments.
  void skip() {
    for (;;) {
      rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
      if (!rest_.starts_with("/*")) return;
      const size_t end = rest_.find("*/", 2);
      rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 2);
    }
  }

  bool at_end() {
    skip();
    return rest_.empty();
  }

  bool take(char c) {
    skip();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  // A name or keyword, its percent sign left out; empty if none stands here.
  std::string_view word() {
    take('%');
    size_t end = 0;
    while (end < rest_.size() && is_word(rest_[end])) ++end;
    return advance(end);
  }

  // Up to a comma or closing bracket of this level.
  std::string_view value() {
    skip();
    int depth = 0;
    bool quoted = false;
    size_t end = 0;
    for (; end < rest_.size(); ++end) {
      const char c = rest_[end];
      if (quoted) {
        if (c == '\\') ++end;
        if (c == '"') quoted = false;
        continue;
      }
      if (c == '"') quoted = true;
      if (c == '(' || c == '{' || c == '[') ++depth;
      if (c == ')' || c == '}' || c == ']') {
        if (depth == 0) break;
        --depth;
      }
      if (c == ',' && depth == 0) break;
    }
    return advance(std::min(end, rest_.size()));
  }

  Result<void> type(HloType& into, int depth = 0) {
    if (!take('(')) return array(into);
    if (depth == kDeepestTuple) return invalid_input("tuples are nested deeper than 64");
    into.tuple = true;
    bool closed = take(')');
    while (!closed) {
      HloType element;
      if (const Result<void> read = type(element, depth + 1); !read) return read;
      into.element_begin.push_back(into.leaves.size());
      for (HloType::Array& leaf : element.leaves) into.leaves.push_back(std::move(leaf));
      closed = take(')');
      if (!closed && !take(',')) return invalid_input("the type of a tuple is not closed");
    }
    into.element_begin.push_back(into.leaves.size());
    return {};
  }

 private:
  std::string_view advance(size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  // f32[2,<=3]{1,0:T(8,128)}
  Result<void> array(HloType& into) {
    skip();
    const std::string_view name = word();
    const std::optional<Element> element = find_element(name);
    if (!element) return invalid_input(fmt::format("'{}' is not a type of HLO", shown(name)));
    if (!take('[')) return invalid_input("a type needs its dimensions, such as f32[2,3]");
    HloType::Array array{.dtype = element->dtype};
    double bytes = static_cast<double>(element->bytes);
    while (!take(']')) {
      const std::string_view word = value();
      const size_t digits = word.starts_with("<=") ? 2 : 0;
      const Result<int64_t> size = read_whole(word.substr(digits), "a dimension", kMostBytes);
      if (!size) return size.error();
      array.dims.push_back(*size);
      bytes *= static_cast<double>(*size);
      if (array.dims.size() > kMostDimensions) return invalid_input("more than 64 dimensions");
      if (!take(',') && !rest_.starts_with(']')) {
        return invalid_input("the dimensions of a type are not closed");
      }
    }
    if (bytes > static_cast<double>(kMostBytes)) {
      return invalid_input("a value of more than 2^60 bytes");
    }
    array.bytes = static_cast<int64_t>(bytes);
    into.leaves.push_back(std::move(array));
    if (take('{')) {  // the layout
      value_list();
      if (!take('}')) return invalid_input("the layout of a type is not closed");
    }
    return {};
  }

  void value_list() {
    do value();
    while (take(','));
  }

  std::string_view rest_;
};

// The last word: "%x" of "f32[2]{0} %x".
std::string_view operand_name(std::string_view text) {
  size_t end = text.size();
  while (end > 0 && !is_word(text[end - 1])) --end;
  size_t begin = end;
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

}  // namespace

double HloType::Array::elements() const {
  double count = 1;
  for (const int64_t size : dims) count *= static_cast<double>(size);
  return count;
}

std::string_view HloParts::attribute(std::string_view key) const {
  for (const auto& [known, value] : attributes) {
    if (known == key) return value;
  }
  return {};
}

Result<HloParts> scan_hlo_instruction(std::string_view line) {
  HloParts parts;
  Scanner scanner(line);
  parts.name = scanner.word();
  if (parts.name == "ROOT") {
    parts.root = true;
    parts.name = scanner.word();
  }
  if (parts.name.empty() || !scanner.take('=')) {
    return invalid_input("an instruction is 'name = type opcode(operands), attributes'");
  }
  if (const Result<void> read = scanner.type(parts.type); !read) return read.error();
  scanner.skip();
  parts.opcode = scanner.word();
  if (parts.opcode.empty() || !scanner.take('(')) {
    return invalid_input("an instruction needs an opcode and its operands in brackets");
  }
  const bool literal = parts.opcode == "constant" || parts.opcode == "parameter";
  while (!scanner.take(')')) {
    const std::string_view operand = scanner.value();
    parts.operands.push_back(literal ? operand : operand_name(operand));
    if (scanner.take(',')) continue;
    if (scanner.take(')')) break;
    return invalid_input("the operands are not closed");
  }
  while (scanner.take(',')) {
    const std::string_view key = scanner.word();
    if (!scanner.take('=')) return invalid_input("an attribute is 'key=value'");
    parts.attributes.emplace_back(key, scanner.value());
  }
  if (!scanner.at_end()) return invalid_input("something stands behind the instruction");
  return parts;
}

std::vector<int64_t> hlo_numbers(std::string_view text) {
  std::vector<int64_t> numbers;
  for (const std::string_view word : split(text, "{}, x")) {
    int64_t number = 0;
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (code == std::errc() && end == word.data() + word.size()) numbers.push_back(number);
  }
  return numbers;
}

std::vector<std::string_view> hlo_names(std::string_view text) {
  return split(text, "{}%, ");
}

void HloBrackets::feed(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted_ && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted_ = !quoted_;
    } else if (!quoted_) {
      depth_ += (c == '(' || c == '{' || c == '[') - (c == ')' || c == '}' || c == ']');
    }
  }
}

}  // namespace tutti
