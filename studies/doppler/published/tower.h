// One policy net of the configuration `as-published`: a message-passing encoder of the graph
// (encoder.h) under a head that scores choices (Yao et al. 2025). SELECT's head scores ready ops,
// PLACE's scores devices for an op, and the joint one, which the paper lacks, scores pairs of both.
//
// A head's first layer is linear in its parts, so each part adds to it by itself, and what does not
// change from step to step is worked out once.

#ifndef TUTTI_STUDIES_DOPPLER_PUBLISHED_TOWER_H_
#define TUTTI_STUDIES_DOPPLER_PUBLISHED_TOWER_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "studies/doppler/published/encoder.h"
#include "studies/doppler/published/features.h"
#include "studies/doppler/published/scene.h"
#include "tutti/policy/nn/dense.h"

namespace tutti {

inline constexpr int kPublishedHead = 64;  // width of a head's first layer
inline constexpr float kPublishedLeak = 0.1F;

// A part of the head's input, `width` numbers wide.
enum class HeadPart : uint8_t {
  candidate,  // op features standardised over the ready ops, through a layer
  device,     // device features, through a layer
  op,         // op features standardised over all ops, through a layer
  state,      // the op's embedding
  exit,       // the sum of embeddings on its longest way to an exit, standardised twice:
  entry,      // over all ops and over the ready ones; likewise to an entry
  load,       // the sum of embeddings of what is on the device, standardised over devices
};

enum class TowerRole : uint8_t { select, place, joint };
const char* to_text(TowerRole role);

struct TowerShape {
  TowerRole role = TowerRole::select;
  int width = 128;
  int steps = 6;                          // of message passing
  int op_columns = kPublishedOpFeatures;  // of the encoder's rows

  // In the order in which the head's first layer reads them.
  std::span<const HeadPart> parts() const;
  // Where a part begins among its inputs; -1 if the head has no such part.
  int begin_of(HeadPart part) const;
};

// One layer, or a tensor of biases alone where `in` is 0.
struct TowerLayer {
  std::string name;
  int out;
  int in;
};
std::vector<TowerLayer> layers_of(const TowerShape& shape);

// What the encoder makes of a graph.
struct TowerEncoding {
  std::vector<float> state;  // ops x width
  std::vector<float> exit;   // ops x width, standardised over all ops; likewise entry
  std::vector<float> entry;
  std::vector<float> fixed;  // ops x kPublishedHead: what does not depend on the step
};

// The rounds of messages that fit the encoder's rows.
const std::vector<MessageRound>& rounds_for(const PublishedFeatures& features,
                                            const TowerShape& shape);

class PublishedTower {
 public:
  // `borrowed` tensors of the encoder are not copied: the file must stay, and may not change while
  // the tower is used.
  static Result<PublishedTower> load(const TensorFile& file, const TowerShape& shape,
                                     const std::string& path, bool borrowed = false);

  const TowerShape& shape() const { return shape_; }

  // A matrix of width x width for each kind of message.
  std::vector<float> matrices(const PublishedFeatures& features) const {
    return encoder_->matrices(features);
  }
  // Rows are ops x op_columns.
  TowerEncoding encode(const PublishedFeatures& features, const std::vector<float>& matrices,
                       const std::vector<float>& rows) const;

  // The head's first layer, kPublishedHead numbers a row. candidates() sets a row for each of the
  // ready ops; the others add to rows by device, `sums` being devices x width.
  void candidates(const PublishedFeatures& features, const TowerEncoding& encoding,
                  std::span<const OpId> ready, std::vector<float>& workspace,
                  std::vector<float>& hidden) const;
  void add_devices(const float* rows, int devices, std::vector<float>& workspace,
                   float* hidden) const;
  void add_loads(const std::vector<float>& sums, std::vector<float>& workspace,
                 float* hidden) const;
  // Overwrites the rows.
  void score(std::vector<float>& hidden, std::vector<float>& logits) const;

 private:
  TowerShape shape_;
  std::vector<std::shared_ptr<const StoredTensor>> encoder_tensors_;
  std::shared_ptr<const Encoder> encoder_;  // refers to them
  Dense candidate_, device_, op_;
  Dense first_, last_;
};

}  // namespace tutti

#endif  // TUTTI_STUDIES_DOPPLER_PUBLISHED_TOWER_H_
