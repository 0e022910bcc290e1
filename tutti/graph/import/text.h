// What importers share: lines that are numbered and checked, words, numbers that are read whole or
// refused with a sentence, and the error of a graph that cannot be built.

#ifndef TUTTI_GRAPH_IMPORT_TEXT_H_
#define TUTTI_GRAPH_IMPORT_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/base/file/source.h"
#include "tutti/base/result.h"
#include "tutti/base/time.h"
#include "tutti/graph/import/import.h"

namespace tutti {

// The lines of a Source.
class Lines {
 public:
  explicit Lines(Source& source) : source_(source) {}

  // Moves to the next line; false at the end. Fails on a line that is not UTF-8 or endless.
  Result<bool> next();

  // The line without its end, valid until next().
  std::string_view text() const { return text_; }
  int number() const { return number_; }
  bool blank() const { return text_.find_first_not_of(" \t") == std::string::npos; }

  // "file:line: sentence" about the current line.
  Error error(const std::string& sentence) const;

 private:
  Source& source_;
  std::string text_;
  int number_ = 0;
};

// The parts between any of the separators, without empty ones.
std::vector<std::string_view> split(std::string_view text, const char* separators);

// The word on one line, or its beginning if it is long; for sentences. Bytes that are not UTF-8 are
// question marks.
std::string shown(std::string_view word);

// The whole word as a number from 0 to `most`. `what` names it in the sentence.
Result<int64_t> read_whole(std::string_view word, const std::string& what, int64_t most);
Result<double> read_real(std::string_view word, const std::string& what, double most);
// Nanoseconds, rounded to the nearest, up to kLongestTimeNs.
Result<Duration> read_time(std::string_view word, const std::string& what);

// True if the text is JSON that begins with that bracket and has the key.
bool looks_like_json(std::string_view start, char bracket, std::string_view key);

// What an importer gives for a graph that was built, or for its error, which then names the file.
Result<Imported> imported_from(Result<Graph> graph, const Source& source);

// A name for a graph whose file has none: the file's, without folder and ending.
std::string graph_name_of(const Source& source);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_TEXT_H_
