#include "tutti/train/doppler/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tutti/base/check.h"
#include "tutti/base/parallel.h"
#include "tutti/policy/doppler/planner.h"
#include "tutti/policy/heuristic/contention_eft.h"
#include "tutti/search/planners.h"
#include "tutti/train/checkpoint.h"
#include "tutti/train/doppler/baseline.h"
#include "tutti/train/doppler/exercise.h"
#include "tutti/train/doppler/labels.h"
#include "tutti/train/doppler/teacher.h"

namespace tutti {
namespace {

// Scenarios of training; plans are judged on others.
constexpr uint64_t kScenarioSeeds = uint64_t{1} << 50;
// Of the problems that the greedy plan is judged on when those to learn from are drawn.
constexpr uint64_t kNeverTrainedOn = 0x7e57;
constexpr int kCheckProblems = 200;
constexpr int kCheckScenarios = 4;
// A step of Adam changes a parameter by some times its rate at most.
constexpr double kLargestSureRate = 1e6;

// Names in a checkpoint, in addition to those of checkpoint.h.
constexpr std::string_view kLabel = "label.";
constexpr std::string_view kPast = "past.";

// What is kept of a problem that is learned again and again.
struct Memory {
  double reference = kNoPlan;  // as in Exercise
  CostedPlan label{};
  Past past{};
  std::unique_ptr<Plan> teacher_plan{};
  std::shared_ptr<const NetFeatures> features{};  // none before the first update
};

int64_t episodes_per_update(const TrainSettings& settings, size_t worlds) {
  const int64_t problems =
      worlds == 0 ? settings.problems_per_update : static_cast<int64_t>(worlds);
  return problems * settings.episodes_per_problem;
}

// Fails unless the file's counts are those that so many updates come to.
Result<void> check_counts(const TensorFile& file, const std::string& path, int64_t each,
                          int64_t most_steps) {
  const auto updates = file.count(kUpdates, path);
  const auto episodes = file.count(kEpisodes, path);
  const auto steps = file.count(kAdamSteps, path);
  if (!updates) return updates.error();
  if (!episodes) return episodes.error();
  if (!steps) return steps.error();
  const bool fits =
      *episodes % each == 0 && *episodes / each == *updates && *steps / most_steps <= *updates;
  if (fits) return {};
  return invalid_input(
      fmt::format("{}: {} updates cannot have come to {} episodes and {} steps; the checkpoint is "
                  "spoilt, begin in another folder",
                  path, *updates, *episodes, *steps));
}

std::string name_of(std::string_view prefix, size_t world) {
  return fmt::format("{}{}", prefix, world);
}

class DopplerTrainer : public Trainer {
 public:
  DopplerTrainer(TrainSettings settings, std::vector<const TrainingProblem*> worlds,
                 std::unique_ptr<Learner> learner, int64_t updates, int64_t episodes)
      : settings_(std::move(settings)),
        worlds_(std::move(worlds)),
        learner_(std::move(learner)),
        updates_(updates),
        episodes_(episodes),
        memories_(worlds_.size()) {}

  Result<void> find_references(const Stop& stop) {
    for (size_t i = 0; i < worlds_.size(); ++i) {
      const Problem& problem = worlds_[i]->problem();
      Evaluator evaluator(problem, judging(scenario_seed(i)), stop);
      const Result<Plan> rule = contention_eft(problem, {.stop = stop});
      if (rule) memories_[i].reference = evaluator.cost(*rule);
      if (memories_[i].reference != kNoPlan) continue;
      const Result<Plan> greedy = plan_greedily(current(), problem, stop);
      if (stop.now() || (greedy && evaluator.cost(*greedy) != kNoPlan)) continue;
      if (!greedy && greedy.error().kind != Error::Kind::infeasible) return greedy.error();
      return infeasible(fmt::format(
          "{}: {}", worlds_[i]->name(),
          rule ? "no plan was found that has room to run; memory is short" : rule.error().message));
    }
    return {};
  }

  Result<void> ask_teacher(const Stop& stop) {
    if (settings_.teacher.empty()) return {};
    for (size_t i = 0; i < worlds_.size(); ++i) {
      AutoSettings searching;
      searching.model = judging(scenario_seed(i));
      const Result<PolicyEntry> entry = find_planner(settings_.teacher, searching);
      if (!entry) return entry.error();
      Result<Plan> plan = make_plan(*entry, worlds_[i]->problem(), {.stop = stop}, settings_.seed);
      if (stop.now()) return {};
      if (!plan) return plan.error();
      memories_[i].teacher_plan = std::make_unique<Plan>(std::move(*plan));
    }
    return {};
  }

  Result<void> restore(const TensorFile& file, const std::string& path) {
    for (size_t i = 0; i < worlds_.size(); ++i) {
      const auto past = kept_past(name_of(kPast, i), file, path);
      if (!past) return past.error();
      memories_[i].past = *past;
      if (!has_plan(name_of(kLabel, i), file)) continue;
      Result<Plan> plan = kept_plan(name_of(kLabel, i), worlds_[i]->problem(), file, path);
      if (!plan) return plan.error();
      Evaluator evaluator(worlds_[i]->problem(), judging(scenario_seed(i)));
      memories_[i].label = {std::move(*plan), kNoPlan};
      memories_[i].label.cost = evaluator.cost(memories_[i].label.plan);
    }
    if (!file.metadata.contains(kBestRatio)) return {};
    const auto ratio = figure_in(file, kBestRatio, kNoPlan, path);
    if (!ratio) return ratio.error();
    auto best = model_under(kBestModel, learner_->model(), file, path);
    if (!best) return best.error();
    best_ratio_ = *ratio;
    best_ = std::move(*best);
    return {};
  }

  bool done() const override { return episodes_ >= total_episodes(); }
  int64_t updates() const override { return updates_; }
  int64_t episodes() const override { return episodes_; }
  int64_t total_episodes() const override {
    int64_t total = 0;
    for (const StageSettings& stage : settings_.stages) total += stage.episodes;
    return total;
  }
  std::optional<double> best_ratio() const override {
    return best_ratio_ == kNoPlan ? std::nullopt : std::optional(best_ratio_);
  }

  // Only the learner changes before take_over, and that can be undone.
  Result<std::optional<UpdateReport>> update(const Stop& stop) override {
    TUTTI_CHECK(!done());
    const auto [stage, share] = where();
    const StageSettings& how = settings_.stages[static_cast<size_t>(stage)];
    const DopplerModel model = current();
    std::vector<Exercise> exercises = prepare(model, stop);
    act(model, how, share, stop, exercises);
    if (how.label_weight > 0) find_labels(model, how, share, stop, exercises);
    if (stop.now()) return std::optional<UpdateReport>();
    UpdateReport report = summary_of(how, exercises);
    report.update = updates_ + 1;
    report.episodes = episodes_ + episodes_per_update(settings_, worlds_.size());
    report.stage = stage;
    const bool due =
        report.update % settings_.check_every == 0 || report.episodes >= total_episodes();
    // What may yet be undone is written next to what it replaces, which takes longer. One step is
    // either not done or kept, as long as it is not so large that numbers end.
    const bool once = how.repeats == 1 && how.learning_rate.at(share) <= kLargestSureRate;
    const bool undoable = due || !once;
    if (undoable) learner_->keep();
    const auto step = learn(how, share, stop, exercises);
    if (step && !step->finite) {
      if (undoable) learner_->undo();
      return failed(fmt::format(
          "update {} came to no number (loss {}, gradient norm {}); try lower rates or weights",
          report.update, step->loss, step->gradient_norm));
    }
    if (step && due) report.greedy_ratio = check(stop);
    if (!step || (undoable && stop.now())) {
      if (undoable) learner_->undo();
      return std::optional<UpdateReport>();
    }
    report.step = *step;
    take_over(report, exercises);
    return std::optional(report);
  }

  TensorFile model() const override { return best_ratio_ == kNoPlan ? learner_->model() : best_; }

  TensorFile checkpoint() const override {
    TensorFile file = learner_->checkpoint();
    file.metadata[kUpdates] = std::to_string(updates_);
    file.metadata[kEpisodes] = std::to_string(episodes_);
    for (size_t i = 0; i < memories_.size(); ++i) {
      const Memory& memory = memories_[i];
      keep_past(name_of(kPast, i), memory.past, file);
      if (memory.label.cost != kNoPlan) keep_plan(name_of(kLabel, i), memory.label.plan, file);
    }
    if (best_ratio_ == kNoPlan) return file;
    file.metadata[kBestRatio] = exactly(best_ratio_);
    add_model(kBestModel, best_, file);
    return file;
  }

 private:
  void take_over(const UpdateReport& report, const std::vector<Exercise>& exercises) {
    remember(exercises);
    updates_ = report.update;
    episodes_ = report.episodes;
    if (report.greedy_ratio && *report.greedy_ratio < best_ratio_) {
      best_ratio_ = *report.greedy_ratio;
      best_ = learner_->model();
    }
    if (const int stage = where().first; stage != report.stage) begin_stage(stage);
  }

  // A stage has an optimiser and baselines of its own: gradients and makespans of the stage before
  // are of another size. Done at the end of that stage, so that its last checkpoint tells it too.
  void begin_stage(int stage) {
    const StageSettings& how = settings_.stages[static_cast<size_t>(stage)];
    if (!how.carries_moments) learner_->forget_moments();
    if (how.carries_past) return;
    for (Memory& memory : memories_) memory.past = {};
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

  // Good until the learner's next step.
  DopplerModel current() const {
    Result<DopplerModel> model = DopplerModel::borrow(learner_->model(), "the network");
    TUTTI_CHECK(model.has_value());  // it was loaded when the learner was made
    return std::move(*model);
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

  bool order_matters() const { return settings_.model.follows_priorities(); }

  std::vector<Exercise> prepare(const DopplerModel& model, const Stop& stop) {
    const bool drawn = worlds_.empty();
    std::vector<Exercise> exercises(drawn ? static_cast<size_t>(settings_.problems_per_update)
                                          : worlds_.size());
    parallel_for(static_cast<int>(exercises.size()), settings_.threads, [&](int index, int) {
      if (stop.now()) return;
      const auto at = static_cast<size_t>(index);
      Exercise& exercise = exercises[at];
      const Rng rng = stream(0).split(at);
      if (drawn) {
        exercise.drawn = draw_problem(settings_.curriculum, rng.split(0));
        exercise.world = exercise.drawn.get();
        exercise.features = model.features(exercise.world->problem());
        exercise.judging = judging(kScenarioSeeds + (rng.split(1).next() >> 16));
      } else {
        exercise.world = worlds_[at];
        auto& features = memories_[at].features;
        if (features == nullptr) features = model.features(exercise.world->problem());
        exercise.features = features;
        exercise.judging = judging(scenario_seed(at));
      }
      const auto count = static_cast<size_t>(settings_.episodes_per_problem);
      exercise.episodes.resize(count);
      exercise.plans.resize(count);
      exercise.costs.assign(count, kNoPlan);
      if (!drawn) {
        exercise.reference = memories_[at].reference;
        return;
      }
      const Problem& problem = exercise.world->problem();
      if (const auto plan = contention_eft(problem, {.stop = stop}); plan) {
        exercise.reference = Evaluator(problem, exercise.judging, stop).cost(*plan);
      }
    });
    return exercises;
  }

  // Which episodes of a problem are in that part of so many.
  std::pair<size_t, size_t> part(size_t index, size_t parts) const {
    const auto count = static_cast<size_t>(settings_.episodes_per_problem);
    return {index * count / parts, (index + 1) * count / parts};
  }

  // Enough for every thread to have one. An episode does not depend on the part it is in.
  size_t parts_to_act(size_t problems) const {
    const size_t wanted = (static_cast<size_t>(settings_.threads) + problems - 1) / problems;
    return std::clamp<size_t>(wanted, 1, static_cast<size_t>(settings_.episodes_per_problem));
  }

  std::unique_ptr<Teacher> teacher_of(const StageSettings& how, size_t exercise,
                                      const Problem& problem) const {
    if (how.kind != StageSettings::Kind::imitate) return nullptr;
    if (worlds_.empty() || memories_[exercise].teacher_plan == nullptr) {
      return std::make_unique<CriticalPathTeacher>(problem);
    }
    return std::make_unique<PlanTeacher>(*memories_[exercise].teacher_plan);
  }

  void act(const DopplerModel& model, const StageSettings& how, double share, const Stop& stop,
           std::vector<Exercise>& exercises) const {
    const size_t parts = parts_to_act(exercises.size());
    const int units = static_cast<int>(exercises.size() * parts);
    parallel_for(units, settings_.threads, [&](int index, int) {
      if (stop.now()) return;
      const size_t at = static_cast<size_t>(index) / parts;
      Exercise& exercise = exercises[at];
      const TrainingProblem& world = *exercise.world;
      const auto actor = model.actor(world.problem(), *exercise.features);
      const std::unique_ptr<Teacher> teacher = teacher_of(how, at, world.problem());
      Evaluator evaluator(world.problem(), exercise.judging, stop);
      const double randomness = how.randomness ? how.randomness->at(share) : 0;
      const auto [begin, end] = part(static_cast<size_t>(index) % parts, parts);
      for (size_t k = begin; k < end; ++k) {
        const Acting acting{
            .mode = how.randomness ? Acting::Mode::random_at_times : Acting::Mode::sample,
            .select_greedily =
                !how.randomness && how.kind == StageSettings::Kind::simulate && !order_matters(),
            .select_randomness = randomness,
            .place_randomness = randomness,
            .stop = stop,
            .teacher = teacher.get(),
            .record = &exercise.episodes[k]};
        auto plan = actor->act(acting, stream(1).split(at).split(k));
        if (!plan) continue;
        exercise.costs[k] = evaluator.cost(*plan);
        exercise.plans[k] = std::move(*plan);
      }
    });
  }

  // The best plan of the update or of those before.
  CostedPlan start_of_label(size_t at, const Exercise& exercise) const {
    const auto least = std::min_element(exercise.costs.begin(), exercise.costs.end());
    if (!worlds_.empty() && memories_[at].label.cost <= *least) return memories_[at].label;
    return {exercise.plans[static_cast<size_t>(least - exercise.costs.begin())], *least};
  }

  void improve_labels(const StageSettings& how, double share, const Stop& stop,
                      std::vector<Exercise>& exercises) const {
    const int64_t evaluations = share < how.search_until ? how.search_evaluations : 0;
    const int64_t walks = std::clamp<int64_t>(evaluations, 1, how.search_walks);
    const auto per_problem = static_cast<size_t>(walks);
    std::vector<CostedPlan> found(exercises.size() * per_problem);
    parallel_for(static_cast<int>(found.size()), settings_.threads, [&](int index, int) {
      if (stop.now()) return;
      const size_t at = static_cast<size_t>(index) / per_problem;
      const int64_t walk = index % walks;
      const int64_t spent = evaluations * (walk + 1) / walks - evaluations * walk / walks;
      const Rng rng = stream(2).split(at);
      found[static_cast<size_t>(index)] = improved(
          exercises[at].world->problem(), exercises[at].judging, start_of_label(at, exercises[at]),
          spent, stop, walks == 1 ? rng : rng.split(static_cast<uint64_t>(walk)));
    });
    for (size_t at = 0; at < exercises.size(); ++at) {
      const auto first = found.begin() + static_cast<ptrdiff_t>(at * per_problem);
      exercises[at].label = std::move(*std::min_element(
          first, first + static_cast<ptrdiff_t>(per_problem),
          [](const CostedPlan& a, const CostedPlan& b) { return a.cost < b.cost; }));
    }
  }

  void find_labels(const DopplerModel& model, const StageSettings& how, double share,
                   const Stop& stop, std::vector<Exercise>& exercises) const {
    improve_labels(how, share, stop, exercises);
    parallel_for(static_cast<int>(exercises.size()), settings_.threads, [&](int index, int) {
      Exercise& exercise = exercises[static_cast<size_t>(index)];
      const TrainingProblem& world = *exercise.world;
      if (stop.now() || exercise.label.cost == kNoPlan) return;
      const auto actor = model.actor(world.problem(), *exercise.features);
      Acting acting{.mode = Acting::Mode::follow,
                    .select_greedily = !order_matters(),
                    .plan = &exercise.label.plan,
                    .rename_equals = true,
                    .stop = stop,
                    .record = &exercise.label_episode};
      const auto renamed = actor->act(acting, Rng(0));
      // What looks the same to the net may yet differ.
      Plan equal = exercise.label.plan;
      if (renamed) equal.placement = renamed->placement;
      Evaluator evaluator(world.problem(), exercise.judging, stop);
      if (renamed && evaluator.cost(equal) <= exercise.label.cost) {
        exercise.label.plan = std::move(equal);
        return;
      }
      acting.rename_equals = false;
      if (!actor->act(acting, Rng(0))) exercise.label_episode = {};
    });
  }

  std::vector<float> weights_of(const StageSettings& how, size_t at,
                                const Exercise& exercise) const {
    if (how.kind == StageSettings::Kind::imitate) {
      return std::vector<float>(exercise.costs.size(), 1.0F);
    }
    const Past past = worlds_.empty() ? Past{} : memories_[at].past;
    std::vector<float> weights = how.baseline == StageSettings::Baseline::group
                                     ? against_group(exercise.costs)
                                     : against_past(past, exercise.costs, exercise.reference);
    for (float& weight : weights) weight *= static_cast<float>(how.gradient_weight);
    return weights;
  }

  // None if it was stopped on the way.
  std::optional<StepResult> learn(const StageSettings& how, double share, const Stop& stop,
                                  const std::vector<Exercise>& exercises) {
    std::vector<Lesson> lessons;
    for (size_t at = 0; at < exercises.size(); ++at) {
      const Exercise& exercise = exercises[at];
      const std::vector<float> weights = weights_of(how, at, exercise);
      const auto count = static_cast<size_t>(settings_.lessons_per_problem);
      for (size_t l = 0; l < count; ++l) {
        const auto [begin, end] = part(l, count);
        Lesson lesson{.features = exercise.features.get()};
        for (size_t k = begin; k < end; ++k) {
          const bool whole = exercise.episodes[k].op.size() ==
                             static_cast<size_t>(exercise.world->problem().graph.size());
          if (weights[k] == 0 || !whole) continue;
          lesson.episodes.push_back(&exercise.episodes[k]);
          lesson.weights.push_back(weights[k]);
        }
        // Once is enough for a label alone.
        if (!exercise.label_episode.op.empty() && (l == 0 || !lesson.episodes.empty())) {
          // As much as all the others of the lesson together.
          const double others = static_cast<double>(std::max<size_t>(1, lesson.episodes.size()));
          lesson.weights.push_back(static_cast<float>(how.label_weight * others));
          lesson.episodes.push_back(&exercise.label_episode);
        }
        if (!lesson.episodes.empty()) lessons.push_back(std::move(lesson));
      }
    }
    if (lessons.empty()) return StepResult{};
    const bool teaches_order = how.kind == StageSettings::Kind::imitate || how.randomness;
    std::optional<StepResult> result = StepResult{};
    for (int i = 0; i < how.repeats && result && result->finite; ++i) {
      result = learner_->step(lessons, {.learning_rate = how.learning_rate.at(share),
                                        .entropy_weight = how.entropy_weight.at(share),
                                        .clip_ratio = how.clip_ratio,
                                        .discount = how.discount,
                                        .learn_select = teaches_order || order_matters(),
                                        .stop = stop});
    }
    return result;
  }

  void remember(const std::vector<Exercise>& exercises) {
    if (worlds_.empty()) return;
    for (size_t i = 0; i < memories_.size(); ++i) {
      if (exercises[i].label.cost <= memories_[i].label.cost) {
        memories_[i].label = {with_ranks(exercises[i].label.plan), exercises[i].label.cost};
      }
      memories_[i].past.add(exercises[i].costs);
    }
  }

  // The greedy plan's cost over the reference, on problems that are never trained on or on the
  // given ones, as far as there is a reference. None if there is none, or if the net has no
  // plan where the reference has one: it is not to be taken for the best.
  std::optional<double> check(const Stop& stop) const {
    const bool drawn = worlds_.empty();
    std::vector<std::optional<double>> ratio(drawn ? size_t{kCheckProblems} : worlds_.size());
    const DopplerModel model = current();
    parallel_for(static_cast<int>(ratio.size()), settings_.threads, [&](int index, int) {
      if (stop.now()) return;
      const auto at = static_cast<size_t>(index);
      std::unique_ptr<TrainingProblem> own;
      if (drawn) own = draw_problem(settings_.curriculum, Rng(kNeverTrainedOn).split(at));
      const Problem& problem = drawn ? own->problem() : worlds_[at]->problem();
      SearchModel judge = judging(scenario_seed(at));
      if (drawn) judge.scenarios.count = kCheckScenarios;
      Evaluator evaluator(problem, judge, stop);
      double reference = drawn ? kNoPlan : memories_[at].reference;
      if (drawn) {
        const auto rule = contention_eft(problem, {.stop = stop});
        if (rule) reference = evaluator.cost(*rule);
      }
      if (reference == kNoPlan || reference <= 0) return;
      const auto ours = plan_greedily(model, problem, stop);
      ratio[at] = (ours ? evaluator.cost(*ours) : kNoPlan) / reference;
    });
    Mean logs;
    for (const auto& one : ratio) {
      if (one) logs.add(std::log(*one));
    }
    const std::optional<double> mean = logs.value();
    return mean && std::isfinite(*mean) ? std::optional(std::exp(*mean)) : std::nullopt;
  }

  TrainSettings settings_;
  std::vector<const TrainingProblem*> worlds_;
  std::unique_ptr<Learner> learner_;
  int64_t updates_;
  int64_t episodes_;
  std::vector<Memory> memories_;  // by given world
  double best_ratio_ = kNoPlan;
  TensorFile best_;
};

}  // namespace

Result<std::unique_ptr<Trainer>> Trainer::make(const TensorFile& start, const std::string& path,
                                               const TrainSettings& settings,
                                               std::vector<const TrainingProblem*> worlds,
                                               const Stop& stop) {
  for (const TrainingProblem* world : worlds) {
    if (world->problem().graph.size() > 0) continue;
    return invalid_input(
        fmt::format("{}: the graph has no ops; there is nothing to learn, leave it "
                    "out",
                    world->name()));
  }
  int64_t most_steps = 1;
  for (const StageSettings& stage : settings.stages) {
    most_steps = std::max<int64_t>(most_steps, stage.repeats);
  }
  if (auto good =
          check_counts(start, path, episodes_per_update(settings, worlds.size()), most_steps);
      !good) {
    return good.error();
  }
  TensorFile network = start;  // without what is the trainer's own
  for (const char* key : {kUpdates, kEpisodes, kBestRatio}) network.metadata.erase(key);
  std::erase_if(network.metadata, [](const auto& entry) { return entry.first.starts_with(kPast); });
  std::erase_if(network.tensors, [](const auto& entry) {
    return entry.first.starts_with(kLabel) || entry.first.starts_with(kBestModel);
  });
  auto learner = make_learner(network, path, settings.threads);
  if (!learner) return learner.error();
  auto trainer =
      std::make_unique<DopplerTrainer>(settings, std::move(worlds), std::move(*learner),
                                       *start.count(kUpdates, path), *start.count(kEpisodes, path));
  if (auto restored = trainer->restore(start, path); !restored) return restored.error();
  if (auto found = trainer->find_references(stop); !found) return found.error();
  if (auto asked = trainer->ask_teacher(stop); !asked) return asked.error();
  return std::unique_ptr<Trainer>(std::move(trainer));
}

}  // namespace tutti
