#include "tutti/graph/kind/einsum.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

namespace tutti {
namespace {

bool are_indices(std::string_view letters) {
  for (size_t i = 0; i < letters.size(); ++i) {
    if (std::isalpha(static_cast<unsigned char>(letters[i])) == 0) return false;
    if (letters.find(letters[i], i + 1) != std::string_view::npos) return false;
  }
  return true;
}

Result<void> bind_letters(std::string_view letters, const Shape& shape,
                          std::map<char, int64_t>& sizes) {
  if (letters.size() != shape.size()) {
    return invalid_input(
        fmt::format("einsum names {} indices '{}' of an operand with {} dimensions", letters.size(),
                    letters, shape.size()));
  }
  for (size_t i = 0; i < letters.size(); ++i) {
    const auto [entry, added] = sizes.try_emplace(letters[i], shape[i]);
    if (entry->second != shape[i]) {
      return invalid_input(fmt::format("index '{}' is {} in one operand and {} in the other",
                                       letters[i], entry->second, shape[i]));
    }
  }
  return {};
}

}  // namespace

Result<Einsum> parse_einsum(std::string_view text, const Shape& first, const Shape& second) {
  const size_t comma = text.find(',');
  const size_t arrow = text.find("->");
  Einsum einsum;
  if (comma != std::string_view::npos && arrow != std::string_view::npos && comma < arrow) {
    einsum.first = text.substr(0, comma);
    einsum.second = text.substr(comma + 1, arrow - comma - 1);
    einsum.out = text.substr(arrow + 2);
  }
  if (einsum.first.empty() || !are_indices(einsum.first) || !are_indices(einsum.second) ||
      !are_indices(einsum.out)) {
    return invalid_input(fmt::format("einsum '{}' is not of the form 'ik,kj->ij'", text));
  }
  std::map<char, int64_t> sizes;
  if (auto bound = bind_letters(einsum.first, first, sizes); !bound) return bound.error();
  if (auto bound = bind_letters(einsum.second, second, sizes); !bound) return bound.error();
  einsum.letters = einsum.out;
  for (const char letter : einsum.out) {
    if (!sizes.contains(letter)) {
      return invalid_input(fmt::format("einsum '{}' makes index '{}' of nothing", text, letter));
    }
  }
  for (const char letter : einsum.first + einsum.second) {
    if (einsum.letters.find(letter) == std::string::npos) einsum.letters += letter;
  }
  for (const char letter : einsum.letters) einsum.sizes.push_back(sizes.at(letter));
  return einsum;
}

}  // namespace tutti
