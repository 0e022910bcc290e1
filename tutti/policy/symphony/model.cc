#include "tutti/policy/symphony/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tutti/belief/constants_file.h"

namespace tutti {

// A decision draws few samples. With the spreads that a belief usually starts from, hardly any
// sample keeps a weight if many resources are seen to wait at once, and even what a counter tells
// directly is then known no better than from one sample.
std::vector<double> first_constants(const Network& network) {
  std::vector<double> raw = network.start();
  for (size_t k = 0; k < raw.size(); ++k) {
    const Constant& constant = network.constants()[k];
    if (constant.name.starts_with("noise.waiting.")) {
      raw[k] = raw_value(constant.range, 0.2);
    } else if (constant.name.starts_with("noise.") || constant.name == "weight.core.backend") {
      raw[k] = raw_value(constant.range, 0.02);
    }
  }
  return raw;
}

Result<std::shared_ptr<const SymphonyModel>> SymphonyModel::load(const TensorFile& file,
                                                                 const std::string& path,
                                                                 const Cluster& cluster,
                                                                 std::vector<Counter> counters) {
  // A checkpoint of tutti/train/training.h: its weights are the last, neither averaged nor the
  // best.
  if (file.metadata.contains("settings")) {
    return invalid_input(path +
                         ": this is a checkpoint; take the model.safetensors in the same folder");
  }
  auto network = SymphonyNet::load(file, path);
  if (!network) return network.error();
  const SymphonyShape& shape = network->shape();
  if (shape.knowledge == InformationLevel::counters &&
      (shape.counters != static_cast<int>(counters.size()) ||
       shape.devices != cluster.machine().size())) {
    return invalid_input(fmt::format(
        "{}: the model is for {} counters of {} devices, and here are {} of {}; train "
        "one for this machine",
        path, shape.counters, shape.devices, counters.size(), cluster.machine().size()));
  }
  std::shared_ptr<SymphonyModel> model(
      new SymphonyModel(cluster, std::move(counters), std::move(*network)));
  if (const Belief* belief = model->observer_.belief(); belief != nullptr) {
    auto constants = load_constants(belief->network(), file, path);
    if (!constants) return constants.error();
    model->constants_ = std::move(*constants);
  }
  return std::shared_ptr<const SymphonyModel>(std::move(model));
}

TensorFile SymphonyModel::fresh(SymphonyShape shape, const Cluster& cluster,
                                const std::vector<Counter>& counters, uint64_t seed) {
  if (shape.knowledge == InformationLevel::counters) {
    shape.counters = static_cast<int>(counters.size());
    shape.devices = cluster.machine().size();
  }
  TensorFile file = SymphonyNet::fresh(shape, seed);
  if (shape.knowledge == InformationLevel::belief) {
    const Belief belief(cluster.machine(), counters);
    store_constants(belief.network(), first_constants(belief.network()), file);
  }
  return file;
}

SymphonyPolicyState::SymphonyPolicyState(std::shared_ptr<const SymphonyModel> model,
                                         SymphonyOptions options)
    : model_(std::move(model)),
      options_(std::move(options)),
      network_(model_->network()),
      maker_(model_->cluster(), model_->topology()) {}

const ScoredDecision& SymphonyPolicyState::score(const WorldState& state) {
  if (state.epoch != epoch_) {
    epoch_ = state.epoch;
    std::erase_if(encodings_, [&](const auto& item) { return state.jobs[item.first] == nullptr; });
  }
  const bool looks = decisions_ % options_.batch == 0;
  own_before_.swap(now_.features.own_before);
  maker_.make(state, !network_.shape().no_op, now_.features);
  if (looks) {
    now_.observation = model_->observer().observation(state);
    now_.seed = Rng(options_.seed).split(static_cast<uint64_t>(decisions_)).next();
    model_->observer().observe(now_.observation, model_->constants(), now_.seed, options_.truth,
                               now_.features);
    network_.look(model_->topology(), now_.features, machine_);
    remember_others();
  } else {
    own_before_.swap(now_.features.own_before);  // what belongs to the last look
  }
  now_.features.unseen = unseen_;
  ++decisions_;
  jobs_.clear();
  for (const int32_t id : now_.features.jobs) {
    auto found = encodings_.find(id);
    if (found == encodings_.end()) {
      found = encodings_.emplace(id, network_.encode(maker_.rows(state.job(JobId{id})))).first;
    }
    jobs_.push_back(&found->second);
  }
  job_of_.clear();
  size_t place = 0;  // ops stand in the order of their jobs
  for (const DecisionFeatures::Op& op : now_.features.ops) {
    while (now_.features.jobs[place] != op.job) ++place;
    job_of_.push_back(static_cast<int32_t>(place));
  }
  now_.before = memory_;
  now_.value = network_.decide(now_.features, machine_, jobs_, job_of_, memory_, now_.scores);
  return now_;
}

// If a resource is full, its use less our own shows what is left to others, not what they want:
// then their earlier use counts.
void SymphonyPolicyState::remember_others() {
  constexpr float kFull = 0.9F;
  const DecisionFeatures& features = now_.features;
  const size_t vertices = features.own_before.size();
  others_.resize(vertices, 0.0F);
  unseen_.resize(vertices, 0.0F);
  for (size_t v = 0; v < vertices; ++v) {
    const float use = features.seen[v * kVertexSeen + kUse];
    const float now = std::max(0.0F, use - features.own_before[v]);
    others_[v] = use > kFull ? std::max(others_[v], now) : now;
    unseen_[v] = others_[v] - now;
  }
}

std::pair<size_t, float> SymphonyPolicyState::drawn(const std::vector<float>& scores, Rng& rng) {
  const double most = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (const float score : scores) sum += std::exp(score - most);
  double left = rng.uniform() * sum;
  size_t chosen = 0;
  while (chosen + 1 < scores.size() && left >= std::exp(scores[chosen] - most))
    left -= std::exp(scores[chosen++] - most);
  return {chosen, static_cast<float>(scores[chosen] - most - std::log(sum))};
}

}  // namespace tutti
