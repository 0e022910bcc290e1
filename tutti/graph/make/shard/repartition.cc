#include "tutti/graph/make/shard/repartition.h"

#include <fmt/format.h>

#include "tutti/graph/kind/attributes.h"

namespace tutti {

Result<ValueId> Repartition::fetch(const TensorBlocks& blocks, const Region& region,
                                   int32_t shard) {
  const Piece key{blocks.name, region, shard};
  if (const auto known = pieces_.find(key); known != pieces_.end()) return known->second;
  std::vector<ValueId> operands;
  std::string offsets;
  for (const Axes& from : blocks_meeting(blocks.shape, blocks.counts, region)) {
    const Region piece = intersection(block_region(blocks.shape, blocks.counts, from), region);
    const Result<ValueId> value = cut(blocks, from, piece, shard);
    if (!value) return value;
    operands.push_back(*value);
    if (!offsets.empty()) offsets += ';';
    offsets += wholes_text(relative(piece, region).begin);
  }
  if (operands.size() == 1) return operands[0];
  const Result<ValueId> value = emitter_.add_op(
      {.name = next_name(blocks.name, "assemble"),
       .kind = "assemble",
       .operands = std::move(operands),
       .attributes = {{"shape", wholes_text(region.shape)}, {"offsets", std::move(offsets)}},
       .group = blocks.name + ".repartition",
       .shard = shard});
  if (value) pieces_.emplace(key, *value);
  return value;
}

// A slice is cut where its block is, so that only the piece travels. Graph inputs are everywhere.
Result<ValueId> Repartition::cut(const TensorBlocks& blocks, const Axes& from, const Region& piece,
                                 int32_t shard) {
  const size_t number = block_number(blocks.counts, from);
  const Region whole = block_region(blocks.shape, blocks.counts, from);
  if (piece == whole) return blocks.values[number];
  const Piece key{blocks.name, piece, blocks.input ? shard : blocks.shards[number]};
  if (const auto known = pieces_.find(key); known != pieces_.end()) return known->second;
  const Result<ValueId> value = slice(blocks.name, blocks.values[number], whole, piece, key.shard);
  if (value) pieces_.emplace(key, *value);
  return value;
}

Result<ValueId> Repartition::slice(const std::string& tensor, ValueId from, const Region& whole,
                                   const Region& piece, int32_t shard) {
  return emitter_.add_op({.name = next_name(tensor, "slice"),
                          .kind = "slice",
                          .operands = {from},
                          .attributes = {{"begin", wholes_text(relative(piece, whole).begin)},
                                         {"shape", wholes_text(piece.shape)}},
                          .group = tensor + ".repartition",
                          .shard = shard});
}

std::string Repartition::next_name(const std::string& tensor, const char* what) {
  const std::string kind = fmt::format("{}.{}", tensor, what);
  return fmt::format("{}{}", kind, made_[kind]++);
}

}  // namespace tutti
