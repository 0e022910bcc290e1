#include "tutti/policy/doppler/residual_actor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "tutti/base/check.h"
#include "tutti/policy/doppler/followed_devices.h"
#include "tutti/policy/nn/choice.h"

namespace tutti {
namespace {

// log(e^a + e^b).
double log_sum(double a, double b) {
  if (a < b) std::swap(a, b);
  return std::isinf(a) ? a : a + std::log1p(std::exp(b - a));
}

}  // namespace

// One episode. The ready ops race: an op that becomes ready at time t arrives at t + Exp(e^score),
// and the first to arrive is next. As waiting makes no one more likely to arrive, each choice is
// a draw from the softmax over those that are ready, at the price of one push and one pop.
class ResidualActor::Run {
 public:
  Run(const ResidualActor& actor, const Acting& acting, Rng rng)
      : actor_(actor),
        acting_(acting),
        problem_(actor.problem_),
        scene_(actor.facts_, actor.net_.shape().estimate, acting.memory_share),
        rng_(rng),
        missing_(static_cast<size_t>(problem_.graph.size()), 0),
        width_(static_cast<size_t>(actor.net_.shape().width)),
        sums_(static_cast<size_t>(problem_.machine.size()) * width_, 0.0F),
        counts_(static_cast<size_t>(problem_.machine.size()), 0),
        followed_(problem_.machine.size()) {
    if (acting.place_logits != nullptr) {
      acting.place_logits->assign(missing_.size() * counts_.size(), kNoOdds);
    }
  }

  std::optional<Plan> run() {
    const Graph& graph = problem_.graph;
    start_record();
    if (overflows(actor_.encoding_.score)) return std::nullopt;
    for (const OpId op : graph.ops()) {
      missing_[op.index] += graph.made_operands(op);
      if (missing_[op.index] == 0) push(op);
    }
    while (!heap_.empty()) {
      if (acting_.stop.now()) return std::nullopt;
      const OpId op = pop();
      const std::span<const DeviceId> devices = scene_.devices_for(op);
      if (devices.empty()) return std::nullopt;
      devices_.assign(devices.begin(), devices.end());
      if (acting_.record != nullptr) record_select(op);
      const DeviceId device = place(op);
      if (overflows(logits_)) return std::nullopt;
      scene_.place(op, device);
      note(op, device);
      for (const EdgeId edge : graph.out_edges(op)) {
        const OpId reader = graph.edge_to(edge);
        if (--missing_[reader.index] == 0) push(reader);
      }
    }
    return scene_.to_plan();
  }

 private:
  struct Entry {
    double key;  // the smallest goes first
    float score;
    OpId op;
    friend bool operator<(const Entry& a, const Entry& b) {  // for a heap with the first on top
      if (a.key != b.key) return a.key > b.key;
      return a.score != b.score ? a.score < b.score : a.op > b.op;
    }
  };

  bool overflows(const std::vector<float>& logits) const {
    if (acting_.overflow == nullptr || are_numbers(logits)) return false;
    *acting_.overflow = true;
    return true;
  }

  void push(OpId op) {
    const float score = actor_.encoding_.score[static_cast<size_t>(op.index)];
    double key = -score;
    if (acting_.select_greedily) {
      heap_.push({key, score, op});
      return;
    }
    if (acting_.mode == Acting::Mode::sample) {
      key = log_sum(log_time_, std::log(-std::log1p(-rng_.uniform())) - score);
    } else if (acting_.mode == Acting::Mode::follow) {
      key = static_cast<double>(acting_.plan->priority[static_cast<size_t>(op.index)]);
    }
    heap_.push({key, score, op});
  }

  OpId pop() {
    const Entry entry = heap_.top();
    heap_.pop();
    if (acting_.mode == Acting::Mode::sample && !acting_.select_greedily) log_time_ = entry.key;
    return entry.op;
  }

  DeviceId place(OpId op) {
    const bool follows = acting_.mode == Acting::Mode::follow;
    const bool looked_at = acting_.record != nullptr || acting_.place_logits != nullptr;
    if (devices_.size() == 1 && !looked_at) return devices_[0];
    if (!follows || looked_at || acting_.rename_equals) ask(op);
    if (acting_.place_logits != nullptr) keep_logits(op);
    size_t chosen = 0;
    if (follows) {
      chosen = followed_.find(acting_.plan->placement[static_cast<size_t>(op.index)], devices_);
      if (acting_.rename_equals) chosen = followed_.first_equal(chosen, devices_, logits_);
    } else if (acting_.mode == Acting::Mode::sample) {
      chosen = draw(logits_, rng_);
    } else {
      chosen = most_likely(logits_);
    }
    if (acting_.record != nullptr) record_place(op, chosen);
    return devices_[chosen];
  }

  void keep_logits(OpId op) {
    float* row = acting_.place_logits->data() + static_cast<size_t>(op.index) * counts_.size();
    for (size_t i = 0; i < devices_.size(); ++i) row[devices_[i].index] = logits_[i];
  }

  // The logits of all devices.
  void ask(OpId op) {
    const bool one_pass = !actor_.one_pass_.empty();
    rows_.resize(devices_.size() * kDeviceFeatures);
    logits_.resize(devices_.size());
    scene_.observe(op, devices_,
                   one_pass && acting_.record == nullptr ? DraftFeatures::Columns::slack_only
                                                         : DraftFeatures::Columns::all,
                   rows_.data());
    if (one_pass) {
      const float* pass = actor_.one_pass_.data() + static_cast<size_t>(op.index) * counts_.size();
      for (size_t i = 0; i < devices_.size(); ++i) {
        logits_[i] = pass[devices_[i].index] -
                     actor_.net_.slack_weight() * rows_[i * kDeviceFeatures + kSlack];
      }
      return;
    }
    means_.resize(devices_.size() * width_);
    for (size_t i = 0; i < devices_.size(); ++i) {
      const auto d = static_cast<size_t>(devices_[i].index);
      const float share = 1.0F / static_cast<float>(std::max(1, counts_[d]));
      for (size_t k = 0; k < width_; ++k) means_[i * width_ + k] = sums_[d * width_ + k] * share;
    }
    actor_.net_.place(actor_.encoding_.place_op.data() + static_cast<size_t>(op.index) * width_,
                      rows_.data(), means_.data(), static_cast<int>(devices_.size()), workspace_,
                      logits_.data());
  }

  void note(OpId op, DeviceId device) {
    const auto d = static_cast<size_t>(device.index);
    const float* part = actor_.encoding_.place_sum.data() + static_cast<size_t>(op.index) * width_;
    for (size_t k = 0; k < width_; ++k) sums_[d * width_ + k] += part[k];
    ++counts_[d];
  }

  void start_record() {
    if (acting_.record == nullptr) return;
    *acting_.record = {};
    acting_.record->devices = problem_.machine.size();
    acting_.record->device_features = kDeviceFeatures;
    acting_.record->ready_begin.push_back(0);
  }

  void record_select(OpId op) {
    Episode& record = *acting_.record;
    right_ops_.assign(1, op);
    if (acting_.teacher != nullptr) acting_.teacher->right_ops(scene_.state(), right_ops_);
    const std::span<const OpId> ready = scene_.state().ready();
    const auto& score = actor_.encoding_.score;
    OpId favourite = ready[0];
    LogShare share;
    for (const OpId other : ready) {
      record.ready.push_back(other.index);
      const bool right = std::find(right_ops_.begin(), right_ops_.end(), other) != right_ops_.end();
      record.right_op.push_back(right ? 1 : 0);
      share.add(score[static_cast<size_t>(other.index)], right);
      const float better = score[static_cast<size_t>(other.index)];
      const float best = score[static_cast<size_t>(favourite.index)];
      if (better > best || (better == best && other < favourite)) favourite = other;
    }
    record.ready_begin.push_back(static_cast<int32_t>(record.ready.size()));
    record.op.push_back(op.index);
    record.likelihood.push_back(share.value());
    record.matched +=
        std::find(right_ops_.begin(), right_ops_.end(), favourite) != right_ops_.end();
    ++record.decisions;
  }

  void record_place(OpId op, size_t chosen) {
    Episode& record = *acting_.record;
    right_devices_.assign(1, devices_[chosen]);
    if (acting_.teacher != nullptr) {
      acting_.teacher->right_devices(scene_.state(), op, right_devices_);
    }
    const size_t cell = record.allowed.size();
    record.allowed.resize(cell + counts_.size(), 0);
    record.right_device.resize(cell + counts_.size(), 0);
    record.rows.resize((cell + counts_.size()) * kDeviceFeatures, 0.0F);
    for (size_t i = 0; i < devices_.size(); ++i) {
      const size_t at = cell + static_cast<size_t>(devices_[i].index);
      record.allowed[at] = 1;
      std::copy_n(rows_.begin() + static_cast<ptrdiff_t>(i * kDeviceFeatures), kDeviceFeatures,
                  record.rows.begin() + static_cast<ptrdiff_t>(at * kDeviceFeatures));
    }
    for (const DeviceId right : right_devices_) {
      record.right_device[cell + static_cast<size_t>(right.index)] = 1;
    }
    record.device.push_back(devices_[chosen].index);
    LogShare share;
    for (size_t i = 0; i < devices_.size(); ++i) {
      share.add(logits_[i],
                record.right_device[cell + static_cast<size_t>(devices_[i].index)] == 1);
    }
    record.likelihood.push_back(share.value());
    const size_t favourite = most_likely(logits_);
    record.matched += record.right_device[cell + static_cast<size_t>(devices_[favourite].index)];
    ++record.decisions;
  }

  const ResidualActor& actor_;
  const Acting& acting_;
  const Problem& problem_;
  DraftFeatures scene_;
  Rng rng_;
  std::priority_queue<Entry> heap_;
  double log_time_ = -std::numeric_limits<double>::infinity();
  std::vector<int32_t> missing_;
  size_t width_;
  std::vector<float> sums_;  // devices x width: of place_sum over what is there
  std::vector<int> counts_;  // by device
  std::vector<DeviceId> devices_;
  FollowedDevices followed_;
  std::vector<float> rows_, means_, logits_, workspace_;
  std::vector<OpId> right_ops_;
  std::vector<DeviceId> right_devices_;
};

ResidualActor::ResidualActor(const Problem& problem, const ResidualNet& net,
                             const ProblemFeatures& features, const DraftFacts& facts)
    : problem_(problem), net_(net), facts_(facts), encoding_(net.encode(features)) {
  if (!net.shape().one_pass) return;
  const auto devices = static_cast<size_t>(problem.machine.size());
  const auto width = static_cast<size_t>(net.shape().width);
  one_pass_.resize(static_cast<size_t>(problem.graph.size()) * devices);
  std::vector<float> rows(devices * kDeviceFeatures, 0.0F);  // slack stays 0
  std::vector<float> workspace;
  for (const OpId op : problem.graph.ops()) {
    for (const DeviceId device : problem.machine.devices()) {
      if (!problem.costs.can_run(op, device)) continue;
      facts.static_columns(
          op, device,
          rows.data() + static_cast<size_t>(device.index) * kDeviceFeatures + kFirstStaticColumn);
    }
    const auto at = static_cast<size_t>(op.index);
    net.place(encoding_.place_op.data() + at * width, rows.data(), nullptr, problem.machine.size(),
              workspace, one_pass_.data() + at * devices);
  }
}

std::optional<Plan> ResidualActor::act(const Acting& acting, Rng rng) {
  TUTTI_CHECK(acting.mode != Acting::Mode::follow || acting.plan != nullptr);
  TUTTI_CHECK(acting.mode != Acting::Mode::random_at_times);
  return Run(*this, acting, rng).run();
}

}  // namespace tutti
