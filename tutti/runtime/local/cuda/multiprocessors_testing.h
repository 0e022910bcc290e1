// For tests: which multiprocessors the work of a stream runs on.

#ifndef TUTTI_RUNTIME_LOCAL_CUDA_MULTIPROCESSORS_TESTING_H_
#define TUTTI_RUNTIME_LOCAL_CUDA_MULTIPROCESSORS_TESTING_H_

struct CUstream_st;

namespace tutti {

// Counts, for each multiprocessor by its number, the blocks that it runs of a large grid. `seen` is
// in the GPU's memory.
void mark_multiprocessors(CUstream_st* stream, unsigned* seen);

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_CUDA_MULTIPROCESSORS_TESTING_H_
