#include "tutti/graph/import/hlo/module.h"

#include <algorithm>
#include <utility>

#include "tutti/graph/import/hlo/module_builder.h"
#include "tutti/graph/import/hlo/scan.h"
#include "tutti/graph/import/text.h"

namespace tutti {
namespace {

class ModuleReader {
 public:
  explicit ModuleReader(Source& source) : source_(source), lines_(source) {}

  Result<HloModule> read() {
    for (;;) {
      const Result<bool> more = next_statement();
      if (!more) return more.error();
      if (!*more) break;
      const Result<void> taken = inside_ ? take_inside() : take_outside();
      if (!taken) return error_at(source_.name(), line_, taken.error().message);
    }
    if (inside_) return error_at(source_.name(), line_, "the last computation is not closed");
    if (!entry_done_) {
      return invalid_input(source_.name() + ": there is no computation marked ENTRY");
    }
    return std::move(builder_.module());
  }

 private:
  // Joins lines until brackets are closed; a computation's own bracket stays open. Blank lines and
  // comments are passed over. False at the end.
  Result<bool> next_statement() {
    statement_.clear();
    HloBrackets brackets;
    for (;;) {
      const Result<bool> more = lines_.next();
      if (!more) return more.error();
      if (!*more) {
        if (statement_.empty()) return false;
        return error_at(source_.name(), line_, "the brackets of this statement are not closed");
      }
      if (statement_.empty()) {
        if (lines_.blank() || lines_.text().starts_with("//")) continue;
        line_ = lines_.number();
      }
      statement_ += lines_.text();
      statement_ += ' ';
      brackets.feed(lines_.text());
      if (brackets.closed() || (!inside_ && opens_computation())) return true;
      constexpr size_t kLongestStatement = size_t{1} << 28;
      if (statement_.size() > kLongestStatement) {
        return error_at(source_.name(), line_, "a statement is longer than 256 MiB");
      }
    }
  }

  std::string_view trimmed() const {
    std::string_view text = statement_;
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    text.remove_suffix(text.size() - std::min(text.find_last_not_of(" \t") + 1, text.size()));
    return text;
  }

  bool opens_computation() const { return trimmed().ends_with('{'); }

  Result<void> take_outside() {
    std::string_view text = trimmed();
    if (text.starts_with("HloModule")) {
      const auto words = split(text, " ,");
      if (words.size() > 1) builder_.module().name = words[1];
      builder_.module().compiled = text.find("is_scheduled=true") != std::string_view::npos;
      return {};
    }
    if (!opens_computation()) return {};  // tables of source files and the like
    is_entry_ = text.starts_with("ENTRY ");
    if (is_entry_ && entry_done_) return invalid_input("there are two computations marked ENTRY");
    if (is_entry_) text.remove_prefix(6);
    const auto names = split(text, " %({");
    if (names.empty()) return invalid_input("a computation needs a name");
    open_ = {.name = std::string(names[0])};
    inside_ = true;
    return {};
  }

  Result<void> take_inside() {
    if (trimmed().starts_with('}')) return close();
    const Result<HloParts> parts = scan_hlo_instruction(trimmed());
    if (!parts) return parts.error();
    return builder_.add(open_, *parts);
  }

  Result<void> close() {
    inside_ = false;
    entry_done_ = entry_done_ || is_entry_;
    return builder_.close(std::move(open_), is_entry_);
  }

  Source& source_;
  Lines lines_;
  std::string statement_;
  int line_ = 0;
  HloModuleBuilder builder_;
  bool entry_done_ = false;
  // The computation being read.
  bool inside_ = false;
  bool is_entry_ = false;
  HloModuleBuilder::Open open_;
};

}  // namespace

Result<HloModule> read_hlo_module(Source& source) {
  return ModuleReader(source).read();
}

}  // namespace tutti
