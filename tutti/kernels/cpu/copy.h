// Copies elements from one order to another.

#ifndef TUTTI_KERNELS_CPU_COPY_H_
#define TUTTI_KERNELS_CPU_COPY_H_

#include "tutti/kernels/cpu/nest.h"

namespace tutti::cpu {

// The part's share of the copy that the nest describes: its arrays are `from` and `to`, and it is
// in the order of `to`. Null arrays are allowed if the nest is empty.
void copy(const Nest<2>& nest, const float* from, float* to, Part part);

}  // namespace tutti::cpu

#endif  // TUTTI_KERNELS_CPU_COPY_H_
