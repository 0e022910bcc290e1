// A Fingerprint is a 64-bit digest of a value's content. Plans carry those of the graph, machine
// and costs they were made for, and refuse others. It guards against mistakes, not against malice.

#ifndef TUTTI_BASE_FINGERPRINT_H_
#define TUTTI_BASE_FINGERPRINT_H_

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "tutti/base/random.h"

namespace tutti {

class Fingerprint {
 public:
  void add(uint64_t word) { state_ = mix64(state_ ^ (word + 0x9e3779b97f4a7c15ULL)) + word; }
  void add(int64_t word) { add(static_cast<uint64_t>(word)); }
  void add(int32_t word) { add(static_cast<uint64_t>(static_cast<int64_t>(word))); }
  void add(double number) { add(std::bit_cast<uint64_t>(number)); }
  void add(std::string_view text) {
    add(static_cast<uint64_t>(text.size()));
    while (!text.empty()) {
      uint64_t word = 0;
      const size_t count = text.size() < 8 ? text.size() : 8;
      std::memcpy(&word, text.data(), count);
      add(word);
      text.remove_prefix(count);
    }
  }

  uint64_t value() const { return mix64(state_); }

 private:
  uint64_t state_ = 0x747574746931ULL;
};

// Sixteen hexadecimal digits, as files spell it; and the number of such a text, or none.
std::string fingerprint_text(uint64_t fingerprint);
std::optional<uint64_t> parse_fingerprint(std::string_view text);

}  // namespace tutti

#endif  // TUTTI_BASE_FINGERPRINT_H_
