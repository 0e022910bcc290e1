#include "tutti/graph/import/dot_tokens.h"

#include <fmt/format.h>

#include "tutti/base/file/document.h"

namespace tutti {
namespace {

constexpr size_t kLongestWord = size_t{1} << 20;

bool is_word_byte(int byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || byte == '_' || byte == '.' || byte >= 0x80;
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

bool DotToken::is_keyword(std::string_view keyword) const {
  if (kind != Kind::word || quoted || text.size() != keyword.size()) return false;
  for (size_t i = 0; i < keyword.size(); ++i) {
    if (lower(text[i]) != keyword[i]) return false;
  }
  return true;
}

int DotTokens::peek() {
  if (ahead_ == kNothing) ahead_ = source_.get();
  return ahead_;
}

int DotTokens::take() {
  const int byte = peek();
  ahead_ = kNothing;
  line_begins_ = byte == '\n';
  if (byte == '\n') ++line_;
  return byte;
}

Error DotTokens::error(int line, const std::string& sentence) const {
  return error_at(source_.name(), line, sentence);
}

Result<void> DotTokens::skip_block_comment() {
  const int begun = line_;
  int before = 0;
  for (int byte = take(); byte >= 0; byte = take()) {
    if (before == '*' && byte == '/') return {};
    before = byte;
  }
  return error(begun, "the comment that begins here has no end; add */");
}

Result<void> DotTokens::skip_blanks_and_comments() {
  for (;;) {
    const int byte = peek();
    if (byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n') {
      take();
    } else if (byte == '#' && line_begins_) {  // as the C preprocessor leaves
      while (peek() >= 0 && peek() != '\n') take();
    } else if (byte == '/') {
      take();
      if (peek() == '/') {
        while (peek() >= 0 && peek() != '\n') take();
      } else if (peek() == '*') {
        take();
        if (auto skipped = skip_block_comment(); !skipped) return skipped;
      } else {
        return error(line_, "'/' begins no comment here; quote the text if it is a name");
      }
    } else {
      return {};
    }
  }
}

Result<void> DotTokens::read_quoted(DotToken& token) {
  token.quoted = true;
  take();
  for (int byte = take(); byte != '"'; byte = take()) {
    if (byte < 0) return error(token.line, "the text that begins here has no closing quote");
    if (byte == '\\' && peek() == '"') byte = take();
    if (byte == '\\' && peek() == '\n') {  // the text goes on in the next line
      take();
      continue;
    }
    token.text += static_cast<char>(byte);
    if (token.text.size() > kLongestWord) return error(token.line, "a text is longer than 1 MiB");
  }
  return {};
}

Result<void> DotTokens::read_bare(DotToken& token) {
  while (is_word_byte(peek())) {
    token.text += static_cast<char>(take());
    if (token.text.size() > kLongestWord) return error(token.line, "a word is longer than 1 MiB");
  }
  return {};
}

Result<DotToken> DotTokens::next() {
  if (auto skipped = skip_blanks_and_comments(); !skipped) return skipped.error();
  DotToken token;
  token.line = line_;
  const int byte = peek();
  Result<void> read;
  if (byte < 0) {
    if (source_.broken()) return failed(source_.name() + ": reading failed");
  } else if (byte == '"') {
    token.kind = DotToken::Kind::word;
    read = read_quoted(token);
  } else if (is_word_byte(byte)) {
    token.kind = DotToken::Kind::word;
    read = read_bare(token);
  } else if (std::string_view("{}[];,=:").find(static_cast<char>(byte)) != std::string_view::npos) {
    token.kind = DotToken::Kind::mark;
    token.text = static_cast<char>(take());
  } else if (byte == '-') {
    token.text = static_cast<char>(take());
    if (peek() == '>' || peek() == '-') {
      token.kind = take() == '>' ? DotToken::Kind::arrow : DotToken::Kind::dashes;
    } else {
      token.kind = DotToken::Kind::word;  // a negative number
      read = read_bare(token);
      if (token.text == "-") return error(token.line, "'-' stands alone; did you mean '->'?");
    }
  } else if (byte == '<') {
    return error(token.line, "HTML texts are not read; use a quoted text");
  } else {
    return error(token.line, fmt::format("the byte 0x{:02x} has no meaning here", byte));
  }
  if (!read) return read.error();
  if (!is_utf8(token.text)) return error(token.line, "the text is not UTF-8; convert the file");
  return token;
}

}  // namespace tutti
