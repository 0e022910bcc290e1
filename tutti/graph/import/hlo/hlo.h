// HLO text of XLA, as --xla_dump_to and JAX's lowered.as_text("hlo") write it.
//
// The instructions of the entry computation become ops. A module that XLA has not optimised yet,
// as JAX prints it, is fused first as XLA would (fuse.h), unless ImportOptions::fuse is off: what
// would run as one kernel is one op of kind "fusion", called like its last instruction. In an
// optimised module, or without fusing, each instruction is an op with its opcode as kind.
//
// An op has the bytes of what it reads and makes by their types, and the flops of its instructions
// (flops.h), those of the computations they call included: loops as many times as their condition
// says. Parameters and constants become graph inputs that are resident (weight): their buffers are
// the caller's, for the whole run. Tuples and get-tuple-element only name values and leave no op.
// Where they are ops, reshape, bitcast and their kin are views and are given no time.

#ifndef TUTTI_GRAPH_IMPORT_HLO_HLO_H_
#define TUTTI_GRAPH_IMPORT_HLO_HLO_H_

#include <string_view>

#include "tutti/graph/import/import.h"

namespace tutti {

bool looks_like_hlo(std::string_view start);

Result<Imported> read_hlo(Source& source, const ImportOptions& options);

// The graph of a module that was read from `source`.
struct HloModule;
Result<Imported> import_hlo_module(const HloModule& module, const Source& source,
                                   const ImportOptions& options);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_HLO_HLO_H_
