// What HLO opcodes do, as far as the reader must know.

#ifndef TUTTI_GRAPH_IMPORT_HLO_OPCODES_H_
#define TUTTI_GRAPH_IMPORT_HLO_OPCODES_H_

#include <string_view>

namespace tutti {

// One result element for each element of its operands at the same place.
bool hlo_is_elementwise(std::string_view opcode);

// Moves data or stands for it, and computes nothing.
bool hlo_moves_only(std::string_view opcode);

// Hands on what it reads: takes no time.
bool hlo_is_view(std::string_view opcode);

// Starts a kernel, copy or library call of its own; not so views, the ends of asynchronous ops, and
// what runs computations.
bool hlo_launches(std::string_view opcode);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_HLO_OPCODES_H_
