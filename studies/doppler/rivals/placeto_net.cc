#include "studies/doppler/rivals/placeto_net.h"

#include <fmt/format.h>

#include <algorithm>

namespace tutti {
namespace {

constexpr int kMostPlacetoWidth = 256;
constexpr int kMostRounds = 64;

void leak(float* x, size_t count) {
  for (size_t i = 0; i < count; ++i) x[i] = leaky_relu(x[i], kPlacetoLeak);
}

size_t cells(int rows, const Dense& layer) {
  return static_cast<size_t>(rows) * static_cast<size_t>(layer.out());
}

}  // namespace

void placeto_row(const RivalFeatures& features, size_t op, size_t device, Turn turn, bool here,
                 float* row) {
  row[0] = features.run_time[op * static_cast<size_t>(features.devices) + device];
  row[1] = features.transfer_time[op];
  row[2] = here ? 1.0F : 0.0F;
  row[3] = turn == Turn::now ? 1.0F : 0.0F;
  row[4] = turn == Turn::over ? 1.0F : 0.0F;
}

void find_kin(const PublishedFeatures& graph, size_t op, std::vector<Kin>& kin) {
  kin.assign(static_cast<size_t>(graph.ops), Kin::parallel);
  kin[op] = Kin::itself;
  std::vector<size_t> open;
  for (const auto& [way, which] :
       {std::pair(Hearing::producers, Kin::needed), std::pair(Hearing::readers, Kin::needing)}) {
    open.assign(1, op);
    while (!open.empty()) {
      const size_t at = open.back();
      open.pop_back();
      for (const int32_t next : heard_by(graph, way, at)) {
        Kin& found = kin[static_cast<size_t>(next)];
        if (found != Kin::parallel) continue;
        found = which;
        open.push_back(static_cast<size_t>(next));
      }
    }
  }
}

std::vector<DenseSlot> PlacetoNet::slots() {
  const int width = shape_.width;
  const int both = 2 * width;
  return {{"embed", width, kPlacetoColumns, &embed_},
          {"from_producers.send", width, width, &send_[0]},
          {"from_producers.hear", width, width, &hear_[0]},
          {"from_readers.send", width, width, &send_[1]},
          {"from_readers.hear", width, width, &hear_[1]},
          {"all.send", both, both, &send_to_all_},
          {"all.needed", both, both, &kin_[0]},
          {"all.needing", both, both, &kin_[1]},
          {"all.parallel", both, both, &kin_[2]},
          {"first", kPlacetoHead, (1 + kKinSets) * both, &first_},
          {"last", 1, kPlacetoHead, &last_}};
}

TensorFile PlacetoNet::fresh(const PlacetoShape& shape, uint64_t seed) {
  PlacetoNet network;
  network.shape_ = shape;
  TensorFile file;
  file.metadata = {{"network", "placeto"},
                   {"width", std::to_string(shape.width)},
                   {"rounds", std::to_string(shape.rounds)}};
  add_fresh_slots(network.slots(), seed, file);
  return file;
}

Result<PlacetoNet> PlacetoNet::load(const TensorFile& file, const std::string& path) {
  PlacetoNet network;
  PlacetoShape& shape = network.shape_;
  const auto told = read_shape(file, path, "placeto",
                               {{"width", &shape.width, kLaneWidth, kMostPlacetoWidth},
                                {"rounds", &shape.rounds, 0, kMostRounds}});
  if (!told) return told.error();
  if (shape.width % kLaneWidth != 0) {
    return invalid_input(
        fmt::format("{}: the model's width must be a multiple of {}", path, kLaneWidth));
  }
  const auto loaded = load_slots(file, path, network.slots());
  if (!loaded) return loaded.error();
  return network;
}

void PlacetoNet::embed(const float* rows, int count, float* state) const {
  embed_.apply(rows, count, state);
  leak(state, cells(count, embed_));
}

void PlacetoNet::send(Hearing way, const float* state, int count, float* sent) const {
  const Dense& layer = send_[static_cast<size_t>(way)];
  layer.apply(state, count, sent);
  leak(sent, cells(count, layer));
}

void PlacetoNet::hear(Hearing way, const float* heard, const float* before, int count,
                      std::vector<float>& workspace, float* state) const {
  const Dense& layer = hear_[static_cast<size_t>(way)];
  workspace.resize(cells(count, layer));
  layer.apply(heard, count, workspace.data());
  leak(workspace.data(), workspace.size());
  for (size_t i = 0; i < workspace.size(); ++i) state[i] = before[i] + workspace[i];
}

void PlacetoNet::send_to_all(const float* both, int count, float* sent) const {
  send_to_all_.apply(both, count, sent);
  leak(sent, cells(count, send_to_all_));
}

void PlacetoNet::score(const float* both, const std::array<std::vector<float>, kKinSets>& sums,
                       int count, std::vector<float>& workspace, std::vector<float>& logits) const {
  const int part = 2 * shape_.width;
  std::vector<float> hidden;
  for (int i = 0; i < count; ++i) {
    hidden.insert(hidden.end(), first_.bias().begin(), first_.bias().end());
  }
  first_.add_part(both, count, 0, part, hidden.data());
  for (size_t set = 0; set < kKinSets; ++set) {
    workspace.resize(cells(count, kin_[set]));
    kin_[set].apply(sums[set].data(), count, workspace.data());
    leak(workspace.data(), workspace.size());
    first_.add_part(workspace.data(), count, (1 + static_cast<int>(set)) * part, part,
                    hidden.data());
  }
  leak(hidden.data(), hidden.size());
  logits.resize(static_cast<size_t>(count));
  last_.apply(hidden.data(), count, logits.data());
}

}  // namespace tutti
