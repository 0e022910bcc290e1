// StableHLO as MLIR text, as JAX's lowered.as_text() and other exporters write it.
//
// The module becomes the same HloModule as XLA's HLO text of the program would (lower.h), and a
// graph by the same rules: fusion, flops, bytes, loops and warnings are those of ../hlo/hlo.h. An
// op is called by its result, "dot_general.3" for "%3 = stablehlo.dot_general".
//
// Refused with a sentence: types of open dimensions or quantised numbers, functions of several
// blocks, bytecode.

#ifndef TUTTI_GRAPH_IMPORT_STABLEHLO_STABLEHLO_H_
#define TUTTI_GRAPH_IMPORT_STABLEHLO_STABLEHLO_H_

#include <string_view>

#include "tutti/graph/import/import.h"

namespace tutti {

bool looks_like_stablehlo(std::string_view start);

Result<Imported> read_stablehlo(Source& source, const ImportOptions& options);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_STABLEHLO_STABLEHLO_H_
