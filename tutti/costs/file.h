// Cost files: TOML, or the same structure as JSON. See docs/formats/costs.md.

#ifndef TUTTI_COSTS_FILE_H_
#define TUTTI_COSTS_FILE_H_

#include "tutti/base/source.h"
#include "tutti/costs/costs.h"

namespace tutti {

Result<CostSpec> read_costs(Source& source);

}  // namespace tutti

#endif  // TUTTI_COSTS_FILE_H_
