#include "studies/doppler/published/actor.h"

#include <algorithm>

#include "tutti/base/check.h"
#include "tutti/base/parallel.h"
#include "tutti/policy/nn/choice.h"

namespace tutti {
namespace {

// The rows that an encoder sees before anything is placed.
std::vector<float> first_rows(const PublishedFeatures& features, const TowerShape& shape) {
  if (shape.op_columns == kPublishedOpFeatures) return features.op_rows;
  const auto columns = static_cast<size_t>(shape.op_columns);
  std::vector<float> rows(static_cast<size_t>(features.ops) * columns, 0.0F);
  for (size_t op = 0; op < static_cast<size_t>(features.ops); ++op) {
    std::copy_n(features.op_rows.data() + op * kPublishedOpFeatures, kPublishedOpFeatures,
                rows.data() + op * columns);
  }
  return rows;
}

template <class T>
bool contains(const std::vector<T>& all, T one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace

std::shared_ptr<const PublishedEncoding> PublishedEncoding::make(const PublishedNet& network,
                                                                 const PublishedFeatures& features,
                                                                 int threads) {
  auto made = std::make_shared<PublishedEncoding>();
  for (const TowerRole role : {TowerRole::select, TowerRole::place, TowerRole::joint}) {
    if (network.tower(role) != nullptr) made->towers.push_back({.tower = network.tower(role)});
  }
  parallel_for(static_cast<int>(made->towers.size()), threads, [&](int index, int) {
    Tower& part = made->towers[static_cast<size_t>(index)];
    part.matrices = part.tower->matrices(features);
    part.encoding =
        part.tower->encode(features, part.matrices, first_rows(features, part.tower->shape()));
  });
  return made;
}

// One episode.
class PublishedActor::Run {
 public:
  Run(const PublishedActor& actor, const Acting& acting, Rng rng)
      : acting_(acting),
        features_(actor.features_),
        shape_(actor.network_.shape()),
        scene_(actor.problem_, actor.features_, shape_.bookkeeping, acting.memory_share),
        select_rng_(rng.split(0)),
        place_rng_(rng.split(1)),
        device_count_(static_cast<size_t>(actor.problem_.machine.size())) {
    for (const PublishedEncoding::Tower& part : actor.encoding_->towers) {
      View& view = part.tower->shape().role == TowerRole::select ? select_ : place_;
      view = {.part = &part, .encoding = &part.encoding, .own = {}, .rows = {}};
      if (shape_.every_step) view.rows = first_rows(features_, part.tower->shape());
    }
    if (place_.part != nullptr) {
      sums_.assign(device_count_ * static_cast<size_t>(shape_.width), 0.0F);
    }
    if (acting.place_logits != nullptr) {
      const auto ops = static_cast<size_t>(actor.problem_.graph.size());
      acting.place_logits->assign(ops * device_count_, kNoOdds);
    }
  }

  std::optional<Plan> run() {
    start_record();
    const bool joint = shape_.learned == PublishedShape::Learned::joint;
    while (!scene_.state().ready().empty()) {
      if (acting_.stop.now()) return std::nullopt;
      const auto ready = scene_.state().ready();
      ready_.assign(ready.begin(), ready.end());
      std::sort(ready_.begin(), ready_.end());
      if (!(joint ? decide_at_once() : decide_in_turn())) return std::nullopt;
      commit();
    }
    return scene_.to_plan();
  }

 private:
  // A tower and what it has made of the graph: before the first step, or (own) of this step.
  struct View {
    const PublishedEncoding::Tower* part = nullptr;
    const TowerEncoding* encoding = nullptr;
    TowerEncoding own{};
    std::vector<float> rows{};
    bool learned() const { return part != nullptr; }
    const PublishedTower& tower() const { return *part->tower; }
  };

  bool decide_in_turn() {
    ask_select();
    if (overflows()) return false;
    const size_t index = choose(select_.learned(), acting_.select_randomness, select_rng_,
                                [&] { return first_of_plan(); });
    op_ = ready_[index];
    if (acting_.record != nullptr) record_select();
    const auto devices = scene_.state().devices_for(op_);
    if (devices.empty()) return false;
    devices_.assign(devices.begin(), devices.end());
    ask_place();
    if (overflows()) return false;
    for (size_t i = 0; i < devices_.size(); ++i) keep_logit(devices_[i], logits_[i]);
    const size_t chosen = choose(place_.learned(), acting_.place_randomness, place_rng_,
                                 [&] { return device_of_plan(); });
    device_ = devices_[chosen];
    if (acting_.record != nullptr) record_place();
    return true;
  }

  bool decide_at_once() {
    ask_both();
    if (pairs_.empty() || overflows()) return false;
    const size_t chosen = choose(true, acting_.select_randomness, select_rng_, [&] {
      op_ = ready_[first_of_plan()];
      const Pair wanted{op_, acting_.plan->placement[static_cast<size_t>(op_.index)]};
      for (size_t i = 0; i < pairs_.size(); ++i) {
        if (pairs_[i] == wanted) return i;
      }
      return size_t{0};
    });
    op_ = pairs_[chosen].op;
    device_ = pairs_[chosen].device;
    for (size_t i = 0; i < pairs_.size(); ++i) {
      if (pairs_[i].op == op_) keep_logit(pairs_[i].device, logits_[i]);
    }
    if (acting_.record != nullptr) record_both();
    return true;
  }

  bool overflows() const {
    if (acting_.overflow == nullptr || are_numbers(logits_)) return false;
    *acting_.overflow = true;
    return true;
  }

  void keep_logit(DeviceId device, float logit) {
    if (acting_.place_logits == nullptr) return;
    const size_t row = static_cast<size_t>(op_.index) * device_count_;
    (*acting_.place_logits)[row + static_cast<size_t>(device.index)] = logit;
  }

  // One of the logits. What is not learned is not random either, ties apart.
  template <class Follow>
  size_t choose(bool learned, double randomness, Rng& rng, const Follow& follow) {
    switch (acting_.mode) {
      case Acting::Mode::follow:
        return follow();
      case Acting::Mode::sample:
        return draw(logits_, rng);
      case Acting::Mode::random_at_times:
        if (learned && rng.uniform() < randomness) return rng.below(logits_.size());
        break;
      case Acting::Mode::greedy:
        break;
    }
    return most_likely(logits_);
  }

  size_t first_of_plan() const {
    const auto& priority = acting_.plan->priority;
    const auto first = std::min_element(ready_.begin(), ready_.end(), [&](OpId a, OpId b) {
      return priority[static_cast<size_t>(a.index)] < priority[static_cast<size_t>(b.index)];
    });
    return static_cast<size_t>(first - ready_.begin());
  }

  size_t device_of_plan() const {
    const DeviceId device = acting_.plan->placement[static_cast<size_t>(op_.index)];
    const auto found = std::find(devices_.begin(), devices_.end(), device);
    return found == devices_.end() ? 0 : static_cast<size_t>(found - devices_.begin());
  }

  void ask_select() {
    logits_.assign(ready_.size(), 0.0F);
    if (ready_.size() == 1) return;
    if (select_.learned()) {
      select_.tower().candidates(features_, *select_.encoding, ready_, workspace_, hidden_);
      select_.tower().score(hidden_, logits_);
      return;
    }
    double most = -1;
    for (const OpId op : ready_) {
      most = std::max(most, features_.b_level[static_cast<size_t>(op.index)]);
    }
    for (size_t i = 0; i < ready_.size(); ++i) {
      if (features_.b_level[static_cast<size_t>(ready_[i].index)] < most) logits_[i] = kNoOdds;
    }
  }

  void ask_place() {
    rows_.assign(devices_.size() * kPublishedDeviceFeatures, 0.0F);
    logits_.assign(devices_.size(), 0.0F);
    if (devices_.size() == 1) return;
    if (place_.learned()) {
      scene_.observe(op_, devices_, rows_.data());
      note_loads();
      hidden_.clear();
      add_pairs(place_.encoding->fixed.data() + static_cast<size_t>(op_.index) * kPublishedHead, 0);
      place_.tower().score(hidden_, logits_);
      return;
    }
    double best = 0;
    for (size_t i = 0; i < devices_.size(); ++i) {
      const double start = scene_.earliest_start(op_, devices_[i]);
      if (i == 0 || start < best) {
        best = start;
        std::fill_n(logits_.begin(), i, kNoOdds);
      } else if (start > best) {
        logits_[i] = kNoOdds;
      }
    }
  }

  void ask_both() {
    note_loads();
    place_.tower().candidates(features_, *place_.encoding, ready_, workspace_, candidates_);
    pairs_.clear();
    hidden_.clear();
    rows_.clear();
    for (size_t i = 0; i < ready_.size(); ++i) {
      const auto devices = scene_.state().devices_for(ready_[i]);
      devices_.assign(devices.begin(), devices.end());
      const size_t first = pairs_.size();
      for (const DeviceId device : devices_) pairs_.push_back({ready_[i], device});
      rows_.resize(pairs_.size() * kPublishedDeviceFeatures, 0.0F);
      scene_.observe(ready_[i], devices_, rows_.data() + first * kPublishedDeviceFeatures);
      add_pairs(candidates_.data() + i * kPublishedHead, first);
    }
    if (!pairs_.empty()) place_.tower().score(hidden_, logits_);
  }

  // Appends to hidden_ a row for each of devices_: what the op, the device's load and the device's
  // row add, the rows being those from `first` on.
  void add_pairs(const float* of_op, size_t first) {
    for (const DeviceId device : devices_) {
      const float* load = loads_.data() + static_cast<size_t>(device.index) * kPublishedHead;
      for (size_t k = 0; k < kPublishedHead; ++k) hidden_.push_back(of_op[k] + load[k]);
    }
    place_.tower().add_devices(rows_.data() + first * kPublishedDeviceFeatures,
                               static_cast<int>(devices_.size()), workspace_,
                               hidden_.data() + first * kPublishedHead);
  }

  void note_loads() {
    loads_.assign(device_count_ * kPublishedHead, 0.0F);
    place_.tower().add_loads(sums_, workspace_, loads_.data());
  }

  void commit() {
    scene_.place(op_, device_);
    placed_.push_back({op_, device_});
    const auto start = static_cast<float>(scene_.start(op_) / features_.longest);
    if (shape_.every_step) {
      if (acting_.record != nullptr) acting_.record->start.push_back(start);
      if (!scene_.state().ready().empty()) {
        for (View* view : {&select_, &place_}) encode_anew(*view, start);
      }
    }
    if (!place_.learned()) return;
    if (shape_.every_step) std::fill(sums_.begin(), sums_.end(), 0.0F);
    const size_t first = shape_.every_step ? 0 : placed_.size() - 1;
    const auto width = static_cast<size_t>(shape_.width);
    for (size_t i = first; i < placed_.size(); ++i) {
      const float* state =
          place_.encoding->state.data() + static_cast<size_t>(placed_[i].op.index) * width;
      float* sum = sums_.data() + static_cast<size_t>(placed_[i].device.index) * width;
      for (size_t k = 0; k < width; ++k) sum[k] += state[k];
    }
  }

  void encode_anew(View& view, float start) {
    if (!view.learned()) return;
    const auto columns = static_cast<size_t>(view.tower().shape().op_columns);
    float* row = view.rows.data() + static_cast<size_t>(op_.index) * columns;
    row[kPublishedOpFeatures] = 1;
    row[kPublishedOpFeatures + 1] = start;
    view.own = view.tower().encode(features_, view.part->matrices, view.rows);
    view.encoding = &view.own;
  }

  void start_record() {
    if (acting_.record == nullptr) return;
    *acting_.record = {};
    acting_.record->devices = static_cast<int>(device_count_);
    acting_.record->device_features = kPublishedDeviceFeatures;
    acting_.record->ready_begin.push_back(0);
  }

  void find_right_ops() {
    right_ops_.assign(1, op_);
    if (acting_.teacher != nullptr) acting_.teacher->right_ops(scene_.state(), right_ops_);
  }

  void record_ready() {
    Episode& record = *acting_.record;
    for (const OpId op : ready_) {
      record.ready.push_back(op.index);
      record.right_op.push_back(contains(right_ops_, op) ? 1 : 0);
    }
    record.ready_begin.push_back(static_cast<int32_t>(record.ready.size()));
    record.op.push_back(op_.index);
  }

  void record_select() {
    find_right_ops();
    record_ready();
    LogShare share;
    for (size_t i = 0; i < ready_.size(); ++i) {
      share.add(logits_[i], contains(right_ops_, ready_[i]));
    }
    finish_record(select_.learned(), share, contains(right_ops_, ready_[most_likely(logits_)]));
  }

  void record_place() {
    find_right_devices(op_);
    record_devices(0);
    acting_.record->device.push_back(device_.index);
    LogShare share;
    for (size_t i = 0; i < devices_.size(); ++i) {
      share.add(logits_[i], contains(right_devices_, devices_[i]));
    }
    finish_record(place_.learned(), share,
                  contains(right_devices_, devices_[most_likely(logits_)]));
  }

  void record_both() {
    find_right_ops();
    const auto can_go_nowhere = [&](OpId op) {  // memory is short
      return std::none_of(pairs_.begin(), pairs_.end(),
                          [&](const Pair& pair) { return pair.op == op; });
    };
    std::erase_if(right_ops_, can_go_nowhere);
    if (right_ops_.empty()) right_ops_.assign(1, op_);
    record_ready();
    const size_t likely = most_likely(logits_);
    bool matched = false;
    LogShare share;
    size_t first = 0;
    for (const OpId op : ready_) {
      devices_.clear();
      for (size_t i = first; i < pairs_.size() && pairs_[i].op == op; ++i) {
        devices_.push_back(pairs_[i].device);
      }
      right_devices_.clear();
      if (contains(right_ops_, op)) find_right_devices(op);
      record_devices(first);
      for (size_t i = 0; i < devices_.size(); ++i) {
        const bool right = contains(right_devices_, devices_[i]);
        share.add(logits_[first + i], right);
        if (first + i == likely) matched = right;
      }
      first += devices_.size();
    }
    acting_.record->device.push_back(device_.index);
    finish_record(true, share, matched);
    acting_.record->likelihood.push_back(0);  // there is no second decision
  }

  void find_right_devices(OpId op) {
    right_devices_.assign(1, device_);
    if (acting_.teacher != nullptr) {
      acting_.teacher->right_devices(scene_.state(), op, right_devices_);
    }
  }

  // One row of all devices, those of devices_ being allowed, with rows_ from `first` on.
  void record_devices(size_t first) {
    Episode& record = *acting_.record;
    const size_t cell = record.allowed.size();
    record.allowed.resize(cell + device_count_, 0);
    record.right_device.resize(cell + device_count_, 0);
    record.rows.resize((cell + device_count_) * kPublishedDeviceFeatures, 0.0F);
    for (size_t i = 0; i < devices_.size(); ++i) {
      const size_t at = cell + static_cast<size_t>(devices_[i].index);
      record.allowed[at] = 1;
      record.right_device[at] = contains(right_devices_, devices_[i]) ? 1 : 0;
      std::copy_n(rows_.data() + (first + i) * kPublishedDeviceFeatures, kPublishedDeviceFeatures,
                  record.rows.data() + at * kPublishedDeviceFeatures);
    }
  }

  void finish_record(bool learned, const LogShare& share, bool matched) {
    Episode& record = *acting_.record;
    record.likelihood.push_back(learned ? share.value() : 0.0F);
    if (!learned) return;
    record.matched += matched ? 1 : 0;
    ++record.decisions;
  }

  struct Pair {
    OpId op;
    DeviceId device;
    friend bool operator==(const Pair&, const Pair&) = default;
  };

  const Acting& acting_;
  const PublishedFeatures& features_;
  const PublishedShape& shape_;
  PublishedScene scene_;
  Rng select_rng_;
  Rng place_rng_;
  size_t device_count_;
  View select_;
  View place_;               // also the joint one
  std::vector<float> sums_;  // devices x width: of the embeddings of what is there
  std::vector<Pair> placed_;
  // Of the step.
  OpId op_{};
  DeviceId device_{};
  std::vector<OpId> ready_;  // by id
  std::vector<DeviceId> devices_;
  std::vector<Pair> pairs_;
  std::vector<float> rows_, hidden_, candidates_, loads_, logits_, workspace_;
  std::vector<OpId> right_ops_;
  std::vector<DeviceId> right_devices_;
};

PublishedActor::PublishedActor(const Problem& problem, const PublishedNet& network,
                               const PublishedFeatures& features,
                               std::shared_ptr<const PublishedEncoding> encoding)
    : problem_(problem),
      network_(network),
      features_(features),
      encoding_(encoding != nullptr ? std::move(encoding)
                                    : PublishedEncoding::make(network, features, 1)) {}

std::optional<Plan> PublishedActor::act(const Acting& acting, Rng rng) {
  TUTTI_CHECK(acting.mode != Acting::Mode::follow || acting.plan != nullptr);
  return Run(*this, acting, rng).run();
}

}  // namespace tutti
