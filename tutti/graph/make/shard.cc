#include "tutti/graph/make/shard.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tutti/graph/kind/attributes.h"
#include "tutti/graph/make/blocks.h"
#include "tutti/graph/make/emitter.h"

namespace tutti {
namespace {

// Of index sizes: products of a few stay exact in a double where it matters.
constexpr int64_t kLargestIndex = std::numeric_limits<int32_t>::max();

using BlockOf = std::vector<int64_t>;  // by index id: which block, or of how many

// The entries of some indices.
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

class Sharder {
 public:
  Sharder(const Program& program, const Sharding& sharding)
      : program_(program), sharding_(sharding), emitter_(program.name(), sharding.dtype) {}

  Result<Sharded> run() &&;

 private:
  // What one statement is split into.
  struct Split {
    const Statement& statement;
    const ProgramTensor& output;
    BlockOf counts;  // of each op
    BlockOf joined;  // of the result: finer where partial blocks are joined in smaller ones
    double ops = 1;
  };
  struct Partial {
    std::string name;
    ValueId value;
    int32_t shard;
  };

  Result<void> check_sizes() const;
  Result<Split> split_of(const Statement& statement) const;
  Result<int64_t> count_of(const Statement& statement, IndexId index) const;

  Result<void> run_statement(const Statement& statement);
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
  Result<ValueId> repartition(const TensorBlocks& blocks, const Region& region, int32_t shard);
  Result<ValueId> cut(const TensorBlocks& blocks, const Axes& from, const Region& piece,
                      int32_t shard);
  Result<ValueId> add_slice(const std::string& tensor, ValueId from, const Region& whole,
                            const Region& piece, int32_t shard);
  std::string piece_name(const std::string& tensor, const char* what);

  struct Piece {
    std::string tensor;
    Region region;
    int32_t shard;  // where it is made
    friend auto operator<=>(const Piece&, const Piece&) = default;
  };

  const Program& program_;
  const Sharding& sharding_;
  Emitter emitter_;
  std::vector<TensorBlocks> blocks_;  // by tensor of the program
  std::map<Piece, ValueId> pieces_;
  std::map<std::string, int> piece_count_;
};

Result<Sharded> Sharder::run() && {
  if (auto checked = check_sizes(); !checked) return checked.error();
  for (const ProgramTensor& tensor : program_.tensors()) {
    TensorBlocks blocks{.name = tensor.name, .input = tensor.input};
    for (const IndexId index : tensor.indices) blocks.shape.push_back(program_[index].size);
    blocks_.push_back(std::move(blocks));
  }
  for (const Statement& statement : program_.statements()) {
    if (auto done = run_statement(statement); !done) return done.error();
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

Result<int64_t> Sharder::count_of(const Statement& statement, IndexId index) const {
  const auto is = [&](IndexId other) { return other == index; };
  if (std::any_of(statement.whole.begin(), statement.whole.end(), is)) return 1;
  const std::string& output = program_[statement.output].name;
  int64_t count = 1;
  if (const auto found = sharding_.splits.find(index); found != sharding_.splits.end()) {
    count = found->second;
  }
  const auto own = sharding_.statement_splits.find({output, index});
  if (own != sharding_.statement_splits.end()) count = own->second;
  const auto& [name, size] = program_[index];
  if (count >= 1 && size % count == 0) return count;
  return invalid_input(
      fmt::format("index '{}' of '{}' has size {} and does not split into {} equal blocks", name,
                  output, size, count));
}

Result<Sharder::Split> Sharder::split_of(const Statement& statement) const {
  const ProgramTensor& output = program_[statement.output];
  Split split{.statement = statement,
              .output = output,
              .counts = BlockOf(program_.indices().size(), 1),
              .joined = {}};
  Indices all = output.indices;
  all.insert(all.end(), statement.summed.begin(), statement.summed.end());
  if (statement.last.valid()) all.push_back(statement.last);
  for (const IndexId index : all) {
    const Result<int64_t> count = count_of(statement, index);
    if (!count) return count.error();
    split.counts[static_cast<size_t>(index.index)] = *count;
    if (index != statement.last) split.ops *= static_cast<double>(*count);
  }
  split.joined = split.counts;
  const Axes summed = along(statement.summed, split.counts);
  if (std::all_of(summed.begin(), summed.end(), [](int64_t count) { return count == 1; })) {
    return split;
  }
  put(split.joined, statement.summed, Axes(statement.summed.size(), 1));
  for (const IndexId index : output.indices) {
    const auto found = sharding_.join_splits.find({output.name, index});
    if (found == sharding_.join_splits.end()) continue;
    const auto& [name, size] = program_[index];
    int64_t& count = split.joined[static_cast<size_t>(index.index)];
    if (found->second < 1 || size % found->second != 0 || found->second % count != 0) {
      return invalid_input(fmt::format(
          "index '{}' of '{}' has size {} and {} blocks, which cannot be joined in {} equal ones",
          name, output.name, size, count, found->second));
    }
    count = found->second;
  }
  return split;
}

Result<void> Sharder::run_statement(const Statement& statement) {
  const Result<Split> split = split_of(statement);
  if (!split) return split.error();
  const double edges = static_cast<double>(statement.operands.size());
  if (auto fits = check_made(split->ops * (1 + edges)); !fits) return fits.error();
  const Indices& indices = split->output.indices;
  TensorBlocks& blocks = blocks_[static_cast<size_t>(statement.output.index)];
  const Axes coarse = along(indices, split->counts);
  blocks.counts = along(indices, split->joined);
  const double result_ops = element_count(blocks.counts);
  if (auto fits = check_made(result_ops); !fits) return fits.error();
  blocks.values.resize(static_cast<size_t>(result_ops));
  blocks.shards.resize(blocks.values.size());
  for (const Axes& place : all_blocks(coarse)) {
    BlockOf block(program_.indices().size(), 0);
    put(block, indices, place);
    if (statement.last.valid()) {
      put(block, {statement.last}, {along({statement.last}, split->counts)[0] - 1});
    }
    const Result<std::vector<Partial>> partials = make_partials(*split, block);
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
      blocks.shards[number] = shard_of(*split, block, /*joins=*/true);
      const Result<ValueId> joined = join(*split, *partials, block, blocks.shards[number]);
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
    Result<Partial> partial = make_partial(split, block);
    if (!partial) return partial.error();
    partials.push_back(std::move(*partial));
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
    const int64_t size = program_[index].size / along({index}, split.counts)[0];
    op.attributes.emplace_back(statement.offset_key,
                               std::to_string(along({index}, block)[0] * size));
  }
  Partial partial{.name = op.name, .value = {}, .shard = op.shard};
  const Result<ValueId> value = emitter_.add_op(std::move(op));
  if (!value) return value.error();
  partial.value = *value;
  return partial;
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
          add_slice(split.output.name, value, whole, piece, partial.shard);
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
  return repartition(blocks, block_region(blocks.shape, counts, block), shard);
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

Result<ValueId> Sharder::repartition(const TensorBlocks& blocks, const Region& region,
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
      {.name = piece_name(blocks.name, "assemble"),
       .kind = "assemble",
       .operands = std::move(operands),
       .attributes = {{"shape", wholes_text(region.shape)}, {"offsets", std::move(offsets)}},
       .group = blocks.name + ".repartition",
       .shard = shard});
  if (value) pieces_.emplace(key, *value);
  return value;
}

// A slice is cut where its block is, so that only the piece travels. Graph inputs are everywhere.
Result<ValueId> Sharder::cut(const TensorBlocks& blocks, const Axes& from, const Region& piece,
                             int32_t shard) {
  const size_t number = block_number(blocks.counts, from);
  const Region whole = block_region(blocks.shape, blocks.counts, from);
  if (piece == whole) return blocks.values[number];
  const Piece key{blocks.name, piece, blocks.input ? shard : blocks.shards[number]};
  if (const auto known = pieces_.find(key); known != pieces_.end()) return known->second;
  const Result<ValueId> value =
      add_slice(blocks.name, blocks.values[number], whole, piece, key.shard);
  if (value) pieces_.emplace(key, *value);
  return value;
}

Result<ValueId> Sharder::add_slice(const std::string& tensor, ValueId from, const Region& whole,
                                   const Region& piece, int32_t shard) {
  return emitter_.add_op({.name = piece_name(tensor, "slice"),
                          .kind = "slice",
                          .operands = {from},
                          .attributes = {{"begin", wholes_text(relative(piece, whole).begin)},
                                         {"shape", wholes_text(piece.shape)}},
                          .group = tensor + ".repartition",
                          .shard = shard});
}

std::string Sharder::piece_name(const std::string& tensor, const char* what) {
  const std::string kind = fmt::format("{}.{}", tensor, what);
  return fmt::format("{}{}", kind, piece_count_[kind]++);
}

}  // namespace

Result<Sharded> shard(const Program& program, const Sharding& sharding) {
  return Sharder(program, sharding).run();
}

}  // namespace tutti
