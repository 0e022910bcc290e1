// JsonWriter writes JSON text piece by piece: commas, quotes and indentation are its business.
//
//   JsonWriter json;
//   json.open_object().field("name", "x").key("ops").open_list();
//   ...
//   json.close_list().close_object();
//   json.text();

#ifndef TUTTI_BASE_FILE_JSON_WRITER_H_
#define TUTTI_BASE_FILE_JSON_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/base/time.h"

namespace tutti {

class JsonWriter {
 public:
  // `inline_depth`: objects and lists nested at least this deep are written on one line.
  explicit JsonWriter(int inline_depth = 2) : inline_depth_(inline_depth) {}

  JsonWriter& open_object() { return open('{'); }
  JsonWriter& close_object() { return close('}'); }
  JsonWriter& open_list() { return open('['); }
  JsonWriter& close_list() { return close(']'); }
  JsonWriter& key(std::string_view name);

  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(int64_t number);
  JsonWriter& value(int32_t number) { return value(static_cast<int64_t>(number)); }
  JsonWriter& value(double number);  // the shortest text that reads back the same; not finite: null
  JsonWriter& value(bool truth);
  JsonWriter& value(Duration time) { return value(static_cast<int64_t>(time.count())); }
  JsonWriter& null();
  // Text that is JSON already.
  JsonWriter& raw(std::string_view json);

  template <class T>
  JsonWriter& field(std::string_view name, const T& content) {
    key(name);
    return value(content);
  }

  const std::string& text() const { return text_; }
  // Hands over what has been written so far, so that a long file need not be held whole.
  std::string take() { return std::exchange(text_, {}); }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void separate();
  void new_line();

  std::string text_;
  int inline_depth_;
  std::vector<bool> has_items_;
  bool after_key_ = false;
};

}  // namespace tutti

#endif  // TUTTI_BASE_FILE_JSON_WRITER_H_
