// Which op goes first among those that wait for a slot of one device. The same words stand in trace
// files and on the command line.

#ifndef TUTTI_TRACE_READY_ORDER_H_
#define TUTTI_TRACE_READY_ORDER_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tutti {

enum class ReadyOrder : uint8_t {
  priority,  // the plan's; for an online policy, which gives none, fifo
  fifo,      // the one that became ready first
  lifo,      // the one that became ready last
  random,
};

inline constexpr std::array<const char*, 4> kReadyOrderWords = {"priority", "fifo", "lifo",
                                                                "random"};

inline const char* to_text(ReadyOrder order) {
  return kReadyOrderWords[static_cast<size_t>(order)];
}

inline std::optional<ReadyOrder> find_ready_order(std::string_view word) {
  for (size_t i = 0; i < kReadyOrderWords.size(); ++i) {
    if (word == kReadyOrderWords[i]) return static_cast<ReadyOrder>(i);
  }
  return std::nullopt;
}

}  // namespace tutti

#endif  // TUTTI_TRACE_READY_ORDER_H_
