// An Arena finds room in large pieces of memory that its user provides, and never looks into
// them: they may be a GPU's. What is given back joins its free neighbours, so that a larger value
// fits there later. Not for several threads at once.

#ifndef TUTTI_RUNTIME_LOCAL_ARENA_H_
#define TUTTI_RUNTIME_LOCAL_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace tutti {

class Arena {
 public:
  // Of every address, if pieces begin at such.
  static constexpr int64_t kAlignment = 256;

  // What a piece must have at least to hold so many bytes.
  static int64_t room_for(int64_t bytes) {
    return bytes <= 0 ? kAlignment : (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  // Requires a multiple of kAlignment bytes that are in no other piece.
  void add_piece(void* begin, int64_t bytes);
  // The smallest gap that is large enough, of equal ones the first. Null if there is none.
  void* take(int64_t bytes);
  // Requires an address that was taken.
  void give(void* address);

 private:
  void add_gap(std::byte* begin, int64_t bytes);
  void remove_gap(std::byte* begin, int64_t bytes);

  std::set<std::byte*> pieces_;  // where they begin; gaps of two pieces are not joined
  std::map<std::byte*, int64_t> gaps_;
  std::set<std::pair<int64_t, std::byte*>> by_size_;  // the same gaps
  std::map<std::byte*, int64_t> taken_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_ARENA_H_
