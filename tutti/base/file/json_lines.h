// Texts with one JSON object per line, as logs and journals are. The process that wrote one may
// have been killed in the middle of a line: the last line need not be complete.

#ifndef TUTTI_BASE_FILE_JSON_LINES_H_
#define TUTTI_BASE_FILE_JSON_LINES_H_

#include <cstddef>
#include <string>

#include "tutti/base/file/document.h"

namespace tutti {

struct JsonLine {
  std::string text{};
  int number = 0;
  bool whole = false;  // it ends in a new line

  bool blank() const { return text.find_first_not_of(" \t\r") == std::string::npos; }
};

// The next line, or one without text and end where there is none. Fails (invalid_input) on one of
// more than `longest` bytes, with `remedy` behind the sentence.
Result<JsonLine> next_json_line(Source& source, size_t longest, const char* remedy);

// As read_json, but errors name the line of the file.
Result<Document> read_json_line(const JsonLine& line, const std::string& file);

}  // namespace tutti

#endif  // TUTTI_BASE_FILE_JSON_LINES_H_
