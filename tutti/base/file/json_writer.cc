#include "tutti/base/file/json_writer.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace tutti {
namespace {

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<int>(c));
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

}  // namespace

void JsonWriter::new_line() {
  text_ += '\n';
  text_.append(has_items_.size(), ' ');
}

void JsonWriter::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_items_.empty()) return;
  if (has_items_.back()) text_ += ',';
  has_items_.back() = true;
  if (static_cast<int>(has_items_.size()) <= inline_depth_) new_line();
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  has_items_.push_back(false);
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  const bool had_items = has_items_.back();
  const bool lines = static_cast<int>(has_items_.size()) <= inline_depth_;
  has_items_.pop_back();
  if (had_items && lines) new_line();
  text_ += bracket;
  if (has_items_.empty()) text_ += '\n';
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  append_quoted(text_, name);
  text_ += ':';
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  append_quoted(text_, text);
  return *this;
}

JsonWriter& JsonWriter::value(int64_t number) {
  separate();
  fmt::format_to(std::back_inserter(text_), "{}", number);
  return *this;
}

JsonWriter& JsonWriter::value(double number) {
  if (!std::isfinite(number)) return null();
  separate();
  fmt::format_to(std::back_inserter(text_), "{}", number);
  return *this;
}

JsonWriter& JsonWriter::value(bool truth) {
  return raw(truth ? "true" : "false");
}

JsonWriter& JsonWriter::null() {
  return raw("null");
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  text_ += json;
  return *this;
}

}  // namespace tutti
