// The residual net in libtorch; policy/doppler/residual_net.cc is the same without.

#include <algorithm>

#include "tutti/policy/doppler/residual_net.h"
#include "tutti/train/torch/module.h"

namespace tutti {
namespace {

class ResidualModule : public Module {
 public:
  explicit ResidualModule(const ResidualShape& shape) : shape_(shape) {
    std::vector<float> sees;
    for (int column = 0; column < kDeviceFeatures; ++column) {
      sees.push_back(sees_column(shape, column) ? 1.0F : 0.0F);
    }
    sees_ = view_of(sees, {kDeviceFeatures}).clone();
  }

  bool separable() const override { return false; }

  Likelihoods forward(const Parameters& parameters, const Lesson& lesson,
                      const Wanted& /*wanted*/) const override {
    const DecisionBatch decisions = gather_decisions(lesson);
    const ProblemFeatures& features = features_as<ResidualFeatures>(*lesson.features).rows;
    const torch::Tensor state = encode(parameters, features);
    const Choice select = choose(scores(parameters, features, state)
                                     .index_select(0, decisions.ready.view({-1}))
                                     .view(decisions.ready.sizes()),
                                 decisions.is_ready, decisions.right_op);
    const Choice place =
        choose(logits(parameters, decisions, state), decisions.allowed, decisions.right_device);
    const std::vector<int64_t> shape = {decisions.episodes, decisions.steps};
    return {.select = select.likelihood.view(shape),
            .place = place.likelihood.view(shape),
            .select_entropy = select.entropy.view(shape),
            .place_entropy = place.entropy.view(shape)};
  }

 private:
  static torch::Tensor dense(const Parameters& parameters, const std::string& name,
                             const torch::Tensor& x) {
    const auto bias = parameters.find(name + ".bias");
    const torch::Tensor& weight = parameters.at(name + ".weight");
    return bias == parameters.end() ? torch::linear(x, weight)
                                    : torch::linear(x, weight, bias->second);
  }

  // The mean of gated states over the edges into each op.
  static torch::Tensor gather(const torch::Tensor& into, const torch::Tensor& of,
                              const torch::Tensor& open, const torch::Tensor& state,
                              const torch::Tensor& share) {
    return torch::zeros_like(state).index_add(0, into, open * state.index_select(0, of)) * share;
  }

  torch::Tensor encode(const Parameters& parameters, const ProblemFeatures& features) const {
    const int64_t ops = features.ops;
    const auto edges = static_cast<int64_t>(features.from.size());
    const torch::Tensor rows = view_of(features.op_rows, {ops, kOpFeatures});
    const torch::Tensor edge_rows = view_of(features.edge_rows, {edges, kEdgeFeatures});
    const torch::Tensor from = indices(features.from);
    const torch::Tensor to = indices(features.to);
    const auto shares = [&](const torch::Tensor& index) {
      const torch::Tensor count =
          torch::zeros({ops, 1}).index_add(0, index, torch::ones({edges, 1}));
      return count.clamp_min(1).reciprocal();
    };
    const torch::Tensor in_share = shares(to);
    const torch::Tensor out_share = shares(from);
    torch::Tensor state = dense(parameters, "op", rows);
    if (shape_.marks > 0) {
      const std::vector<float> marks = op_marks(features.ops, shape_.marks);
      state = state + dense(parameters, "mark", view_of(marks, {ops, shape_.marks}).clone());
    }
    state = torch::relu(state);
    for (int k = 0; k < shape_.rounds; ++k) {
      const std::string round = "round" + std::to_string(k) + ".";
      const torch::Tensor in_gate = dense(parameters, round + "in_gate", edge_rows).sigmoid();
      const torch::Tensor out_gate = dense(parameters, round + "out_gate", edge_rows).sigmoid();
      const torch::Tensor change =
          dense(parameters, round + "self", state) +
          dense(parameters, round + "in", gather(to, from, in_gate, state, in_share)) +
          dense(parameters, round + "out", gather(from, to, out_gate, state, out_share));
      state = state + torch::relu(change);
    }
    return state;
  }

  // Means along the ways that `next` tells, by doubling: after k rounds each op has summed the next
  // 2^k states, and knows the op after those.
  static torch::Tensor along(std::vector<int32_t> next, const torch::Tensor& state) {
    const int64_t ops = state.size(0);
    const torch::Tensor none = torch::zeros({1, state.size(1)});
    torch::Tensor sum = torch::cat({state, none});  // the last row stands for the end of a way
    torch::Tensor length = torch::cat({torch::ones({ops, 1}), torch::zeros({1, 1})});
    for (int32_t& op : next) {
      if (op < 0) op = static_cast<int32_t>(ops);
    }
    next.push_back(static_cast<int32_t>(ops));
    const auto end = static_cast<int32_t>(ops);
    while (std::any_of(next.begin(), next.end(), [&](int32_t op) { return op != end; })) {
      const torch::Tensor index = indices(next);
      sum = sum + sum.index_select(0, index);
      length = length + length.index_select(0, index);
      std::vector<int32_t> doubled(next.size());
      for (size_t op = 0; op < next.size(); ++op) {
        doubled[op] = next[static_cast<size_t>(next[op])];
      }
      next = std::move(doubled);
    }
    return sum.narrow(0, 0, ops) / length.narrow(0, 0, ops);
  }

  static torch::Tensor scores(const Parameters& parameters, const ProblemFeatures& features,
                              const torch::Tensor& state) {
    const int64_t ops = features.ops;
    const torch::Tensor hidden =
        dense(parameters, "select.op", view_of(features.op_rows, {ops, kOpFeatures})) +
        dense(parameters, "select.state", state) +
        dense(parameters, "select.exit", along(features.next, state)) +
        dense(parameters, "select.entry", along(features.previous, state));
    return dense(parameters, "select.last", torch::leaky_relu(hidden, kLeak)).view({-1}) +
           parameters.at("select.rank") * view_of(features.rank, {ops});
  }

  // By step, the mean of what is on each device: (episodes x steps) x devices x width.
  torch::Tensor means_on_devices(const Parameters& parameters, const DecisionBatch& decisions,
                                 const torch::Tensor& state) const {
    const int64_t width = shape_.width;
    const torch::Tensor added = dense(parameters, "place.sum", state)
                                    .index_select(0, decisions.op.view({-1}))
                                    .view({decisions.episodes, decisions.steps, 1, width});
    const torch::Tensor where = torch::one_hot(decisions.device, decisions.devices)
                                    .to(torch::kFloat32)
                                    .unsqueeze(-1);  // episodes x steps x devices x 1
    const torch::Tensor mine = where * added;
    const torch::Tensor before = torch::cumsum(mine, 1) - mine;  // what was there before the step
    const torch::Tensor count = torch::cumsum(where, 1) - where;
    return (before / count.clamp_min(1))
        .view({decisions.episodes * decisions.steps, decisions.devices, width});
  }

  torch::Tensor logits(const Parameters& parameters, const DecisionBatch& decisions,
                       const torch::Tensor& state) const {
    const torch::Tensor of_op =
        dense(parameters, "place.op", state).index_select(0, decisions.op.view({-1})).unsqueeze(1);
    torch::Tensor hidden =
        of_op + torch::linear(decisions.rows, parameters.at("place.row.weight") * sees_);
    if (!shape_.one_pass) hidden = hidden + means_on_devices(parameters, decisions, state);
    const torch::Tensor second = torch::leaky_relu(
        dense(parameters, "place.second", torch::leaky_relu(hidden, kLeak)), kLeak);
    return dense(parameters, "place.last", second).squeeze(-1) -
           parameters.at("place.slack") * decisions.rows.select(2, kSlack);
  }

  ResidualShape shape_;
  torch::Tensor sees_;  // by column of a row: 1 if the net may look at it
};

}  // namespace

Result<std::unique_ptr<Module>> make_residual_module(const TensorFile& file,
                                                     const std::string& path) {
  return checked_module<ResidualNet, ResidualModule>(file, path);
}

}  // namespace tutti
