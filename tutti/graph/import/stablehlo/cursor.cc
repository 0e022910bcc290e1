#include "tutti/graph/import/stablehlo/cursor.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "tutti/graph/import/text.h"
#include "tutti/graph/limits.h"

namespace tutti {
namespace {

constexpr int kDeepestTupleType = 64;

struct ElementType {
  std::string_view name;
  DType dtype;
  int64_t bytes;
};

// As XLA names and stores them: numbers of less than 8 bits take a byte each.
constexpr ElementType kElementTypes[] = {
    {"i1", DType::boolean, 1},   {"i2", DType::unknown, 1},   {"i4", DType::unknown, 1},
    {"i8", DType::i8, 1},        {"i16", DType::i16, 2},      {"i32", DType::i32, 4},
    {"i64", DType::i64, 8},      {"ui2", DType::unknown, 1},  {"ui4", DType::unknown, 1},
    {"ui8", DType::u8, 1},       {"ui16", DType::unknown, 2}, {"ui32", DType::unknown, 4},
    {"ui64", DType::unknown, 8}, {"si8", DType::i8, 1},       {"si16", DType::i16, 2},
    {"si32", DType::i32, 4},     {"si64", DType::i64, 8},     {"f16", DType::f16, 2},
    {"bf16", DType::bf16, 2},    {"f32", DType::f32, 4},      {"tf32", DType::unknown, 4},
    {"f64", DType::f64, 8},      {"index", DType::i64, 8},
};

std::optional<ElementType> find_element_type(std::string_view name) {
  for (const ElementType& element : kElementTypes) {
    if (element.name == name) return element;
  }
  // f8E4M3FN and its many kin.
  for (const char* small : {"f8E", "f6E", "f4E"}) {
    if (name.starts_with(small)) return ElementType{name, DType::unknown, 1};
  }
  return std::nullopt;
}

char closing(char open) {
  switch (open) {
    case '(':
      return ')';
    case '[':
      return ']';
    case '{':
      return '}';
    case '<':
      return '>';
    default:
      return '\0';
  }
}

Error unread_type(std::string_view word) {
  return invalid_input(
      fmt::format("'{}' is not a type that tutti reads; it reads tensors of fixed shape, such as "
                  "tensor<4x8xf32>",
                  shown(word)));
}

}  // namespace

bool is_mlir_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '$' || c == '-' || static_cast<unsigned char>(c) >= 0x80;
}

bool MlirCursor::skip() {
  bool crossed = false;
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '\n') {
      crossed = true;
    } else if (looking_at("//")) {
      const size_t end = text_.find('\n', at_);
      crossed = true;
      at_ = end == std::string_view::npos ? text_.size() - 1 : end;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      break;
    }
  }
  return crossed;
}

bool MlirCursor::take(char token) {
  skip();
  if (peek() != token) return false;
  ++at_;
  return true;
}

std::string_view MlirCursor::word() {
  const size_t begin = at_;
  // "a->b" is not one word.
  while (is_mlir_word(peek()) && !looking_at("->")) ++at_;
  return between(begin, at_);
}

Result<std::string_view> MlirCursor::quoted() {
  const size_t begin = ++at_;
  for (;;) {
    at_ = std::min(text_.find_first_of("\"\\", at_), text_.size());
    if (at_end()) return invalid_input("a quotation mark is not closed");
    if (text_[at_] == '"') break;
    at_ += 2;
  }
  return between(begin, at_++);
}

Result<std::string_view> MlirCursor::balanced() {
  const size_t begin = at_;
  std::string open;  // the brackets that close what is open
  while (!at_end()) {
    const char c = text_[at_];
    if (c == '"') {
      if (const auto passed = quoted(); !passed) return passed.error();
      continue;
    }
    if (looking_at("->")) {
      at_ += 2;
      continue;
    }
    if (looking_at("//")) {
      skip();
      continue;
    }
    ++at_;
    if (closing(c) != '\0') {
      open.push_back(closing(c));
    } else if (c == ')' || c == ']' || c == '}' || c == '>') {
      if (open.back() != c) {
        if (c == '>') continue;
        return invalid_input(fmt::format("'{}' stands where '{}' is expected", c, open.back()));
      }
      open.pop_back();
      if (open.empty()) return between(begin, at_);
    }
  }
  return invalid_input(fmt::format("the bracket '{}' is not closed", text_[begin]));
}

Result<HloType> MlirCursor::type() {
  HloType type;
  if (const Result<void> read = type_into(type, 0); !read) return read.error();
  return type;
}

Result<void> MlirCursor::type_into(HloType& into, int depth) {
  skip();
  const size_t begin = at_;
  if (peek() == '!') ++at_;
  const std::string_view name = word();
  if (name == "tensor" && take('<')) return tensor_into(into);
  if (name == "tuple" && take('<')) {
    if (depth == kDeepestTupleType) return invalid_input("tuples are nested deeper than 64");
    into.tuple = true;
    bool closed = take('>');
    while (!closed) {
      HloType element;
      if (const Result<void> read = type_into(element, depth + 1); !read) return read;
      into.element_begin.push_back(into.leaves.size());
      for (HloType::Array& leaf : element.leaves) into.leaves.push_back(std::move(leaf));
      closed = take('>');
      if (!closed && !take(',')) return invalid_input("the type of a tuple is not closed");
    }
    into.element_begin.push_back(into.leaves.size());
    return {};
  }
  if (name.ends_with("hlo.token")) {
    into.leaves.push_back({});
    return {};
  }
  const auto plain = find_element_type(name);
  if (!plain) return unread_type(between(begin, std::max(at_, begin + 1)));
  into.leaves.push_back({.dtype = plain->dtype, .bytes = plain->bytes});
  return {};
}

// Behind "tensor<": "4x8xf32>" or "8xcomplex<f32>>", perhaps with an encoding behind a comma.
Result<void> MlirCursor::tensor_into(HloType& into) {
  HloType::Array array;
  double bytes = 1;
  skip();
  while (peek() >= '0' && peek() <= '9') {
    const size_t begin = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    int64_t size = 0;
    const auto [end, code] = std::from_chars(text_.data() + begin, text_.data() + at_, size);
    if (code != std::errc() || end != text_.data() + at_ || size > kMostBytes) {
      return invalid_input("a dimension must be a whole number up to 2^60");
    }
    if (!take('x')) return invalid_input("a type needs its element behind its dimensions");
    array.dims.push_back(size);
    bytes *= static_cast<double>(size);
    if (array.dims.size() > kMostDimensions) return invalid_input("more than 64 dimensions");
    skip();
  }
  if (peek() == '?' || peek() == '*') {
    return invalid_input(
        "a type has an open dimension; export the model with fixed shapes (in JAX, lower it with "
        "arrays or jax.ShapeDtypeStruct of whole numbers)");
  }
  if (peek() == '!') {
    return invalid_input(
        "types of quantised numbers are not read; export the model before it is "
        "quantised");
  }
  std::string_view name = word();
  int64_t parts = 1;
  if (name == "complex" && take('<')) {
    name = word();
    parts = 2;
    if (!take('>')) return invalid_input("the type complex<...> is not closed");
  }
  const auto element = find_element_type(name);
  if (!element) return unread_type(name);
  array.dtype = parts == 1 ? element->dtype : DType::unknown;
  bytes *= static_cast<double>(element->bytes * parts);
  if (bytes > static_cast<double>(kMostBytes)) {
    return invalid_input("a value of more than 2^60 bytes");
  }
  array.bytes = static_cast<int64_t>(bytes);
  while (take(',')) {  // an encoding: #name or #name<...>
    skip();
    while (!at_end() && peek() != '>' && peek() != ',' && peek() != '\n') {
      if (closing(peek()) != '\0') {
        if (const auto passed = balanced(); !passed) return passed.error();
      } else {
        ++at_;
      }
    }
  }
  if (!take('>')) return invalid_input("the type tensor<...> is not closed");
  into.leaves.push_back(std::move(array));
  return {};
}

}  // namespace tutti
