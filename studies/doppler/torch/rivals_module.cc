// Doppler's learned rivals in libtorch; policy/doppler/rivals is the same without.
//
// Both place ops in one order, whatever the episode, so that all episodes of a lesson are worked
// out side by side.

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "studies/doppler/nets.h"
#include "studies/doppler/nn/standardise.h"
#include "studies/doppler/rivals/gdp_net.h"
#include "studies/doppler/rivals/placeto_net.h"
#include "studies/doppler/torch/modules.h"
#include "tutti/base/check.h"
#include "tutti/train/torch/module.h"

namespace tutti {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;
template <class T>
using Function = torch::autograd::Function<T>;

torch::Tensor dense(const Parameters& parameters, const std::string& name, const torch::Tensor& x) {
  const auto bias = parameters.find(name + ".bias");
  const torch::Tensor& weight = parameters.at(name + ".weight");
  return bias == parameters.end() ? torch::linear(x, weight)
                                  : torch::linear(x, weight, bias->second);
}

// PLACE's share of what a learner is told; SELECT has no choice.
Likelihoods place_alone(const DecisionBatch& decisions, const torch::Tensor& logits) {
  const Choice place =
      choose(logits.reshape({-1, decisions.devices}), decisions.allowed, decisions.right_device);
  const std::vector<int64_t> shape = {decisions.episodes, decisions.steps};
  return {.select = torch::zeros(shape),
          .place = place.likelihood.view(shape),
          .select_entropy = torch::zeros(shape),
          .place_entropy = place.entropy.view(shape)};
}

const RivalFeatures& features_of(const Lesson& lesson) {
  return features_as<RivalNetFeatures>(*lesson.features).all;
}

// Sums over lists of rows, each times a factor of the list.
struct Lists {
  std::vector<int64_t> begin = {0};  // by list, where it begins in `rows`; one more at the end
  std::vector<int64_t> rows;
  std::vector<float> factor;  // by list
  void finish(float its_factor) {
    begin.push_back(static_cast<int64_t>(rows.size()));
    factor.push_back(its_factor);
  }
};

// Rows that the backward pass still finds there.
torch::Tensor owned(const std::vector<float>& data, int64_t columns) {
  return view_of(data, {static_cast<int64_t>(data.size()) / columns, columns}).clone();
}

torch::Tensor index_tensor_of(const std::vector<int64_t>& data) {
  return torch::from_blob(const_cast<int64_t*>(data.data()), {static_cast<int64_t>(data.size())},
                          torch::kInt64)
      .clone();
}

class SumLists : public Function<SumLists> {
 public:
  static torch::Tensor of(const torch::Tensor& x, const Lists& lists) {
    const auto count = static_cast<int64_t>(lists.factor.size());
    return apply(x, index_tensor_of(lists.begin), index_tensor_of(lists.rows),
                 view_of(lists.factor, {count}).clone());
  }

  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& begin, const torch::Tensor& rows,
                               const torch::Tensor& factor) {
    const torch::Tensor from = x.contiguous();
    std::vector<int64_t> shape = from.sizes().vec();
    const int64_t width = from.numel() / shape[0];
    context->saved_data["rows"] = shape[0];
    context->save_for_backward({begin, rows, factor});
    shape[0] = factor.numel();
    torch::Tensor to = torch::zeros(shape);
    for_each(begin, rows, factor, [&](int64_t list, int64_t row, float times) {
      add(from.data_ptr<float>() + row * width, width, times, to.data_ptr<float>() + list * width);
    });
    return to;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto saved = context->get_saved_variables();
    const torch::Tensor from = gradients[0].contiguous();
    std::vector<int64_t> shape = from.sizes().vec();
    const int64_t width = from.numel() / shape[0];
    shape[0] = context->saved_data["rows"].toInt();
    torch::Tensor to = torch::zeros(shape);
    for_each(saved[0], saved[1], saved[2], [&](int64_t list, int64_t row, float times) {
      add(from.data_ptr<float>() + list * width, width, times, to.data_ptr<float>() + row * width);
    });
    return {to, {}, {}, {}};
  }

 private:
  template <class Body>
  static void for_each(const torch::Tensor& begin, const torch::Tensor& rows,
                       const torch::Tensor& factor, const Body& body) {
    const int64_t* first = begin.data_ptr<int64_t>();
    const int64_t* row = rows.data_ptr<int64_t>();
    for (int64_t list = 0; list < factor.numel(); ++list) {
      const float times = factor.data_ptr<float>()[list];
      for (int64_t i = first[list]; i < first[list + 1]; ++i) body(list, row[i], times);
    }
  }
  static void add(const float* from, int64_t count, float times, float* to) {
    for (int64_t k = 0; k < count; ++k) to[k] += times * from[k];
  }
};

// The different states of ops over the steps of an episode, a row for each. Most ops have the same
// state at most steps, so this is a small part of ops x steps.
class Versions {
 public:
  explicit Versions(size_t ops) : since_(ops), first_(ops, 0) {}

  // Requires that it is called for ascending ops, and steps without repetition.
  void add_op(size_t op, const std::set<int32_t>& since) {
    first_[op] = static_cast<int64_t>(count_);
    since_[op].assign(since.begin(), since.end());
    count_ += since.size();
  }
  // By op: the steps from which on its state differs from before; 0 among them.
  const std::vector<int32_t>& since(size_t op) const { return since_[op]; }
  // The row of an op at a step.
  int64_t row(size_t op, int32_t step) const {
    const auto& all = since_[op];
    return first_[op] + (std::upper_bound(all.begin(), all.end(), step) - all.begin()) - 1;
  }
  size_t ops() const { return since_.size(); }

 private:
  std::vector<std::vector<int32_t>> since_;
  std::vector<int64_t> first_;
  size_t count_ = 0;
};

// Tensors are rows of versions x (episodes x devices) x width.
class PlacetoModule : public Module {
 public:
  explicit PlacetoModule(const PlacetoShape& shape) : shape_(shape) {}

  bool separable() const override { return false; }

  Likelihoods forward(const Parameters& parameters, const Lesson& lesson,
                      const Wanted& /*wanted*/) const override {
    const RivalFeatures& features = features_of(lesson);
    const DecisionBatch decisions = gather_decisions(lesson);
    const Versions fresh = first_versions(features);
    const torch::Tensor embedded =
        leak(dense(parameters, "embed", first_rows(features, lesson, fresh)));
    Versions down = fresh;
    const torch::Tensor from_producers =
        pass_messages(parameters, features, Hearing::producers, embedded, down);
    Versions up = fresh;
    const torch::Tensor from_readers =
        pass_messages(parameters, features, Hearing::readers, embedded, up);
    const Versions joined = join(down, up);
    const torch::Tensor both =
        torch::cat({take(from_producers, down, joined), take(from_readers, up, joined)}, -1);
    const torch::Tensor logits = score(parameters, features, joined, both);
    return place_alone(
        decisions,
        logits.view({decisions.steps, decisions.episodes, decisions.devices}).transpose(0, 1));
  }

 private:
  static torch::Tensor leak(const torch::Tensor& x) { return torch::leaky_relu(x, kPlacetoLeak); }

  // To come, now, and over.
  static Versions first_versions(const RivalFeatures& features) {
    Versions versions(features.order.size());
    for (size_t op = 0; op < features.order.size(); ++op) {
      std::set<int32_t> since = {0, features.step[op]};
      if (static_cast<size_t>(features.step[op]) + 1 < features.order.size()) {
        since.insert(features.step[op] + 1);
      }
      versions.add_op(op, since);
    }
    return versions;
  }

  static torch::Tensor first_rows(const RivalFeatures& features, const Lesson& lesson,
                                  const Versions& versions) {
    const auto devices = static_cast<size_t>(features.devices);
    std::vector<float> rows;
    for (size_t op = 0; op < versions.ops(); ++op) {
      const int32_t own = features.step[op];
      for (const int32_t since : versions.since(op)) {
        const Turn turn = since < own ? Turn::to_come : since == own ? Turn::now : Turn::over;
        for (const Episode* episode : lesson.episodes) {
          const int32_t place = episode->device[static_cast<size_t>(own)];
          for (size_t d = 0; d < devices; ++d) {
            rows.resize(rows.size() + kPlacetoColumns);
            placeto_row(features, op, d, turn,
                        turn == Turn::over && place == static_cast<int32_t>(d),
                        rows.data() + rows.size() - kPlacetoColumns);
          }
        }
      }
    }
    const auto batch = static_cast<int64_t>(lesson.episodes.size() * devices);
    return owned(rows, kPlacetoColumns).view({-1, batch, kPlacetoColumns});
  }

  // Rows of `from` in the versions of `to`, which differ wherever those of `from` do.
  static torch::Tensor take(const torch::Tensor& x, const Versions& from, const Versions& to) {
    std::vector<int64_t> rows;
    for (size_t op = 0; op < to.ops(); ++op) {
      for (const int32_t since : to.since(op)) rows.push_back(from.row(op, since));
    }
    return x.index_select(0, index_tensor_of(rows));
  }

  static Versions join(const Versions& a, const Versions& b) {
    Versions versions(a.ops());
    for (size_t op = 0; op < a.ops(); ++op) {
      std::set<int32_t> since(a.since(op).begin(), a.since(op).end());
      since.insert(b.since(op).begin(), b.since(op).end());
      versions.add_op(op, since);
    }
    return versions;
  }

  torch::Tensor pass_messages(const Parameters& parameters, const RivalFeatures& features,
                              Hearing way, torch::Tensor state, Versions& versions) const {
    const std::string name = way == Hearing::producers ? "from_producers." : "from_readers.";
    for (int round = 0; round < shape_.rounds; ++round) {
      Versions after(versions.ops());
      Lists heard;
      for (size_t op = 0; op < versions.ops(); ++op) {
        const auto others = heard_by(features.graph, way, op);
        std::set<int32_t> since(versions.since(op).begin(), versions.since(op).end());
        for (const int32_t other : others) {
          const auto& changes = versions.since(static_cast<size_t>(other));
          since.insert(changes.begin(), changes.end());
        }
        after.add_op(op, since);
        const float factor =
            others.empty() ? 0.0F : 1.0F / std::sqrt(static_cast<float>(others.size()));
        for (const int32_t step : since) {
          for (const int32_t other : others) {
            heard.rows.push_back(versions.row(static_cast<size_t>(other), step));
          }
          heard.finish(factor);
        }
      }
      const torch::Tensor sent = leak(dense(parameters, name + "send", state));
      state = take(state, versions, after) +
              leak(dense(parameters, name + "hear", SumLists::of(sent, heard)));
      versions = std::move(after);
    }
    return state;
  }

  // Steps x (episodes x devices).
  static torch::Tensor score(const Parameters& parameters, const RivalFeatures& features,
                             const Versions& versions, const torch::Tensor& both) {
    std::vector<int64_t> own;
    std::array<Lists, kKinSets> lists;
    std::vector<Kin> kin;
    for (size_t step = 0; step < features.order.size(); ++step) {
      const auto op = static_cast<size_t>(features.order[step]);
      const auto now = static_cast<int32_t>(step);
      own.push_back(versions.row(op, now));
      find_kin(features.graph, op, kin);
      for (size_t other = 0; other < kin.size(); ++other) {
        if (kin[other] == Kin::itself) continue;
        lists[static_cast<size_t>(kin[other])].rows.push_back(versions.row(other, now));
      }
      for (Lists& list : lists) list.finish(1.0F / std::sqrt(static_cast<float>(kin.size())));
    }
    const torch::Tensor sent = leak(dense(parameters, "all.send", both));
    std::vector<torch::Tensor> parts = {both.index_select(0, index_tensor_of(own))};
    const char* const names[] = {"all.needed", "all.needing", "all.parallel"};
    for (size_t set = 0; set < kKinSets; ++set) {
      parts.push_back(leak(dense(parameters, names[set], SumLists::of(sent, lists[set]))));
    }
    return dense(parameters, "last", leak(dense(parameters, "first", torch::cat(parts, -1))));
  }

  PlacetoShape shape_;
};

class MaxOfNeighbours : public Function<MaxOfNeighbours> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const PublishedFeatures* graph) {
    const torch::Tensor from = x.contiguous();
    torch::Tensor most = torch::empty_like(from);
    torch::Tensor whose = torch::empty(from.sizes(), torch::kInt32);
    max_of_neighbours(*graph, from.data_ptr<float>(), static_cast<size_t>(from.size(1)),
                      most.data_ptr<float>(), whose.data_ptr<int32_t>());
    context->save_for_backward({whose});
    return most;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const torch::Tensor whose = context->get_saved_variables()[0];
    const torch::Tensor by_most = gradients[0].contiguous();
    const int64_t width = by_most.size(1);
    torch::Tensor by_x = torch::zeros_like(by_most);
    const int32_t* of = whose.data_ptr<int32_t>();
    for (int64_t i = 0; i < by_most.numel(); ++i) {
      if (of[i] < 0) continue;
      by_x.data_ptr<float>()[of[i] * width + i % width] += by_most.data_ptr<float>()[i];
    }
    return {by_x, {}};
  }
};

// Each column over all rows.
class Standardise : public Function<Standardise> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x) {
    const torch::Tensor from = x.contiguous();
    torch::Tensor y = torch::empty_like(from);
    torch::Tensor spreads = torch::empty({from.size(1)}, torch::kFloat64);
    standardise(from.data_ptr<float>(), static_cast<int>(from.size(0)),
                static_cast<int>(from.size(1)), y.data_ptr<float>(), spreads.data_ptr<double>());
    context->save_for_backward({y, spreads});
    return y;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto saved = context->get_saved_variables();
    const torch::Tensor by_y = gradients[0].contiguous();
    torch::Tensor by_x = torch::empty_like(by_y);
    standardise_backward(by_y.data_ptr<float>(), saved[0].data_ptr<float>(),
                         saved[1].data_ptr<double>(), static_cast<int>(by_y.size(0)),
                         static_cast<int>(by_y.size(1)), by_x.data_ptr<float>());
    return {by_x};
  }
};

class GdpModule : public Module {
 public:
  explicit GdpModule(const GdpShape& shape) : shape_(shape) {}

  bool separable() const override { return false; }

  Likelihoods forward(const Parameters& parameters, const Lesson& lesson,
                      const Wanted& /*wanted*/) const override {
    const RivalFeatures& features = features_of(lesson);
    const DecisionBatch decisions = gather_decisions(lesson);
    torch::Tensor state =
        torch::relu(dense(parameters, "embed", owned(gdp_op_rows(features), kGdpOpColumns)));
    for (int i = 0; i < shape_.layers; ++i) {
      const std::string name = "layer" + std::to_string(i) + ".";
      const torch::Tensor heard = MaxOfNeighbours::apply(
          torch::relu(dense(parameters, name + "send", state)), &features.graph);
      state = torch::relu(dense(parameters, name + "join", torch::cat({state, heard}, 1)));
    }
    state = state.index_select(0, indices(features.order));
    for (int i = 0; i < shape_.blocks; ++i) {
      state = attend(parameters, "block" + std::to_string(i) + ".", state);
    }
    const torch::Tensor device_rows = owned(gdp_device_rows(features), kGdpDeviceColumns);
    const torch::Tensor logits =  // the same in all episodes
        Standardise::apply(state).mm(dense(parameters, "device", device_rows).t()) +
        dense(parameters, "device_common", device_rows).t();
    return place_alone(decisions, logits.unsqueeze(0).expand(
                                      {decisions.episodes, decisions.steps, decisions.devices}));
  }

 private:
  torch::Tensor attend(const Parameters& parameters, const std::string& name,
                       const torch::Tensor& state) const {
    const torch::Tensor middle =
        norm(parameters, name + "attention_norm",
             state + dense(parameters, name + "out", mixed(parameters, name, state)));
    return norm(parameters, name + "norm",
                middle + dense(parameters, name + "narrow",
                               torch::relu(dense(parameters, name + "wide", middle))));
  }

  torch::Tensor norm(const Parameters& parameters, const std::string& name,
                     const torch::Tensor& x) const {
    return torch::layer_norm(x, {shape_.width}, parameters.at(name + ".weight"),
                             parameters.at(name + ".bias"), kNormEpsilon);
  }

  // One segment after the other: there are few.
  torch::Tensor mixed(const Parameters& parameters, const std::string& name,
                      const torch::Tensor& state) const {
    const int64_t part = shape_.width / shape_.heads;
    const auto by_head = [&](const char* which) {  // heads x ops x part
      return dense(parameters, name + which, state).view({-1, shape_.heads, part}).transpose(0, 1);
    };
    const torch::Tensor query = by_head("query");
    const torch::Tensor key = by_head("key");
    const torch::Tensor value = by_head("value");
    const int ops = static_cast<int>(state.size(0));
    std::vector<torch::Tensor> segments;
    for (int segment = 0; segment * shape_.segment < ops; ++segment) {
      const Context context = context_of(shape_, segment, ops);
      const int64_t first = int64_t{segment} * shape_.segment;
      const int64_t reach = context.end - context.begin;
      const torch::Tensor share =
          torch::softmax(torch::matmul(query.narrow(1, first, context.end - first),
                                       key.narrow(1, context.begin, reach).transpose(1, 2)) /
                             std::sqrt(static_cast<double>(part)),
                         -1);
      segments.push_back(torch::matmul(share, value.narrow(1, context.begin, reach)));
    }
    return torch::cat(segments, 1).transpose(0, 1).reshape({-1, shape_.width});
  }

  GdpShape shape_;
};

}  // namespace

void add_rival_modules() {
  add_module({"placeto", checked_module<PlacetoNet, PlacetoModule>});
  add_module({"gdp", checked_module<GdpNet, GdpModule>});
}

}  // namespace tutti
