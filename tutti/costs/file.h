// Cost files: TOML, or the same structure as JSON. See docs/formats/costs.md.

#ifndef TUTTI_COSTS_FILE_H_
#define TUTTI_COSTS_FILE_H_

#include <string>

#include "tutti/base/file/source.h"
#include "tutti/costs/costs.h"

namespace tutti {

Result<CostSpec> read_costs(Source& source);

// As a TOML or JSON text that read_costs takes back, with the same numbers.
std::string costs_to_toml(const CostSpec& spec);
std::string costs_to_json(const CostSpec& spec);

}  // namespace tutti

#endif  // TUTTI_COSTS_FILE_H_
