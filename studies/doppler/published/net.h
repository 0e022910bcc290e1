// The nets of the configuration `as-published`: SELECT and PLACE as Doppler's authors describe
// and release them (Yao et al. 2025), and the variants that the paper compares them with or should
// have. residual_net.h is what `default` uses. docs/formats/model.md.

#ifndef TUTTI_STUDIES_DOPPLER_PUBLISHED_NET_H_
#define TUTTI_STUDIES_DOPPLER_PUBLISHED_NET_H_

#include <optional>
#include <string>
#include <vector>

#include "studies/doppler/published/tower.h"

namespace tutti {

struct PublishedShape {
  enum class Learned : uint8_t {
    both,
    select,  // PLACE is the device of the earliest start
    place,   // SELECT is the largest b-level
    joint,   // one policy chooses an op and its device at once
  };
  Learned learned = Learned::both;
  int width = 128;
  int steps = 6;  // of message passing
  // Messages pass again at every step, and the encoder knows which ops are placed, and when they
  // start. Costs as many times more as there are ops.
  bool every_step = false;
  Bookkeeping bookkeeping = Bookkeeping::correct;
};

// In addition to the op features, for an encoder that runs at every step: 1 if the op is placed,
// and its start as a share of the longest way; else 0.
inline constexpr int kStepColumns = 2;

// The towers of that shape, SELECT before PLACE.
std::vector<TowerShape> towers_of(const PublishedShape& shape);

class PublishedNet {
 public:
  // Fails (invalid_input) unless the file holds all tensors of the shape its metadata tells.
  // `borrowed`: as in PublishedTower::load.
  static Result<PublishedNet> load(const TensorFile& file, const std::string& path,
                                   bool borrowed = false);
  static Result<PublishedShape> shape_of(const TensorFile& file, const std::string& path);
  // A net before any training: seeded orthogonal weights, biases of zero.
  static TensorFile fresh(const PublishedShape& shape, uint64_t seed);

  const PublishedShape& shape() const { return shape_; }
  // Null if there is none.
  const PublishedTower* tower(TowerRole role) const;

 private:
  PublishedShape shape_;
  std::vector<PublishedTower> towers_;
};

}  // namespace tutti

#endif  // TUTTI_STUDIES_DOPPLER_PUBLISHED_NET_H_
