// Genuine runs of every runtime, for tests that forge them: each forgery must be refused by the
// rule that it breaks, and no genuine run may be.

#ifndef TUTTI_RUNTIME_FORGERY_TESTING_H_
#define TUTTI_RUNTIME_FORGERY_TESTING_H_

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "test/support/world.h"
#include "tutti/graph/builder.h"
#include "tutti/graph/make/layered.h"
#include "tutti/plan/check.h"
#include "tutti/runtime/local/testing.h"
#include "tutti/runtime/null/null.h"
#include "tutti/runtime/sim/replay.h"
#include "tutti/runtime/sim/sim.h"
#include "tutti/runtime/sim/testing.h"
#include "tutti/trace/check.h"

namespace tutti::testing {

// A run, and what it was of. The world is shared: forgeries copy the rest.
struct Specimen {
  std::string name;
  std::shared_ptr<const World> world;
  std::optional<Plan> plan;  // none: an online policy decided
  Trace trace;

  const Problem& problem() const { return *world->problem; }
};

// All that `tutti check` looks at, but for the bound.
inline Judgement judge(const Specimen& one) {
  const Plan* plan = one.plan ? &*one.plan : nullptr;
  TraceRules rules = rules_for(one.trace, plan);
  rules.doubted = true;
  rules.limit = 1000;
  Judgement found = judge_trace(one.problem(), one.trace, rules);
  if (!found.good() || (plan != nullptr && !check_plan(one.problem(), *plan).empty())) return found;
  Judgement again = replay_trace(one.problem(), plan, one.trace);
  found.faults.insert(found.faults.end(), again.faults.begin(), again.faults.end());
  found.not_applied.insert(found.not_applied.end(), again.not_applied.begin(),
                           again.not_applied.end());
  return found;
}

inline bool breaks(const Judgement& found, const std::string& rule) {
  return std::any_of(found.faults.begin(), found.faults.end(),
                     [&](const Fault& fault) { return fault.rule == rule; });
}

inline std::string told(const Judgement& found) {
  std::string all;
  for (const Fault& fault : found.faults) all += "\n  " + fault.rule + ": " + fault.sentence;
  return all;
}

// Runs in random worlds: every order, kind of link and number of slots.
class SpecimenMaker {
 public:
  std::vector<Specimen> take() { return std::move(made_); }

  // Simulated runs of plans; those that come to a stand for want of memory are left out.
  void add_simulated(const std::string& name, const RandomWorld& options, int count,
                     SimModel model = SimModel::physical) {
    constexpr ReadyOrder kOrders[] = {ReadyOrder::priority, ReadyOrder::fifo, ReadyOrder::lifo,
                                      ReadyOrder::random};
    for (int i = 0; i < count; ++i) {
      Rng rng = next();
      const auto world = make_world(options, rng);
      Plan plan = random_plan(*world->problem, rng);
      if (model != SimModel::physical) plan.strict_order.clear();
      SimRuntime runtime(
          model, {.order = model != SimModel::physical ? ReadyOrder::priority
                                                       : kOrders[static_cast<size_t>(i) % 4],
                  .seed = static_cast<uint64_t>(i),
                  .sample = world->costs.has_noise()});
      Result<Trace> trace = runtime.run(*world->problem, plan);
      if (trace) add(name, world, std::move(plan), std::move(*trace));
    }
  }

  void add_online(const std::string& name, const RandomWorld& options, int count) {
    for (int i = 0; i < count; ++i) {
      Rng rng = next();
      const auto world = make_world(options, rng);
      SimRuntime runtime(SimModel::physical, {.seed = 1, .sample = world->costs.has_noise()});
      Policy policy = random_policy(rng, /*pauses=*/i % 2 == 0);
      Result<Trace> trace = runtime.run_online(*world->problem, policy);
      if (trace) add(name, world, std::nullopt, std::move(*trace));
    }
  }

  void add_null(int count) {
    for (int i = 0; i < count; ++i) {
      Rng rng = next();
      const auto world = make_world({.limits = false}, rng);
      NullRuntime runtime;
      if (i % 4 == 3) {
        Policy policy = random_policy(rng, /*pauses=*/false);
        Trace trace = must(runtime.run_online(*world->problem, policy));
        add("null online", world, std::nullopt, std::move(trace));
        continue;
      }
      Plan plan = random_plan(*world->problem, rng);
      Trace trace = must(runtime.run(*world->problem, plan));
      add("null", world, std::move(plan), std::move(trace));
    }
  }

  // Simulated on machines with shared bridges, with values that take them some time.
  void add_on_presets() {
    for (const char* preset : {"p100-4", "v100-8-nvlink", "mixed-5", "cluster-2x4"}) {
      const auto world = std::make_shared<World>(
          must(make_layered({.ops = 60, .width = 8, .operands = 3, .bytes = 1 << 20})), preset);
      Plan plan = in_turn(*world->problem);
      SimRuntime runtime;
      Trace trace = must(runtime.run(*world->problem, plan));
      add(preset, world, std::move(plan), std::move(trace));
    }
  }

  // Really run, on cores of this host that copy values between memories of their own.
  void add_local(int count) {
    for (int i = 0; i < count; ++i) {
      const auto world = std::make_shared<World>(
          must(make_layered(
              {.ops = 40, .width = 6, .operands = 2, .bytes = 200000, .flops = 20000})),
          islands(3, 1 + i % 2));
      Plan plan = in_turn(*world->problem);
      if (i % 3 == 2) plan.strict_order = strict_order(*world, plan);
      const auto runtime =
          open_local(world->machine, table_of(world->graph, digest_code(world->graph)));
      runtime->set_options({.bulk_synchronous = i % 2 == 1, .staged = i % 4 < 2});
      Trace trace = must(runtime->run(*world->problem, plan));
      const std::string name = to_text(trace.runtime);
      add(name, world, std::move(plan), std::move(trace));
    }
  }

  // The engine's part of a run of commands: values are files, and what the commands do is no
  // matter.
  void add_files(int count) {
    for (int i = 0; i < count; ++i) {
      const auto world = std::make_shared<World>(commands(), islands(2, 1 + i % 2));
      Plan plan = in_turn(*world->problem);
      const auto runtime = open_local(
          world->machine, table_of(world->graph, [](const OpCall&) -> Result<void> { return {}; }));
      LocalOptions options;
      options.files = true;
      runtime->set_options(options);
      Trace trace = must(runtime->run(*world->problem, plan));
      add("files", world, std::move(plan), std::move(trace));
    }
  }

  void add(const std::string& name, std::shared_ptr<const World> world, std::optional<Plan> plan,
           Trace trace) {
    made_.push_back({name + " " + std::to_string(made_.size()), std::move(world), std::move(plan),
                     std::move(trace)});
  }

 private:
  // Made where it stays: its parts refer to each other.
  static std::shared_ptr<const World> make_world(const RandomWorld& options, Rng& rng) {
    return std::shared_ptr<const World>(new World(random_world(options, rng)));
  }

  static Graph commands() {
    GraphBuilder builder("commands");
    const Command command{.argv = {"true"}};
    const ValueSpec output{.bytes = 1000};
    const GivenTime time{"", Duration(1000)};
    for (int32_t i = 0; i < 12; ++i) {
      std::vector<ValueId> operands;
      if (i >= 2) operands = {ValueId{i - 1}, ValueId{i - 2}};
      builder.add_op({.name = "command" + std::to_string(i),
                      .kind = "sh",
                      .operands = operands,
                      .outputs = {&output, 1},
                      .run_times = {&time, 1},
                      .command = &command});
    }
    return must(std::move(builder).build());
  }

  static std::vector<std::vector<OpId>> strict_order(const World& world, const Plan& plan) {
    std::vector<std::vector<OpId>> lists(static_cast<size_t>(world.machine.size()));
    for (const OpId op : world.graph.topological_order()) {
      lists[static_cast<size_t>(plan.placement[static_cast<size_t>(op.index)].index)].push_back(op);
    }
    return lists;
  }

  Rng next() { return Rng(41).split(seed_++); }

  uint64_t seed_ = 0;
  std::vector<Specimen> made_;
};

// All of the above, made once.
inline const std::vector<Specimen>& genuine_runs() {
  static const std::vector<Specimen> runs = [] {
    SpecimenMaker maker;
    maker.add_simulated("sim", {.limits = false}, 24);
    maker.add_simulated("sim limited", {}, 24);
    maker.add_simulated("sim sampled", {.limits = false, .noise = true}, 16);
    if (const auto released = find_sim_model("released")) {  // in the tests of studies
      maker.add_simulated("released", {.limits = false}, 8, *released);
      maker.add_simulated("released sampled", {.limits = false, .noise = true}, 4, *released);
    }
    maker.add_online("sim online", {.limits = false}, 16);
    maker.add_null(8);
    maker.add_on_presets();
    maker.add_local(8);
    maker.add_files(4);
    return maker.take();
  }();
  return runs;
}

}  // namespace tutti::testing

#endif  // TUTTI_RUNTIME_FORGERY_TESTING_H_
