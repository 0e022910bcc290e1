#include "tutti/base/suggest.h"

#include <algorithm>
#include <vector>

namespace tutti {
namespace {

std::string lower(std::string_view word) {
  std::string text(word);
  for (char& letter : text) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return text;
}

}  // namespace

int edits_between(std::string_view a, std::string_view b) {
  // before[j]: edits from the first i - 1 letters of a to the first j of b; `above` is a row older.
  std::vector<int> above(b.size() + 1);
  std::vector<int> before(b.size() + 1);
  std::vector<int> now(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) now[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    above.swap(before);
    before.swap(now);
    now[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int replaced = before[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now[j] = std::min({before[j] + 1, now[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) now[j] = std::min(now[j], above[j - 2] + 1);
    }
  }
  return now[b.size()];
}

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> words,
                                   int most_edits) {
  const std::string* best = nullptr;
  int fewest = most_edits;
  for (const std::string& known : words) {
    const size_t longer = std::max(known.size(), word.size());
    const size_t shorter = std::min(known.size(), word.size());
    if (longer - shorter > static_cast<size_t>(std::max(fewest, 0))) continue;
    const int edits = edits_between(word, known);
    if (edits < fewest || (edits == fewest && best == nullptr)) {
      best = &known;
      fewest = edits;
    }
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

std::optional<std::string> closest_word(std::string_view word, std::span<const std::string> words) {
  if (word.empty()) return std::nullopt;
  std::vector<std::string> plain;
  plain.reserve(words.size());
  for (const std::string& known : words) plain.push_back(lower(known));
  const std::string typed = lower(word);
  const int most = std::clamp(static_cast<int>(word.size()) / 3, 1, 3);
  const auto original = [&](const std::string& found) {
    return words[static_cast<size_t>(std::find(plain.begin(), plain.end(), found) - plain.begin())];
  };
  if (const auto near = nearest(typed, plain, most)) return original(*near);
  if (typed.size() < 2) return std::nullopt;
  for (const std::string& known : plain) {
    if (known.starts_with(typed)) return original(known);
  }
  for (const std::string& known : plain) {
    if (known.ends_with(typed)) return original(known);
  }
  return std::nullopt;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> words) {
  const std::optional<std::string> found = closest_word(word, words);
  return found ? "; did you mean '" + *found + "'?" : "";
}

std::string unknown_word(std::string_view what, std::string_view word,
                         std::span<const std::string> words) {
  const std::string meant_text = did_you_mean(word, words);
  return "there is no " + std::string(what) + " '" + std::string(word) + "'" +
         (meant_text.empty() ? ";" : meant_text) + " known are: " + comma_list(words);
}

std::string comma_list(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace tutti
