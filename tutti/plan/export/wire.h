// Protocol buffers as bytes: fields one after another, without knowing what they mean.
// https://protobuf.dev/programming-guides/encoding

#ifndef TUTTI_PLAN_EXPORT_WIRE_H_
#define TUTTI_PLAN_EXPORT_WIRE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tutti {

struct WireField {
  uint64_t number = 0;
  std::string_view whole;    // with tag and length
  std::string_view content;  // of a text, of bytes or of a message; empty for numbers
};

// Takes the first field off the front of `rest`. None if it is cut off or no field at all.
std::optional<WireField> take_field(std::string_view& rest);

// A field of text, bytes or a message.
void add_field(std::string& message, uint32_t number, std::string_view content);

}  // namespace tutti

#endif  // TUTTI_PLAN_EXPORT_WIRE_H_
