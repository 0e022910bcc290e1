#include "studies/doppler/published/net.h"

#include <fmt/format.h>

#include <algorithm>

#include "studies/doppler/nn/orthogonal.h"
#include "tutti/base/random.h"

namespace tutti {
namespace {

constexpr int kMostWidth = 256;  // a tower has about width^3 weights
constexpr int kMostSteps = 64;

using Learned = PublishedShape::Learned;
constexpr std::pair<const char*, Learned> kLearned[] = {{"both", Learned::both},
                                                        {"select", Learned::select},
                                                        {"place", Learned::place},
                                                        {"joint", Learned::joint}};

}  // namespace

std::vector<TowerShape> towers_of(const PublishedShape& shape) {
  std::vector<TowerShape> towers;
  const auto add = [&](TowerRole role) {
    towers.push_back({.role = role,
                      .width = shape.width,
                      .steps = shape.steps,
                      .op_columns = kPublishedOpFeatures + (shape.every_step ? kStepColumns : 0)});
  };
  if (shape.learned == Learned::joint) {
    add(TowerRole::joint);
    return towers;
  }
  if (shape.learned != Learned::place) add(TowerRole::select);
  if (shape.learned != Learned::select) add(TowerRole::place);
  return towers;
}

TensorFile PublishedNet::fresh(const PublishedShape& shape, uint64_t seed) {
  TensorFile file;
  const auto* learned = std::find_if(std::begin(kLearned), std::end(kLearned),
                                     [&](const auto& row) { return row.second == shape.learned; });
  file.metadata = {
      {"network", "published"},
      {"learned", learned->first},
      {"width", std::to_string(shape.width)},
      {"steps", std::to_string(shape.steps)},
      {"every_step", shape.every_step ? "1" : "0"},
      {"released_bookkeeping", shape.bookkeeping == Bookkeeping::released ? "1" : "0"}};
  uint64_t number = 0;
  for (const TowerShape& tower : towers_of(shape)) {
    for (const TowerLayer& layer : layers_of(tower)) {
      const Rng rng = Rng(seed).split(number++);
      file.tensors[layer.name + ".bias"] = {
          .shape = {layer.out}, .data = std::vector<float>(static_cast<size_t>(layer.out), 0.0F)};
      if (layer.in == 0) continue;
      file.tensors[layer.name + ".weight"] = {.shape = {layer.out, layer.in},
                                              .data = orthogonal(layer.out, layer.in, rng)};
    }
  }
  return file;
}

Result<PublishedShape> PublishedNet::shape_of(const TensorFile& file, const std::string& path) {
  const auto kind = file.metadata.find("network");
  if (kind == file.metadata.end() || kind->second != "published") {
    return invalid_input(path + ": this is not a model of the published network");
  }
  PublishedShape shape;
  const auto told = file.metadata.find("learned");
  const auto* learned = std::find_if(
      std::begin(kLearned), std::end(kLearned),
      [&](const auto& row) { return told != file.metadata.end() && told->second == row.first; });
  if (learned == std::end(kLearned)) {
    return invalid_input(path + ": the model's 'learned' is not one of both, select, place, joint");
  }
  shape.learned = learned->second;
  int every_step = 0;
  int released = 0;
  struct Row {
    const char* key;
    int* target;
    int least;
    int most;
  };
  const Row rows[] = {{"width", &shape.width, kLaneWidth, kMostWidth},
                      {"steps", &shape.steps, 0, kMostSteps},
                      {"every_step", &every_step, 0, 1},
                      {"released_bookkeeping", &released, 0, 1}};
  for (const Row& row : rows) {
    const auto number = file.number(row.key, row.least, row.most, path);
    if (!number) return number.error();
    *row.target = *number;
  }
  if (shape.width % kLaneWidth != 0) {
    return invalid_input(
        fmt::format("{}: the model's width must be a multiple of {}", path, kLaneWidth));
  }
  shape.every_step = every_step == 1;
  shape.bookkeeping = released == 1 ? Bookkeeping::released : Bookkeeping::correct;
  return shape;
}

Result<PublishedNet> PublishedNet::load(const TensorFile& file, const std::string& path,
                                        bool borrowed) {
  PublishedNet network;
  const auto shape = shape_of(file, path);
  if (!shape) return shape.error();
  network.shape_ = *shape;
  for (const TowerShape& tower : towers_of(*shape)) {
    auto loaded = PublishedTower::load(file, tower, path, borrowed);
    if (!loaded) return loaded.error();
    network.towers_.push_back(std::move(*loaded));
  }
  return network;
}

const PublishedTower* PublishedNet::tower(TowerRole role) const {
  for (const PublishedTower& tower : towers_) {
    if (tower.shape().role == role) return &tower;
  }
  return nullptr;
}

}  // namespace tutti
