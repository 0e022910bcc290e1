// A NameTable numbers names 0, 1, 2, ... in the order of their first appearance. Readers use it to
// turn the names in a file into indices, before there is a Graph whose ops could be asked.
//
// It keeps all names in one text and needs about 25 bytes per name in addition, so that files of
// millions of ops can be read.

#ifndef TUTTI_GRAPH_NAME_TABLE_H_
#define TUTTI_GRAPH_NAME_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

class NameTable {
 public:
  NameTable();

  // The number of a name; a name not seen before gets the next one.
  int32_t add(std::string_view name);
  std::optional<int32_t> find(std::string_view name) const;

  // Valid until the next add().
  std::string_view name(int32_t number) const;
  int32_t size() const { return static_cast<int32_t>(begin_.size()) - 1; }

 private:
  struct Slot {
    uint32_t hash = 0;
    int32_t number = -1;  // -1: free
  };

  // The slot that holds the name, or the free one where it belongs.
  size_t slot_of(std::string_view name, uint32_t hash) const;
  void grow();

  std::string text_;
  std::vector<int64_t> begin_;
  std::vector<Slot> slots_;  // a power of two, at most half full, probed one by one
};

}  // namespace tutti

#endif  // TUTTI_GRAPH_NAME_TABLE_H_
