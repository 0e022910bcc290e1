// An Id is an index with a meaning: an op's index cannot be passed where a device's is wanted.
//
// Ids are dense, start at 0, and belong to one Graph or Machine; comparing ids of two graphs says
// nothing. An Id of index -1 means "none" (a graph input has no producer).

#ifndef TUTTI_BASE_ID_H_
#define TUTTI_BASE_ID_H_

#include <compare>
#include <cstdint>

namespace tutti {

template <class Tag>
struct Id {
  int32_t index = -1;

  constexpr bool valid() const { return index >= 0; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

using OpId = Id<struct OpTag>;
using ValueId = Id<struct ValueTag>;
using EdgeId = Id<struct EdgeTag>;      // one operand of one op
using OpKindId = Id<struct OpKindTag>;  // "matmul", "softmax", ...
using DeviceId = Id<struct DeviceTag>;
using MemoryId = Id<struct MemoryTag>;
using HostId = Id<struct HostTag>;
using LinkId = Id<struct LinkTag>;

// A half-open range of consecutive ids, usable in a range-for.
template <class IdType>
class IdRange {
 public:
  constexpr IdRange(int32_t begin, int32_t end) : begin_(begin), end_(end) {}

  class Iterator {
   public:
    constexpr explicit Iterator(int32_t index) : index_(index) {}
    constexpr IdType operator*() const { return IdType{index_}; }
    constexpr Iterator& operator++() {
      ++index_;
      return *this;
    }
    friend constexpr bool operator==(Iterator, Iterator) = default;

   private:
    int32_t index_;
  };

  constexpr Iterator begin() const { return Iterator(begin_); }
  constexpr Iterator end() const { return Iterator(end_); }
  constexpr int32_t size() const { return end_ - begin_; }
  constexpr bool empty() const { return end_ == begin_; }
  constexpr IdType front() const { return IdType{begin_}; }

 private:
  int32_t begin_;
  int32_t end_;
};

}  // namespace tutti

#endif  // TUTTI_BASE_ID_H_
