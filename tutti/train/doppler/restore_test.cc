// Checkpoints that somebody has had a hand in are refused with a sentence, whatever was changed.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/support/world.h"
#include "tutti/graph/make/layered.h"
#include "tutti/policy/doppler/residual_net.h"
#include "tutti/train/doppler/trainer.h"

namespace tutti {
namespace {

TrainSettings small_settings() {
  TrainSettings settings;
  settings.stages = {{.episodes = 16, .label_weight = 1, .search_evaluations = 20}};
  settings.episodes_per_problem = 4;
  settings.check_every = 1;
  return settings;
}

TensorFile after_an_update(const TrainingProblem& world) {
  const TensorFile fresh = ResidualNet::fresh({.width = 16, .second = 8, .rounds = 1}, 1);
  const auto trainer = must(Trainer::make(fresh, "fresh", small_settings(), {&world}));
  EXPECT_TRUE(must(trainer->update({})));
  return trainer->checkpoint();
}

Result<void> restored(const TensorFile& file, const TrainingProblem& world) {
  const auto trainer = Trainer::make(file, "kept", small_settings(), {&world});
  if (!trainer) return trainer.error();
  return {};
}

void expect_refused(const TensorFile& file, const TrainingProblem& world, const std::string& what) {
  const Result<void> done = restored(file, world);
  ASSERT_FALSE(done) << what;
  EXPECT_EQ(done.error().kind, Error::Kind::invalid_input) << what;
  EXPECT_TRUE(done.error().message.starts_with("kept: ")) << done.error().message;
  EXPECT_NE(done.error().message.find(what), std::string::npos) << done.error().message;
}

std::unique_ptr<TrainingProblem> layered(const Constraints& constraints = {}) {
  return must(TrainingProblem::make("layered",
                                    must(make_layered({.ops = 20, .width = 4, .seed = 2})),
                                    must(make_preset("uniform-3")), {}, constraints));
}

TEST(Restore, RefusesFiguresThatAreNone) {
  const auto world = layered();
  const TensorFile kept = after_an_update(*world);
  ASSERT_TRUE(restored(kept, *world));
  struct Case {
    std::string key;
    std::string sentence;
    std::vector<std::string> texts;
  };
  const std::vector<Case> cases = {
      {"updates", "'updates' is '", {"", "-1", "99999999999999999999"}},
      {"updates", "2 updates cannot have come to 4 episodes", {"2"}},
      {"episodes", "'episodes' is '", {"", "0x4"}},
      {"episodes", "1 updates cannot have come to", {"5", "1000000000000"}},
      {"adam_steps", "'adam_steps' is '", {"", "99999999999999999999"}},
      {"adam_steps", "1 updates cannot have come to 4 episodes and", {"3", "1000000000000"}},
      {"past.0.sum", "past.0", {"", "nan", "inf", "-0x1p+0", "banana", " 1", "1 "}},
      {"past.0.count", "past.0", {"", "nan", "-1", "0", "0.5", "1e999"}},
      {"best_ratio", "'best_ratio' is '", {"", "nan", "inf", "-1", "banana"}},
  };
  for (const Case& one : cases) {
    ASSERT_TRUE(kept.metadata.contains(one.key)) << one.key;
    for (const std::string& text : one.texts) {
      TensorFile file = kept;
      file.metadata[one.key] = text;
      SCOPED_TRACE(one.key + " is '" + text + "'");
      expect_refused(file, *world, one.sentence);
    }
  }
}

TEST(Restore, RefusesAnOptimiserOfAnotherNetwork) {
  const auto world = layered();
  const TensorFile kept = after_an_update(*world);
  const std::string name = "adam.second.select.rank";
  ASSERT_TRUE(kept.tensors.contains(name));
  TensorFile file = kept;
  file.tensors[name].data[0] = -1;
  expect_refused(file, *world, name);
  file.tensors[name] = {.shape = {2}, .data = {0, 0}};
  expect_refused(file, *world, name);
  file = kept;
  file.tensors["adam.first.nothing"] = {.shape = {1}, .data = {0}};
  expect_refused(file, *world, "adam.first.nothing");
}

TEST(Restore, RefusesALabelOnADeviceThatCannotRunTheOp) {
  // A run time is given for devices of kind "a" only.
  const char* machine = R"({"schema_version": 1, "name": "two",
      "device": [{"name": "a0", "kind": "a"}, {"name": "b0", "kind": "b"}],
      "link": [{"name": "l", "between": ["a0", "b0"]}]})";
  CostSpec costs;
  costs.run_times = {{.kind = "work", .device_kind = "a", .time_ns_by_size = {{0, 1000}}}};
  const auto world = must(TrainingProblem::make(
      "pair", graph_from(R"("ops":[{"name":"p","kind":"work"},{"name":"q","kind":"work"}])"),
      machine_from(machine), costs));
  TensorFile file = after_an_update(*world);
  ASSERT_TRUE(restored(file, *world));
  file.tensors.at("label.0.device").data[0] = 1;
  expect_refused(file, *world, "label.0");
}

TEST(Restore, RefusesALabelThatBreaksConstraints) {
  const auto free = layered();
  const std::string second(free->problem().machine.device(DeviceId{1}).name);
  const auto pinned = layered({.pins = {{.op = "op0", .devices = {second}}}});
  TensorFile file = after_an_update(*pinned);
  ASSERT_TRUE(restored(file, *pinned));
  file.tensors.at("label.0.device").data[0] = 0;
  expect_refused(file, *pinned, "label.0");

  const auto together = layered({.colocations = {{"op3", "op5"}}});
  file = after_an_update(*together);
  ASSERT_TRUE(restored(file, *together));
  float& device = file.tensors.at("label.0.device").data[3];
  device = device == 0 ? 1 : 0;
  expect_refused(file, *together, "label.0");
}

TEST(Restore, RefusesAGraphWithoutOps) {
  const auto world = must(
      TrainingProblem::make("nothing", graph_from(R"("ops":[])"), must(make_preset("uniform-2"))));
  const TensorFile fresh = ResidualNet::fresh({.width = 16, .second = 8, .rounds = 1}, 1);
  const auto trainer = Trainer::make(fresh, "fresh", small_settings(), {world.get()});
  ASSERT_FALSE(trainer);
  EXPECT_TRUE(trainer.error().message.starts_with("nothing: ")) << trainer.error().message;
}

}  // namespace
}  // namespace tutti
