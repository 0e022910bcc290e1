// A transformer block of LLaMA (Touvron et al., arXiv 2302.13971): RMS norm, attention with rotary
// positions and a causal mask, and a gated feed-forward network, for the whole prompt at once. The
// layer puts the token embedding before it, and a last norm and the last token's logits behind.
// Sizes are those of the 7B model.
//
// Three ways to split, which may be mixed:
//   - data shards: groups of sequences that never meet;
//   - head shards: heads of the attention, columns of the feed-forward network and of the logits.
//     Both sub-layers end in partial results of all rows, one for each head shard;
//   - row shards: the rows (sequences first, then positions) of a data shard wherever there is no
//     head shard, so that partial results are added up, and norms taken, by several devices at
//     once: a reduce-scatter before and an all-gather behind.

#ifndef TUTTI_GRAPH_MAKE_LLAMA_H_
#define TUTTI_GRAPH_MAKE_LLAMA_H_

#include "tutti/graph/make/shard/shard.h"

namespace tutti {

struct LlamaSpec {
  int64_t batch = 4;
  int64_t sequence = 4096;
  int64_t hidden = 4096;
  int64_t heads = 32;
  int64_t feed_forward = 11008;
  int64_t vocabulary = 32000;
  int64_t blocks = 1;
  bool ends = false;  // the layer: embedding and logits as well

  int64_t data_shards = 1;
  int64_t head_shards = 1;
  int64_t row_shards = 1;  // of each data shard
  int32_t devices = 4;
  DType dtype = DType::f32;
  double most_made = kMostMade;  // ops and edges
};

// The shards that `--split dp`, `tp` and `mix` stand for: all by data; all by heads; or both, with
// the largest divisor of `shards` that is at most its root, and divides the batch, by data. Row
// shards are as many as head shards, but no more than there are devices for a data shard, nor than
// it has rows. Fails if the split is none of these, or a number is out of range.
Result<LlamaSpec> with_split(LlamaSpec spec, const std::string& split, int64_t shards);

Result<Sharded> make_llama(const LlamaSpec& spec);

}  // namespace tutti

#endif  // TUTTI_GRAPH_MAKE_LLAMA_H_
