#include "studies/doppler/published/tower.h"

#include <algorithm>
#include <cmath>

#include "studies/doppler/nn/standardise.h"

namespace tutti {
namespace {

void leak(float* x, size_t count) {
  for (size_t i = 0; i < count; ++i) x[i] = leaky_relu(x[i], kPublishedLeak);
}

// Ops sorted by the kind of message they send, and where each kind begins.
struct ByKind {
  std::vector<size_t> ops;
  std::vector<size_t> begin;
};

ByKind by_kind(const PublishedFeatures& features) {
  ByKind sorted;
  sorted.begin.assign(features.message_values.size() + 1, 0);
  for (const int32_t kind : features.message_kind) ++sorted.begin[static_cast<size_t>(kind) + 1];
  for (size_t k = 1; k < sorted.begin.size(); ++k) sorted.begin[k] += sorted.begin[k - 1];
  sorted.ops.resize(static_cast<size_t>(features.ops));
  std::vector<size_t> at(sorted.begin);
  for (size_t op = 0; op < sorted.ops.size(); ++op) {
    sorted.ops[at[static_cast<size_t>(features.message_kind[op])]++] = op;
  }
  return sorted;
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

Result<PublishedTower> PublishedTower::load(const TensorFile& file, const TowerShape& shape,
                                            const std::string& path) {
  PublishedTower tower;
  tower.shape_ = shape;
  const std::pair<const char*, Dense*> targets[] = {
      {"embed", &tower.embed_},         {"message", &tower.message_},
      {"gates_in", &tower.gates_in_},   {"message_matrix", &tower.message_matrix_},
      {"candidate", &tower.candidate_}, {"gates_state", &tower.gates_state_},
      {"device", &tower.device_},       {"op", &tower.op_},
      {"first", &tower.first_},         {"last", &tower.last_}};
  for (const TowerLayer& layer : layers_of(shape)) {
    if (layer.in == 0) {
      const auto bias = file.find(layer.name + ".bias", {layer.out}, path);
      if (!bias) return bias.error();
      tower.message_bias_ = (*bias)->data;
      continue;
    }
    auto dense = Dense::load(file, layer.name, layer.in, layer.out, Dense::Bias::yes, path);
    if (!dense) return dense.error();
    const std::string name = layer.name.substr(layer.name.find('.') + 1);
    for (const auto& [key, target] : targets) {
      if (name == key) *target = std::move(*dense);
    }
  }
  return tower;
}

std::vector<float> PublishedTower::matrices(const PublishedFeatures& features) const {
  const int kinds = static_cast<int>(features.message_values.size());
  const auto width = static_cast<size_t>(shape_.width);
  std::vector<float> hidden(features.message_values.size() * width);
  message_.apply(features.message_values.data(), kinds, hidden.data());
  for (float& value : hidden) value = std::max(0.0F, value);
  std::vector<float> all(features.message_values.size() * width * width);
  message_matrix_.apply(hidden.data(), kinds, all.data());
  return all;
}

// h <- GRU(ReLU(sum of M(e) h over the neighbours + b), h).
void PublishedTower::pass_messages(const PublishedFeatures& features,
                                   const std::vector<float>& matrices,
                                   std::vector<float>& state) const {
  const int ops = features.ops;
  const auto width = static_cast<size_t>(shape_.width);
  const ByKind sorted = by_kind(features);
  std::vector<float> sorted_state(state.size());
  std::vector<float> sorted_sent(state.size());
  std::vector<float> sent(state.size());
  std::vector<float> heard(state.size());
  std::vector<float> in(3 * state.size());
  std::vector<float> own(3 * state.size());
  for (int step = 0; step < shape_.steps; ++step) {
    for (size_t i = 0; i < sorted.ops.size(); ++i) {
      std::copy_n(state.data() + sorted.ops[i] * width, width, sorted_state.data() + i * width);
    }
    std::fill(sorted_sent.begin(), sorted_sent.end(), 0.0F);
    for (size_t kind = 0; kind + 1 < sorted.begin.size(); ++kind) {
      multiply_add(sorted_state.data() + sorted.begin[kind] * width,
                   static_cast<int>(sorted.begin[kind + 1] - sorted.begin[kind]), shape_.width,
                   matrices.data() + kind * width * width, shape_.width,
                   sorted_sent.data() + sorted.begin[kind] * width);
    }
    for (size_t i = 0; i < sorted.ops.size(); ++i) {
      std::copy_n(sorted_sent.data() + i * width, width, sent.data() + sorted.ops[i] * width);
    }
    sum_neighbours(features, sent.data(), width, heard.data());
    for (size_t i = 0; i < heard.size(); ++i) {
      heard[i] = std::max(0.0F, heard[i] + message_bias_[i % width]);
    }
    gates_in_.apply(heard.data(), ops, in.data());
    gates_state_.apply(state.data(), ops, own.data());
    for (size_t op = 0; op < static_cast<size_t>(ops); ++op) {
      const float* a = in.data() + 3 * op * width;
      const float* b = own.data() + 3 * op * width;
      for (size_t k = 0; k < width; ++k) {
        const float reset = sigmoid(a[k] + b[k]);
        const float update = sigmoid(a[width + k] + b[width + k]);
        const float fresh = std::tanh(a[2 * width + k] + reset * b[2 * width + k]);
        float& value = state[op * width + k];
        value = (1.0F - update) * fresh + update * value;
      }
    }
  }
}

TowerEncoding PublishedTower::encode(const PublishedFeatures& features,
                                     const std::vector<float>& matrices,
                                     const std::vector<float>& rows) const {
  const int ops = features.ops;
  const auto count = static_cast<size_t>(ops);
  const auto width = static_cast<size_t>(shape_.width);
  TowerEncoding encoding;
  encoding.state.resize(count * width);
  embed_.apply(rows.data(), ops, encoding.state.data());
  for (float& value : encoding.state) value = std::max(0.0F, value);
  pass_messages(features, matrices, encoding.state);
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
