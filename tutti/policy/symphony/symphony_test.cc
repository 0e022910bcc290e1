#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tutti/graph/make/job.h"
#include "tutti/plan/world/default_cluster.h"
#include "tutti/plan/world/world_ledger.h"
#include "tutti/policy/symphony/decider.h"
#include "tutti/policy/symphony/model.h"

namespace tutti {
namespace {

// A cluster in which three jobs have come, and nothing runs.
struct Moment {
  Cluster cluster = default_cluster();
  WorldLedger ledger{cluster};

  Moment() {
    for (Graph& graph : make_jobs(JobSet::train, 3, 1)) {
      auto job = cluster.add_job(std::move(graph));
      EXPECT_TRUE(job) << job.error().message;
      ledger.admit(*job);
    }
    ledger.begin_epoch();
  }
  const WorldState& state() const { return ledger.state(); }

  std::shared_ptr<const SymphonyModel> model(const SymphonyShape& shape) const {
    auto loaded =
        SymphonyModel::load(SymphonyModel::fresh(shape, cluster, {}, 1), "fresh", cluster, {});
    EXPECT_TRUE(loaded) << loaded.error().message;
    return *loaded;
  }
};

bool contains(const std::vector<Action>& actions, const Action& action) {
  return std::find(actions.begin(), actions.end(), action) != actions.end();
}

TEST(DecisionFeatures, OffersExactlyWhatIsLegalWhileThingsRunAndEnd) {
  Moment moment;
  const Topology topology(moment.cluster);
  FeatureMaker maker(moment.cluster, topology);
  DecisionFeatures features;
  std::vector<Action> legal;
  Rng rng(3);
  for (int step = 0; step < 60 && can_act(moment.state()); ++step) {
    maker.make(moment.state(), /*always_work=*/false, features);
    legal_actions(moment.state(), legal);
    EXPECT_EQ(features.actions.size(), legal.size());
    for (const Action& action : legal) EXPECT_TRUE(contains(features.actions, action));
    const Action action = features.actions[rng.below(features.actions.size())];
    if (action.kind == Action::Kind::execute) {
      JobStatus& job = moment.ledger.job(action.job);
      moment.ledger.execute(action);
      moment.ledger.start(job, action.op);
      if (rng.uniform() < 0.5) moment.ledger.finish(job, action.op);
    } else if (action.kind == Action::Kind::reconfigure) {
      moment.ledger.configured(moment.ledger.configure(action));
    }
  }
}

TEST(DecisionFeatures, KeepsRestingForWhenNothingElseIsPossibleIfToldTo) {
  Moment moment;
  const Topology topology(moment.cluster);
  FeatureMaker maker(moment.cluster, topology);
  DecisionFeatures features;
  maker.make(moment.state(), /*always_work=*/false, features);
  moment.ledger.execute(features.actions[0]);
  maker.make(moment.state(), /*always_work=*/false, features);
  EXPECT_TRUE(contains(features.actions, Action::nothing()));
  maker.make(moment.state(), /*always_work=*/true, features);
  EXPECT_FALSE(contains(features.actions, Action::nothing()));
}

TEST(Topology, DevicesOfASocketAreNearerThanThoseOfTheOther) {
  const Cluster cluster = default_cluster();
  const Topology topology(cluster);
  const auto steps = [&](const char* from, const char* to) {
    std::vector<int> distance(static_cast<size_t>(topology.size()), -1);
    std::vector<int> open{cluster.machine().find_device(from)->index};
    distance[static_cast<size_t>(open[0])] = 0;
    for (size_t i = 0; i < open.size(); ++i) {
      for (size_t e = 0; e < topology.from().size(); ++e) {
        if (topology.from()[e] != open[i]) continue;
        int& next = distance[static_cast<size_t>(topology.to()[e])];
        if (next >= 0) continue;
        next = distance[static_cast<size_t>(open[i])] + 1;
        open.push_back(topology.to()[e]);
      }
    }
    return distance[static_cast<size_t>(cluster.machine().find_device(to)->index)];
  };
  EXPECT_GT(steps("gpu0", "fpga0"), 0);
  EXPECT_GT(steps("gpu0", "gpu1"), steps("gpu0", "fpga0"));
}

// The rule alone: the best score is that of an op where it ends first.
TEST(SymphonyNet, BeginsAsEarliestFinish) {
  const Moment moment;
  SymphonyPolicyState policy(moment.model({.knowledge = InformationLevel::nothing}), {});
  const ScoredDecision& considered = policy.score(moment.state());
  const Action best = considered.best_action();
  ASSERT_EQ(best.kind, Action::Kind::execute);
  const JobStatus& job = moment.state().job(best.job);
  const auto takes = [&](DeviceId device) {
    return moment.state().fetch_time(job, best.op, device) +
           job.job->costs().run_time(best.op, device);
  };
  for (const DeviceId device : job.job->devices_for(best.op)) {
    if (moment.state().free_slot(device, job.job->kind(best.op)) < 0) continue;
    EXPECT_LE(takes(best.device).count(), takes(device).count());
  }
}

// What wants more than an even share of something that others are known to use is scored lower
// there, and nothing is scored lower for what it does not use.
TEST(SymphonyNet, AvoidsWhatIsKnownToBeCrowded) {
  const Moment moment;
  const auto model = moment.model({.knowledge = InformationLevel::truth});
  const auto considered_with = [&](const Resource* crowded) {
    const Truth truth = [&](const Resource& resource) {
      return crowded != nullptr && resource == *crowded ? 1.0 : 0.0;
    };
    SymphonyPolicyState policy(model, {.truth = truth});
    return policy.score(moment.state());
  };
  const ScoredDecision free = considered_with(nullptr);
  int avoided = 0;
  for (int v = 0; v < model->topology().size(); ++v) {
    const ScoredDecision crowded = considered_with(&model->topology().resource(v));
    for (size_t i = 0; i < free.features.executions.size(); ++i) {
      const DecisionFeatures::Option& option =
          free.features.options[static_cast<size_t>(free.features.executions[i])];
      float share = 0;
      for (int32_t d = option.first_draw; d < option.end_draw; ++d) {
        const DecisionFeatures::VertexDraw& draw = free.features.draws[static_cast<size_t>(d)];
        if (draw.vertex == v) share = draw.share;
      }
      if (share > 0.21F) {
        EXPECT_LT(crowded.scores[i], free.scores[i]) << v << " " << i;
        ++avoided;
      } else {
        EXPECT_GE(crowded.scores[i], free.scores[i]) << v << " " << i;
      }
    }
  }
  EXPECT_GT(avoided, 3);
}

// Nobody who wants less than an even share goes slower; the rest is divided evenly.
TEST(DecisionFeatures, WhatIsSharedIsDividedMaxMinFairly) {
  EXPECT_FLOAT_EQ(slower_by(0.1F, 0, 0, 1), 0.5F);
  EXPECT_FLOAT_EQ(slower_by(0.9F, 0, 0, 1), 4.5F);
  EXPECT_FLOAT_EQ(slower_by(0.9F, 0, 0, 0.2F), 0.9F / 0.8F);
  EXPECT_FLOAT_EQ(slower_by(1, 0.2F, 2, 1), 6.25F);    // 0.1 + 0.1 + five times 0.16
  EXPECT_FLOAT_EQ(slower_by(0.5F, 1.8F, 2, 0), 1.5F);  // a third each
}

TEST(SymphonyPolicyState, DrawsByTheOddsOfTheScores) {
  const std::vector<float> scores = {0, std::log(3.0F), -1e9F};
  Rng rng(1);
  int second = 0;
  constexpr int kDraws = 4000;
  for (int i = 0; i < kDraws; ++i) {
    const auto [chosen, likelihood] = SymphonyPolicyState::drawn(scores, rng);
    ASSERT_LT(chosen, 2U);
    EXPECT_NEAR(likelihood, std::log(chosen == 1 ? 0.75 : 0.25), 1e-5);
    second += chosen == 1 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(second) / kDraws, 0.75, 0.03);
}

TEST(SymphonyModel, IsRefusedForAnotherMachine) {
  const Moment moment;
  MachineSpec spec{.name = "other"};
  spec.devices = {{.device = {.name = "cpu", .kind = "cpu"}, .uses_host_memory = true}};
  Result<Machine> machine = Machine::build(std::move(spec));
  ASSERT_TRUE(machine) << machine.error().message;
  Result<Cluster> other = Cluster::make(std::move(*machine), {});
  ASSERT_TRUE(other) << other.error().message;
  for (const InformationLevel knowledge : {InformationLevel::counters, InformationLevel::belief}) {
    const TensorFile file = SymphonyModel::fresh({.knowledge = knowledge}, moment.cluster, {}, 1);
    const auto refused = SymphonyModel::load(file, "x", *other, {});
    ASSERT_FALSE(refused) << to_text(knowledge);
    EXPECT_TRUE(refused.error().message.starts_with("x: ")) << refused.error().message;
  }
  TensorFile without = SymphonyModel::fresh({}, moment.cluster, {}, 1);
  without.tensors.erase("memory.hidden.weight");
  EXPECT_FALSE(SymphonyModel::load(without, "x", moment.cluster, {}));
}

}  // namespace
}  // namespace tutti
