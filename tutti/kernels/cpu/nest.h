// A Nest is a nest of loops over several arrays at once: sizes from the outermost loop to the
// innermost, and for each array how far apart its elements are along each. Loops that can be one
// are made one, so that the innermost is as long as may be.

#ifndef TUTTI_KERNELS_CPU_NEST_H_
#define TUTTI_KERNELS_CPU_NEST_H_

#include <array>
#include <vector>

#include "tutti/kernels/cpu/share.h"

namespace tutti::cpu {

template <size_t kArrays>
class Nest {
 public:
  using Offsets = std::array<int64_t, kArrays>;
  struct Loop {
    int64_t size;
    Offsets strides;
  };

  void add_loop(int64_t size, const Offsets& strides) {
    count_ *= size;
    if (size == 1) return;
    if (!loops_.empty() && continues(loops_.back(), size, strides)) {
      loops_.back() = {loops_.back().size * size, strides};
      return;
    }
    loops_.push_back({size, strides});
  }

  // How often the innermost loop's body runs.
  int64_t count() const { return count_; }
  std::span<const Loop> loops() const { return loops_; }
  // Of the innermost loop.
  Offsets steps() const { return loops_.empty() ? Offsets{} : loops_.back().strides; }

  // Calls run(offsets, count) for pieces of the innermost loop, in order: together they are the
  // iterations of `range`, counted over the whole nest.
  template <class Run>
  void for_each_run(Range range, Run run) const {
    if (range.empty()) return;
    if (loops_.empty()) return run(Offsets{}, int64_t{1});
    std::vector<int64_t> place = place_of(range.begin);
    for (int64_t done = range.begin; done < range.end;) {
      const int64_t count = std::min(loops_.back().size - place.back(), range.end - done);
      run(offsets_of(place), count);
      done += count;
      place.back() += count;
      for (size_t i = loops_.size() - 1; i > 0 && place[i] == loops_[i].size; --i) {
        place[i] = 0;
        ++place[i - 1];
      }
    }
  }

 private:
  static bool continues(const Loop& outer, int64_t size, const Offsets& strides) {
    for (size_t i = 0; i < kArrays; ++i) {
      if (outer.strides[i] != strides[i] * size) return false;
    }
    return true;
  }

  std::vector<int64_t> place_of(int64_t iteration) const {
    std::vector<int64_t> place(loops_.size());
    for (size_t i = loops_.size(); i-- > 0;) {
      place[i] = iteration % loops_[i].size;
      iteration /= loops_[i].size;
    }
    return place;
  }

  Offsets offsets_of(const std::vector<int64_t>& place) const {
    Offsets offsets{};
    for (size_t loop = 0; loop < loops_.size(); ++loop) {
      for (size_t i = 0; i < kArrays; ++i) offsets[i] += place[loop] * loops_[loop].strides[i];
    }
    return offsets;
  }

  std::vector<Loop> loops_;
  int64_t count_ = 1;
};

}  // namespace tutti::cpu

#endif  // TUTTI_KERNELS_CPU_NEST_H_
