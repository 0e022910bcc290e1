#include "tutti/policy/doppler/residual_net.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tutti/policy/doppler/residual_actor.h"

namespace tutti {
namespace {

constexpr float kFirstRankWeight = 60;
constexpr float kFirstSlackWeight = 5;
constexpr uint64_t kMarkSeed = 20;
constexpr int kMostMarks = 256;

std::vector<NetPart> parts_of(const ResidualShape& shape) {
  const int64_t width = shape.width;
  std::vector<NetPart> parts;
  const auto dense = [&](const std::string& name, int64_t out, int64_t in, bool bias,
                         bool zero = false) {
    add_dense_parts(name, out, in, bias ? Dense::Bias::yes : Dense::Bias::no, parts, zero);
  };
  dense("op", width, kOpFeatures, true);
  if (shape.marks > 0) dense("mark", width, shape.marks, false);
  for (int k = 0; k < shape.rounds; ++k) {
    const std::string round = fmt::format("round{}.", k);
    dense(round + "self", width, width, true);
    dense(round + "in", width, width, false);
    dense(round + "out", width, width, false);
    dense(round + "in_gate", width, kEdgeFeatures, true);
    dense(round + "out_gate", width, kEdgeFeatures, true);
  }
  dense("select.op", width, kOpFeatures, true);
  dense("select.state", width, width, false);
  dense("select.exit", width, width, false);
  dense("select.entry", width, width, false);
  dense("select.last", 1, width, false, true);
  parts.push_back({"select.rank", {1}, false});
  dense("place.op", width, width, true);
  dense("place.row", width, kDeviceFeatures, false);
  dense("place.sum", width, width, false);
  dense("place.second", shape.second, width, true);
  dense("place.last", 1, shape.second, false, true);
  parts.push_back({"place.slack", {1}, false});
  return parts;
}

// gates = sigmoid(G e) for each edge.
std::vector<float> gates(const Dense& gate, const ProblemFeatures& features) {
  const int edges = static_cast<int>(features.from.size());
  std::vector<float> open(static_cast<size_t>(edges) * static_cast<size_t>(gate.out()));
  gate.apply(features.edge_rows.data(), edges, open.data());
  for (float& value : open) value = sigmoid(value);
  return open;
}

// The mean of what comes over the edges into each op: gate times the state at the other end.
std::vector<float> gather(const std::vector<int32_t>& into, const std::vector<int32_t>& of,
                          const std::vector<float>& open, const std::vector<float>& state,
                          size_t ops, size_t width) {
  std::vector<float> sum(ops * width, 0.0F);
  std::vector<int> count(ops, 0);
  for (size_t edge = 0; edge < into.size(); ++edge) {
    const auto to = static_cast<size_t>(into[edge]);
    const float* from = state.data() + static_cast<size_t>(of[edge]) * width;
    const float* gate = open.data() + edge * width;
    float* target = sum.data() + to * width;
    for (size_t i = 0; i < width; ++i) target[i] += gate[i] * from[i];
    ++count[to];
  }
  for (size_t op = 0; op < ops; ++op) {
    const float share = 1.0F / static_cast<float>(std::max(1, count[op]));
    for (size_t i = 0; i < width; ++i) sum[op * width + i] *= share;
  }
  return sum;
}

}  // namespace

bool sees_column(const ResidualShape& shape, int column) {
  const bool is_static =
      column >= kFirstStaticColumn && column < kFirstStaticColumn + kStaticColumns;
  if (shape.one_pass && !is_static) return false;
  const bool of_device = is_static || column == kLinkWaitColumn || column == kMemoryColumn;
  return shape.device_columns || !of_device;
}

std::vector<float> op_marks(int ops, int marks) {
  std::vector<float> numbers;
  for (int op = 0; op < ops; ++op) {
    Rng rng = Rng(kMarkSeed).split(static_cast<uint64_t>(op));
    for (int i = 0; i < marks; ++i) numbers.push_back(static_cast<float>(rng.normal()));
  }
  return numbers;
}

TensorFile ResidualNet::fresh(const ResidualShape& shape, uint64_t seed) {
  TensorFile file;
  file.metadata = {{"network", "residual"},
                   {"width", std::to_string(shape.width)},
                   {"second", std::to_string(shape.second)},
                   {"rounds", std::to_string(shape.rounds)},
                   {"one_pass", shape.one_pass ? "1" : "0"},
                   {"device_columns", shape.device_columns ? "1" : "0"},
                   {"contention", shape.estimate == Estimate::with_contention ? "1" : "0"},
                   {"marks", std::to_string(shape.marks)}};
  if (shape.estimate == Estimate::start_alone) file.metadata["start_alone"] = "1";
  add_fresh_tensors(parts_of(shape), 1.0, seed, file);
  file.tensors["select.rank"].data = {kFirstRankWeight};
  file.tensors["place.slack"].data = {kFirstSlackWeight};
  return file;
}

std::unique_ptr<Actor> ResidualNet::actor(const Problem& problem,
                                          const NetFeatures& features) const {
  const auto& known = features_as<ResidualFeatures>(features);
  return std::make_unique<ResidualActor>(problem, *this, known.rows, known.facts);
}

Result<ResidualShape> ResidualNet::shape_of(const TensorFile& file, const std::string& path) {
  const auto kind = file.metadata.find("network");
  if (kind == file.metadata.end() || kind->second != "residual") {
    return invalid_input(path + ": this is not a model of the residual network");
  }
  ResidualShape shape;
  struct Row {
    const char* key;
    int* target;
    int least;
    int most;
  };
  int one_pass = 0;
  int device_columns = 0;
  int contention = 0;
  const Row rows[] = {
      {"width", &shape.width, kLaneWidth, 1024}, {"second", &shape.second, kLaneWidth, 1024},
      {"rounds", &shape.rounds, 0, 64},          {"one_pass", &one_pass, 0, 1},
      {"device_columns", &device_columns, 0, 1}, {"contention", &contention, 0, 1}};
  for (const Row& row : rows) {
    const auto number = file.number(row.key, row.least, row.most, path);
    if (!number) return number.error();
    *row.target = *number;
  }
  if (shape.width % kLaneWidth != 0 || shape.second % kLaneWidth != 0) {
    return invalid_input(
        fmt::format("{}: the model's widths must be multiples of {}", path, kLaneWidth));
  }
  const auto marks = file.metadata.contains("marks") ? file.number("marks", 0, kMostMarks, path)
                                                     : Result<int>(0);  // older models have none
  if (!marks) return marks.error();
  shape.marks = *marks;
  shape.one_pass = one_pass == 1;
  shape.device_columns = device_columns == 1;
  shape.estimate = contention == 1 ? Estimate::with_contention : Estimate::without_contention;
  if (file.metadata.contains("start_alone")) {
    const auto start_alone = file.number("start_alone", 0, 1, path);
    if (!start_alone) return start_alone.error();
    if (*start_alone == 1) shape.estimate = Estimate::start_alone;
  }
  return shape;
}

Result<ResidualNet> ResidualNet::load(const TensorFile& file, const std::string& path) {
  ResidualNet net;
  const auto shape = shape_of(file, path);
  if (!shape) return shape.error();
  net.shape_ = *shape;
  const int width = shape->width;
  net.rounds_.resize(static_cast<size_t>(shape->rounds));
  struct Row {
    std::string name;
    Dense* layer;
    int in;
    int out;
    Dense::Bias bias;
  };
  using enum Dense::Bias;
  std::vector<Row> rows = {
      {"op", &net.op_, kOpFeatures, width, yes},
      {"select.op", &net.select_op_, kOpFeatures, width, yes},
      {"select.state", &net.select_state_, width, width, no},
      {"select.exit", &net.select_exit_, width, width, no},
      {"select.entry", &net.select_entry_, width, width, no},
      {"select.last", &net.select_last_, width, 1, no},
      {"place.op", &net.place_op_, width, width, yes},
      {"place.row", &net.place_row_, kDeviceFeatures, width, no},
      {"place.sum", &net.place_sum_, width, width, no},
      {"place.second", &net.place_second_, width, shape->second, yes},
      {"place.last", &net.place_last_, shape->second, 1, no},
  };
  if (shape->marks > 0) rows.push_back({"mark", &net.mark_, shape->marks, width, no});
  for (int k = 0; k < shape->rounds; ++k) {
    Round& round = net.rounds_[static_cast<size_t>(k)];
    const std::string name = fmt::format("round{}.", k);
    rows.push_back({name + "self", &round.self, width, width, yes});
    rows.push_back({name + "in", &round.in, width, width, no});
    rows.push_back({name + "out", &round.out, width, width, no});
    rows.push_back({name + "in_gate", &round.in_gate, kEdgeFeatures, width, yes});
    rows.push_back({name + "out_gate", &round.out_gate, kEdgeFeatures, width, yes});
  }
  for (const Row& row : rows) {
    auto layer = Dense::load(file, row.name, row.in, row.out, row.bias, path);
    if (!layer) return layer.error();
    *row.layer = std::move(*layer);
  }
  for (int column = 0; column < kDeviceFeatures; ++column) {
    if (!sees_column(*shape, column)) net.place_row_.ignore_input(column);
  }
  const auto rank = file.find("select.rank", {1}, path);
  if (!rank) return rank.error();
  const auto slack = file.find("place.slack", {1}, path);
  if (!slack) return slack.error();
  net.rank_weight_ = (*rank)->data[0];
  net.slack_weight_ = (*slack)->data[0];
  return net;
}

// h += ReLU(S h + I in + O out): what comes from the producers and from the readers.
void ResidualNet::pass_messages(const Round& round, const ProblemFeatures& features,
                                std::vector<float>& state) const {
  const auto ops = static_cast<size_t>(features.ops);
  const auto width = static_cast<size_t>(shape_.width);
  std::vector<float> change(state.size());
  round.self.apply(state.data(), features.ops, change.data());
  const auto in =
      gather(features.to, features.from, gates(round.in_gate, features), state, ops, width);
  round.in.add(in.data(), features.ops, change.data());
  const auto out =
      gather(features.from, features.to, gates(round.out_gate, features), state, ops, width);
  round.out.add(out.data(), features.ops, change.data());
  for (size_t i = 0; i < state.size(); ++i) state[i] += std::max(0.0F, change[i]);
}

// The mean of the states along the longest path that `next` tells, each op's own included.
std::vector<float> ResidualNet::along(const std::vector<int32_t>& next, bool backwards,
                                      const ProblemFeatures& features,
                                      const std::vector<float>& state) const {
  const auto width = static_cast<size_t>(shape_.width);
  std::vector<float> sum = state;
  std::vector<int> length(static_cast<size_t>(features.ops), 1);
  const auto visit = [&](size_t op) {
    if (next[op] < 0) return;
    const auto other = static_cast<size_t>(next[op]);
    for (size_t i = 0; i < width; ++i) sum[op * width + i] += sum[other * width + i];
    length[op] += length[other];
  };
  if (backwards) {
    for (auto it = features.order.rbegin(); it != features.order.rend(); ++it) {
      visit(static_cast<size_t>(*it));
    }
  } else {
    for (const int32_t op : features.order) visit(static_cast<size_t>(op));
  }
  for (size_t op = 0; op < length.size(); ++op) {
    const float share = 1.0F / static_cast<float>(length[op]);
    for (size_t i = 0; i < width; ++i) sum[op * width + i] *= share;
  }
  return sum;
}

ResidualEncoding ResidualNet::encode(const ProblemFeatures& features) const {
  const auto cells = static_cast<size_t>(features.ops) * static_cast<size_t>(shape_.width);
  std::vector<float> state(cells);
  op_.apply(features.op_rows.data(), features.ops, state.data());
  if (shape_.marks > 0) {
    mark_.add(op_marks(features.ops, shape_.marks).data(), features.ops, state.data());
  }
  for (float& value : state) value = std::max(0.0F, value);
  for (const Round& round : rounds_) pass_messages(round, features, state);

  std::vector<float> hidden(cells);
  select_op_.apply(features.op_rows.data(), features.ops, hidden.data());
  select_state_.add(state.data(), features.ops, hidden.data());
  const auto exit = along(features.next, true, features, state);
  select_exit_.add(exit.data(), features.ops, hidden.data());
  const auto entry = along(features.previous, false, features, state);
  select_entry_.add(entry.data(), features.ops, hidden.data());
  for (float& value : hidden) value = leaky_relu(value, kLeak);

  ResidualEncoding encoding;
  encoding.score.resize(static_cast<size_t>(features.ops));
  select_last_.apply(hidden.data(), features.ops, encoding.score.data());
  for (size_t op = 0; op < encoding.score.size(); ++op) {
    encoding.score[op] += rank_weight_ * features.rank[op];
  }
  encoding.place_op.resize(cells);
  place_op_.apply(state.data(), features.ops, encoding.place_op.data());
  encoding.place_sum.resize(cells);
  place_sum_.apply(state.data(), features.ops, encoding.place_sum.data());
  return encoding;
}

void ResidualNet::place(const float* place_op, const float* rows, const float* sums, int devices,
                        std::vector<float>& workspace, float* logits) const {
  const auto width = static_cast<size_t>(shape_.width);
  const auto second = static_cast<size_t>(shape_.second);
  const auto count = static_cast<size_t>(devices);
  workspace.resize(count * (width + second));
  float* hidden = workspace.data();
  float* narrow = hidden + count * width;
  for (size_t d = 0; d < count; ++d) {
    for (size_t i = 0; i < width; ++i) {
      hidden[d * width + i] = place_op[i] + (sums != nullptr ? sums[d * width + i] : 0.0F);
    }
  }
  place_row_.add(rows, devices, hidden);
  for (size_t i = 0; i < count * width; ++i) hidden[i] = leaky_relu(hidden[i], kLeak);
  place_second_.apply(hidden, devices, narrow);
  for (size_t i = 0; i < count * second; ++i) narrow[i] = leaky_relu(narrow[i], kLeak);
  place_last_.apply(narrow, devices, logits);
  for (size_t d = 0; d < count; ++d) {
    logits[d] -= slack_weight_ * rows[d * kDeviceFeatures + kSlack];
  }
}

}  // namespace tutti
