// Memory for a kernel's own use. Each thread keeps what it last used: kernels run on threads that
// stay on their cores, so the memory stays near, no op waits for an allocator that all share, and
// the signature of kernels needs no word about it. Kernels ask for a few MiB at most, whatever the
// sizes of their operands.

#ifndef TUTTI_KERNELS_CPU_SCRATCH_H_
#define TUTTI_KERNELS_CPU_SCRATCH_H_

#include <span>
#include <vector>

namespace tutti::cpu {

// `count` floats with any contents, valid until the thread's next call with the same Purpose.
template <class Purpose>
std::span<float> scratch(int64_t count) {
  thread_local std::vector<float> kept;
  if (kept.size() < static_cast<size_t>(count)) kept.resize(static_cast<size_t>(count));
  return {kept.data(), static_cast<size_t>(count)};
}

}  // namespace tutti::cpu

#endif  // TUTTI_KERNELS_CPU_SCRATCH_H_
