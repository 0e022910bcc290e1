#include "tutti/train/symphony/trainer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <string>

#include "tutti/runtime/sim/jobs/testing.h"
#include "tutti/train/symphony/configuration.h"

namespace tutti {
namespace {

// A small cluster with jobs of two sorts.
struct SmallWorld {
  Cluster cluster = testing::small_cluster();
  SymphonyWorld world{};

  SmallWorld() {
    world.cluster = &cluster;
    for (const auto& kinds : std::vector<std::vector<std::string>>{
             {"compute", "stream", "compute"}, {"match", "stream"}, {"stream", "compute"}}) {
      world.jobs.push_back(testing::add(cluster, testing::chain(kinds, 100)));
    }
    world.check_jobs = world.jobs;
    world.options.counters = usual_counters(cluster.machine());
    world.unknown_load = {.share = 0.5, .mean_on = Duration(3000), .mean_off = Duration(3000)};
    world.loads = {0.6, 1.2};
    world.jobs_per_episode = 12;
    world.billed_jobs_per_s = billed_jobs_per_s(cluster, world.jobs);
  }
};

// A net whose every layer says something, also those that are zero before training.
TensorFile stirred(TensorFile file) {
  uint64_t number = 0;
  for (auto& [name, tensor] : file.tensors) {
    if (name.starts_with("belief.")) continue;
    Rng rng = Rng(5).split(number++);
    for (float& value : tensor.data) value += 0.1F * static_cast<float>(rng.normal());
  }
  return file;
}

std::shared_ptr<const SymphonyModel> model_of(const TensorFile& file, const SmallWorld& small) {
  auto model = SymphonyModel::load(file, "a model", small.cluster, small.world.options.counters);
  EXPECT_TRUE(model) << model.error().message;
  return *model;
}

std::unique_ptr<SymphonyLearner> learner_of(const TensorFile& file, const SymphonyModel& model) {
  auto learner = make_symphony_learner(file, "a model", model.topology(), model.observer(), 1);
  EXPECT_TRUE(learner) << learner.error().message;
  return std::move(*learner);
}

Played an_episode(const std::shared_ptr<const SymphonyModel>& model, const SmallWorld& small) {
  const JobScenario scenario = draw_scenario(small.world, small.world.jobs, 1.2, true, 3);
  return play(model, scenario, {}, 4, {});
}

TEST(SymphonyLearner, ItsNetworkIsThatOfDecisions) {
  const SmallWorld small;
  std::vector<SymphonyShape> shapes;
  for (const InformationLevel knowledge :
       {InformationLevel::nothing, InformationLevel::counters, InformationLevel::topology,
        InformationLevel::belief, InformationLevel::truth}) {
    shapes.push_back({.knowledge = knowledge});
  }
  shapes.push_back({.topology = false});
  shapes.push_back({.memory = false, .prior = false});
  shapes.push_back(
      {.no_op = false, .launched = false, .counter_errors = false, .means = false, .wide = true});
  for (const SymphonyShape& shape : shapes) {
    const TensorFile file =
        stirred(SymphonyModel::fresh(shape, small.cluster, small.world.options.counters, 1));
    const auto model = model_of(file, small);
    const Played played = an_episode(model, small);
    const auto learner = learner_of(file, *model);
    const size_t count = played.episode.decisions.size();
    ASSERT_GT(count, 20U);
    // From the middle: the memory that was there is kept with the decision.
    const Passage passage{&played.episode, 10, count};
    const auto judged = learner->judge(passage);
    for (size_t i = passage.first; i < count; ++i) {
      const KeptDecision& kept = played.episode.decisions[i];
      const auto [likelihood, value] = judged[i - passage.first];
      ASSERT_NEAR(likelihood, kept.likelihood, 1e-5 * std::max(1.0F, std::fabs(likelihood)))
          << to_text(shape.knowledge) << " " << i;
      ASSERT_NEAR(value, kept.considered.value, 1e-5 * std::max(1.0F, std::fabs(value))) << i;
    }
  }
}

// By differences: the same seeds, constants a little to either side. Without waiting among the
// counters samples have no weights, and the gradient along paths is just what differences are.
TEST(SymphonyLearner, SlopesGoThroughTheBelief) {
  SmallWorld small;
  std::erase_if(small.world.options.counters,
                [](const Counter& counter) { return counter.quantity == Quantity::waiting; });
  TensorFile file =
      stirred(SymphonyModel::fresh({}, small.cluster, small.world.options.counters, 1));
  for (float& weight : file.tensors.at("prior").data) weight /= 3;  // sharp odds hardly move
  const auto model = model_of(file, small);
  Played played = an_episode(model, small);
  for (KeptDecision& decision : played.episode.decisions) decision.advantage = 1;
  const Passage passage{&played.episode, 0, 20};
  const auto learner = learner_of(file, *model);
  ASSERT_TRUE(learner->step({&passage, 1}, {.learning_rate = 0,
                                            .belief_rate = 1e-3,
                                            .belief_gradient = GradientKind::path,
                                            .value_weight = 0,
                                            .clip_norm = 0}));
  // The first step of Adam goes a rate against the sign of each slope.
  const auto& before = file.tensors.at("belief.constants").data;
  const auto after = learner->model().tensors.at("belief.constants").data;
  const auto loss = [&](size_t constant, float by) {
    TensorFile moved = file;
    moved.tensors.at("belief.constants").data[constant] += by;
    double sum = 0;
    for (const auto& [likelihood, value] : learner_of(moved, *model)->judge(passage))
      sum -= likelihood / 20;
    return sum;
  };
  int compared = 0;
  for (size_t k = 0; k < before.size(); ++k) {
    constexpr float kStep = 0.005F;
    const double here = loss(k, 0);
    const double above = (loss(k, kStep) - here) / kStep;
    const double below = (here - loss(k, -kStep)) / kStep;
    const double slope = (above + below) / 2;
    // Differences of floats say no more, nor those across a jump: crowding is that of the worst
    // resource, and which that is changes.
    if (std::fabs(slope) < 2e-4 || std::fabs(above - below) > std::fabs(slope) / 2) continue;
    EXPECT_LT(slope * (after[k] - before[k]), 0) << k << " " << slope;
    ++compared;
  }
  EXPECT_GE(compared, 3);
}

TEST(SymphonyLearner, StepsAreTheSameWithAnyNumberOfThreads) {
  const SmallWorld small;
  const TensorFile file =
      stirred(SymphonyModel::fresh({}, small.cluster, small.world.options.counters, 1));
  const auto model = model_of(file, small);
  Played played = an_episode(model, small);
  std::vector<Passage> passages;
  for (size_t i = 0; i < played.episode.decisions.size(); ++i) {
    played.episode.decisions[i].advantage = i % 3 == 0 ? 1.0F : -0.5F;
    passages.push_back({&played.episode, i, i + 1});
  }
  const auto after = [&](int threads) {
    auto learner =
        make_symphony_learner(file, "a model", model->topology(), model->observer(), threads);
    EXPECT_TRUE((*learner)->step(passages, {.belief_rate = 1e-3}));
    return tensors_to_bytes((*learner)->checkpoint());
  };
  EXPECT_EQ(after(1), after(3));
}

TEST(SymphonyTrainer, EqualEpisodesOfAScenarioHaveNoAdvantage) {
  const SmallWorld small;
  const auto model =
      model_of(SymphonyModel::fresh({}, small.cluster, small.world.options.counters, 1), small);
  SymphonySettings settings{.rollouts = 2};
  std::vector<Played> played{an_episode(model, small), an_episode(model, small)};
  appraise(settings, 1000, played);
  for (const KeptDecision& decision : played[0].episode.decisions)
    EXPECT_NEAR(decision.advantage, 0, 1e-3);
}

// Time over critical path, summed over jobs: what an episode's rewards come to.
TEST(SymphonyTrainer, RewardsAddUpToTheSlowDownsOfJobs) {
  const SmallWorld small;
  const auto model =
      model_of(SymphonyModel::fresh({}, small.cluster, small.world.options.counters, 1), small);
  const Played played = an_episode(model, small);
  double sum = 0;
  for (const KeptDecision& decision : played.episode.decisions) sum += decision.reward;
  EXPECT_NEAR(sum, -played.slowdown * small.world.jobs_per_episode, 0.3);
}

SymphonySettings quick_settings() {
  return {
      .episodes = 16, .scenarios = 2, .rollouts = 2, .passage = 8, .check_every = 2, .threads = 2};
}

TEST(SymphonyTrainer, ItsModelIsTheMeanOfLateWeights) {
  const SmallWorld small;
  const TensorFile start = SymphonyModel::fresh({}, small.cluster, small.world.options.counters, 1);
  // Nothing is judged before the last update, and averaging changes no update.
  const auto model_after = [&](int updates, int averaged_over) {
    SymphonySettings settings = quick_settings();
    settings.check_every = 1000;
    settings.averaged_over = averaged_over;
    auto trainer = SymphonyTrainer::make(start, "a fresh network", settings, small.world);
    EXPECT_TRUE(trainer);
    for (int i = 0; i < updates; ++i) EXPECT_TRUE((*trainer)->update({}));
    return (*trainer)->model();
  };
  const TensorFile first = model_after(1, 1);
  const TensorFile second = model_after(2, 1);
  const TensorFile third = model_after(3, 1);
  const TensorFile mean = model_after(3, 2);
  double moved = 0;
  for (const auto& [name, tensor] : mean.tensors) {
    for (size_t i = 0; i < tensor.data.size(); ++i) {
      const float a = first.tensors.at(name).data[i];
      const float b = second.tensors.at(name).data[i];
      const float c = third.tensors.at(name).data[i];
      EXPECT_NEAR(tensor.data[i], ((a + b) / 2 + c) / 2, 1e-5F) << name;
      moved = std::max(moved, static_cast<double>(std::fabs(tensor.data[i] - c)));
    }
  }
  EXPECT_GT(moved, 1e-4);
}

TEST(SymphonyRun, GoesOnAsIfItHadNotBeenStopped) {
  const SmallWorld small;
  const TensorFile start = SymphonyModel::fresh({}, small.cluster, small.world.options.counters, 1);
  const std::string folder = ::testing::TempDir() + "symphony_run";
  std::filesystem::remove_all(folder);
  const auto run = [&](const std::string& name, int most_updates) {
    const std::string here = folder + "/" + name;
    std::filesystem::create_directories(here);
    std::atomic<bool> stopped = false;
    SymphonyRun settings{.folder = here, .stop = Stop(&stopped)};
    int updates = 0;
    settings.on_update = [&](const SymphonyReport&, double) {
      if (++updates == most_updates) stopped = true;
    };
    const auto end =
        train_symphony(start, "a fresh network", quick_settings(), small.world, settings);
    EXPECT_TRUE(end) << end.error().message;
    auto opened = Source::open(here + "/checkpoint.safetensors");
    EXPECT_TRUE(opened);
    auto tensors = read_tensors(*opened);
    EXPECT_TRUE(tensors) << tensors.error().message;
    return std::pair(end->done, tensors_to_bytes(*tensors));
  };
  const auto whole = run("whole", 1000);
  EXPECT_TRUE(whole.first);
  EXPECT_FALSE(run("parts", 1).first);
  EXPECT_FALSE(run("parts", 2).first);
  const auto parts = run("parts", 1000);
  EXPECT_TRUE(parts.first);
  EXPECT_EQ(whole.second, parts.second);
}

// With nothing to start from, on a cluster where accelerators are ten times as quick.
TEST(SymphonyTrainer, LearnsToScheduleBetter) {
  SmallWorld small;
  small.world.loads = {0.6};
  const TensorFile start =
      SymphonyModel::fresh({.prior = false}, small.cluster, small.world.options.counters, 1);
  SymphonySettings settings = quick_settings();
  settings.episodes = 8 * 15;
  settings.rollouts = 4;
  settings.learning_rate = {5e-3, 5e-3};
  settings.check_every = 1000;
  auto trainer = SymphonyTrainer::make(start, "a fresh network", settings, small.world);
  ASSERT_TRUE(trainer) << trainer.error().message;
  std::vector<double> slowdowns;
  while (!(*trainer)->done()) {
    const auto report = (*trainer)->update({});
    ASSERT_TRUE(report) << report.error().message;
    slowdowns.push_back((*report)->slowdown);
  }
  double first = 0;
  double last = 0;
  for (size_t i = 0; i < 4; ++i) {
    first += slowdowns[i];
    last += slowdowns[slowdowns.size() - 1 - i];
  }
  EXPECT_LT(last, 0.9 * first);
}

}  // namespace
}  // namespace tutti
