// TOML into a Document, by toml++ where the build has it.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/base/document.h"

#ifdef TUTTI_HAVE_TOML
// The installed library throws; we want its errors as values, so we compile the header ourselves.
#undef TOML_HEADER_ONLY
#undef TOML_SHARED_LIB
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
// Its assertions are about itself but can be reached from hostile files; the parser then goes on to
// report a plain error. Without this line a debug build would stop the program.
#define TOML_ASSERT(condition) static_assert(true)
#include <toml++/toml.h>
#endif

namespace tutti {

#ifdef TUTTI_HAVE_TOML

bool can_read_toml() {
  return true;
}

namespace {

Document convert(const toml::node& node, int line_above) {
  Document document;
  const int line = static_cast<int>(node.source().begin.line);
  document.line = line > 0 ? line : line_above;
  if (const auto* table = node.as_table()) {
    document.kind = Document::Kind::object;
    for (const auto& [key, item] : *table) {
      document.keys.emplace_back(key.str());
      document.items.push_back(convert(item, document.line));
    }
  } else if (const auto* array = node.as_array()) {
    document.kind = Document::Kind::array;
    for (const auto& item : *array) document.items.push_back(convert(item, document.line));
  } else if (const auto* text = node.as_string()) {
    document.kind = Document::Kind::text;
    document.text = text->get();
  } else if (const auto* integer = node.as_integer()) {
    document.kind = Document::Kind::integer;
    document.integer = integer->get();
    document.number = static_cast<double>(integer->get());
  } else if (const auto* number = node.as_floating_point()) {
    document.kind = Document::Kind::number;
    document.number = number->get();
  } else if (const auto* boolean = node.as_boolean()) {
    document.kind = Document::Kind::boolean;
    document.boolean = boolean->get();
  } else {
    document.kind = Document::Kind::text;  // a date or time: none of our files has any
  }
  return document;
}

// Where the quoted text that begins at `at` ends, whether or not it spans lines.
size_t end_of_quoted(std::string_view text, size_t at) {
  const std::string mark(text.substr(at, 3) == std::string(3, text[at]) ? 3 : 1, text[at]);
  for (size_t i = at + mark.size(); i < text.size(); ++i) {
    if (mark[0] == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == '\n' && mark.size() == 1) {
      return i;
    } else if (text.substr(i, mark.size()) == mark) {
      // Up to two more quotes before the last three belong to the text.
      const size_t end = text.find_first_not_of(mark[0], i);
      return mark.size() == 1 ? i + 1 : std::min({end, i + 5, text.size()});
    }
  }
  return text.size();
}

// toml++ limits nested brackets but not dotted keys, each dot of which is one more nested table; a
// hostile key of a million dots must be refused before the parser and our own descent meet it. The
// line that is nested deeper than kDeepestNesting, or 0. Text that is not TOML may be misjudged
// behind the place where the parser will stop.
int line_nested_too_deep(std::string_view text) {
  std::vector<int> open;  // by open bracket: the levels that it and its key add
  int above = 0;          // their sum
  int dots = 0;           // of the key or number at hand
  int line = 1;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      const size_t end = end_of_quoted(text, i);
      line += static_cast<int>(std::count(text.begin() + i, text.begin() + end, '\n'));
      i = end - 1;
    } else if (c == '#') {
      i = std::min(text.find('\n', i), text.size()) - 1;
    } else if (c == '.') {
      ++dots;
    } else if (c == '{' || c == '[') {
      open.push_back(dots + 1);
      above += open.back();
      dots = 0;
    } else if (c == '}' || c == ']' || c == ',' || c == '\n') {
      if (c == '\n') ++line;
      if ((c == '}' || c == ']') && !open.empty()) {
        above -= open.back();
        open.pop_back();
      }
      dots = 0;
    }
    if (above + dots > kDeepestNesting) return line;
  }
  return 0;
}

}  // namespace

Result<Document> read_document(Source& source) {
  const std::string_view start = source.peek();
  const size_t first = start.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && start[first] == '{') return read_json(source);
  const Result<std::string> text = source.read_all(int64_t{1} << 26);
  if (!text) return text.error();
  if (const int line = line_nested_too_deep(*text); line > 0) {
    return error_at(
        source.name(), line,
        fmt::format("nested deeper than {} levels; no file of ours is", kDeepestNesting));
  }
  const toml::parse_result parsed = toml::parse(*text, source.name());
  if (!parsed) {
    return error_at(
        source.name(), static_cast<int>(parsed.error().source().begin.line),
        fmt::format("not valid TOML: {}; mend the file there", parsed.error().description()));
  }
  return convert(parsed.table(), 1);
}

#else

bool can_read_toml() {
  return false;
}

Result<Document> read_document(Source& source) {
  const std::string_view start = source.peek();
  const size_t first = start.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && start[first] == '{') return read_json(source);
  return error_at(source.name(), 1,
                  "this build of tutti reads no TOML; write the same structure as JSON");
}

#endif

}  // namespace tutti
