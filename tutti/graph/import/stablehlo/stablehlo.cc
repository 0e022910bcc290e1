#include "tutti/graph/import/stablehlo/stablehlo.h"

#include <algorithm>
#include <string>
#include <utility>

#include "tutti/graph/import/hlo/hlo.h"
#include "tutti/graph/import/stablehlo/cursor.h"
#include "tutti/graph/import/stablehlo/lower.h"
#include "tutti/graph/import/stablehlo/mlir.h"

namespace tutti {
namespace {

constexpr std::string_view kBytecode = "ML\xefR";
constexpr int64_t kLongestText = int64_t{1} << 32;

Error error_in(const Source& source, std::string_view text, const MlirFault& fault) {
  const size_t end = std::min(fault.at, text.size());
  const auto lines = std::count(text.begin(), text.begin() + static_cast<int64_t>(end), '\n');
  return error_at(source.name(), static_cast<int>(std::min<int64_t>(lines, 1 << 30)) + 1,
                  fault.message);
}

// Where the first line begins that is not UTF-8; the size if there is none.
size_t where_not_utf8(std::string_view text) {
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    if (!is_utf8(text.substr(begin, end - begin))) return begin;
    begin = end + 1;
  }
  return text.size();
}

}  // namespace

bool looks_like_stablehlo(std::string_view start) {
  if (start.starts_with(kBytecode)) return true;
  MlirCursor cursor(start);
  cursor.skip();
  if (cursor.peek() == '#' || cursor.peek() == '!') {  // "#loc = loc(...)"; not a comment of STG
    cursor.advance(1);
    return !cursor.word().empty() && cursor.take('=');
  }
  if (cursor.peek() == '"') {
    return cursor.looking_at("\"builtin.module\"") || cursor.looking_at("\"func.func\"");
  }
  const std::string_view word = cursor.word();
  if (word == "module" || word == "builtin.module" || word == "func.func" || word == "sdy.mesh") {
    return true;
  }
  cursor.skip();
  return word == "func" && cursor.peek() == '@';
}

Result<Imported> read_stablehlo(Source& source, const ImportOptions& options) {
  const Result<std::string> text = source.read_all(kLongestText);
  if (!text) return text.error();
  if (text->starts_with(kBytecode)) {
    return error_at(source.name(), 1,
                    "this is MLIR bytecode; write the module as text (in JAX, lowered.as_text(); "
                    "elsewhere, stablehlo-translate --deserialize)");
  }
  MlirFault fault{.at = where_not_utf8(*text)};
  if (fault.at < text->size()) {
    fault.message = "the line is not UTF-8 text; convert the file";
    return error_in(source, *text, fault);
  }
  fault = {};
  const Result<MlirModule> mlir = read_mlir(*text, fault);
  if (!mlir) return error_in(source, *text, fault);
  const Result<HloModule> module = lower_stablehlo(*mlir, fault);
  if (!module) return error_in(source, *text, fault);
  return import_hlo_module(*module, source, options);
}

}  // namespace tutti
