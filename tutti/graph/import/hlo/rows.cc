#include "tutti/graph/import/hlo/rows.h"

#include <algorithm>

#include "tutti/graph/import/hlo/opcodes.h"

namespace tutti {
namespace {

constexpr double kLongestRow = 1 << 20;  // elements: what a Triton block can hold
constexpr size_t kMostUses = 64;         // of the search; longer paths count as leaving the rows

std::vector<int64_t> without_ones(const std::vector<int64_t>& dims) {
  std::vector<int64_t> kept;
  for (const int64_t dim : dims) {
    if (dim != 1) kept.push_back(dim);
  }
  return kept;
}

// How many leading dimensions, those of size 1 left out, a reduction leaves; -1 if it reduces
// others than the last ones.
int64_t rows_left(const HloNode& node) {
  const std::vector<int64_t>& reduced = node.instruction->dimensions;
  int64_t left = 0;
  bool inside = false;
  double length = 1;
  for (size_t i = 0; i < node.seen.size(); ++i) {
    if (node.seen[i] == 1) continue;
    const bool now =
        std::find(reduced.begin(), reduced.end(), static_cast<int64_t>(i)) != reduced.end();
    if (inside && !now) return -1;
    inside = inside || now;
    now ? length *= static_cast<double>(node.seen[i]) : left += 1;
  }
  return inside && length <= kLongestRow ? left : -1;
}

// Whether a broadcast repeats what it reads along all but the first `left` dimensions of `rows`.
bool fills_rows(const HloNode& broadcast, const std::vector<int64_t>& made,
                const std::vector<int64_t>& rows, int64_t left) {
  if (without_ones(made) != rows) return false;
  const std::vector<int64_t>& map = broadcast.instruction->dimensions;
  int64_t next = 0;
  for (size_t i = 0; i < broadcast.seen.size(); ++i) {
    if (broadcast.seen[i] == 1) continue;
    if (i >= map.size() || map[i] < 0 || map[i] >= static_cast<int64_t>(made.size())) return false;
    const int64_t place =
        std::count_if(made.begin(), made.begin() + map[i], [](int64_t dim) { return dim != 1; });
    if (place != next) return false;
    ++next;
  }
  return next == left;
}

}  // namespace

bool hlo_stays_in_rows(const HloFlat& flat, const HloUses& uses, int32_t node) {
  const HloNode& reduction = flat.nodes[node];
  const int64_t left = rows_left(reduction);
  if (left < 0) return false;
  const std::vector<int64_t> rows = without_ones(reduction.seen);
  const double elements = flat.values[reduction.first_value].type.elements();
  std::vector<int32_t> values{reduction.first_value};
  for (size_t i = 0; i < values.size(); ++i) {
    if (uses.kept[values[i]]) return false;
    for (const int32_t user : uses.users[values[i]]) {
      const HloNode& reader = flat.nodes[user];
      if (reader.value_count != 1 || values.size() > kMostUses) return false;
      const HloType::Array& made = flat.values[reader.first_value].type;
      if (reader.opcode == "broadcast") {
        if (!fills_rows(reader, made.dims, rows, left)) return false;
      } else if (hlo_is_elementwise(reader.opcode) && made.elements() == elements) {
        if (std::find(values.begin(), values.end(), reader.first_value) == values.end()) {
          values.push_back(reader.first_value);
        }
      } else {
        return false;
      }
    }
  }
  return true;
}

}  // namespace tutti
