// Where an expert would put the blocks of a matrix product, and on how many devices.

#ifndef TUTTI_GRAPH_MAKE_SHARD_EXPERT_H_
#define TUTTI_GRAPH_MAKE_SHARD_EXPERT_H_

#include "tutti/graph/make/shard/shard.h"

namespace tutti {

// Fails unless there are from 1 to 65536 devices.
Result<void> check_devices(int32_t devices);

// The device of block (row, column) when rows x columns blocks are dealt to a grid of devices in
// turn, as ScaLAPACK does (Blackford et al. 1997). The grid is the one that leaves the fewest
// devices idle, and of those the squarest.
int32_t block_cyclic(int64_t row, int64_t column, int64_t rows, int64_t columns, int32_t devices);

// Rows are blocks of the first index of a result, columns those of the last. With at least as many
// result blocks as devices: block-cyclic, and all partial blocks of one result block on its device.
// With fewer, the partial blocks of each are spread as well.
Expert grid_expert(int32_t devices);

}  // namespace tutti

#endif  // TUTTI_GRAPH_MAKE_SHARD_EXPERT_H_
