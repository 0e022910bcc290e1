#include "tutti/graph/make/shard/split.h"

#include <fmt/format.h>

#include <algorithm>

#include "tutti/graph/kind/kind.h"

namespace tutti {
namespace {

Result<int64_t> count_of(const Program& program, const Sharding& sharding,
                         const Statement& statement, IndexId index) {
  const auto is = [&](IndexId other) { return other == index; };
  if (std::any_of(statement.whole.begin(), statement.whole.end(), is)) return 1;
  const std::string& output = program[statement.output].name;
  int64_t count = 1;
  if (const auto found = sharding.splits.find(index); found != sharding.splits.end()) {
    count = found->second;
  }
  const auto own = sharding.statement_splits.find({output, index});
  if (own != sharding.statement_splits.end()) count = own->second;
  const auto& [name, size] = program[index];
  if (count >= 1 && count <= size) return count;
  return invalid_input(fmt::format(
      "index '{}' of '{}' has size {} and does not split into {} blocks; ask for 1 to {} shards of "
      "it, or for a larger size",
      name, output, size, count, size));
}

// The blocks in which partial ones are joined.
Result<void> set_joined(const Program& program, const Sharding& sharding, Split& split) {
  put(split.joined, split.statement.summed, Axes(split.statement.summed.size(), 1));
  for (const IndexId index : split.output.indices) {
    const auto found = sharding.join_splits.find({split.output.name, index});
    if (found == sharding.join_splits.end()) continue;
    const auto& [name, size] = program[index];
    int64_t& count = split.joined[static_cast<size_t>(index.index)];
    if (found->second < 1 || found->second > size || found->second % count != 0) {
      return invalid_input(fmt::format(
          "index '{}' of '{}' has size {} and {} blocks, which cannot be joined in {}; ask for a "
          "multiple of {} up to {}",
          name, split.output.name, size, count, found->second, count, size));
    }
    count = found->second;
  }
  return {};
}

// Each joined block has an op that reads a piece of every partial one; to be cut out of it, unless
// it is all of it.
void count_joins(Split& split) {
  const double blocks = element_count(along(split.output.indices, split.joined));
  const double partials = element_count(along(split.statement.summed, split.counts));
  const double cuts = split.joined == split.counts ? 0 : 2;
  split.made += blocks * (1 + partials * (1 + cuts));
}

}  // namespace

Axes along(const Indices& indices, const BlockOf& by_index) {
  Axes found;
  for (const IndexId index : indices) found.push_back(by_index[static_cast<size_t>(index.index)]);
  return found;
}

void put(BlockOf& by_index, const Indices& indices, const Axes& entries) {
  for (size_t i = 0; i < indices.size(); ++i) {
    by_index[static_cast<size_t>(indices[i].index)] = entries[i];
  }
}

Result<Split> split_statement(const Program& program, const Sharding& sharding,
                              const Statement& statement) {
  const ProgramTensor& output = program[statement.output];
  Split split{.statement = statement,
              .output = output,
              .counts = BlockOf(program.indices().size(), 1),
              .joined = {}};
  Indices all = output.indices;
  all.insert(all.end(), statement.summed.begin(), statement.summed.end());
  if (statement.last.valid()) all.push_back(statement.last);
  double ops = 1;
  for (const IndexId index : all) {
    const Result<int64_t> count = count_of(program, sharding, statement, index);
    if (!count) return count.error();
    split.counts[static_cast<size_t>(index.index)] = *count;
    if (index != statement.last) ops *= static_cast<double>(*count);
  }
  split.made = ops * (1 + static_cast<double>(statement.operands.size()));
  split.joined = split.counts;
  const Axes summed = along(statement.summed, split.counts);
  if (std::all_of(summed.begin(), summed.end(), [](int64_t count) { return count == 1; })) {
    return split;
  }
  if (auto joined = set_joined(program, sharding, split); !joined) return joined.error();
  count_joins(split);
  return split;
}

}  // namespace tutti
