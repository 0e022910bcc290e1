// Symphony's net in libtorch; policy/symphony/network.cc is the same without.

#include <algorithm>
#include <cmath>

#include "tutti/base/parallel.h"
#include "tutti/belief/constants_file.h"
#include "tutti/train/symphony/learner.h"
#include "tutti/train/torch/module.h"
#include "tutti/train/torch/parameters.h"
#include "tutti/train/torch/symphony_batch.h"

namespace tutti {
namespace {

using torch::Tensor;

constexpr float kNoOdds = -1e9F;
constexpr const char* kConstants = "belief.constants";
// Passages whose gradient is worked out at once; it changes rounding.
constexpr size_t kPassagesAtOnce = 16;

template <class T>
int64_t size_of(const std::vector<T>& list) {
  return static_cast<int64_t>(list.size());
}

Tensor leak(const Tensor& x) {
  return torch::leaky_relu(x, kSymphonyLeak);
}

// Sums (or means) of rows by where they belong.
Tensor pool(const Tensor& rows, const Tensor& into, int64_t count, bool means) {
  const Tensor sum = torch::zeros({count, rows.size(1)}).index_add(0, into, rows);
  if (!means) return sum;
  const Tensor ones = torch::ones({rows.size(0), 1});
  return sum / torch::zeros({count, 1}).index_add(0, into, ones).clamp_min(1);
}

// Rows [first[i], first[i + 1]) of a list side by side: places, and which of them are none.
struct Padded {
  Tensor places;  // count x widest
  Tensor absent;
};
Padded padded(const std::vector<int32_t>& first, int64_t widest) {
  const int64_t count = static_cast<int64_t>(first.size()) - 1;
  const Tensor begin = indices(first);
  const Tensor places = begin.narrow(0, 0, count).unsqueeze(1) + torch::arange(widest).unsqueeze(0);
  const Tensor absent = places >= begin.narrow(0, 1, count).unsqueeze(1);
  return {places.masked_fill(absent, 0), absent};
}

// What the net says of a batch.
struct Judgement {
  Tensor log_odds;  // decisions x most_actions
  Tensor allowed;
  Tensor value;
  Tensor seen;  // decisions x V x kVertexSeen: what slopes by the belief are wanted of
  std::vector<Inferred> inferred;  // of every `stride`th decision
};

class SymphonyModule {
 public:
  SymphonyModule(SymphonyShape shape, const Topology& topology, const Observer& observer)
      : shape_(shape), topology_(topology), observer_(observer) {
    facts_ = view_of(topology.facts(), {topology.size(), kVertexFacts}).clone();
    from_ = indices(topology.from());
    to_ = indices(topology.to());
  }

  // The belief of every `stride`th decision is sampled again; 0: none.
  Judgement judge(const Parameters& parameters, const SymphonyBatch& batch, size_t stride) const {
    Judgement made;
    const auto count = static_cast<int64_t>(batch.count());
    make_seen(parameters, batch, stride, made);
    const auto [devices, whole] = look(parameters, batch, made.seen);
    const auto [ops, jobs] =
        embed(parameters, "job.", view_of(batch.op_rows, {size_of(batch.job_of_op), kOpRow}),
              indices(batch.from), indices(batch.to),
              view_of(batch.edge_rows, {size_of(batch.job_of_edge), kEdgeRow}),
              indices(batch.job_of_op), indices(batch.job_of_edge), batch.jobs);
    const Tensor job_mean = pool(jobs.index_select(0, indices(batch.seen_job)),
                                 indices(batch.seen_by), count, /*means=*/true);
    std::vector<float> overall;
    for (const KeptDecision* decision : batch.decisions)
      append(overall, decision->considered.features.overall);
    const Tensor hidden = remember(
        parameters, batch, torch::cat({whole, job_mean, view_of(overall, {count, kOverall})}, 1));
    const Options options = look_at_options(batch, made.seen);
    Tensor cells = torch::full({count * batch.most_actions}, kNoOdds);
    std::vector<Tensor> scores;
    scores.push_back(execution_scores(parameters, batch, ops, devices, hidden, options));
    scores.push_back(change_scores(parameters, batch, devices, hidden));
    scores.push_back(rest_scores(parameters, batch, hidden, options, overall));
    cells = cells.index_put({indices(batch.cell_of_action)}, torch::cat(scores));
    cells = cells.view({count, batch.most_actions});
    made.allowed = cells.detach() > kNoOdds / 2;
    made.log_odds = torch::log_softmax(cells, 1);
    const Tensor value_hidden = leak(dense(parameters, "value.first", hidden));
    made.value = dense(parameters, "value.last", value_hidden).squeeze(1);
    return made;
  }

 private:
  static void append(std::vector<float>& to, const std::vector<float>& from) {
    to.insert(to.end(), from.begin(), from.end());
  }

  static Tensor dense(const Parameters& parameters, const std::string& name, const Tensor& x) {
    const auto bias = parameters.find(name + ".bias");
    const Tensor& weight = parameters.at(name + ".weight");
    return bias == parameters.end() ? torch::linear(x, weight)
                                    : torch::linear(x, weight, bias->second);
  }

  bool flat() const { return shape_.knowledge == InformationLevel::counters; }

  // What was seen of the machine; some beliefs are sampled again.
  void make_seen(const Parameters& parameters, const SymphonyBatch& batch, size_t stride,
                 Judgement& made) const {
    std::vector<float> seen;
    for (const KeptDecision* decision : batch.decisions)
      append(seen, decision->considered.features.seen);
    const bool believes = shape_.knowledge == InformationLevel::belief && stride > 0;
    if (believes) {
      const Tensor& raw = parameters.at(kConstants);
      const float* data = raw.data_ptr<float>();
      const std::vector<double> constants(data, data + raw.numel());
      const auto row = static_cast<size_t>(topology_.size()) * kVertexSeen;
      for (size_t i = 0; i < batch.count(); i += stride) {
        const ScoredDecision& considered = batch.decisions[i]->considered;
        made.inferred.push_back(observer_.believe(considered.observation, constants,
                                                  considered.seed, seen.data() + i * row));
      }
    }
    made.seen =
        view_of(seen, {static_cast<int64_t>(batch.count()), topology_.size(), kVertexSeen}).clone();
    if (believes) made.seen.requires_grad_(true);
  }

  // The embeddings of devices (decisions x devices or vertices x kEmbedding), and of the whole.
  std::pair<Tensor, Tensor> look(const Parameters& parameters, const SymphonyBatch& batch,
                                 const Tensor& seen) const {
    const auto count = static_cast<int64_t>(batch.count());
    const int64_t vertices = topology_.size();
    std::vector<float> status, counters;
    for (const KeptDecision* decision : batch.decisions) {
      append(status, decision->considered.features.status);
      append(counters, decision->considered.features.counters);
    }
    const Tensor known = torch::cat({facts_.unsqueeze(0).expand({count, vertices, kVertexFacts}),
                                     view_of(status, {count, vertices, kVertexStatus}).clone()},
                                    2);
    if (flat()) {
      const int64_t devices = topology_.devices();
      const Tensor read = shape_.counters == 0
                              ? torch::zeros({count, 1})
                              : view_of(counters, {count, shape_.counters}).clone();
      const Tensor first = leak(dense(parameters, "counters.first", read));
      const Tensor second = leak(dense(parameters, "counters.second", first));
      const Tensor third = dense(parameters, "counters.third", second);
      const Tensor rows = dense(parameters, "device.row", known.narrow(1, 0, devices));
      const Tensor of_devices =
          third.narrow(1, kEmbedding, devices * kEmbedding).view({count, devices, kEmbedding});
      return {leak(of_devices + rows), leak(third.narrow(1, 0, kEmbedding))};
    }
    const Tensor rows = torch::cat({known, seen}, 2).view({count * vertices, kVertexRow});
    const Tensor numbers = torch::arange(count);
    const int64_t edges = shape_.topology ? from_.size(0) : 0;
    const auto repeated = [&](const Tensor& ends) {
      return (numbers.unsqueeze(1) * vertices + ends.narrow(0, 0, edges).unsqueeze(0)).view({-1});
    };
    const auto [embedded, whole] =
        embed(parameters, "topology.", rows, repeated(from_), repeated(to_), {},
              numbers.repeat_interleave(vertices), numbers.repeat_interleave(edges), count);
    return {embedded.view({count, vertices, kEmbedding}), whole};
  }

  // A GraphNet over several graphs at once.
  std::pair<Tensor, Tensor> embed(const Parameters& parameters, const std::string& name,
                                  const Tensor& rows, const Tensor& from, const Tensor& to,
                                  const Tensor& edge_rows, const Tensor& graph_of_vertex,
                                  const Tensor& graph_of_edge, int64_t graphs) const {
    const auto layer = [&](const char* which, const Tensor& x) {
      return dense(parameters, name + which, x);
    };
    Tensor first =
        layer("edge.from", rows).index_select(0, from) + layer("edge.to", rows).index_select(0, to);
    if (edge_rows.defined()) first = first + layer("edge.row", edge_rows);
    const Tensor message = leak(layer("edge.second", leak(first)));
    const Tensor pooled = pool(message, to, rows.size(0), shape_.means);
    const Tensor vertices = leak(
        layer("vertex.second", leak(layer("vertex.own", rows) + layer("vertex.edges", pooled))));
    const Tensor sum = pool(vertices, graph_of_vertex, graphs, shape_.means);
    const Tensor whole = leak(layer("whole.second", leak(layer("whole.first", sum))));
    const Tensor again =
        layer("again.second",
              leak(layer("again.from", vertices).index_select(0, from) +
                   layer("again.to", vertices).index_select(0, to) + layer("again.edge", message)));
    const Tensor related = pool(torch::relu(again), graph_of_edge, graphs, shape_.means);
    return {vertices, leak(layer("last.second",
                                 leak(layer("last.whole", whole) + layer("last.edges", related))))};
  }

  // The LSTM's hidden state after each decision, by decision.
  Tensor remember(const Parameters& parameters, const SymphonyBatch& batch,
                  const Tensor& input) const {
    const Tensor gates = dense(parameters, "memory.input", input);
    const auto step = [&](const Tensor& all, Tensor& hidden, Tensor& cell) {
      const auto part = all.chunk(4, 1);
      cell = torch::sigmoid(part[1]) * cell + torch::sigmoid(part[0]) * torch::tanh(part[2]);
      hidden = torch::sigmoid(part[3]) * torch::tanh(cell);
    };
    const auto passages = static_cast<int64_t>(batch.first.size());
    Tensor hidden, cell;
    if (!shape_.memory) {
      hidden = cell = torch::zeros({input.size(0), kMemory});
      step(gates, hidden, cell);
      return hidden;
    }
    hidden = view_of(batch.hidden, {passages, kMemory});
    cell = view_of(batch.cell, {passages, kMemory});
    std::vector<Tensor> steps;
    std::vector<int32_t> order;  // the decision of each row of `steps`
    for (int32_t t = 0; t < batch.length[0]; ++t) {
      std::vector<int32_t> now;  // passages are sorted: those that still go on come first
      for (size_t p = 0; p < batch.first.size() && batch.length[p] > t; ++p)
        now.push_back(batch.first[p] + t);
      const auto going = static_cast<int64_t>(now.size());
      hidden = hidden.narrow(0, 0, going);
      cell = cell.narrow(0, 0, going);
      step(gates.index_select(0, indices(now)) + dense(parameters, "memory.hidden", hidden), hidden,
           cell);
      steps.push_back(hidden);
      order.insert(order.end(), now.begin(), now.end());
    }
    std::vector<int32_t> row_of(order.size());
    for (size_t row = 0; row < order.size(); ++row)
      row_of[static_cast<size_t>(order[row])] = static_cast<int32_t>(row);
    return torch::cat(steps).index_select(0, indices(row_of));
  }

  struct Options {
    Tensor rows;      // options x kFullOptionRow
    Tensor lateness;  // options
  };

  Options look_at_options(const SymphonyBatch& batch, const Tensor& seen) const {
    const auto count = static_cast<int64_t>(batch.option_op.size());
    const Tensor own_rows = view_of(batch.option_rows, {count, kOptionRow});
    const Tensor crowd_own = view_of(batch.crowd_own, {count});
    if (count == 0) return {torch::zeros({0, kFullOptionRow}), torch::zeros({0})};
    std::vector<float> own_before, unseen;
    for (const KeptDecision* decision : batch.decisions) {
      append(own_before, decision->considered.features.own_before);
      append(unseen, decision->considered.features.unseen);
    }
    const auto total = static_cast<int64_t>(unseen.size());
    const Tensor flat_seen = seen.reshape({total, kVertexSeen});
    const bool known = shape_.topology;  // without it, the resources on the way are unknown
    const Tensor by_vertex =
        torch::relu(flat_seen.select(1, kUse) - view_of(own_before, {total}).clone()) +
        view_of(unseen, {total}).clone();
    const Padded draws = padded(batch.first_draw, batch.widest_draw);
    const Tensor none = torch::zeros({count, batch.widest_draw});
    const auto of_draws = [&](const Tensor& list) {  // no draws at all: all are absent
      return list.size(0) == 0 ? draws.places
                               : list.index_select(0, draws.places.view({-1})).view_as(none);
    };
    const auto plain = [&](const std::vector<float>& list) {
      return of_draws(view_of(list, {size_of(list)})).to(torch::kFloat32);
    };
    const Tensor vertex = of_draws(indices(batch.draw_vertex));
    const Tensor own = plain(batch.draw_own), flows = plain(batch.draw_flows);
    const Tensor at = indices(batch.option_by).unsqueeze(1) * topology_.size() +
                      vertex.masked_fill(draws.absent, 0);
    const Tensor others = by_vertex.index_select(0, at.view({-1})).view_as(none);
    const Tensor level =
        torch::max(torch::max(1 - own - others, (1 - own) / (kOtherFlows + 1)),
                   torch::max((1 - others) / (flows + 1), 1 / (flows + kOtherFlows + 1)));
    // As slower_by.
    const Tensor slower =
        (plain(batch.draw_share) / level)
            .masked_fill(known ? draws.absent : torch::ones_like(draws.absent), kNoOdds);
    const auto [most, which] = slower.max(1);
    const Tensor crowd = torch::max(most, crowd_own);
    const Tensor spread =
        flat_seen.select(1, kSpread).index_select(0, at.gather(1, which.unsqueeze(1)).squeeze(1)) *
        (most > crowd_own).to(torch::kFloat32);
    const Tensor takes = torch::log(view_of(batch.before, {count}) +
                                    view_of(batch.run, {count}) * crowd.clamp_min(1));
    int64_t widest = 1;
    for (size_t i = 0; i + 1 < batch.first_option.size(); ++i)
      widest = std::max<int64_t>(widest, batch.first_option[i + 1] - batch.first_option[i]);
    const Padded of_op = padded(batch.first_option, widest);
    const Tensor least = takes.index_select(0, of_op.places.view({-1}))
                             .view_as(of_op.places)
                             .masked_fill(of_op.absent, -kNoOdds)
                             .amin({1});
    const Tensor lateness =
        (takes - least.index_select(0, indices(batch.option_op))).clamp_max(kMostLate);
    return {torch::cat({own_rows, torch::stack({crowd_own, crowd, spread, lateness}, 1)}, 1),
            lateness};
  }

  Tensor prior(const Parameters& parameters, PriorWeight which) const {
    return parameters.at("prior").select(0, which);
  }

  Tensor execution_scores(const Parameters& parameters, const SymphonyBatch& batch,
                          const Tensor& ops, const Tensor& devices, const Tensor& hidden,
                          const Options& options) const {
    const Tensor which = indices(batch.execution);
    const auto of_option = [&](const std::vector<int32_t>& list) {
      return indices(list).index_select(0, which);
    };
    const Tensor by = of_option(batch.option_by);
    const Tensor device = by * devices.size(1) + of_option(batch.option_device);
    const Tensor rows = options.rows.index_select(0, which);
    const Tensor ready = ops.index_select(0, indices(batch.op));
    const Tensor first =
        dense(parameters, "option.op", ready).index_select(0, of_option(batch.option_op)) +
        dense(parameters, "option.device", devices.reshape({-1, kEmbedding}))
            .index_select(0, device) +
        dense(parameters, "option.memory", hidden).index_select(0, by) +
        dense(parameters, "option.row", rows);
    const Tensor second = leak(dense(parameters, "option.second", leak(first)));
    const Tensor score = dense(parameters, "option.last", second).squeeze(1);
    if (!shape_.prior) return score;
    return score + prior(parameters, kRankWeight) * rows.select(1, kRankColumn) +
           prior(parameters, kAgeWeight) * rows.select(1, kAgeColumn) -
           prior(parameters, kLateWeight) * options.lateness.index_select(0, which) -
           prior(parameters, kCrowdWeight) * torch::log(rows.select(1, kCrowdColumn).clamp_min(1));
  }

  Tensor change_scores(const Parameters& parameters, const SymphonyBatch& batch,
                       const Tensor& devices, const Tensor& hidden) const {
    const Tensor by = indices(batch.change_by);
    const Tensor rows = view_of(batch.change_rows, {by.size(0), kReconfigureRow});
    const Tensor device = by * devices.size(1) + indices(batch.change_device);
    const Tensor first = dense(parameters, "change.device",
                               devices.reshape({-1, kEmbedding}).index_select(0, device)) +
                         dense(parameters, "change.memory", hidden.index_select(0, by)) +
                         dense(parameters, "change.row", rows);
    const Tensor score = dense(parameters, "change.last", leak(first)).squeeze(1);
    if (!shape_.prior) return score;
    return score + prior(parameters, kChangeScore) +
           prior(parameters, kGainWeight) * rows.select(1, kGainColumn);
  }

  Tensor rest_scores(const Parameters& parameters, const SymphonyBatch& batch, const Tensor& hidden,
                     const Options& options, const std::vector<float>& overall) const {
    const auto count = static_cast<int64_t>(batch.count());
    const Tensor by = indices(batch.rest_by);
    // The lateness of the best execution of each decision.
    std::vector<int32_t> first(batch.count() + 1, 0);
    for (const int32_t option : batch.execution)
      ++first[static_cast<size_t>(batch.option_by[static_cast<size_t>(option)]) + 1];
    int64_t widest = 1;
    for (size_t i = 1; i < first.size(); ++i) {
      widest = std::max<int64_t>(widest, first[i]);
      first[i] += first[i - 1];
    }
    const Padded mine = padded(first, widest);
    Tensor best = torch::full({count}, kMostLate);
    if (!batch.execution.empty()) {
      best = options.lateness.index_select(0, indices(batch.execution))
                 .index_select(0, mine.places.view({-1}))
                 .view_as(mine.places)
                 .masked_fill(mine.absent, kMostLate)
                 .amin({1});
    }
    const Tensor used = view_of(overall, {count, kOverall}).select(1, 2);
    const Tensor rows = torch::stack({best, used}, 1).index_select(0, by);
    const Tensor score = dense(parameters, "rest.last",
                               leak(dense(parameters, "rest.memory", hidden.index_select(0, by)) +
                                    dense(parameters, "rest.row", rows)))
                             .squeeze(1);
    return shape_.prior ? score + prior(parameters, kRestScore) : score;
  }

  SymphonyShape shape_;
  const Topology& topology_;
  const Observer& observer_;
  Tensor facts_, from_, to_;
};

class TorchSymphonyLearner : public SymphonyLearner {
 public:
  TorchSymphonyLearner(const TensorFile& file, const SymphonyShape& shape, const Topology& topology,
                       const Observer& observer, int64_t steps, int threads)
      : module_(shape, topology, observer),
        observer_(observer),
        trained_(file, steps),
        threads_(threads) {
    use_one_thread_each();
  }

  std::optional<SymphonyStepResult> step(std::span<const Passage> passages,
                                         const SymphonyStepOptions& options) override {
    const size_t count = (passages.size() + kPassagesAtOnce - 1) / kPassagesAtOnce;
    size_t decisions = 0;
    for (const Passage& passage : passages) decisions += passage.end - passage.first;
    std::vector<Part> parts(count);
    parallel_for(static_cast<int>(count), threads_, [&](int index, int) {
      if (options.stop.now()) return;
      const size_t first = static_cast<size_t>(index) * kPassagesAtOnce;
      parts[static_cast<size_t>(index)] =
          gradient(passages.subspan(first, std::min(kPassagesAtOnce, passages.size() - first)),
                   options, 1.0 / static_cast<double>(decisions));
    });
    if (options.stop.now()) return std::nullopt;
    return descend(parts, options);
  }

  std::vector<std::pair<float, float>> judge(const Passage& passage) override {
    const torch::NoGradGuard guard;
    const SymphonyBatch batch = batch_of({&passage, 1});
    const Judgement made = module_.judge(trained_.values(), batch, /*stride=*/1);
    const Tensor chosen =
        made.log_odds.gather(1, indices(batch.chosen).unsqueeze(1)).squeeze(1).contiguous();
    const Tensor value = made.value.contiguous();
    std::vector<std::pair<float, float>> all;
    for (int64_t i = 0; i < chosen.size(0); ++i)
      all.emplace_back(chosen.data_ptr<float>()[i], value.data_ptr<float>()[i]);
    return all;
  }

  TensorFile model() const override { return trained_.model(); }
  TensorFile checkpoint() const override { return trained_.checkpoint(); }

 private:
  struct Part {
    std::vector<Tensor> gradient;  // by parameter; undefined where there is none
    SymphonyStepResult result;
  };

  // `share` is what one decision counts for.
  Part gradient(std::span<const Passage> passages, const SymphonyStepOptions& options,
                double share) const {
    const SymphonyBatch batch = batch_of(passages);
    const size_t stride = options.belief_rate > 0 ? static_cast<size_t>(options.belief_stride) : 0;
    const Judgement made = module_.judge(trained_.values(), batch, stride);
    const auto count = static_cast<int64_t>(batch.count());
    std::vector<float> advantages, worths, before;
    for (const KeptDecision* decision : batch.decisions) {
      advantages.push_back(decision->advantage);
      worths.push_back(decision->worth);
      before.push_back(decision->likelihood);
    }
    const Tensor chosen = made.log_odds.gather(1, indices(batch.chosen).unsqueeze(1)).squeeze(1);
    const Tensor advantage = view_of(advantages, {count});
    Tensor gain = advantage * chosen;
    if (options.clip_ratio > 0) {
      const Tensor ratio = (chosen - view_of(before, {count})).exp();
      gain = torch::min(advantage * ratio,
                        advantage * ratio.clamp(1 - options.clip_ratio, 1 + options.clip_ratio));
    }
    const Tensor entropy =
        -(made.log_odds.exp() * made.log_odds.masked_fill(~made.allowed, 0.0F)).sum();
    const Tensor value_loss = (made.value - view_of(worths, {count})).square().sum();
    const Tensor loss =
        share * (options.value_weight * value_loss - gain.sum() - options.entropy_weight * entropy);
    Part part;
    part.result = {.loss = loss.item<double>(),
                   .value_loss = share * value_loss.item<double>(),
                   .entropy = share * entropy.item<double>()};
    std::vector<Tensor> leaves = trained_.leaves();
    const bool believes = !made.inferred.empty();
    if (believes) leaves.push_back(made.seen);
    part.gradient = torch::autograd::grad({loss}, leaves, {}, /*retain_graph=*/false,
                                          /*create_graph=*/false, /*allow_unused=*/true);
    if (!believes) return part;
    const Tensor by_seen = part.gradient.back().contiguous();
    part.gradient.pop_back();
    part.gradient[constants_place()] = by_constants(by_seen, made.inferred, options);
    return part;
  }

  // Through the belief: slopes by what was believed become slopes by its constants.
  Tensor by_constants(const Tensor& by_seen, const std::vector<Inferred>& inferred,
                      const SymphonyStepOptions& options) const {
    const int64_t row = by_seen.numel() / by_seen.size(0);
    std::vector<double> sum;
    for (size_t i = 0; i < inferred.size(); ++i) {
      const auto some = observer_.backward(
          inferred[i],
          by_seen.data_ptr<float>() + static_cast<int64_t>(i) * options.belief_stride * row,
          options.belief_gradient);
      sum.resize(some.size(), 0.0);
      for (size_t k = 0; k < some.size(); ++k) sum[k] += options.belief_stride * some[k];
    }
    const std::vector<float> rounded(sum.begin(), sum.end());
    return view_of(rounded, {static_cast<int64_t>(rounded.size())}).clone();
  }

  size_t constants_place() const {
    size_t place = 0;
    for (const auto& [name, tensor] : trained_.values()) {
      if (name == kConstants) break;
      ++place;
    }
    return place;
  }

  SymphonyStepResult descend(const std::vector<Part>& parts, const SymphonyStepOptions& options) {
    SymphonyStepResult result;
    const size_t count = trained_.values().size();
    std::vector<Tensor> sum(count);
    for (const Part& part : parts) {
      result.loss += part.result.loss;
      result.value_loss += part.result.value_loss;
      result.entropy += part.result.entropy;
      for (size_t i = 0; i < count; ++i) {
        if (!part.gradient[i].defined()) continue;
        sum[i] = sum[i].defined() ? sum[i] + part.gradient[i] : part.gradient[i].contiguous();
      }
    }
    const size_t constants = constants_place();
    double squares = 0;
    for (size_t i = 0; i < count; ++i) {
      if (!sum[i].defined()) continue;
      const double norm = sum[i].norm().item<double>();
      if (i == constants) {
        result.belief_norm = norm;
      } else {
        squares += norm * norm;
      }
    }
    result.gradient_norm = std::sqrt(squares);
    const auto scale = [&](double norm) {
      return options.clip_norm > 0 && norm > options.clip_norm ? options.clip_norm / norm : 1.0;
    };
    std::vector<double> scales(count, scale(result.gradient_norm));
    std::vector<double> rates(count, options.learning_rate);
    if (constants < count) {
      scales[constants] = scale(result.belief_norm);
      rates[constants] = options.belief_rate;
    }
    if (std::isfinite(squares) && std::isfinite(result.loss) && std::isfinite(result.belief_norm))
      trained_.descend(sum, scales, rates, threads_);
    return result;
  }

  SymphonyModule module_;
  const Observer& observer_;
  TrainedParameters trained_;
  int threads_;
};

}  // namespace

Result<std::unique_ptr<SymphonyLearner>> make_symphony_learner(const TensorFile& file,
                                                               const std::string& path,
                                                               const Topology& topology,
                                                               const Observer& observer,
                                                               int threads) {
  const auto network = SymphonyNet::load(file, path);  // checks every tensor
  if (!network) return network.error();
  if (const Belief* belief = observer.belief(); belief != nullptr) {
    const auto constants = load_constants(belief->network(), file, path);
    if (!constants) return constants.error();
  }
  if (auto good = check_moments(file, path); !good) return good.error();
  const auto steps = file.count(kAdamSteps, path);
  if (!steps) return steps.error();
  return std::unique_ptr<SymphonyLearner>(std::make_unique<TorchSymphonyLearner>(
      file, network->shape(), topology, observer, *steps, threads));
}

}  // namespace tutti
