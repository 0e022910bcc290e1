// Placeto's policy net (Addanki, Bojja Venkatakrishnan, Gupta, Mao, Alizadeh; NeurIPS 2019,
// arXiv 1906.08879), as a rival to Doppler's: op by op in a fixed order, a graph embedding that
// sees what is placed so far, and a small net that scores devices for the op.
//
// An embedding is made of k rounds of messages from producers to readers and as many the other way,
// with weights of their own, and sums of what they give over all ops that reach this one, that it
// reaches, and that do neither. Those four are what the head reads. All of it is done again at
// every step.
//
// Where ours departs, and why:
// - The original tells an op's device as a one-hot vector and has a head with an output for each
//   device, so it serves one number of devices. Ours looks at the graph once for each device, with
//   the same weights, and is told which ops are on that device and how long each takes there (which
//   the original can learn by heart for its devices). Devices that are alike are treated alike.
// - The original improves a placement that is there, and is rewarded at every step by what that
//   step gained. Ours makes one sweep that begins with nothing and is rewarded at its end, as
//   Doppler's authors re-implemented it: so it is given as many simulations as Doppler, and its
//   episodes are plans like all others. From them are k = 3 and the 32 hidden units of the head.
// - Each round adds to an op's state instead of replacing it, and sums are divided by the root of
//   the number of neighbours, or of ops: the widest op may have thousands. The functions of
//   messages and sums are one layer each.
// - The order is by b-level.

#ifndef TUTTI_STUDIES_DOPPLER_RIVALS_PLACETO_NET_H_
#define TUTTI_STUDIES_DOPPLER_RIVALS_PLACETO_NET_H_

#include <array>
#include <string>
#include <vector>

#include "studies/doppler/rivals/dense_slots.h"
#include "studies/doppler/rivals/rival_features.h"

namespace tutti {

struct PlacetoShape {
  int width = 16;  // of an embedding, each way
  int rounds = 3;  // of messages each way
};

inline constexpr int kPlacetoHead = 32;
inline constexpr float kPlacetoLeak = 0.1F;

// An op as seen from a device: its run time there, the transfer time of what it makes, whether it
// is on this device, whether it is its turn, and whether it is placed.
inline constexpr int kPlacetoColumns = 5;
enum class Turn : uint8_t { to_come, now, over };
void placeto_row(const RivalFeatures& features, size_t op, size_t device, Turn turn, bool here,
                 float* row);

// What an op is to another: what that one needs, what needs that one, or neither.
enum class Kin : uint8_t { needed, needing, parallel, itself };
inline constexpr int kKinSets = 3;  // without itself
// By op: what it is to `op`.
void find_kin(const PublishedFeatures& graph, size_t op, std::vector<Kin>& kin);

// Where an op's messages come from.
enum class Hearing : uint8_t { producers, readers };
inline std::span<const int32_t> heard_by(const PublishedFeatures& graph, Hearing way, size_t op) {
  return way == Hearing::producers ? graph.producers_of(op) : graph.readers_of(op);
}

class PlacetoNet {
 public:
  // Fails (invalid_input) unless the file holds all tensors of the shape its metadata tells.
  static Result<PlacetoNet> load(const TensorFile& file, const std::string& path);
  // A net before any training: seeded orthogonal weights, biases of zero.
  static TensorFile fresh(const PlacetoShape& shape, uint64_t seed);

  const PlacetoShape& shape() const { return shape_; }

  // One layer each, with what follows it, on rows of the sizes that slots() tells.
  void embed(const float* rows, int count, float* state) const;
  void send(Hearing way, const float* state, int count, float* sent) const;
  // state = before + what is made of `heard`; workspace as large as `heard`.
  void hear(Hearing way, const float* heard, const float* before, int count,
            std::vector<float>& workspace, float* state) const;
  void send_to_all(const float* both, int count, float* sent) const;
  // The logits, from an op's embedding both ways and the sums over its kin, count rows each.
  void score(const float* both, const std::array<std::vector<float>, kKinSets>& sums, int count,
             std::vector<float>& workspace, std::vector<float>& logits) const;

 private:
  std::vector<DenseSlot> slots();

  PlacetoShape shape_;
  Dense embed_;
  std::array<Dense, 2> send_, hear_;  // by Hearing
  Dense send_to_all_;
  std::array<Dense, kKinSets> kin_;
  Dense first_, last_;
};

}  // namespace tutti

#endif  // TUTTI_STUDIES_DOPPLER_RIVALS_PLACETO_NET_H_
