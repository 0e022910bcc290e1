#include "tutti/train/doppler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tutti/base/check.h"
#include "tutti/base/parallel.h"
#include "tutti/policy/doppler/planner.h"
#include "tutti/policy/heuristic/contention_eft.h"
#include "tutti/search/annealing.h"

namespace tutti {
namespace {

constexpr const char* kUpdates = "updates";
constexpr const char* kEpisodes = "episodes";
// Scenarios of training; plans are judged on others.
constexpr uint64_t kScenarioSeeds = uint64_t{1} << 50;

// One problem in one update.
struct Exercise {
  const World* world = nullptr;
  std::unique_ptr<World> drawn{};
  SearchModel judging{};
  double reference = kNoPlan;  // what the heuristic that training starts from costs
  std::vector<Episode> episodes{};
  std::vector<Plan> plans{};
  std::vector<double> costs{};
  Candidate label{};
  Episode label_episode{};
};

double blend(const double (&ends)[2], double share) {
  return ends[0] + (ends[1] - ends[0]) * share;
}

// The best of a problem's plans after a short search.
Candidate improved(const Problem& problem, const SearchModel& judging, Candidate start,
                   int64_t evaluations, Rng rng) {
  if (evaluations <= 0 || start.cost == kNoPlan) return start;
  Evaluator evaluator(problem, judging);
  Annealing annealing(problem, evaluator.judge().depends_on_priority(), {.hottest = 0.005});
  Walk walk;
  walk.start_from(start.plan, start.cost);
  annealing.improve(walk, evaluator, {.evaluations = evaluations}, Progress({}), rng);
  return {std::move(walk.best), walk.best_cost};
}

// A plan in a checkpoint: devices, and the place of each op in the order of priorities.
void keep_plan(const std::string& name, const Plan& plan, TensorFile& file) {
  const auto ops = static_cast<int64_t>(plan.placement.size());
  Tensor devices{.shape = {ops}, .data = {}};
  for (const DeviceId device : plan.placement) {
    devices.data.push_back(static_cast<float>(device.index));
  }
  std::vector<size_t> order(plan.placement.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return plan.priority[a] < plan.priority[b]; });
  Tensor ranks{.shape = {ops}, .data = std::vector<float>(order.size())};
  for (size_t i = 0; i < order.size(); ++i) ranks.data[order[i]] = static_cast<float>(i);
  file.tensors[name + ".device"] = std::move(devices);
  file.tensors[name + ".rank"] = std::move(ranks);
}

Result<Plan> kept_plan(const std::string& name, const Problem& problem, const TensorFile& file,
                       const std::string& path) {
  const int64_t ops = problem.graph.size();
  const auto devices = file.find(name + ".device", {ops}, path);
  if (!devices) return devices.error();
  const auto ranks = file.find(name + ".rank", {ops}, path);
  if (!ranks) return ranks.error();
  Plan plan;
  for (const OpId op : problem.graph.ops()) {
    const float device = (*devices)->data[static_cast<size_t>(op.index)];
    const float rank = (*ranks)->data[static_cast<size_t>(op.index)];
    const bool sane = device >= 0 && device < static_cast<float>(problem.machine.size()) &&
                      rank >= 0 && rank < static_cast<float>(ops);
    if (!sane) return invalid_input(fmt::format("{}: '{}' is no plan of that problem", path, name));
    plan.placement.push_back(DeviceId{static_cast<int32_t>(device)});
    plan.priority.push_back(static_cast<int64_t>(rank));
  }
  return plan;
}

Result<int64_t> count_in(const TensorFile& file, const char* key, const std::string& path) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end()) return int64_t{0};
  int64_t count = 0;
  for (const char c : found->second) {
    if (c < '0' || c > '9' || count > int64_t{1} << 50) {
      return invalid_input(fmt::format("{}: '{}' is '{}', not a count", path, key, found->second));
    }
    count = count * 10 + (c - '0');
  }
  return count;
}

std::string label_name(size_t world) {
  return fmt::format("label.{}", world);
}

class DopplerTrainer : public Trainer {
 public:
  DopplerTrainer(TrainSettings settings, std::vector<const World*> worlds,
                 std::unique_ptr<Learner> learner, int64_t updates, int64_t episodes)
      : settings_(std::move(settings)),
        worlds_(std::move(worlds)),
        learner_(std::move(learner)),
        updates_(updates),
        episodes_(episodes),
        best_(worlds_.size()) {}

  Result<void> restore_plans(const TensorFile& file, const std::string& path) {
    for (size_t i = 0; i < worlds_.size(); ++i) {
      if (!file.tensors.contains(label_name(i) + ".device")) continue;
      Result<Plan> plan = kept_plan(label_name(i), worlds_[i]->problem(), file, path);
      if (!plan) return plan.error();
      best_[i].cost = Evaluator(worlds_[i]->problem(), judging(scenario_seed(i))).cost(*plan);
      best_[i].plan = std::move(*plan);
    }
    return {};
  }

  bool done() const override { return episodes_ >= total_episodes(); }

  UpdateReport update() override {
    TUTTI_CHECK(!done());
    const auto [stage, share] = where();
    const StageSettings& how = settings_.stages[static_cast<size_t>(stage)];
    const Result<DopplerModel> model = DopplerModel::load(learner_->model(), "the network");
    TUTTI_CHECK(model.has_value());
    std::vector<Exercise> exercises = prepare();
    act(*model, exercises);
    if (how.label_weight > 0) find_labels(*model, how, exercises);
    UpdateReport report = summary(exercises);
    report.step = learn(how, share, exercises);
    ++updates_;
    episodes_ += static_cast<int64_t>(exercises.size()) * settings_.episodes_per_problem;
    report.update = updates_;
    report.episodes = episodes_;
    report.stage = stage;
    return report;
  }

  double greedy_ratio(int problems) const override {
    constexpr uint64_t kNeverTrainedOn = 0x7e57;
    const bool drawn = worlds_.empty();
    std::vector<double> ratio(drawn ? static_cast<size_t>(problems) : worlds_.size(), 1);
    const Result<DopplerModel> model = DopplerModel::load(learner_->model(), "the network");
    parallel_for(static_cast<int>(ratio.size()), settings_.threads, [&](int index, int) {
      const auto at = static_cast<size_t>(index);
      const auto world = drawn ? draw_world(settings_.curriculum, Rng(kNeverTrainedOn).split(at))
                               : World::of("", worlds_[at]->problem());
      SearchModel judge = judging(scenario_seed(at));
      if (drawn) judge.scenarios.count = 4;
      Evaluator evaluator(world->problem(), judge);
      const auto ours = plan_greedily(*model, world->problem());
      const auto reference = contention_eft(world->problem(), {});
      if (ours && reference) ratio[at] = evaluator.cost(*ours) / evaluator.cost(*reference);
    });
    double sum = 0;
    for (const double one : ratio) sum += std::log(one);
    return std::exp(sum / static_cast<double>(ratio.size()));
  }

  const std::vector<Candidate>& best() const override { return best_; }
  TensorFile model() const override { return learner_->model(); }

  TensorFile checkpoint() const override {
    TensorFile file = learner_->checkpoint();
    file.metadata[kUpdates] = std::to_string(updates_);
    file.metadata[kEpisodes] = std::to_string(episodes_);
    for (size_t i = 0; i < best_.size(); ++i) {
      if (best_[i].cost != kNoPlan) keep_plan(label_name(i), best_[i].plan, file);
    }
    return file;
  }

 private:
  int64_t total_episodes() const {
    int64_t total = 0;
    for (const StageSettings& stage : settings_.stages) total += stage.episodes;
    return total;
  }

  // The stage that the next update belongs to, and how far it is.
  std::pair<int, double> where() const {
    int64_t before = 0;
    for (size_t i = 0; i < settings_.stages.size(); ++i) {
      const int64_t length = settings_.stages[i].episodes;
      if (episodes_ < before + length) {
        return {static_cast<int>(i),
                static_cast<double>(episodes_ - before) / static_cast<double>(length)};
      }
      before += length;
    }
    return {static_cast<int>(settings_.stages.size()) - 1, 1.0};
  }

  Rng stream(uint64_t purpose) const {
    return Rng(settings_.seed).split(static_cast<uint64_t>(updates_)).split(purpose);
  }

  static uint64_t scenario_seed(size_t world) { return kScenarioSeeds + (uint64_t{world} << 20); }

  SearchModel judging(uint64_t seed) const {
    SearchModel judging{.model = settings_.model};
    judging.scenarios = {.seed = seed, .count = settings_.scenarios};
    return judging;
  }

  std::vector<Exercise> prepare() const {
    const bool drawn = worlds_.empty();
    std::vector<Exercise> exercises(drawn ? static_cast<size_t>(settings_.problems_per_update)
                                          : worlds_.size());
    parallel_for(static_cast<int>(exercises.size()), settings_.threads, [&](int index, int) {
      const auto at = static_cast<size_t>(index);
      Exercise& exercise = exercises[at];
      Rng rng = stream(0).split(at);
      if (drawn) {
        exercise.drawn = draw_world(settings_.curriculum, rng.split(0));
        exercise.world = exercise.drawn.get();
        exercise.judging = judging(kScenarioSeeds + (rng.split(1).next() >> 16));
      } else {
        exercise.world = worlds_[at];
        exercise.judging = judging(scenario_seed(at));
      }
      const auto count = static_cast<size_t>(settings_.episodes_per_problem);
      exercise.episodes.resize(count);
      exercise.plans.resize(count);
      exercise.costs.assign(count, kNoPlan);
      const Problem& problem = exercise.world->problem();
      if (const auto plan = contention_eft(problem, {}); plan) {
        exercise.reference = Evaluator(problem, exercise.judging).cost(*plan);
      }
    });
    return exercises;
  }

  // Which episodes of a problem a lesson has.
  std::pair<size_t, size_t> part(size_t lesson) const {
    const auto count = static_cast<size_t>(settings_.episodes_per_problem);
    const auto lessons = static_cast<size_t>(settings_.lessons_per_problem);
    return {lesson * count / lessons, (lesson + 1) * count / lessons};
  }

  void act(const DopplerModel& model, std::vector<Exercise>& exercises) const {
    const auto lessons = static_cast<size_t>(settings_.lessons_per_problem);
    const int units = static_cast<int>(exercises.size() * lessons);
    parallel_for(units, settings_.threads, [&](int index, int) {
      const auto at = static_cast<size_t>(index);
      Exercise& exercise = exercises[at / lessons];
      const World& world = *exercise.world;
      const auto actor = model.actor(world.problem(), world.features(), world.facts());
      Evaluator evaluator(world.problem(), exercise.judging);
      const auto [begin, end] = part(at % lessons);
      for (size_t k = begin; k < end; ++k) {
        const Acting acting{.mode = Acting::Mode::sample,
                            .select_greedily = !evaluator.judge().depends_on_priority(),
                            .record = &exercise.episodes[k]};
        auto plan = actor->act(acting, stream(1).split(at / lessons).split(k));
        if (!plan) continue;
        exercise.costs[k] = evaluator.cost(*plan);
        exercise.plans[k] = std::move(*plan);
      }
    });
  }

  void find_labels(const DopplerModel& model, const StageSettings& how,
                   std::vector<Exercise>& exercises) {
    parallel_for(static_cast<int>(exercises.size()), settings_.threads, [&](int index, int) {
      const auto at = static_cast<size_t>(index);
      Exercise& exercise = exercises[at];
      const World& world = *exercise.world;
      const auto least = std::min_element(exercise.costs.begin(), exercise.costs.end());
      Candidate start{exercise.plans[static_cast<size_t>(least - exercise.costs.begin())], *least};
      if (!worlds_.empty() && best_[at].cost < start.cost) start = best_[at];
      exercise.label = improved(world.problem(), exercise.judging, std::move(start),
                                how.search_evaluations, stream(2).split(at));
      if (exercise.label.cost == kNoPlan) return;
      const auto actor = model.actor(world.problem(), world.features(), world.facts());
      const Judge judge(world.problem(), settings_.model);
      const Acting acting{.mode = Acting::Mode::follow,
                          .select_greedily = !judge.depends_on_priority(),
                          .plan = &exercise.label.plan,
                          .record = &exercise.label_episode};
      if (!actor->act(acting, Rng(0))) exercise.label_episode = {};
    });
    if (worlds_.empty()) return;
    for (size_t i = 0; i < best_.size(); ++i) {
      if (exercises[i].label.cost < best_[i].cost) best_[i] = exercises[i].label;
    }
  }

  UpdateReport summary(const std::vector<Exercise>& exercises) const {
    UpdateReport report;
    int64_t matched = 0;
    int64_t decisions = 0;
    double problems = 0;
    for (const Exercise& exercise : exercises) {
      double sum = 0;
      double count = 0;
      double least = kNoPlan;
      for (const double cost : exercise.costs) {
        if (cost == kNoPlan) continue;
        sum += cost;
        count += 1;
        least = std::min(least, cost);
      }
      if (count == 0 || exercise.reference == kNoPlan) continue;
      problems += 1;
      report.mean_ratio += sum / count / exercise.reference;
      report.best_ratio += least / exercise.reference;
      report.label_ratio += std::min(least, exercise.label.cost) / exercise.reference;
      matched += exercise.label_episode.matched;
      decisions += exercise.label_episode.decisions;
    }
    report.mean_ratio /= std::max(1.0, problems);
    report.best_ratio /= std::max(1.0, problems);
    report.label_ratio /= std::max(1.0, problems);
    report.match =
        static_cast<double>(matched) / static_cast<double>(std::max<int64_t>(1, decisions));
    return report;
  }

  // How much better than its problem's others each episode did, in standard deviations.
  static std::vector<float> advantages(const std::vector<double>& costs) {
    double sum = 0;
    double squares = 0;
    double count = 0;
    for (const double cost : costs) {
      if (cost == kNoPlan) continue;
      sum += cost;
      squares += cost * cost;
      count += 1;
    }
    std::vector<float> found(costs.size(), 0.0F);
    if (count < 2) return found;
    const double mean = sum / count;
    const double deviation = std::sqrt(std::max(0.0, squares / count - mean * mean));
    if (deviation <= 1e-9 * mean) return found;
    for (size_t k = 0; k < costs.size(); ++k) {
      if (costs[k] == kNoPlan) continue;
      found[k] = static_cast<float>(std::clamp((mean - costs[k]) / deviation, -3.0, 3.0));
    }
    return found;
  }

  StepResult learn(const StageSettings& how, double share, const std::vector<Exercise>& exercises) {
    std::vector<Lesson> lessons;
    for (const Exercise& exercise : exercises) {
      const std::vector<float> advantage = advantages(exercise.costs);
      for (size_t l = 0; l < static_cast<size_t>(settings_.lessons_per_problem); ++l) {
        const auto [begin, end] = part(l);
        Lesson lesson{.features = &exercise.world->features(),
                      .published = &exercise.world->published_features()};
        for (size_t k = begin; k < end; ++k) {
          if (advantage[k] == 0 || how.gradient_weight == 0) continue;
          lesson.episodes.push_back(&exercise.episodes[k]);
          lesson.weights.push_back(advantage[k] * static_cast<float>(how.gradient_weight));
        }
        if (!exercise.label_episode.op.empty()) {
          // As much as all the others of the lesson together.
          const double others = std::max<size_t>(1, lesson.episodes.size());
          lesson.weights.push_back(static_cast<float>(how.label_weight * others));
          lesson.episodes.push_back(&exercise.label_episode);
        }
        if (!lesson.episodes.empty()) lessons.push_back(std::move(lesson));
      }
    }
    if (lessons.empty()) return {};
    StepResult result;
    for (int i = 0; i < how.repeats; ++i) {
      result = learner_->step(lessons, {.learning_rate = blend(how.learning_rate, share),
                                        .entropy_weight = blend(how.entropy_weight, share),
                                        .clip_ratio = how.clip_ratio,
                                        .learn_select = settings_.model != SimModel::released});
    }
    return result;
  }

  TrainSettings settings_;
  std::vector<const World*> worlds_;
  std::unique_ptr<Learner> learner_;
  int64_t updates_;
  int64_t episodes_;
  std::vector<Candidate> best_;  // by given world
};

}  // namespace

Result<std::unique_ptr<Trainer>> Trainer::make(const TensorFile& start, const std::string& path,
                                               const TrainSettings& settings,
                                               std::vector<const World*> worlds) {
  const auto updates = count_in(start, kUpdates, path);
  if (!updates) return updates.error();
  const auto episodes = count_in(start, kEpisodes, path);
  if (!episodes) return episodes.error();
  TensorFile network = start;  // without what is the trainer's own
  network.metadata.erase(kUpdates);
  network.metadata.erase(kEpisodes);
  std::erase_if(network.tensors,
                [](const auto& entry) { return entry.first.starts_with("label."); });
  auto learner = make_learner(network, path, settings.threads);
  if (!learner) return learner.error();
  auto trainer = std::make_unique<DopplerTrainer>(settings, std::move(worlds), std::move(*learner),
                                                  *updates, *episodes);
  if (auto restored = trainer->restore_plans(start, path); !restored) return restored.error();
  return std::unique_ptr<Trainer>(std::move(trainer));
}

}  // namespace tutti
