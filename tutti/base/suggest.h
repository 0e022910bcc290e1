// "Did you mean": the known word closest to a mistyped one.

#ifndef TUTTI_BASE_SUGGEST_H_
#define TUTTI_BASE_SUGGEST_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tutti {

// Letters to insert, remove or replace, or neighbours to swap, until one word is the other; the
// optimal string alignment distance, in bytes.
int edits_between(std::string_view a, std::string_view b);

// The one of `words` that takes the fewest edits, at most `most_edits`; the first of several, and
// none if all are farther away. A word itself is at 0 edits.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> words,
                                   int most_edits);

// The same for typed input: a third of its letters may be wrong, at least one and at most three. If
// none is that close, a word that begins ("lu" in "lu-solve") or ends ("lu" in "denselu") with it.
// Case is ignored.
std::optional<std::string> closest_word(std::string_view word, std::span<const std::string> words);

// "; did you mean 'heft'?", or nothing if no word is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> words);

// "there is no policy 'hetf'; did you mean 'heft'? known are: cpop, heft".
std::string unknown_word(std::string_view what, std::string_view word,
                         std::span<const std::string> words);

// "a, b, c"
std::string comma_list(std::span<const std::string> words);

}  // namespace tutti

#endif  // TUTTI_BASE_SUGGEST_H_
