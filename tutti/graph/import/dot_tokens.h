// The tokens of the Graphviz DOT language: words (bare or quoted), arrows and punctuation, with
// comments and white space left out. For import/dot.cc.

#ifndef TUTTI_GRAPH_IMPORT_DOT_TOKENS_H_
#define TUTTI_GRAPH_IMPORT_DOT_TOKENS_H_

#include <string>
#include <string_view>

#include "tutti/base/file/source.h"
#include "tutti/base/result.h"

namespace tutti {

struct DotToken {
  enum class Kind {
    end,     // of the file
    word,    // an id or a number; `text` is without quotes
    arrow,   // ->
    dashes,  // --
    mark,    // one of { } [ ] ; , = :, in `text`
  };
  Kind kind = Kind::end;
  std::string text{};
  bool quoted = false;  // a quoted "node" is an id, a bare one is a keyword
  int line = 0;

  bool is_mark(char mark) const { return kind == Kind::mark && text[0] == mark; }
  // Keywords are written in any case.
  bool is_keyword(std::string_view keyword) const;
};

class DotTokens {
 public:
  explicit DotTokens(Source& source) : source_(source) {}

  // Fails with file and line on a byte that begins no token, an open quote or comment, text that is
  // not UTF-8, and the parts of DOT that are no graph: HTML texts and joined strings.
  Result<DotToken> next();

 private:
  int peek();
  int take();
  Result<void> skip_blanks_and_comments();
  Result<void> skip_block_comment();
  Result<void> read_quoted(DotToken& token);
  Result<void> read_bare(DotToken& token);
  Error error(int line, const std::string& sentence) const;

  Source& source_;
  int ahead_ = kNothing;  // a byte that was looked at but not taken
  int line_ = 1;          // of the next byte
  bool line_begins_ = true;

  static constexpr int kNothing = -2;
};

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_DOT_TOKENS_H_
