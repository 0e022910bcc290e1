// Whether a reduction is one of rows whose result is only used within the same rows, as the maximum
// and the sum of a softmax and the moments of a layer norm are.

#ifndef TUTTI_GRAPH_IMPORT_HLO_ROWS_H_
#define TUTTI_GRAPH_IMPORT_HLO_ROWS_H_

#include <cstdint>

#include "tutti/graph/import/hlo/flat.h"
#include "tutti/graph/import/hlo/library_calls.h"

namespace tutti {

// Requires a node that reduces and makes one value. True if it reduces the last dimensions, over at
// most 2^20 elements, and every use of it is element-wise or a broadcast back along what it
// reduced.
bool hlo_stays_in_rows(const HloFlat& flat, const HloUses& uses, int32_t node);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_HLO_ROWS_H_
