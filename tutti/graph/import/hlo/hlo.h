// HLO text of XLA, as --xla_dump_to and JAX's lowered.as_text("hlo") write it.
//
// Each instruction of the entry computation becomes an op of the same name, with its opcode as
// kind, its bytes by its type, and its flops (flops.h), those of the computations it calls
// included: loops as many times as their condition says. Parameters and constants become graph
// inputs that are resident (weight): their buffers are the caller's, for the whole run. Tuples and
// get-tuple-element only name values and leave no op. reshape, bitcast and their kin are views and
// are given no time.

#ifndef TUTTI_GRAPH_IMPORT_HLO_HLO_H_
#define TUTTI_GRAPH_IMPORT_HLO_HLO_H_

#include <string_view>

#include "tutti/graph/import/import.h"

namespace tutti {

bool looks_like_hlo(std::string_view start);

Result<Imported> read_hlo(Source& source, const ImportOptions& options);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_HLO_HLO_H_
