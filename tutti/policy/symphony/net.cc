#include "tutti/policy/symphony/net.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "tutti/base/check.h"

namespace tutti {
namespace {

using enum Dense::Bias;

struct Layer {
  const char* name;
  int in;
  int out;
  Dense::Bias bias;
  bool last = false;  // zero before training
};

// In the order of the layers in SymphonyNet::load. Those with no inputs are not there.
std::vector<Layer> layers_of(const SymphonyShape& shape) {
  const bool flat = shape.knowledge == InformationLevel::counters;
  const int counters = flat ? std::max(1, shape.counters) : 0;
  const int width = flat ? kCounterWidth : 0;
  // A head's last layer is small rather than zero where there is no rule to start from.
  return {
      {"counters.first", counters, kCounterWidth, yes},
      {"counters.second", width, kCounterWidth, yes},
      {"counters.third", width, kEmbedding * (1 + shape.devices), yes},
      {"device.row", flat ? kVertexFacts + kVertexStatus : 0, kEmbedding, no},
      {"memory.input", kMemoryInput, 4 * kMemory, yes},
      {"memory.hidden", kMemory, 4 * kMemory, no},
      {"option.op", kEmbedding, kHead, yes},
      {"option.device", kEmbedding, kHead, no},
      {"option.memory", kMemory, kHead, no},
      {"option.row", kFullOptionRow, kHead, no},
      {"option.second", kHead, kSecondHead, yes},
      {"option.last", kSecondHead, 1, no, true},
      {"change.device", kEmbedding, kHead, yes},
      {"change.memory", kMemory, kHead, no},
      {"change.row", kReconfigureRow, kHead, no},
      {"change.last", kHead, 1, no, true},
      {"rest.memory", kMemory, kHead, yes},
      {"rest.row", kRestRow, kHead, no},
      {"rest.last", kHead, 1, no, true},
      {"value.first", kMemory, kHead, yes},
      {"value.last", kHead, 1, yes, true},
  };
}

GraphNet::Shape topology_shape(const SymphonyShape& shape) {
  return {.vertex_in = kVertexRow, .edge_in = 0, .wide = shape.wide, .means = shape.means};
}
GraphNet::Shape job_shape(const SymphonyShape& shape) {
  return {.vertex_in = kOpRow, .edge_in = kEdgeRow, .wide = shape.wide, .means = shape.means};
}

std::vector<NetPart> parts_of(const SymphonyShape& shape) {
  std::vector<NetPart> parts;
  if (shape.knowledge != InformationLevel::counters)
    GraphNet::add_parts("topology.", topology_shape(shape), parts);
  GraphNet::add_parts("job.", job_shape(shape), parts);
  for (const Layer& layer : layers_of(shape)) {
    if (layer.in > 0)
      add_dense_parts(layer.name, layer.out, layer.in, layer.bias, parts, layer.last);
  }
  return parts;
}

void leak(std::vector<float>& values) {
  for (float& value : values) value = leaky_relu(value, kSymphonyLeak);
}

size_t cells(size_t rows, int columns) {
  return rows * static_cast<size_t>(columns);
}

}  // namespace

TensorFile SymphonyNet::fresh(const SymphonyShape& shape, uint64_t seed) {
  TensorFile file;
  store_shape(shape, file);
  add_fresh_tensors(parts_of(shape), 1.5, seed, file);
  // The LSTM starts with open forget gates (Gers et al. 2000).
  std::vector<float>& bias = file.tensors["memory.input.bias"].data;
  std::fill(bias.begin() + kMemory, bias.begin() + 2 * kMemory, 1.0F);
  if (shape.prior)
    file.tensors["prior"] = {.shape = {kFirstPrior.size()},
                             .data = {kFirstPrior.begin(), kFirstPrior.end()}};
  return file;
}

Result<SymphonyNet> SymphonyNet::load(const TensorFile& file, const std::string& path) {
  SymphonyNet net;
  auto shape = load_shape(file, path);
  if (!shape) return shape.error();
  net.shape_ = *shape;
  if (shape->knowledge != InformationLevel::counters) {
    auto loaded = GraphNet::load(file, "topology.", topology_shape(*shape), path);
    if (!loaded) return loaded.error();
    net.topology_ = std::move(*loaded);
  }
  auto job = GraphNet::load(file, "job.", job_shape(*shape), path);
  if (!job) return job.error();
  net.job_ = std::move(*job);
  Dense* const targets[] = {&net.counters_first_, &net.counters_second_, &net.counters_third_,
                            &net.device_row_,     &net.memory_input_,    &net.memory_hidden_,
                            &net.option_op_,      &net.option_device_,   &net.option_memory_,
                            &net.option_row_,     &net.option_second_,   &net.option_last_,
                            &net.change_device_,  &net.change_memory_,   &net.change_row_,
                            &net.change_last_,    &net.rest_memory_,     &net.rest_row_,
                            &net.rest_last_,      &net.value_first_,     &net.value_last_};
  size_t place = 0;
  for (const Layer& layer : layers_of(*shape)) {
    Dense* target = targets[place++];
    if (layer.in == 0) continue;
    auto loaded = Dense::load(file, layer.name, layer.in, layer.out, layer.bias, path);
    if (!loaded) return loaded.error();
    *target = std::move(*loaded);
  }
  if (!shape->prior) return net;
  const auto prior = file.find("prior", {kFirstPrior.size()}, path);
  if (!prior) return prior.error();
  std::copy_n((*prior)->data.begin(), net.prior_.size(), net.prior_.begin());
  return net;
}

JobEncoding SymphonyNet::encode(const JobRows& job) const {
  JobEncoding made;
  made.ops.resize(cells(static_cast<size_t>(job.ops), kEmbedding));
  std::vector<float> workspace;
  job_.embed({.vertices = job.ops,
              .rows = job.rows.data(),
              .from = job.from,
              .to = job.to,
              .edge_rows = job.edge_rows.data()},
             workspace, made.ops.data(), made.whole.data());
  return made;
}

void SymphonyNet::look(const Topology& topology, const DecisionFeatures& features,
                       MachineEncoding& made) {
  const auto vertices = static_cast<size_t>(topology.size());
  const auto devices = static_cast<size_t>(topology.devices());
  constexpr int kKnownRow = kVertexFacts + kVertexStatus;
  const bool flat = shape_.knowledge == InformationLevel::counters;
  const int width = flat ? kKnownRow : kVertexRow;
  rows_.resize(cells(vertices, width));
  for (size_t v = 0; v < vertices; ++v) {
    float* row = rows_.data() + cells(v, width);
    std::copy_n(topology.facts().data() + cells(v, kVertexFacts), kVertexFacts, row);
    std::copy_n(features.status.data() + cells(v, kVertexStatus), kVertexStatus,
                row + kVertexFacts);
    if (!flat)
      std::copy_n(features.seen.data() + cells(v, kVertexSeen), kVertexSeen, row + kKnownRow);
  }
  if (!flat) {
    made.devices.resize(cells(vertices, kEmbedding));
    GraphRows graph{.vertices = topology.size(), .rows = rows_.data()};
    if (shape_.topology) {
      graph.from = topology.from();
      graph.to = topology.to();
    }
    topology_.embed(graph, workspace_, made.devices.data(), made.whole.data());
    return;
  }
  TUTTI_CHECK(static_cast<int>(devices) == shape_.devices);
  std::vector<float> first(kCounterWidth);
  std::vector<float> second(kCounterWidth);
  std::vector<float> third(static_cast<size_t>(counters_third_.out()));
  const float nothing = 0;
  counters_first_.apply(shape_.counters == 0 ? &nothing : features.counters.data(), 1,
                        first.data());
  leak(first);
  counters_second_.apply(first.data(), 1, second.data());
  leak(second);
  counters_third_.apply(second.data(), 1, third.data());
  made.devices.assign(third.begin() + kEmbedding, third.end());
  device_row_.add(rows_.data(), static_cast<int>(devices), made.devices.data());
  leak(made.devices);
  for (int i = 0; i < kEmbedding; ++i)
    made.whole[static_cast<size_t>(i)] = leaky_relu(third[static_cast<size_t>(i)], kSymphonyLeak);
}

float SymphonyNet::decide(const DecisionFeatures& features, const MachineEncoding& machine,
                          std::span<const JobEncoding* const> jobs, std::span<const int32_t> job_of,
                          SymphonyMemory& memory, std::vector<float>& scores) {
  remember(features, machine, jobs, memory);
  const float* kept = memory.hidden.data();
  scores.assign(features.actions.size(), 0.0F);
  fill_option_rows(features);
  score_executions(features, machine, jobs, job_of, kept, scores.data());
  score_reconfigurations(features, machine, kept, scores.data() + features.executions.size());
  if (features.may_rest) scores.back() = rest_score(features, kept);
  return value(kept);
}

// A step of the LSTM (Hochreiter and Schmidhuber 1997): gates in, forget, cell, out.
void SymphonyNet::remember(const DecisionFeatures& features, const MachineEncoding& machine,
                           std::span<const JobEncoding* const> jobs, SymphonyMemory& memory) {
  std::array<float, kMemoryInput> input{};
  std::copy(machine.whole.begin(), machine.whole.end(), input.begin());
  const float share = 1 / static_cast<float>(std::max<size_t>(1, jobs.size()));
  for (const JobEncoding* job : jobs) {
    for (size_t i = 0; i < kEmbedding; ++i) input[kEmbedding + i] += share * job->whole[i];
  }
  std::copy(features.overall.begin(), features.overall.end(), input.begin() + 2 * kEmbedding);
  if (!shape_.memory) memory = {};
  std::array<float, size_t{4} * kMemory> gates{};
  memory_input_.apply(input.data(), 1, gates.data());
  memory_hidden_.add(memory.hidden.data(), 1, gates.data());
  for (size_t i = 0; i < kMemory; ++i) {
    const float in = sigmoid(gates[i]);
    const float forget = sigmoid(gates[kMemory + i]);
    const float fresh = std::tanh(gates[2 * kMemory + i]);
    const float out = sigmoid(gates[3 * kMemory + i]);
    memory.cell[i] = forget * memory.cell[i] + in * fresh;
    memory.hidden[i] = out * std::tanh(memory.cell[i]);
  }
}

// What an option would take: its row, and what follows from how crowded it would be there.
void SymphonyNet::fill_option_rows(const DecisionFeatures& features) {
  const size_t count = features.options.size();
  option_rows_.resize(cells(count, kFullOptionRow));
  lateness_.resize(count);
  least_.assign(features.ops.size(), 1e30F);
  for (size_t o = 0; o < count; ++o) {
    const DecisionFeatures::Option& option = features.options[o];
    float crowd = option.crowd_own;
    float spread = 0;
    for (int32_t d = option.first_draw; d < option.end_draw; ++d) {
      if (!shape_.topology) break;  // without it the resources on the route are unknown
      const DecisionFeatures::VertexDraw& draw = features.draws[static_cast<size_t>(d)];
      const auto v = static_cast<size_t>(draw.vertex);
      const float* seen = features.seen.data() + cells(v, kVertexSeen);
      const float others = std::max(0.0F, seen[kUse] - features.own_before[v]) + features.unseen[v];
      const float slower = slower_by(draw.share, draw.own, draw.flows, others);
      if (slower > crowd) {
        crowd = slower;
        spread = seen[kSpread];
      }
    }
    float* row = option_rows_.data() + cells(o, kFullOptionRow);
    std::copy_n(features.option_rows.data() + cells(o, kOptionRow), kOptionRow, row);
    row[kOptionRow] = option.crowd_own;
    row[kCrowdColumn] = crowd;
    row[kOptionRow + 2] = spread;
    lateness_[o] = std::log(option.before + option.run * std::max(1.0F, crowd));
    float& best = least_[static_cast<size_t>(option.op)];
    best = std::min(best, lateness_[o]);
  }
  for (size_t o = 0; o < count; ++o) {
    lateness_[o] =
        std::min(kMostLate, lateness_[o] - least_[static_cast<size_t>(features.options[o].op)]);
    option_rows_[cells(o, kFullOptionRow) + kOptionRow + 3] = lateness_[o];
  }
}

void SymphonyNet::score_executions(const DecisionFeatures& features, const MachineEncoding& machine,
                                   std::span<const JobEncoding* const> jobs,
                                   std::span<const int32_t> job_of, const float* memory,
                                   float* scores) {
  const size_t count = features.executions.size();
  if (count == 0) return;
  // What ops and devices add to the first layer is worked out once for each.
  std::array<float, kHead> of_memory{};
  option_memory_.apply(memory, 1, of_memory.data());
  of_ops_.resize(cells(features.ops.size(), kHead));
  for (size_t i = 0; i < features.ops.size(); ++i) {
    const JobEncoding& job = *jobs[static_cast<size_t>(job_of[i])];
    option_op_.apply(job.ops.data() + cells(static_cast<size_t>(features.ops[i].op), kEmbedding), 1,
                     of_ops_.data() + cells(i, kHead));
  }
  const size_t devices = machine.devices.size() / kEmbedding;
  of_devices_.resize(cells(devices, kHead));
  option_device_.apply(machine.devices.data(), static_cast<int>(devices), of_devices_.data());
  rows_.resize(cells(count, kFullOptionRow));
  hidden_.resize(cells(count, kHead));
  for (size_t i = 0; i < count; ++i) {
    const auto o = static_cast<size_t>(features.executions[i]);
    std::copy_n(option_rows_.data() + cells(o, kFullOptionRow), kFullOptionRow,
                rows_.data() + cells(i, kFullOptionRow));
    const DecisionFeatures::Option& option = features.options[o];
    const float* of_op = of_ops_.data() + cells(static_cast<size_t>(option.op), kHead);
    const float* of_device = of_devices_.data() + cells(static_cast<size_t>(option.device), kHead);
    float* row = hidden_.data() + cells(i, kHead);
    for (size_t k = 0; k < kHead; ++k) row[k] = of_memory[k] + of_op[k] + of_device[k];
  }
  option_row_.add(rows_.data(), static_cast<int>(count), hidden_.data());
  leak(hidden_);
  rows_.resize(cells(count, kSecondHead));
  option_second_.apply(hidden_.data(), static_cast<int>(count), rows_.data());
  leak(rows_);
  option_last_.apply(rows_.data(), static_cast<int>(count), scores);
  if (!shape_.prior) return;
  for (size_t i = 0; i < count; ++i) {
    const auto o = static_cast<size_t>(features.executions[i]);
    const float* row = features.option_rows.data() + cells(o, kOptionRow);
    const float crowd = option_rows_[cells(o, kFullOptionRow) + kCrowdColumn];
    scores[i] += prior_[kRankWeight] * row[kRankColumn] + prior_[kAgeWeight] * row[kAgeColumn] -
                 prior_[kLateWeight] * lateness_[o] -
                 prior_[kCrowdWeight] * std::log(std::max(1.0F, crowd));
  }
}

void SymphonyNet::score_reconfigurations(const DecisionFeatures& features,
                                         const MachineEncoding& machine, const float* memory,
                                         float* scores) {
  const size_t count = features.reconfigured.size();
  if (count == 0) return;
  std::array<float, kHead> of_memory{};
  change_memory_.apply(memory, 1, of_memory.data());
  hidden_.resize(cells(count, kHead));
  for (size_t i = 0; i < count; ++i) {
    float* row = hidden_.data() + cells(i, kHead);
    change_device_.apply(
        machine.devices.data() + cells(static_cast<size_t>(features.reconfigured[i]), kEmbedding),
        1, row);
    for (size_t k = 0; k < kHead; ++k) row[k] += of_memory[k];
  }
  change_row_.add(features.reconfigure_rows.data(), static_cast<int>(count), hidden_.data());
  leak(hidden_);
  change_last_.apply(hidden_.data(), static_cast<int>(count), scores);
  if (!shape_.prior) return;
  for (size_t i = 0; i < count; ++i) {
    scores[i] +=
        prior_[kChangeScore] +
        prior_[kGainWeight] * features.reconfigure_rows[cells(i, kReconfigureRow) + kGainColumn];
  }
}

float SymphonyNet::rest_score(const DecisionFeatures& features, const float* memory) const {
  float best = kMostLate;
  for (const int32_t o : features.executions)
    best = std::min(best, lateness_[static_cast<size_t>(o)]);
  const float row[kRestRow] = {best, features.overall[2]};
  std::vector<float> hidden(kHead);
  rest_memory_.apply(memory, 1, hidden.data());
  rest_row_.add(row, 1, hidden.data());
  leak(hidden);
  float score = 0;
  rest_last_.apply(hidden.data(), 1, &score);
  return score + (shape_.prior ? prior_[kRestScore] : 0.0F);
}

float SymphonyNet::value(const float* memory) const {
  std::vector<float> hidden(kHead);
  value_first_.apply(memory, 1, hidden.data());
  leak(hidden);
  float value = 0;
  value_last_.apply(hidden.data(), 1, &value);
  return value;
}

}  // namespace tutti
