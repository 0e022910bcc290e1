// GDP's policy net (Zhou et al. 2019, arXiv 1910.01578), as a rival to Doppler's: all ops are
// placed in one pass, each by itself, from a graph neural net (GraphSAGE with the largest of what
// neighbours send) under a transformer over the ops in order, segment by segment. The ops of a
// segment attend to each other and, in each block, to what the segment before had put into it
// (recurrence as in Transformer-XL, Dai et al. 2019).
//
// Where ours departs, and why:
// - The original has a head with an output for each device. Ours takes the product of an op's state
//   and a device's embedding, so it serves any number of devices. The embedding is a learned row
//   for each of kDeviceNames numbers, and what tells the devices of another machine: how slow they
//   are, and how often the numbers have been used up. Unlike the other nets here it does not
//   treat devices that are alike alike, and it cannot: in one pass, that would give all of them the
//   same odds for every op.
// - The head reads states that are standardised over the ops, and what all ops like about a device
//   is a number of its own. As it was, all ops of a fresh net wanted the same device, and
//   learning that they should not took what they differed in with it.
// - Features are a bucket of the op's kind, its mean run time, and time and bytes of what it makes;
//   the original has kinds and shapes, which many of our graphs do not tell. The ids of neighbours
//   that it has as well are an op's place in the order here, as sines: without, ops that are alike
//   would all go to one device.
// - Gradients pass from a segment to the one before; graphs fit in memory.
// - No superposition network and no pre-training: both are for fine-tuning one net to many
//   graphs, and apply to any net. Sizes are between the original's, which trained on a cluster,
//   and those of Doppler's authors: one layer, one block and segments of 8.
// - The order, which the original leaves to its runtime, is by b-level.

#ifndef TUTTI_STUDIES_DOPPLER_RIVALS_GDP_NET_H_
#define TUTTI_STUDIES_DOPPLER_RIVALS_GDP_NET_H_

#include <string>
#include <vector>

#include "studies/doppler/rivals/dense_slots.h"
#include "studies/doppler/rivals/rival_features.h"

namespace tutti {

struct GdpShape {
  int width = 64;
  int layers = 2;  // of the graph neural net
  int blocks = 2;  // of the transformer
  int heads = 4;   // a divisor of the width
  int segment = 64;
};

// A kind, three sizes, and the place in the order by sines and cosines of kOrderWaves periods.
inline constexpr int kOrderWaves = 8;
inline constexpr int kGdpOpColumns = kKindBuckets + 3 + 2 * kOrderWaves;
// ops x kGdpOpColumns.
std::vector<float> gdp_op_rows(const RivalFeatures& features);

inline constexpr int kDeviceNames = 16;
inline constexpr int kGdpDeviceColumns = kDeviceNames + 2;
// devices x kGdpDeviceColumns.
std::vector<float> gdp_device_rows(const RivalFeatures& features);

// By op and column the largest x of its neighbours, or 0 if that is larger or it has none; and
// whose it is, or -1.
void max_of_neighbours(const PublishedFeatures& graph, const float* x, size_t width, float* most,
                       int32_t* whose);

// The ops, by place in the order, that those of a segment attend to.
struct Context {
  int begin;
  int end;
};
Context context_of(const GdpShape& shape, int segment, int ops);

inline constexpr float kNormEpsilon = 1e-5F;

class GdpNet {
 public:
  // Fails (invalid_input) unless the file holds all tensors of the shape its metadata tells.
  static Result<GdpNet> load(const TensorFile& file, const std::string& path);
  // A net before any training: seeded orthogonal weights, biases of zero, and
  // nothing that all ops like about a device.
  static TensorFile fresh(const GdpShape& shape, uint64_t seed);

  const GdpShape& shape() const { return shape_; }
  // ops x devices.
  std::vector<float> logits(const RivalFeatures& features) const;

 private:
  // Each row less its mean, divided by its spread, times a weight plus a bias (Ba et al. 2016).
  struct Norm {
    std::vector<float> weight;
    std::vector<float> bias;
    void apply(std::vector<float>& rows) const;
  };
  struct NormSlot {
    std::string name;
    Norm* norm;
  };
  struct Layer {
    Dense send, join;
  };
  struct Block {
    Dense query, key, value, out, wide, narrow;
    Norm attention_norm, norm;
  };

  // Of the shape, with nothing in its layers.
  explicit GdpNet(const GdpShape& shape);
  std::vector<DenseSlot> slots();
  std::vector<NormSlot> norm_slots();

  void spread(const RivalFeatures& features, const Layer& layer, std::vector<float>& state) const;
  void attend(const Block& block, std::vector<float>& state) const;

  GdpShape shape_;
  Dense embed_, device_, device_common_;
  std::vector<Layer> layers_;
  std::vector<Block> blocks_;
};

}  // namespace tutti

#endif  // TUTTI_STUDIES_DOPPLER_RIVALS_GDP_NET_H_
