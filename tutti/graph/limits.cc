#include "tutti/graph/limits.h"

#include <fmt/format.h>

namespace tutti {

Result<void> check_made(double ops_and_edges, double most) {
  if (ops_and_edges <= most) return {};
  return invalid_input(fmt::format(
      "the graph would have {:.4g} ops and edges; at most {:.4g} are made", ops_and_edges, most));
}

}  // namespace tutti
