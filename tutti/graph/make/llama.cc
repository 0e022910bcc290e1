#include "tutti/graph/make/llama.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tutti/graph/make/shard/expert.h"

namespace tutti {
namespace {

constexpr double kEpsilon = 1e-5;
constexpr double kRopeBase = 10000;

struct Names {
  IndexId sequence;  // which of the batch
  IndexId row;       // position of a token, as query
  IndexId key;       // position of a token, as key
  IndexId hidden;
  IndexId head;
  IndexId element;  // of a head
  IndexId feed_forward;
  IndexId vocabulary;
};

class Block {
 public:
  Block(Program& program, const Names& names, std::string prefix)
      : program_(program), n_(names), prefix_(std::move(prefix)) {}

  TensorId make(TensorId x) {
    const TensorId attended =
        program_.elementwise(prefix_ + "attention_residual", "add", {x, attention(x)});
    return program_.elementwise(prefix_ + "output", "add", {attended, feed_forward(attended)});
  }

 private:
  TensorId norm(const std::string& name, TensorId x) {
    return program_.rms_norm(prefix_ + name, x,
                             program_.weight(prefix_ + name + "_weight", {n_.hidden}), kEpsilon);
  }
  TensorId product(const std::string& name, TensorId x, Indices weight, Indices result) {
    const TensorId w = program_.weight(prefix_ + name + "_weight", std::move(weight));
    return program_.matmul(prefix_ + name, x, w, std::move(result));
  }

  TensorId attention(TensorId x);
  TensorId feed_forward(TensorId x);

  Program& program_;
  const Names& n_;
  std::string prefix_;
};

TensorId Block::attention(TensorId x) {
  const TensorId normed = norm("attention_norm", x);
  const Indices by_head = {n_.sequence, n_.row, n_.head, n_.element};
  const Indices as_key = {n_.sequence, n_.key, n_.head, n_.element};
  const Indices projection = {n_.hidden, n_.head, n_.element};
  const TensorId query = program_.rope(
      prefix_ + "query_rope", product("query", normed, projection, by_head), n_.row, kRopeBase);
  const TensorId key = program_.rope(
      prefix_ + "key_rope", product("key", normed, projection, by_head), n_.row, kRopeBase);
  const TensorId value = product("value", normed, projection, by_head);
  const Indices pairs = {n_.sequence, n_.head, n_.row, n_.key};
  const TensorId scores =
      program_.matmul(prefix_ + "scores", query, program_.renamed(key, as_key), pairs);
  const auto width = static_cast<double>(program_[n_.element].size);
  const TensorId scaled = program_.scale(prefix_ + "scaled_scores", scores, 1 / std::sqrt(width));
  const TensorId weights = program_.softmax(prefix_ + "softmax", scaled, n_.key, n_.row);
  const TensorId context =
      program_.matmul(prefix_ + "context", weights, program_.renamed(value, as_key), by_head);
  return product("attention_output", context, {n_.head, n_.element, n_.hidden},
                 {n_.sequence, n_.row, n_.hidden});
}

TensorId Block::feed_forward(TensorId x) {
  const TensorId normed = norm("feed_forward_norm", x);
  const Indices columns = {n_.sequence, n_.row, n_.feed_forward};
  const TensorId gate = product("gate", normed, {n_.hidden, n_.feed_forward}, columns);
  const TensorId up = product("up", normed, {n_.hidden, n_.feed_forward}, columns);
  const TensorId active = program_.elementwise(prefix_ + "silu", "silu", {gate});
  const TensorId gated = program_.elementwise(prefix_ + "gated", "multiply", {active, up});
  return product("down", gated, {n_.feed_forward, n_.hidden}, {n_.sequence, n_.row, n_.hidden});
}

// How many row shards go to sequences; the rest go to positions.
int64_t row_shards_by_sequence(const LlamaSpec& spec) {
  return std::gcd(spec.row_shards, spec.batch / spec.data_shards);
}

bool has_rows_enough(const LlamaSpec& spec) {
  return spec.row_shards / row_shards_by_sequence(spec) <= spec.sequence;
}

// Devices are dealt to data shards in turn, as many to each as it has head shards. Columns go by
// head shard; what has none (norms, sums, residuals) by row shard.
Expert expert(const LlamaSpec& spec, const Names& names) {
  return [spec, names](const BlockPlace& place) {
    const int64_t in_group = place.of(names.sequence) / spec.data_shards;
    const int64_t group = place.at(names.sequence) / in_group;
    const int64_t rows = in_group * place.of(names.row);
    const int64_t row =
        place.at(names.sequence) % in_group * place.of(names.row) + place.at(names.row);
    int64_t column = row * spec.head_shards / rows;
    for (const IndexId index : {names.head, names.feed_forward, names.vocabulary}) {
      if (place.of(index) > 1) column = place.at(index);
    }
    return static_cast<int32_t>((group * spec.head_shards + column) % spec.devices);
  };
}

// Products by heads and columns, of all rows of a data shard; their sums, and what is made of those
// alone, by rows.
Sharding sharding_of(const LlamaSpec& spec, const Program& program, const Names& names) {
  Sharding sharding{.splits = {{names.sequence, spec.data_shards},
                               {names.head, spec.head_shards},
                               {names.feed_forward, spec.head_shards},
                               {names.vocabulary, spec.head_shards}},
                    .dtype = spec.dtype,
                    .expert = expert(spec, names),
                    .most_made = spec.most_made};
  const int64_t by_sequence = row_shards_by_sequence(spec);
  for (const Statement& statement : program.statements()) {
    const ProgramTensor& tensor = program[statement.output];
    const bool is_product = statement.kind == "matmul";
    if (tensor.indices.back() != names.hidden) continue;  // by heads and columns
    auto& splits = is_product ? sharding.join_splits : sharding.statement_splits;
    splits[{tensor.name, names.sequence}] = spec.data_shards * by_sequence;
    splits[{tensor.name, names.row}] = spec.row_shards / by_sequence;
  }
  return sharding;
}

Result<void> check(const LlamaSpec& spec) {
  if (auto checked = check_devices(spec.devices); !checked) return checked.error();
  if (spec.heads < 1 || spec.hidden < 1 || spec.hidden % spec.heads != 0 ||
      spec.hidden / spec.heads % 2 != 0) {
    return invalid_input(fmt::format("{} hidden elements do not make {} heads of an even size",
                                     spec.hidden, spec.heads));
  }
  if (spec.data_shards < 1 || spec.head_shards < 1 || spec.row_shards < 1) {
    return invalid_input("data, head and row shards are at least 1 each");
  }
  if (spec.batch < spec.data_shards) {
    return invalid_input(fmt::format(
        "a batch of {} does not split into {} data shards; ask for at most {}, or for a "
        "larger --batch",
        spec.batch, spec.data_shards, spec.batch));
  }
  if (spec.blocks < 1 || spec.blocks > 10000) {
    return invalid_input(fmt::format("a model has from 1 to 10000 blocks, not {}", spec.blocks));
  }
  return {};
}

}  // namespace

Result<LlamaSpec> with_split(LlamaSpec spec, const std::string& split, int64_t shards) {
  if (auto checked = check_devices(spec.devices); !checked) return checked.error();
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (shards < 1 || shards > kMost || spec.batch < 1 || spec.batch > kMost) {
    return invalid_input(
        fmt::format("a batch of {} cannot be split for {} shards", spec.batch, shards));
  }
  if (split != "dp" && split != "tp" && split != "mix") {
    return invalid_input(fmt::format("there is no split '{}'; there are dp, tp and mix", split));
  }
  if (split == "dp") spec.data_shards = shards;
  if (split == "mix") {
    for (int64_t by = 1; by * by <= shards; ++by) {
      if (shards % by == 0 && spec.batch % by == 0) spec.data_shards = by;
    }
  }
  spec.head_shards = shards / spec.data_shards;
  spec.row_shards = std::clamp<int64_t>(spec.devices / spec.data_shards, 1, spec.head_shards);
  while (spec.row_shards > 1 && !has_rows_enough(spec)) --spec.row_shards;
  return spec;
}

Result<Sharded> make_llama(const LlamaSpec& spec) {
  if (auto checked = check(spec); !checked) return checked.error();
  Program program(spec.ends ? "llama_layer" : "llama_block");
  const Names names{.sequence = program.index("b", spec.batch),
                    .row = program.index("s", spec.sequence),
                    .key = program.index("t", spec.sequence),
                    .hidden = program.index("m", spec.hidden),
                    .head = program.index("h", spec.heads),
                    .element = program.index("d", spec.hidden / spec.heads),
                    .feed_forward = program.index("f", spec.feed_forward),
                    .vocabulary = program.index("v", spec.vocabulary)};
  const Indices stream = {names.sequence, names.row, names.hidden};
  TensorId x;
  if (spec.ends) {
    // Every device has the whole table: rows of it are looked up, not multiplied.
    const IndexId token = program.index("token", spec.vocabulary);
    x = program.embedding("embedding",
                          program.input("tokens", {names.sequence, names.row}, DType::i32),
                          program.weight("embedding_table", {token, names.hidden}));
  } else {
    x = program.input("x", stream);
  }
  for (int64_t i = 0; i < spec.blocks; ++i) {
    x = Block(program, names, spec.blocks == 1 ? "" : fmt::format("block{}.", i)).make(x);
  }
  if (spec.ends) {
    x = program.rms_norm("final_norm", x, program.weight("final_norm_weight", {names.hidden}),
                         kEpsilon);
    x = program.last_token("last_token", x);
    program.matmul("logits", x, program.weight("logits_weight", {names.hidden, names.vocabulary}),
                   {names.sequence, names.vocabulary});
  }
  return shard(program, sharding_of(spec, program, names));
}

}  // namespace tutti
