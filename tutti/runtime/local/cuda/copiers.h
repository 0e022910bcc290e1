// Copiers of which at least one end is a GPU's memory, each with streams of its own, so that copies
// overlap with the work of slots.

#ifndef TUTTI_RUNTIME_LOCAL_CUDA_COPIERS_H_
#define TUTTI_RUNTIME_LOCAL_CUDA_COPIERS_H_

#include <memory>

#include "tutti/runtime/local/hardware.h"

namespace tutti {

// By the copy engines of that GPU, or by its driver to another: from where it is to where it goes.
std::unique_ptr<Copier> direct_copier(int gpu);

// From a GPU to a GPU, or from one partition to another, by way of pinned memory: down and up
// again, piece by piece, so that both ways are busy at once.
std::unique_ptr<Copier> staged_copier(int from_gpu, int to_gpu);

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_CUDA_COPIERS_H_
