// How many kernels, copies and library calls an HLO module starts, and what they move: the figures
// to hold two forms of one program against each other.

#ifndef TUTTI_GRAPH_IMPORT_HLO_LAUNCHES_H_
#define TUTTI_GRAPH_IMPORT_HLO_LAUNCHES_H_

#include <vector>

#include "tutti/graph/import/hlo/flat.h"
#include "tutti/graph/import/hlo/fuse.h"
#include "tutti/graph/import/import.h"

namespace tutti {

// The entry computation as `flat` and `groups`; loops, their conditions, branches and calls count
// with what they run, once. `fused`: those as fuse.h says too, else each instruction for itself.
Launches count_hlo_launches(const HloModule& module, const HloExpansion& expansion, bool fused,
                            const HloFlat& flat, const std::vector<HloGroup>& groups);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_HLO_LAUNCHES_H_
