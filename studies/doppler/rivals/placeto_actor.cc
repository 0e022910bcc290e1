#include "studies/doppler/rivals/placeto_actor.h"

#include <cmath>

#include "studies/doppler/rivals/ordered_actor.h"

namespace tutti {
namespace {

constexpr Hearing kWays[] = {Hearing::producers, Hearing::readers};

Hearing opposite(Hearing way) {
  return way == Hearing::producers ? Hearing::readers : Hearing::producers;
}

// A set of ops, by when they were added.
class OpSet {
 public:
  explicit OpSet(size_t ops) : has_(ops, 0) {}
  void add(size_t op) {
    if (has_[op] != 0) return;
    has_[op] = 1;
    list_.push_back(op);
  }
  void clear() {
    for (const size_t op : list_) has_[op] = 0;
    list_.clear();
  }
  const std::vector<size_t>& list() const { return list_; }

 private:
  std::vector<uint8_t> has_;
  std::vector<size_t> list_;
};

// Every buffer holds, for each op, a row for each device.
class PlacetoView : public PlaceScorer {
 public:
  PlacetoView(const PlacetoNet& network, const RivalFeatures& features)
      : network_(network),
        features_(features),
        graph_(features.graph),
        ops_(static_cast<size_t>(features.graph.ops)),
        devices_(static_cast<size_t>(features.devices)),
        width_(static_cast<size_t>(network.shape().width)),
        rounds_(static_cast<size_t>(network.shape().rounds)),
        turn_(ops_, Turn::to_come),
        place_(ops_, -1),
        changed_(ops_),
        reached_(ops_),
        stale_(ops_) {
    for (size_t op = 0; op < ops_; ++op) changed_.add(op);
    const size_t cells = ops_ * devices_ * width_;
    embedded_.resize(cells);
    for (auto& of_way : state_) of_way.assign(rounds_, std::vector<float>(cells));
    for (auto& of_way : sent_) of_way.assign(rounds_, std::vector<float>(cells));
    both_.resize(2 * cells);
    sent_to_all_.resize(2 * cells);
  }

  void score(OpId op, std::vector<float>& logits) override {
    const auto at = static_cast<size_t>(op.index);
    turn_[at] = Turn::now;
    changed_.add(at);
    pass_messages();
    sum_over_kin(at);
    network_.score(both_.data() + at * devices_ * 2 * width_, sums_, static_cast<int>(devices_),
                   workspace_, logits);
  }

  void place(OpId op, DeviceId device) override {
    const auto at = static_cast<size_t>(op.index);
    turn_[at] = Turn::over;
    place_[at] = device.index;
    changed_.add(at);
  }

 private:
  // After `round` rounds.
  std::vector<float>& state(Hearing way, size_t round) {
    return round == 0 ? embedded_ : state_[static_cast<size_t>(way)][round - 1];
  }
  int rows() const { return static_cast<int>(devices_); }

  void pass_messages() {
    for (const size_t op : changed_.list()) embed(op);
    stale_.clear();
    for (const Hearing way : kWays) {
      reached_.clear();
      for (const size_t op : changed_.list()) reached_.add(op);
      for (size_t round = 0; round < rounds_; ++round) pass_round(way, round);
      for (const size_t op : reached_.list()) stale_.add(op);
    }
    for (const size_t op : stale_.list()) join(op);
    changed_.clear();
  }

  void embed(size_t op) {
    rows_.resize(devices_ * kPlacetoColumns);
    for (size_t d = 0; d < devices_; ++d) {
      placeto_row(features_, op, d, turn_[op], place_[op] == static_cast<int32_t>(d),
                  rows_.data() + d * kPlacetoColumns);
    }
    network_.embed(rows_.data(), rows(), embedded_.data() + op * devices_ * width_);
  }

  // What is reached grows by its neighbours.
  void pass_round(Hearing way, size_t round) {
    const size_t row = devices_ * width_;
    std::vector<float>& sent = sent_[static_cast<size_t>(way)][round];
    const size_t count = reached_.list().size();
    for (size_t i = 0; i < count; ++i) {
      const size_t op = reached_.list()[i];
      network_.send(way, state(way, round).data() + op * row, rows(), sent.data() + op * row);
      for (const int32_t hearer : heard_by(graph_, opposite(way), op)) {
        reached_.add(static_cast<size_t>(hearer));
      }
    }
    for (const size_t op : reached_.list()) {
      const auto heard = heard_by(graph_, way, op);
      heard_.assign(row, 0.0F);
      for (const int32_t from : heard) {
        const float* message = sent.data() + static_cast<size_t>(from) * row;
        for (size_t k = 0; k < row; ++k) heard_[k] += message[k];
      }
      const float scale = heard.empty() ? 0.0F : 1.0F / std::sqrt(static_cast<float>(heard.size()));
      for (float& value : heard_) value *= scale;
      network_.hear(way, heard_.data(), state(way, round).data() + op * row, rows(), workspace_,
                    state(way, round + 1).data() + op * row);
    }
  }

  void join(size_t op) {
    for (size_t d = 0; d < devices_; ++d) {
      const size_t at = op * devices_ + d;
      for (size_t i = 0; i < 2; ++i) {
        const float* from = state(kWays[i], rounds_).data() + at * width_;
        std::copy_n(from, width_, both_.data() + (2 * at + i) * width_);
      }
    }
    const size_t first = op * devices_ * 2 * width_;
    network_.send_to_all(both_.data() + first, rows(), sent_to_all_.data() + first);
  }

  void sum_over_kin(size_t op) {
    find_kin(graph_, op, kin_);
    const size_t row = devices_ * 2 * width_;
    for (auto& sum : sums_) sum.assign(row, 0.0F);
    for (size_t other = 0; other < ops_; ++other) {
      if (kin_[other] == Kin::itself) continue;
      std::vector<float>& sum = sums_[static_cast<size_t>(kin_[other])];
      const float* from = sent_to_all_.data() + other * row;
      for (size_t k = 0; k < row; ++k) sum[k] += from[k];
    }
    const float scale = 1.0F / std::sqrt(static_cast<float>(ops_));
    for (auto& sum : sums_) {
      for (float& value : sum) value *= scale;
    }
  }

  const PlacetoNet& network_;
  const RivalFeatures& features_;
  const PublishedFeatures& graph_;
  size_t ops_;
  size_t devices_;
  size_t width_;
  size_t rounds_;
  std::vector<Turn> turn_;      // by op
  std::vector<int32_t> place_;  // by op: its device, or -1
  std::vector<float> embedded_;
  std::array<std::vector<std::vector<float>>, 2> state_;  // by way and round
  std::array<std::vector<std::vector<float>>, 2> sent_;
  std::vector<float> both_;         // the last states, both ways side by side
  std::vector<float> sent_to_all_;  // and what is made of them for the sums
  OpSet changed_;                   // since messages passed last
  OpSet reached_;                   // whose state may differ by that
  OpSet stale_;                     // either way
  std::array<std::vector<float>, kKinSets> sums_;
  std::vector<Kin> kin_;
  std::vector<float> rows_, heard_, workspace_;
};

}  // namespace

std::optional<Plan> PlacetoActor::act(const Acting& acting, Rng rng) {
  PlacetoView view(network_, features_);
  return act_in_order(problem_, features_.order, acting, rng, view);
}

}  // namespace tutti
