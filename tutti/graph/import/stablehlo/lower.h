// From MLIR to an HloModule, as XLA lowers StableHLO: functions and regions become computations,
// what a region reads from outside becomes a parameter of it, constants are repeated inside, a
// constant of equal elements is a broadcast of one number.

#ifndef TUTTI_GRAPH_IMPORT_STABLEHLO_LOWER_H_
#define TUTTI_GRAPH_IMPORT_STABLEHLO_LOWER_H_

#include "tutti/base/result.h"
#include "tutti/graph/import/hlo/module.h"
#include "tutti/graph/import/stablehlo/mlir.h"

namespace tutti {

// The function called main, or the only one that is public, is the entry. On failure `fault` says
// where.
Result<HloModule> lower_stablehlo(const MlirModule& module, MlirFault& fault);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_STABLEHLO_LOWER_H_
