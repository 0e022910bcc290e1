// tutti graph make chainmm, ffnn, llama-block, llama-layer, cholesky: programs of known kinds of
// ops, split into blocks.

#include <fmt/format.h>

#include "tools/graph/graph_make.h"
#include "tutti/graph/kind/attributes.h"
#include "tutti/graph/make/chainmm.h"
#include "tutti/graph/make/cholesky.h"
#include "tutti/graph/make/ffnn.h"
#include "tutti/graph/make/llama.h"

namespace tutti {
namespace {

// A spec and the flags that are not numbers of it.
template <class Spec>
struct Flags {
  Spec spec{};
  std::string split{};
  std::string dtype = "f32";
  std::string sizes{};
  int64_t shards = 0;
};

Result<std::vector<int64_t>> parse_list(const std::string& flag, const std::string& text) {
  const Result<std::vector<int64_t>> numbers = Attributes({{flag, text}}).wholes(flag);
  if (numbers) return numbers;
  return invalid_input(fmt::format("{} is '{}', not a list of whole numbers", flag, text));
}

Result<ProductSplit> parse_split(const std::string& text) {
  const Result<std::vector<int64_t>> numbers = parse_list("--split", text);
  if (!numbers || numbers->size() != 3) {
    return invalid_input(fmt::format(
        "--split is '{}', not blocks of rows, columns and summed index such as 2,2,4", text));
  }
  return ProductSplit{(*numbers)[0], (*numbers)[1], (*numbers)[2]};
}

Result<DType> parse_float(const std::string& text) {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    if (text == to_text(dtype)) return dtype;
  }
  return invalid_input(fmt::format("--dtype is '{}', not f64, f32, f16 or bf16", text));
}

Result<Graph> graph_of(Result<Sharded> sharded) {
  if (!sharded) return sharded.error();
  return std::move(sharded->graph);
}

template <class Spec>
void add_common(Maker<Flags<Spec>>& maker) {
  maker.flag("--devices", maker.spec->spec.devices, "Devices that shards are dealt to");
  maker.flag("--dtype", maker.spec->dtype, "f64, f32, f16 or bf16");
}

void add_chainmm(CLI::App& make, const MakeGraphs& how) {
  Maker<Flags<ChainmmSpec>> maker(make, "chainmm", "(A x B) + (C x (D x E)), square matrices",
                                  "--size 10000 --split 2,2,4 --devices 4");
  maker.spec->split = "2,2,4";
  maker.flag("--size", maker.spec->spec.size, "Rows and columns of each matrix");
  maker.flag("--split", maker.spec->split,
             "Blocks of each product: rows,columns,summed; with summed > 1 partial sums are added");
  add_common(maker);
  maker.run(
      [](Flags<ChainmmSpec> flags) -> Result<Graph> {
        const Result<ProductSplit> split = parse_split(flags.split);
        if (!split) return split.error();
        const Result<DType> dtype = parse_float(flags.dtype);
        if (!dtype) return dtype.error();
        flags.spec.split = *split;
        flags.spec.dtype = *dtype;
        return graph_of(make_chainmm(flags.spec));
      },
      how);
}

Result<Graph> run_ffnn(Flags<FfnnSpec> flags) {
  FfnnSpec& spec = flags.spec;
  const Result<std::vector<int64_t>> sizes = parse_list("--sizes", flags.sizes);
  if (!sizes) return sizes.error();
  const Result<DType> dtype = parse_float(flags.dtype);
  if (!dtype) return dtype.error();
  spec.sizes = *sizes;
  spec.dtype = *dtype;
  spec.data_shards = flags.shards == 0 ? spec.devices : flags.shards;
  if (flags.split != "dp") {
    const Result<ProductSplit> split = parse_split(flags.split);
    if (!split) return split.error();
    spec.split = *split;
  }
  return graph_of(make_ffnn(spec));
}

void add_ffnn(CLI::App& make, const MakeGraphs& how) {
  Maker<Flags<FfnnSpec>> maker(make, "ffnn", "A feed-forward network, also one step of training",
                               "--train --split 2,2,1 --devices 4");
  FfnnSpec& spec = maker.spec->spec;
  maker.spec->split = "dp";
  maker.spec->sizes = wholes_text(spec.sizes);
  maker.flag("--batch", spec.batch, "Rows of the input");
  maker.flag("--sizes", maker.spec->sizes, "Sizes of input, hidden layers and output");
  maker.command->add_flag("--train", spec.train, "Backward as well, and new weights");
  maker.flag("--split", maker.spec->split,
             "dp: parts of the batch; or blocks of each product: rows,columns,summed");
  maker.flag("--shards", maker.spec->shards, "Parts of the batch for dp; 0: as many as devices");
  add_common(maker);
  maker.run(run_ffnn, how);
}

struct LlamaShards {
  int64_t data = 0;
  int64_t head = 0;
  int64_t row = 0;
};

struct LlamaFlags : Flags<LlamaSpec> {
  LlamaShards own;  // 0: as `split` says
};

Result<Graph> run_llama(const LlamaFlags& flags) {
  LlamaSpec spec = flags.spec;
  const Result<DType> dtype = parse_float(flags.dtype);
  if (!dtype) return dtype.error();
  spec.dtype = *dtype;
  if (spec.batch == 0) spec.batch = spec.devices;
  const Result<LlamaSpec> split =
      with_split(spec, flags.split, flags.shards == 0 ? spec.devices : flags.shards);
  if (!split) return split.error();
  spec = *split;
  if (flags.own.data != 0) spec.data_shards = flags.own.data;
  if (flags.own.head != 0) spec.head_shards = flags.own.head;
  if (flags.own.row != 0) spec.row_shards = flags.own.row;
  return graph_of(make_llama(spec));
}

void add_llama(CLI::App& make, const std::string& name, const std::string& about, bool ends,
               const MakeGraphs& how) {
  Maker<LlamaFlags> maker(make, name, about, "--split tp --shards 8 --devices 4");
  LlamaSpec& spec = maker.spec->spec;
  spec.ends = ends;
  spec.batch = 0;
  maker.spec->split = "mix";
  maker.flag("--batch", spec.batch, "Sequences; 0: as many as devices");
  maker.flag("--sequence", spec.sequence, "Tokens of a sequence");
  maker.flag("--hidden", spec.hidden, "Elements of a token");
  maker.flag("--heads", spec.heads, "Heads of the attention");
  maker.flag("--feed-forward", spec.feed_forward, "Elements within the feed-forward network");
  if (ends) maker.flag("--vocabulary", spec.vocabulary, "Different tokens");
  maker.flag("--blocks", spec.blocks, "Transformer blocks, one behind the other");
  maker.flag("--split", maker.spec->split, "dp: by sequences; tp: by heads and columns; mix: both");
  maker.flag("--shards", maker.spec->shards, "Shards in all; 0: as many as devices");
  maker.flag("--data-shards", maker.spec->own.data, "Parts of the batch; 0: as --split says");
  maker.flag("--head-shards", maker.spec->own.head,
             "Parts of heads and columns; 0: as --split says");
  maker.flag("--row-shards", maker.spec->own.row,
             "Parts of each data shard's rows, for sums and norms; 0: as --split says");
  maker.flag("--devices", spec.devices, "Devices that shards are dealt to");
  maker.flag("--dtype", maker.spec->dtype, "f64, f32, f16 or bf16");
  maker.run(run_llama, how);
}

void add_cholesky(CLI::App& make, const MakeGraphs& how) {
  Maker<Flags<CholeskySpec>> maker(make, "cholesky", "Tiled Cholesky factorisation",
                                   "--tiles 16 --tile-size 1024 --devices 4");
  maker.flag("--tiles", maker.spec->spec.tiles, "Tiles per side of the matrix");
  maker.flag("--tile-size", maker.spec->spec.tile_size, "Rows and columns of a tile");
  add_common(maker);
  maker.run(
      [](Flags<CholeskySpec> flags) -> Result<Graph> {
        const Result<DType> dtype = parse_float(flags.dtype);
        if (!dtype) return dtype.error();
        flags.spec.dtype = *dtype;
        return make_cholesky(flags.spec);
      },
      how);
}

}  // namespace

void add_make_programs(CLI::App& make, const MakeGraphs& how) {
  add_chainmm(make, how);
  add_ffnn(make, how);
  add_llama(make, "llama-block", "A transformer block of LLaMA, by default with 7B sizes",
            /*ends=*/false, how);
  add_llama(make, "llama-layer", "The same with token embedding and the last token's logits",
            /*ends=*/true, how);
  add_cholesky(make, how);
}

}  // namespace tutti
