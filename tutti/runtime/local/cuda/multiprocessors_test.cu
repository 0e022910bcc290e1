// For tests: which multiprocessors the work of a stream runs on.

#include "tutti/runtime/local/cuda/multiprocessors_testing.h"

namespace tutti {
namespace {

// Long enough that blocks do not wait for the same multiprocessor while another is idle.
__global__ void mark(unsigned* seen) {
  unsigned own;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(own));
  const long long begin = clock64();
  while (clock64() - begin < 50000) {
  }
  if (threadIdx.x == 0) atomicAdd(seen + own, 1U);
}

}  // namespace

void mark_multiprocessors(CUstream_st* stream, unsigned* seen) {
  mark<<<2048, 1024, 0, stream>>>(seen);
}

}  // namespace tutti
