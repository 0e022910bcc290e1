// Whether OpenBLAS can be loaded. If it gets no memory it waits for some for ever, while it is
// loaded or during a product, so this must be checked before.

#ifndef TUTTI_BASE_OPENBLAS_H_
#define TUTTI_BASE_OPENBLAS_H_

#include "tutti/base/result.h"

namespace tutti {

// Fails (failed) with one sentence if the address space of this process is limited (ulimit -v) to
// less than OpenBLAS takes for its code and for products on every core.
Result<void> require_space_for_openblas();

}  // namespace tutti

#endif  // TUTTI_BASE_OPENBLAS_H_
