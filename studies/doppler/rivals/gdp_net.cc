#include "studies/doppler/rivals/gdp_net.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "studies/doppler/nn/standardise.h"

namespace tutti {
namespace {

constexpr int kMostGdpWidth = 256;
constexpr int kMostLayers = 16;
constexpr int kMostSegment = 4096;
constexpr double kTurn = 6.283185307179586;

void relu(std::vector<float>& x) {
  for (float& value : x) value = std::max(0.0F, value);
}

std::vector<float> applied(const Dense& layer, const std::vector<float>& x) {
  const size_t rows = x.size() / static_cast<size_t>(layer.in());
  std::vector<float> y(rows * static_cast<size_t>(layer.out()));
  layer.apply(x.data(), static_cast<int>(rows), y.data());
  return y;
}

float dot(const float* a, const float* b, int count) {
  float sum = 0;
  for (int i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

// In place: e^x over its sum.
void softmax(std::vector<float>& x) {
  const float most = *std::max_element(x.begin(), x.end());
  float sum = 0;
  for (float& value : x) {
    value = std::exp(value - most);
    sum += value;
  }
  for (float& value : x) value /= sum;
}

}  // namespace

std::vector<float> gdp_op_rows(const RivalFeatures& features) {
  const auto ops = static_cast<size_t>(features.graph.ops);
  std::vector<float> rows(ops * kGdpOpColumns, 0.0F);
  for (size_t op = 0; op < ops; ++op) {
    float* row = rows.data() + op * kGdpOpColumns;
    row[features.kind[op]] = 1;
    row += kKindBuckets;
    *row++ = features.mean_run_time[op];
    *row++ = features.transfer_time[op];
    *row++ = features.bytes[op];
    for (int wave = 0; wave < kOrderWaves; ++wave) {  // periods of 2, 4, 8, ...
      const double angle = kTurn * features.step[op] / (2 << wave);
      *row++ = static_cast<float>(std::sin(angle));
      *row++ = static_cast<float>(std::cos(angle));
    }
  }
  return rows;
}

std::vector<float> gdp_device_rows(const RivalFeatures& features) {
  const auto devices = static_cast<size_t>(features.devices);
  std::vector<float> rows(devices * kGdpDeviceColumns, 0.0F);
  for (size_t device = 0; device < devices; ++device) {
    float* row = rows.data() + device * kGdpDeviceColumns;
    row[device % kDeviceNames] = 1;
    row[kDeviceNames] = features.slowness[device];
    row[kDeviceNames + 1] = static_cast<float>(std::log1p(device / kDeviceNames));
  }
  return rows;
}

void max_of_neighbours(const PublishedFeatures& graph, const float* x, size_t width, float* most,
                       int32_t* whose) {
  for (size_t op = 0; op < static_cast<size_t>(graph.ops); ++op) {
    float* best = most + op * width;
    int32_t* of = whose + op * width;
    std::fill_n(best, width, 0.0F);
    std::fill_n(of, width, -1);
    for (auto i = static_cast<size_t>(graph.neighbours_begin[op]);
         i < static_cast<size_t>(graph.neighbours_begin[op + 1]); ++i) {
      const int32_t other = graph.neighbours[i];
      const float* from = x + static_cast<size_t>(other) * width;
      for (size_t k = 0; k < width; ++k) {
        if (from[k] <= best[k]) continue;
        best[k] = from[k];
        of[k] = other;
      }
    }
  }
}

Context context_of(const GdpShape& shape, int segment, int ops) {
  return {.begin = std::max(0, segment - 1) * shape.segment,
          .end = std::min(ops, (segment + 1) * shape.segment)};
}

GdpNet::GdpNet(const GdpShape& shape)
    : shape_(shape),
      layers_(static_cast<size_t>(shape.layers)),
      blocks_(static_cast<size_t>(shape.blocks)) {}

std::vector<DenseSlot> GdpNet::slots() {
  const int width = shape_.width;
  std::vector<DenseSlot> all = {
      {"embed", width, kGdpOpColumns, &embed_},
      {"device", width, kGdpDeviceColumns, &device_, Dense::Bias::no},
      {"device_common", 1, kGdpDeviceColumns, &device_common_, Dense::Bias::no}};
  for (size_t i = 0; i < layers_.size(); ++i) {
    const std::string name = fmt::format("layer{}.", i);
    all.push_back({name + "send", width, width, &layers_[i].send});
    all.push_back({name + "join", width, 2 * width, &layers_[i].join});
  }
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const std::string name = fmt::format("block{}.", i);
    Block& block = blocks_[i];
    all.push_back({name + "query", width, width, &block.query});
    // A bias would add the same to all of an op's logits.
    all.push_back({name + "key", width, width, &block.key, Dense::Bias::no});
    all.push_back({name + "value", width, width, &block.value});
    all.push_back({name + "out", width, width, &block.out});
    all.push_back({name + "wide", 2 * width, width, &block.wide});
    all.push_back({name + "narrow", width, 2 * width, &block.narrow});
  }
  return all;
}

std::vector<GdpNet::NormSlot> GdpNet::norm_slots() {
  std::vector<NormSlot> all;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    all.push_back({fmt::format("block{}.attention_norm", i), &blocks_[i].attention_norm});
    all.push_back({fmt::format("block{}.norm", i), &blocks_[i].norm});
  }
  return all;
}

TensorFile GdpNet::fresh(const GdpShape& shape, uint64_t seed) {
  GdpNet network(shape);
  TensorFile file;
  file.metadata = {{"network", "gdp"},
                   {"width", std::to_string(shape.width)},
                   {"layers", std::to_string(shape.layers)},
                   {"blocks", std::to_string(shape.blocks)},
                   {"heads", std::to_string(shape.heads)},
                   {"segment", std::to_string(shape.segment)}};
  add_fresh_slots(network.slots(), seed, file);
  // No device is liked best by all.
  for (float& value : file.tensors["device_common.weight"].data) value = 0;
  const auto width = static_cast<size_t>(shape.width);
  for (const NormSlot& slot : network.norm_slots()) {
    file.tensors[slot.name + ".weight"] = {.shape = {shape.width},
                                           .data = std::vector<float>(width, 1.0F)};
    file.tensors[slot.name + ".bias"] = {.shape = {shape.width},
                                         .data = std::vector<float>(width, 0.0F)};
  }
  return file;
}

Result<GdpNet> GdpNet::load(const TensorFile& file, const std::string& path) {
  GdpShape shape;
  const auto told = read_shape(file, path, "gdp",
                               {{"width", &shape.width, kLaneWidth, kMostGdpWidth},
                                {"layers", &shape.layers, 0, kMostLayers},
                                {"blocks", &shape.blocks, 0, kMostLayers},
                                {"heads", &shape.heads, 1, kMostGdpWidth},
                                {"segment", &shape.segment, 1, kMostSegment}});
  if (!told) return told.error();
  if (shape.width % kLaneWidth != 0 || shape.width % shape.heads != 0) {
    return invalid_input(fmt::format(
        "{}: the model's width must be a multiple of {} and of its heads", path, kLaneWidth));
  }
  GdpNet network(shape);
  const auto loaded = load_slots(file, path, network.slots());
  if (!loaded) return loaded.error();
  for (const NormSlot& slot : network.norm_slots()) {
    for (const auto& [name, target] :
         {std::pair(".weight", &slot.norm->weight), std::pair(".bias", &slot.norm->bias)}) {
      const auto tensor = file.find(slot.name + name, {shape.width}, path);
      if (!tensor) return tensor.error();
      *target = (*tensor)->data;
    }
  }
  return network;
}

void GdpNet::Norm::apply(std::vector<float>& rows) const {
  const size_t width = weight.size();
  for (size_t first = 0; first < rows.size(); first += width) {
    float* row = rows.data() + first;
    double mean = 0;
    for (size_t k = 0; k < width; ++k) mean += static_cast<double>(row[k]);
    mean /= static_cast<double>(width);
    double square = 0;
    for (size_t k = 0; k < width; ++k) {
      const double off = static_cast<double>(row[k]) - mean;
      square += off * off;
    }
    const double scale = 1 / std::sqrt(square / static_cast<double>(width) + kNormEpsilon);
    for (size_t k = 0; k < width; ++k) {
      row[k] =
          static_cast<float>((static_cast<double>(row[k]) - mean) * scale) * weight[k] + bias[k];
    }
  }
}

// h <- ReLU(J [h, max over neighbours of ReLU(S h)]).
void GdpNet::spread(const RivalFeatures& features, const Layer& layer,
                    std::vector<float>& state) const {
  const auto width = static_cast<size_t>(shape_.width);
  std::vector<float> sent = applied(layer.send, state);
  relu(sent);
  std::vector<float> heard(sent.size());
  std::vector<int32_t> whose(sent.size());
  max_of_neighbours(features.graph, sent.data(), width, heard.data(), whose.data());
  std::vector<float> both;
  both.reserve(2 * state.size());
  for (size_t at = 0; at < state.size(); at += width) {
    const auto from = static_cast<ptrdiff_t>(at);
    const auto end = static_cast<ptrdiff_t>(at + width);
    both.insert(both.end(), state.begin() + from, state.begin() + end);
    both.insert(both.end(), heard.begin() + from, heard.begin() + end);
  }
  state = applied(layer.join, both);
  relu(state);
}

// Rows by place in the order: h <- norm(h + attention), then h <- norm(h + two layers).
void GdpNet::attend(const Block& block, std::vector<float>& state) const {
  const auto width = static_cast<size_t>(shape_.width);
  const auto part = width / static_cast<size_t>(shape_.heads);
  const int ops = static_cast<int>(state.size() / width);
  const std::vector<float> queries = applied(block.query, state);
  const std::vector<float> keys = applied(block.key, state);
  const std::vector<float> values = applied(block.value, state);
  const float scale = 1.0F / std::sqrt(static_cast<float>(part));
  std::vector<float> mixed(state.size(), 0.0F);
  std::vector<float> share;
  for (int op = 0; op < ops; ++op) {
    const Context context = context_of(shape_, op / shape_.segment, ops);
    for (size_t first = 0; first < width; first += part) {
      const float* query = queries.data() + static_cast<size_t>(op) * width + first;
      share.clear();
      for (int other = context.begin; other < context.end; ++other) {
        const float* key = keys.data() + static_cast<size_t>(other) * width + first;
        share.push_back(scale * dot(query, key, static_cast<int>(part)));
      }
      softmax(share);
      float* to = mixed.data() + static_cast<size_t>(op) * width + first;
      for (int other = context.begin; other < context.end; ++other) {
        const float weight = share[static_cast<size_t>(other - context.begin)];
        const float* value = values.data() + static_cast<size_t>(other) * width + first;
        for (size_t k = 0; k < part; ++k) to[k] += weight * value[k];
      }
    }
  }
  block.out.add(mixed.data(), ops, state.data());
  block.attention_norm.apply(state);
  std::vector<float> wide = applied(block.wide, state);
  relu(wide);
  block.narrow.add(wide.data(), ops, state.data());
  block.norm.apply(state);
}

std::vector<float> GdpNet::logits(const RivalFeatures& features) const {
  const auto width = static_cast<size_t>(shape_.width);
  std::vector<float> state = applied(embed_, gdp_op_rows(features));
  relu(state);
  for (const Layer& layer : layers_) spread(features, layer, state);
  std::vector<float> in_order;
  in_order.reserve(state.size());
  for (const int32_t op : features.order) {
    const auto first = static_cast<ptrdiff_t>(op) * shape_.width;
    in_order.insert(in_order.end(), state.begin() + first, state.begin() + first + shape_.width);
  }
  for (const Block& block : blocks_) attend(block, in_order);
  standardise(in_order.data(), features.graph.ops, shape_.width, in_order.data());
  const std::vector<float> device_rows = gdp_device_rows(features);
  const std::vector<float> devices = applied(device_, device_rows);
  const std::vector<float> common = applied(device_common_, device_rows);
  const auto device_count = static_cast<size_t>(features.devices);
  std::vector<float> all(features.order.size() * device_count);
  for (size_t i = 0; i < features.order.size(); ++i) {
    float* row = all.data() + static_cast<size_t>(features.order[i]) * device_count;
    for (size_t d = 0; d < device_count; ++d) {
      row[d] =
          common[d] + dot(in_order.data() + i * width, devices.data() + d * width, shape_.width);
    }
  }
  return all;
}

}  // namespace tutti
