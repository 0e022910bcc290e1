// A place in MLIR text, and the smallest steps over it: blanks and comments, words, and bracketed
// text as a whole. Text that is passed over is looked at once.

#ifndef TUTTI_GRAPH_IMPORT_STABLEHLO_CURSOR_H_
#define TUTTI_GRAPH_IMPORT_STABLEHLO_CURSOR_H_

#include <cstddef>
#include <string_view>

#include "tutti/base/result.h"
#include "tutti/graph/import/hlo/module.h"

namespace tutti {

class MlirCursor {
 public:
  explicit MlirCursor(std::string_view text) : text_(text) {}

  size_t at() const { return at_; }
  bool at_end() const { return at_ >= text_.size(); }
  // '\0' at the end.
  char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool looking_at(std::string_view token) const {
    return text_.compare(at_, token.size(), token) == 0;
  }
  std::string_view between(size_t begin, size_t end) const {
    return text_.substr(begin, end - begin);
  }
  void advance(size_t count) { at_ += count; }
  void go_to(size_t at) { at_ = at; }
  void go_to_end() { at_ = text_.size(); }

  // Past blanks, line ends and comments. True if a line end was among them.
  bool skip();

  // Skips, and passes the token if it stands here.
  bool take(char token);

  // Letters, digits and "_.$-", as in names behind '%', '@' and of ops; may be empty.
  std::string_view word();

  // Requires a quotation mark here. The text within the quotation marks.
  Result<std::string_view> quoted();

  // Requires an opening bracket here: passes everything up to the bracket that closes it, and
  // returns all of that.
  Result<std::string_view> balanced();

  // ranked tensors of fixed shape, tuples of them, tokens, and plain numbers such as i32.
  Result<HloType> type();

 private:
  Result<void> type_into(HloType& into, int depth);
  Result<void> tensor_into(HloType& into);

  std::string_view text_;
  size_t at_ = 0;
};

bool is_mlir_word(char c);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_STABLEHLO_CURSOR_H_
