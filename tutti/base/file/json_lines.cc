#include "tutti/base/file/json_lines.h"

#include <fmt/format.h>

namespace tutti {
namespace {

void set_line(Document& document, int line) {
  document.line = line;
  for (Document& item : document.items) set_line(item, line);
}

}  // namespace

Result<JsonLine> next_json_line(Source& source, size_t longest, const char* remedy) {
  JsonLine line{.number = source.line()};
  for (int byte = source.get(); byte >= 0; byte = source.get()) {
    if (byte == '\n') {
      line.whole = true;
      return line;
    }
    if (line.text.size() == longest) {
      return error_at(source.name(), line.number,
                      fmt::format("the line is longer than {} bytes; {}", longest, remedy));
    }
    line.text += static_cast<char>(byte);
  }
  if (source.broken()) return failed(source.name() + ": reading failed");
  return line;
}

Result<Document> read_json_line(const JsonLine& line, const std::string& file) {
  Source source = Source::from_text(file, line.text);
  Result<Document> document = read_json(source);
  if (!document) {
    const std::string here = error_at(file, 1, "").message;
    const std::string& message = document.error().message;
    return error_at(file, line.number, message.substr(message.starts_with(here) ? here.size() : 0));
  }
  set_line(*document, line.number);
  return document;
}

}  // namespace tutti
