#include "studies/doppler/published/tower.h"

#include <algorithm>
#include <utility>

#include "studies/doppler/nn/standardise.h"

namespace tutti {
namespace {

void leak(float* x, size_t count) {
  for (size_t i = 0; i < count; ++i) x[i] = leaky_relu(x[i], kPublishedLeak);
}

// A layer of the encoder and where its weights go.
struct EncoderLayer {
  const char* name;
  LayerWeights EncoderWeights::*target;
};
constexpr EncoderLayer kEncoderLayers[] = {{"embed", &EncoderWeights::embed},
                                           {"message", &EncoderWeights::message},
                                           {"message_matrix", &EncoderWeights::message_matrix},
                                           {"message_sum", &EncoderWeights::message_sum},
                                           {"gates_in", &EncoderWeights::gates_in},
                                           {"gates_state", &EncoderWeights::gates_state}};

using Tensors = std::vector<std::shared_ptr<const StoredTensor>>;

// The tensor of that name, which `tensors` keeps.
Result<const float*> keep_tensor(const TensorFile& file, const std::string& name,
                                 const std::vector<int64_t>& shape, const std::string& path,
                                 bool borrowed, Tensors& tensors) {
  const auto found = file.find(name, shape, path);
  if (!found) return found.error();
  tensors.push_back(borrowed ? std::shared_ptr<const StoredTensor>(std::shared_ptr<void>(), *found)
                             : std::make_shared<const StoredTensor>(**found));
  return tensors.back()->data.data();
}

}  // namespace

const char* to_text(TowerRole role) {
  switch (role) {
    case TowerRole::select:
      return "select";
    case TowerRole::place:
      return "place";
    case TowerRole::joint:
      break;
  }
  return "joint";
}

std::span<const HeadPart> TowerShape::parts() const {
  using enum HeadPart;
  static constexpr HeadPart kSelect[] = {candidate, state, exit, entry};
  static constexpr HeadPart kPlace[] = {device, op, state, load};
  static constexpr HeadPart kJoint[] = {candidate, state, exit, entry, device, load};
  switch (role) {
    case TowerRole::select:
      return kSelect;
    case TowerRole::place:
      return kPlace;
    case TowerRole::joint:
      break;
  }
  return kJoint;
}

int TowerShape::begin_of(HeadPart part) const {
  const auto all = parts();
  const auto found = std::find(all.begin(), all.end(), part);
  return found == all.end() ? -1 : static_cast<int>(found - all.begin()) * width;
}

std::vector<TowerLayer> layers_of(const TowerShape& shape) {
  const int width = shape.width;
  std::vector<TowerLayer> layers = {
      {"embed", width, shape.op_columns},       {"message", width, 1},
      {"message_matrix", width * width, width}, {"message_sum", width, 0},
      {"gates_in", 3 * width, width},           {"gates_state", 3 * width, width},
  };
  if (shape.begin_of(HeadPart::candidate) >= 0) {
    layers.push_back({"candidate", width, kPublishedOpFeatures});
  }
  if (shape.begin_of(HeadPart::device) >= 0) {
    layers.push_back({"device", width, kPublishedDeviceFeatures});
  }
  if (shape.begin_of(HeadPart::op) >= 0) layers.push_back({"op", width, kPublishedOpFeatures});
  layers.push_back({"first", kPublishedHead, static_cast<int>(shape.parts().size()) * width});
  layers.push_back({"last", 1, kPublishedHead});
  for (TowerLayer& layer : layers) layer.name = std::string(to_text(shape.role)) + "." + layer.name;
  return layers;
}

const std::vector<MessageRound>& rounds_for(const PublishedFeatures& features,
                                            const TowerShape& shape) {
  return shape.op_columns == kPublishedOpFeatures ? features.rounds : features.apart;
}

Result<PublishedTower> PublishedTower::load(const TensorFile& file, const TowerShape& shape,
                                            const std::string& path, bool borrowed) {
  PublishedTower tower;
  tower.shape_ = shape;
  EncoderWeights weights{.width = shape.width, .columns = shape.op_columns, .steps = shape.steps};
  const std::pair<const char*, Dense*> heads[] = {{"candidate", &tower.candidate_},
                                                  {"device", &tower.device_},
                                                  {"op", &tower.op_},
                                                  {"first", &tower.first_},
                                                  {"last", &tower.last_}};
  for (const TowerLayer& layer : layers_of(shape)) {
    const std::string name = layer.name.substr(layer.name.find('.') + 1);
    for (const EncoderLayer& part : kEncoderLayers) {
      if (name != part.name) continue;
      LayerWeights& target = weights.*part.target;
      const auto keep = [&](const char* what, const std::vector<int64_t>& extents) {
        return keep_tensor(file, layer.name + what, extents, path, borrowed,
                           tower.encoder_tensors_);
      };
      if (layer.in > 0) {
        const auto weight = keep(".weight", {layer.out, layer.in});
        if (!weight) return weight.error();
        target.weight = *weight;
      }
      const auto bias = keep(".bias", {layer.out});
      if (!bias) return bias.error();
      target.bias = *bias;
    }
    for (const auto& [key, target] : heads) {
      if (name != key) continue;
      auto dense = Dense::load(file, layer.name, layer.in, layer.out, Dense::Bias::yes, path);
      if (!dense) return dense.error();
      *target = std::move(*dense);
    }
  }
  tower.encoder_ = std::make_shared<const Encoder>(weights);
  return tower;
}

TowerEncoding PublishedTower::encode(const PublishedFeatures& features,
                                     const std::vector<float>& matrices,
                                     const std::vector<float>& rows) const {
  const int ops = features.ops;
  const auto count = static_cast<size_t>(ops);
  const auto width = static_cast<size_t>(shape_.width);
  TowerEncoding encoding;
  encoding.state =
      encoder_->forward(features, rounds_for(features, shape_), matrices, rows.data(), nullptr);
  leak(encoding.state.data(), encoding.state.size());

  const auto part = [&](const float* x, HeadPart which) {
    first_.add_part(x, ops, shape_.begin_of(which), shape_.width, encoding.fixed.data());
  };
  for (size_t op = 0; op < count; ++op) {
    encoding.fixed.insert(encoding.fixed.end(), first_.bias().begin(), first_.bias().end());
  }
  part(encoding.state.data(), HeadPart::state);
  if (shape_.role == TowerRole::place) {
    std::vector<float> embedded(count * width);
    op_.apply(features.op_rows.data(), ops, embedded.data());
    leak(embedded.data(), embedded.size());
    part(embedded.data(), HeadPart::op);
    return encoding;
  }
  encoding.exit = encoding.state;
  sum_along(features, Way::to_exit, width, encoding.exit.data());
  standardise(encoding.exit.data(), ops, shape_.width, encoding.exit.data());
  encoding.entry = encoding.state;
  sum_along(features, Way::to_entry, width, encoding.entry.data());
  standardise(encoding.entry.data(), ops, shape_.width, encoding.entry.data());
  return encoding;
}

void PublishedTower::candidates(const PublishedFeatures& features, const TowerEncoding& encoding,
                                std::span<const OpId> ready, std::vector<float>& workspace,
                                std::vector<float>& hidden) const {
  const int count = static_cast<int>(ready.size());
  const auto width = static_cast<size_t>(shape_.width);
  const auto gather = [&](const std::vector<float>& from, size_t columns, float* to) {
    for (size_t i = 0; i < ready.size(); ++i) {
      std::copy_n(from.data() + static_cast<size_t>(ready[i].index) * columns, columns,
                  to + i * columns);
    }
  };
  hidden.resize(ready.size() * kPublishedHead);
  gather(encoding.fixed, kPublishedHead, hidden.data());
  workspace.resize(ready.size() * (width + kPublishedOpFeatures));
  float* wide = workspace.data();
  float* rows = wide + ready.size() * width;
  gather(features.op_rows, kPublishedOpFeatures, rows);
  standardise(rows, count, kPublishedOpFeatures, rows);
  candidate_.apply(rows, count, wide);
  leak(wide, ready.size() * width);
  const auto part = [&](HeadPart which) {
    first_.add_part(wide, count, shape_.begin_of(which), shape_.width, hidden.data());
  };
  part(HeadPart::candidate);
  gather(encoding.exit, width, wide);
  standardise(wide, count, shape_.width, wide);
  part(HeadPart::exit);
  gather(encoding.entry, width, wide);
  standardise(wide, count, shape_.width, wide);
  part(HeadPart::entry);
}

void PublishedTower::add_devices(const float* rows, int devices, std::vector<float>& workspace,
                                 float* hidden) const {
  workspace.resize(static_cast<size_t>(devices) * static_cast<size_t>(shape_.width));
  device_.apply(rows, devices, workspace.data());
  leak(workspace.data(), workspace.size());
  first_.add_part(workspace.data(), devices, shape_.begin_of(HeadPart::device), shape_.width,
                  hidden);
}

void PublishedTower::add_loads(const std::vector<float>& sums, std::vector<float>& workspace,
                               float* hidden) const {
  const int devices = static_cast<int>(sums.size()) / shape_.width;
  workspace.resize(sums.size());
  standardise(sums.data(), devices, shape_.width, workspace.data());
  first_.add_part(workspace.data(), devices, shape_.begin_of(HeadPart::load), shape_.width, hidden);
}

void PublishedTower::score(std::vector<float>& hidden, std::vector<float>& logits) const {
  leak(hidden.data(), hidden.size());
  logits.resize(hidden.size() / kPublishedHead);
  last_.apply(hidden.data(), static_cast<int>(logits.size()), logits.data());
}

}  // namespace tutti
