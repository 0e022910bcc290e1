#include "tutti/train/symphony/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tutti/base/check.h"
#include "tutti/base/parallel.h"
#include "tutti/train/checkpoint.h"

namespace tutti {
namespace {

constexpr std::string_view kAverage = "average.";
// Of the scenarios for checks, which are never trained on.
constexpr uint64_t kNeverTrainedOn = 0x7e57;
constexpr double kNotJudged = 1e300;

// What comes after each decision, less the more the later.
std::vector<double> returns_of(const SymphonyEpisode& episode, double horizon_ns) {
  std::vector<double> returns(episode.decisions.size() + 1, 0.0);
  for (size_t i = episode.decisions.size(); i-- > 0;) {
    const bool last = i + 1 == episode.decisions.size();
    const double gap = last ? 0 : episode.decisions[i + 1].time_ns - episode.decisions[i].time_ns;
    returns[i] = episode.decisions[i].reward + std::exp(-gap / horizon_ns) * returns[i + 1];
  }
  return returns;
}

// The returns of an episode at any time: straight lines between its decisions.
double return_at(const SymphonyEpisode& episode, const std::vector<double>& returns, double time) {
  const auto& all = episode.decisions;
  const auto next =
      std::upper_bound(all.begin(), all.end(), time,
                       [](double t, const KeptDecision& decision) { return t < decision.time_ns; });
  const auto place = static_cast<size_t>(next - all.begin());
  if (place == 0) return returns[0];
  if (place == all.size()) return time > all.back().time_ns ? 0 : returns[place - 1];
  const double begin = all[place - 1].time_ns;
  const double part = (time - begin) / std::max(1.0, all[place].time_ns - begin);
  return (1 - part) * returns[place - 1] + part * returns[place];
}

void appraise_paired(const SymphonySettings& settings, double critical_path_ns,
                     std::vector<Played>& played) {
  const double horizon_ns = settings.horizon * critical_path_ns;
  const auto rollouts = static_cast<size_t>(settings.rollouts);
  for (size_t first = 0; first < played.size(); first += rollouts) {
    std::vector<std::vector<double>> returns;
    for (size_t r = 0; r < rollouts; ++r)
      returns.push_back(returns_of(played[first + r].episode, horizon_ns));
    for (size_t r = 0; r < rollouts; ++r) {
      auto& decisions = played[first + r].episode.decisions;
      for (size_t i = 0; i < decisions.size(); ++i) {
        double others = 0;
        for (size_t o = 0; o < rollouts; ++o) {
          if (o != r)
            others += return_at(played[first + o].episode, returns[o], decisions[i].time_ns);
        }
        others /= static_cast<double>(std::max<size_t>(1, rollouts - 1));
        decisions[i].advantage = static_cast<float>(returns[r][i] - others);
        decisions[i].worth = static_cast<float>(settings.value_scale * returns[r][i]);
      }
    }
  }
}

void appraise_by_critic(const SymphonySettings& settings, std::vector<Played>& played) {
  for (Played& one : played) {
    double worth = one.last_value;
    for (size_t i = one.episode.decisions.size(); i-- > 0;) {
      KeptDecision& decision = one.episode.decisions[i];
      worth = settings.value_scale * decision.reward + settings.play.discount * worth;
      decision.worth = static_cast<float>(worth);
      decision.advantage = decision.worth - decision.considered.value;
    }
  }
}

double mean_critical_path_ns(const JobList& jobs) {
  double sum = 0;
  for (const auto& job : jobs) sum += static_cast<double>(job->critical_path().count());
  return sum / static_cast<double>(jobs.size());
}

class ClusterTrainer final : public SymphonyTrainer {
 public:
  ClusterTrainer(const SymphonySettings& settings, const SymphonyWorld& world, int64_t updates,
                 int64_t episodes)
      : settings_(settings), world_(world), updates_(updates), episodes_(episodes) {}

  Result<void> begin(const TensorFile& start, const std::string& path) {
    auto model = SymphonyModel::load(start, path, *world_.cluster, world_.options.counters);
    if (!model) return model.error();
    first_ = std::move(*model);
    auto learner = make_symphony_learner(without_own(start), path, first_->topology(),
                                         first_->observer(), settings_.threads);
    if (!learner) return learner.error();
    learner_ = std::move(*learner);
    const TensorFile rule = SymphonyModel::fresh({.knowledge = InformationLevel::nothing},
                                                 *world_.cluster, world_.options.counters, 1);
    auto loaded = SymphonyModel::load(rule, "the rule", *world_.cluster, world_.options.counters);
    if (!loaded) return loaded.error();
    rule_ = std::move(*loaded);
    return restore(start, path);
  }

  bool done() const override { return episodes_ >= settings_.episodes; }
  int64_t updates() const override { return updates_; }
  int64_t episodes() const override { return episodes_; }
  int64_t total_episodes() const override { return settings_.episodes; }
  std::optional<double> best_ratio() const override {
    return best_ratio_ == kNotJudged ? std::nullopt : std::optional(best_ratio_);
  }

  Result<std::optional<SymphonyReport>> update(const Stop& stop) override {
    TUTTI_CHECK(!done());
    std::vector<Played> played = play_all(stop);
    if (stop.now()) return std::optional<SymphonyReport>();
    appraise(settings_, mean_critical_path_ns(world_.jobs), played);
    SymphonyReport report = summary(played);
    const TensorFile before = learner_->checkpoint();
    const auto step = learn(played, stop);
    if (step && !(std::isfinite(step->loss) && std::isfinite(step->gradient_norm) &&
                  std::isfinite(step->belief_norm) && is_finite(learner_->model()))) {
      put_back(before);
      return failed(
          fmt::format("update {} came to no number (loss {}, gradient norm {}); try a lower rate",
                      report.update, step->loss, step->gradient_norm));
    }
    const bool due =
        report.update % settings_.check_every == 0 || report.episodes >= settings_.episodes;
    const TensorFile averaged = averaged_with(learner_->model(), report.update);
    if (step && due) report.ratio = check(averaged, stop);
    if (!step || stop.now()) {
      put_back(before);
      return std::optional<SymphonyReport>();
    }
    report.step = *step;
    updates_ = report.update;
    episodes_ = report.episodes;
    if (report.ratio && *report.ratio < best_ratio_) {
      best_ratio_ = *report.ratio;
      best_ = averaged;
    }
    average_ = averaged;
    return std::optional(report);
  }

  TensorFile model() const override {
    if (best_ratio_ != kNotJudged) return best_;
    return updates_ > 0 ? average_ : learner_->model();
  }

  TensorFile checkpoint() const override {
    TensorFile file = learner_->checkpoint();
    file.metadata[kUpdates] = std::to_string(updates_);
    file.metadata[kEpisodes] = std::to_string(episodes_);
    if (updates_ > 0) add_model(kAverage, average_, file);
    if (best_ratio_ == kNotJudged) return file;
    file.metadata[kBestRatio] = exactly(best_ratio_);
    add_model(kBestModel, best_, file);
    return file;
  }

 private:
  // A checkpoint as the learner knows it.
  static TensorFile without_own(TensorFile file) {
    for (const char* key : {kUpdates, kEpisodes, kBestRatio}) file.metadata.erase(key);
    std::erase_if(file.tensors, [](const auto& entry) {
      return entry.first.starts_with(kBestModel) || entry.first.starts_with(kAverage);
    });
    return file;
  }

  Result<void> restore(const TensorFile& file, const std::string& path) {
    if (updates_ > 0) {
      auto average = model_under(kAverage, learner_->model(), file, path);
      if (!average) return average.error();
      average_ = std::move(*average);
    }
    if (!file.metadata.contains(kBestRatio)) return {};
    const auto ratio = figure_in(file, kBestRatio, kNotJudged, path);
    if (!ratio) return ratio.error();
    auto best = model_under(kBestModel, learner_->model(), file, path);
    if (!best) return best.error();
    best_ratio_ = *ratio;
    best_ = std::move(*best);
    return {};
  }

  // The average with what this update has come to: of the first few updates the plain mean.
  TensorFile averaged_with(TensorFile model, int64_t update) const {
    const auto among = std::min<int64_t>(update, settings_.averaged_over);
    if (among <= 1) return model;
    const auto share = 1.0F / static_cast<float>(among);
    for (auto& [name, tensor] : model.tensors) {
      const std::vector<float>& before = average_.tensors.at(name).data;
      for (size_t i = 0; i < before.size(); ++i)
        tensor.data[i] = before[i] + share * (tensor.data[i] - before[i]);
    }
    return model;
  }

  void put_back(const TensorFile& before) {
    auto learner = make_symphony_learner(before, "the network", first_->topology(),
                                         first_->observer(), settings_.threads);
    TUTTI_CHECK(learner.has_value());  // it was a learner's
    learner_ = std::move(*learner);
  }

  std::shared_ptr<const SymphonyModel> loaded(const TensorFile& file) const {
    auto model = SymphonyModel::load(file, "the network", *world_.cluster, world_.options.counters);
    TUTTI_CHECK(model.has_value());  // it was loaded when the learner was made
    return std::move(*model);
  }

  double share() const {
    return static_cast<double>(episodes_) /
           static_cast<double>(std::max<int64_t>(1, settings_.episodes));
  }

  std::vector<Played> play_all(const Stop& stop) const {
    const auto model = loaded(learner_->model());
    const Rng rng = Rng(settings_.seed).split(static_cast<uint64_t>(updates_));
    const int each = settings_.rollouts;
    std::vector<JobScenario> scenarios;
    for (int s = 0; s < settings_.scenarios; ++s) {
      Rng draw = rng.split(static_cast<uint64_t>(s));
      const double load = world_.loads[draw.below(world_.loads.size())];
      const bool unknown = world_.unknown_load.share > 0 && draw.uniform() < 0.5;
      scenarios.push_back(draw_scenario(world_, world_.jobs, load, unknown, draw.next() >> 1));
    }
    std::vector<Played> played(static_cast<size_t>(settings_.scenarios * each));
    parallel_for(static_cast<int>(played.size()), settings_.threads, [&](int index, int) {
      const auto at = static_cast<size_t>(index);
      const uint64_t seed = rng.split(1000 + at).next() >> 1;
      played[at] =
          play(model, scenarios[at / static_cast<size_t>(each)], settings_.play, seed, stop);
    });
    return played;
  }

  SymphonyReport summary(const std::vector<Played>& played) const {
    SymphonyReport report{.update = updates_ + 1,
                          .episodes = episodes_ + static_cast<int64_t>(played.size())};
    for (const Played& one : played) {
      report.decisions += static_cast<int64_t>(one.episode.decisions.size());
      report.slowdown += one.slowdown / static_cast<double>(played.size());
      report.rest_share += static_cast<double>(one.rests);
    }
    report.rest_share /= static_cast<double>(std::max<int64_t>(1, report.decisions));
    return report;
  }

  std::optional<SymphonyStepResult> learn(const std::vector<Played>& played, const Stop& stop) {
    std::vector<Passage> passages;
    for (const Played& one : played) {
      const size_t count = one.episode.decisions.size();
      const auto length = static_cast<size_t>(settings_.passage);
      for (size_t first = 0; first < count; first += length)
        passages.push_back({&one.episode, first, std::min(count, first + length)});
    }
    SymphonyStepOptions options{.learning_rate = settings_.learning_rate.at(share()),
                                .belief_rate = settings_.belief_rate,
                                .belief_gradient = settings_.belief_gradient,
                                .belief_stride = settings_.belief_stride,
                                .entropy_weight = settings_.entropy_weight.at(share()),
                                .value_weight = settings_.value_weight,
                                .clip_norm = settings_.clip_norm,
                                .clip_ratio = settings_.clip_ratio,
                                .stop = stop};
    std::optional<SymphonyStepResult> result;
    // Parts hold every so-manyth passage, so that each has some of every episode.
    const auto parts = static_cast<size_t>(settings_.minibatches);
    for (size_t i = 0; i < parts * static_cast<size_t>(settings_.repeats); ++i) {
      std::vector<Passage> part;
      for (size_t p = i % parts; p < passages.size(); p += parts) part.push_back(passages[p]);
      if (part.empty()) continue;
      result = learner_->step(part, options);
      if (!result) break;
    }
    return result;
  }

  // A net's best actions on scenarios that are always the same.
  std::optional<double> check(const TensorFile& network, const Stop& stop) {
    if (checks_.empty()) {
      for (const double load : world_.loads) {
        for (const bool unknown : {false, true}) {
          if (unknown && world_.unknown_load.share <= 0) continue;
          for (int i = 0; i < settings_.checks; ++i) {
            const Rng rng = Rng(kNeverTrainedOn).split(checks_.size());
            checks_.push_back(
                {draw_scenario(world_, world_.check_jobs, load, unknown, Rng(rng).next() >> 1),
                 0.0});
          }
        }
      }
      parallel_for(static_cast<int>(checks_.size()), settings_.threads, [&](int index, int) {
        Check& one = checks_[static_cast<size_t>(index)];
        one.rule = judged_slowdown(rule_, one.scenario, stop);
      });
      if (stop.now()) {
        checks_.clear();
        return std::nullopt;
      }
    }
    const auto model = loaded(network);
    std::vector<double> ratios(checks_.size(), 0.0);
    parallel_for(static_cast<int>(checks_.size()), settings_.threads, [&](int index, int) {
      const Check& one = checks_[static_cast<size_t>(index)];
      ratios[static_cast<size_t>(index)] =
          std::log(std::max(1e-9, judged_slowdown(model, one.scenario, stop)) / one.rule);
    });
    double sum = 0;
    for (const double ratio : ratios) sum += ratio;
    return std::exp(sum / static_cast<double>(ratios.size()));
  }

  struct Check {
    JobScenario scenario;
    double rule = 0;  // the rule's slow-down
  };

  SymphonySettings settings_;
  const SymphonyWorld& world_;
  std::shared_ptr<const SymphonyModel> first_;  // for its topology and observer
  std::shared_ptr<const SymphonyModel> rule_;
  std::unique_ptr<SymphonyLearner> learner_;
  int64_t updates_;
  int64_t episodes_;
  std::vector<Check> checks_;
  TensorFile average_;  // of what the updates have come to; empty before the first
  double best_ratio_ = kNotJudged;
  TensorFile best_;
};

}  // namespace

void appraise(const SymphonySettings& settings, double critical_path_ns,
              std::vector<Played>& played) {
  if (settings.advantage == SymphonySettings::Advantage::critic) {
    appraise_by_critic(settings, played);
    return;
  }
  appraise_paired(settings, critical_path_ns, played);
  double squares = 0;
  int64_t count = 0;
  for (const Played& one : played) {
    for (const KeptDecision& decision : one.episode.decisions) {
      squares += static_cast<double>(decision.advantage) * decision.advantage;
      ++count;
    }
  }
  const double scale = 1 / std::sqrt(std::max(1e-12, squares / static_cast<double>(count)));
  for (Played& one : played) {
    for (KeptDecision& decision : one.episode.decisions)
      decision.advantage = static_cast<float>(scale * decision.advantage);
  }
}

Result<std::unique_ptr<SymphonyTrainer>> SymphonyTrainer::make(const TensorFile& start,
                                                               const std::string& path,
                                                               const SymphonySettings& settings,
                                                               const SymphonyWorld& world) {
  TUTTI_CHECK(!world.jobs.empty() && !world.check_jobs.empty() && !world.loads.empty());
  const auto updates = start.count(kUpdates, path);
  if (!updates) return updates.error();
  const auto episodes = start.count(kEpisodes, path);
  if (!episodes) return episodes.error();
  if (*episodes != *updates * settings.scenarios * settings.rollouts) {
    return invalid_input(
        fmt::format("{}: {} updates cannot have come to {} episodes; the checkpoint is spoilt, "
                    "begin in another folder",
                    path, *updates, *episodes));
  }
  auto trainer = std::make_unique<ClusterTrainer>(settings, world, *updates, *episodes);
  if (auto good = trainer->begin(start, path); !good) return good.error();
  return std::unique_ptr<SymphonyTrainer>(std::move(trainer));
}

}  // namespace tutti
