#include "tutti/graph/make/shard/shard.h"

#include <fmt/format.h>

#include <limits>

#include "tutti/graph/make/shard/emitter.h"
#include "tutti/graph/make/shard/repartition.h"
#include "tutti/graph/make/shard/split.h"

namespace tutti {
namespace {

// Of index sizes: products of a few stay exact in a double where it matters.
constexpr int64_t kLargestIndex = std::numeric_limits<int32_t>::max();

class Sharder {
 public:
  Sharder(const Program& program, const Sharding& sharding)
      : program_(program),
        sharding_(sharding),
        emitter_(program.name(), sharding.dtype, sharding.most_made) {}

  Result<Sharded> run() &&;

 private:
  struct Partial {
    ValueId value;
    int32_t shard;
  };

  Result<void> check_sizes() const;

  // Fails before anything is made if the graph would be too large.
  Result<std::vector<Split>> split_all() const;
  Result<void> run_statement(const Split& split);
  // The partial blocks of one block of the result, or the block itself as the only one.
  Result<std::vector<Partial>> make_partials(const Split& split, BlockOf block);
  Result<Partial> make_partial(const Split& split, const BlockOf& block);
  Result<ValueId> join(const Split& split, const std::vector<Partial>& partials,
                       const BlockOf& fine, int32_t shard);
  int32_t shard_of(const Split& split, const BlockOf& block, bool joins) const;
  std::string block_name(const std::string& name, const Indices& indices, const Axes& counts,
                         const Axes& block) const;

  // The value of the block that a reader on `shard` wants, cut and assembled where it must be.
  Result<ValueId> fetch(TensorId tensor, const Axes& counts, const Axes& block, int32_t shard);
  Result<void> add_input(TensorId tensor, const Axes& counts);

  const Program& program_;
  const Sharding& sharding_;
  Emitter emitter_;
  Repartition repartition_{emitter_};
  std::vector<TensorBlocks> blocks_;  // by tensor of the program
};

Result<Sharded> Sharder::run() && {
  if (auto checked = check_sizes(); !checked) return checked.error();
  for (const ProgramTensor& tensor : program_.tensors()) {
    TensorBlocks blocks{.name = tensor.name, .input = tensor.input};
    for (const IndexId index : tensor.indices) blocks.shape.push_back(program_[index].size);
    blocks_.push_back(std::move(blocks));
  }
  const Result<std::vector<Split>> splits = split_all();
  if (!splits) return splits.error();
  for (const Split& split : *splits) {
    if (auto done = run_statement(split); !done) return done.error();
  }
  Result<Graph> graph = std::move(emitter_).build();
  if (!graph) return graph.error();
  Sharded sharded{.graph = std::move(*graph)};
  for (size_t i = 0; i < blocks_.size(); ++i) {
    if (!program_.tensors()[i].same_as.valid()) sharded.tensors.push_back(std::move(blocks_[i]));
  }
  return sharded;
}

Result<void> Sharder::check_sizes() const {
  for (const ProgramIndex& index : program_.indices()) {
    if (index.size < 1 || index.size > kLargestIndex) {
      return invalid_input(fmt::format("index '{}' of '{}' has size {}; sizes are from 1 to {}",
                                       index.name, program_.name(), index.size, kLargestIndex));
    }
  }
  return {};
}

Result<std::vector<Split>> Sharder::split_all() const {
  std::vector<Split> splits;
  double made = 0;
  for (const Statement& statement : program_.statements()) {
    Result<Split> split = split_statement(program_, sharding_, statement);
    if (!split) return split.error();
    made += split->made;
    splits.push_back(std::move(*split));
  }
  if (auto fits = check_made(made, sharding_.most_made); !fits) return fits.error();
  return splits;
}

Result<void> Sharder::run_statement(const Split& split) {
  const Statement& statement = split.statement;
  const Indices& indices = split.output.indices;
  TensorBlocks& blocks = blocks_[static_cast<size_t>(statement.output.index)];
  const Axes coarse = along(indices, split.counts);
  blocks.counts = along(indices, split.joined);
  blocks.values.resize(static_cast<size_t>(element_count(blocks.counts)));
  blocks.shards.resize(blocks.values.size());
  for (const Axes& place : all_blocks(coarse)) {
    BlockOf block(program_.indices().size(), 0);
    put(block, indices, place);
    if (statement.last.valid()) {
      put(block, {statement.last}, {along({statement.last}, split.counts)[0] - 1});
    }
    const Result<std::vector<Partial>> partials = make_partials(split, block);
    if (!partials) return partials.error();
    const Region whole = block_region(blocks.shape, coarse, place);
    for (const Axes& fine : blocks_meeting(blocks.shape, blocks.counts, whole)) {
      const size_t number = block_number(blocks.counts, fine);
      if (partials->size() == 1) {
        blocks.values[number] = partials->front().value;
        blocks.shards[number] = partials->front().shard;
        continue;
      }
      put(block, indices, fine);
      blocks.shards[number] = shard_of(split, block, /*joins=*/true);
      const Result<ValueId> joined = join(split, *partials, block, blocks.shards[number]);
      if (!joined) return joined.error();
      blocks.values[number] = *joined;
    }
  }
  return {};
}

Result<std::vector<Sharder::Partial>> Sharder::make_partials(const Split& split, BlockOf block) {
  std::vector<Partial> partials;
  const Indices& summed = split.statement.summed;
  for (const Axes& place : all_blocks(along(summed, split.counts))) {
    put(block, summed, place);
    const Result<Partial> partial = make_partial(split, block);
    if (!partial) return partial.error();
    partials.push_back(*partial);
  }
  return partials;
}

Result<Sharder::Partial> Sharder::make_partial(const Split& split, const BlockOf& block) {
  const Statement& statement = split.statement;
  Indices named = split.output.indices;
  named.insert(named.end(), statement.summed.begin(), statement.summed.end());
  EmittedOp op{
      .name = block_name(split.output.name, named, along(named, split.counts), along(named, block)),
      .kind = statement.kind,
      .operands = {},
      .attributes = statement.attributes,
      .group = split.output.name,
      .shard = shard_of(split, block, /*joins=*/false)};
  for (const TensorId operand : statement.operands) {
    const Indices& indices = program_[operand].indices;
    const Result<ValueId> value =
        fetch(operand, along(indices, split.counts), along(indices, block), op.shard);
    if (!value) return value.error();
    op.operands.push_back(*value);
  }
  if (const IndexId index = statement.offset_of; index.valid()) {
    const int64_t begin = block_begin(program_[index].size, along({index}, split.counts)[0],
                                      along({index}, block)[0]);
    op.attributes.emplace_back(statement.offset_key, std::to_string(begin));
  }
  const int32_t shard = op.shard;
  const Result<ValueId> value = emitter_.add_op(std::move(op));
  if (!value) return value.error();
  return Partial{*value, shard};
}

Result<ValueId> Sharder::join(const Split& split, const std::vector<Partial>& partials,
                              const BlockOf& fine, int32_t shard) {
  const Indices& indices = split.output.indices;
  const Axes shape = blocks_[static_cast<size_t>(split.statement.output.index)].shape;
  const Axes place = along(indices, fine);
  const Axes joined = along(indices, split.joined);
  const Axes coarse = along(indices, split.counts);
  Axes coarse_place = place;
  for (size_t i = 0; i < place.size(); ++i) coarse_place[i] /= joined[i] / coarse[i];
  const Region whole = block_region(shape, coarse, coarse_place);
  const Region piece = block_region(shape, joined, place);
  EmittedOp op{
      .name = block_name(split.output.name, indices, joined, place) + "." + split.statement.combine,
      .kind = split.statement.combine,
      .operands = {},
      .attributes = {},
      .group = split.output.name,
      .shard = shard};
  for (const Partial& partial : partials) {
    ValueId value = partial.value;
    if (piece != whole) {
      const Result<ValueId> slice =
          repartition_.slice(split.output.name, value, whole, piece, partial.shard);
      if (!slice) return slice;
      value = *slice;
    }
    op.operands.push_back(value);
  }
  return emitter_.add_op(std::move(op));
}

int32_t Sharder::shard_of(const Split& split, const BlockOf& block, bool joins) const {
  if (!sharding_.expert) return 0;
  static const Indices kNone;
  BlockPlace place{.indices = split.output.indices,
                   .summed = joins ? kNone : split.statement.summed,
                   .block = block,
                   .count = joins ? split.joined : split.counts};
  return sharding_.expert(place);
}

// The indices that are split, each with the number of the block: "scores.b0.h3".
std::string Sharder::block_name(const std::string& name, const Indices& indices, const Axes& counts,
                                const Axes& block) const {
  std::string text = name;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (counts[i] > 1) text += fmt::format(".{}{}", program_[indices[i]].name, block[i]);
  }
  return text;
}

Result<ValueId> Sharder::fetch(TensorId tensor, const Axes& counts, const Axes& block,
                               int32_t shard) {
  const TensorId same = program_[tensor].same_as;
  const TensorId stored = same.valid() ? same : tensor;
  TensorBlocks& blocks = blocks_[static_cast<size_t>(stored.index)];
  if (blocks.values.empty()) {
    if (auto added = add_input(stored, counts); !added) return added.error();
  }
  if (blocks.counts == counts) return blocks.values[block_number(counts, block)];
  return repartition_.fetch(blocks, block_region(blocks.shape, counts, block), shard);
}

Result<void> Sharder::add_input(TensorId tensor, const Axes& counts) {
  const ProgramTensor& input = program_[tensor];
  TensorBlocks& blocks = blocks_[static_cast<size_t>(tensor.index)];
  blocks.counts = counts;
  for (const Axes& block : all_blocks(counts)) {
    const Region region = block_region(blocks.shape, counts, block);
    const Result<ValueId> value =
        emitter_.add_input(block_name(input.name, input.indices, counts, block), region.shape,
                           input.weight, input.dtype);
    if (!value) return value.error();
    blocks.values.push_back(*value);
  }
  return {};
}

}  // namespace

Result<Sharded> shard(const Program& program, const Sharding& sharding) {
  return Sharder(program, sharding).run();
}

}  // namespace tutti
