#include "tutti/train/doppler/trainer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "test/support/world.h"
#include "tutti/base/file/output.h"
#include "tutti/graph/make/layered.h"
#include "tutti/policy/doppler/residual_net.h"
#include "tutti/train/training.h"

namespace tutti {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

int lines_in(const std::string& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

class TrainingRun : public testing::Test {
 protected:
  TrainingRun() : folder_(testing::TempDir() + "tutti-run") {
    std::filesystem::remove_all(folder_);
    settings_.stages = {
        {.kind = StageSettings::Kind::imitate, .episodes = 8},
        {.episodes = 16, .label_weight = 1, .search_evaluations = 20, .search_walks = 2}};
    settings_.episodes_per_problem = 4;
    settings_.lessons_per_problem = 2;
    settings_.check_every = 2;
    world_ = make_world({});
  }
  ~TrainingRun() override { std::filesystem::remove_all(folder_); }

  // Stops after so many updates; 0: never.
  Result<RunEnd> run(const std::string& name, int updates = 0) {
    std::atomic<bool> enough{false};
    int done = 0;
    RunSettings run{.folder = folder_ + "/" + name, .stop = Stop(&enough)};
    run.on_update = [&](const UpdateReport&, double) {
      if (++done == updates) enough = true;
    };
    return train_in_folder(network_, "fresh", settings_, {world_.get()}, run);
  }
  TensorFile checkpoint_after(int updates) {
    std::filesystem::remove_all(file("some"));
    EXPECT_TRUE(run("some", updates));
    Source source = must(Source::open(file("some/checkpoint.safetensors")));
    return must(read_tensors(source));
  }
  double figure_after(int updates, const std::string& key) {
    return std::strtod(checkpoint_after(updates).metadata.at(key).c_str(), nullptr);
  }
  static std::unique_ptr<TrainingProblem> make_world(const Constraints& constraints) {
    return must(TrainingProblem::make("layered",
                                      must(make_layered({.ops = 30, .width = 5, .seed = 2})),
                                      must(make_preset("mixed-5")), {}, constraints));
  }
  std::string device_name(int index) const {
    return world_->problem().machine.device(DeviceId{index}).name;
  }
  void expect_another_run() {
    const std::string kept = text_of(file("run/checkpoint.safetensors"));
    const auto other = run("run");
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().kind, Error::Kind::invalid_input);
    EXPECT_NE(other.error().message.find("other settings"), std::string::npos);
    EXPECT_EQ(text_of(file("run/checkpoint.safetensors")), kept);
  }
  std::string file(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_;
  TrainSettings settings_;
  std::unique_ptr<TrainingProblem> world_;
  TensorFile network_ = ResidualNet::fresh({.width = 16, .second = 8, .rounds = 1}, 1);
};

TEST_F(TrainingRun, ComesToTheSameBytesWhereverItWasStoppedAndWithAnyThreads) {
  ASSERT_TRUE(run("whole"));
  settings_.threads = 3;
  // The second stop is between the stages.
  for (const int updates : {1, 1, 1, 2}) ASSERT_TRUE(run("parts", updates));
  ASSERT_TRUE(run("parts"));
  for (const char* name : {"checkpoint.safetensors", "model.safetensors"}) {
    EXPECT_EQ(text_of(file("whole/") + name), text_of(file("parts/") + name)) << name;
  }
  EXPECT_EQ(lines_in(text_of(file("parts/log.jsonl"))), 6);
}

TEST_F(TrainingRun, ComparesEpisodesWithThoseOfTheirStageOnly) {
  settings_.stages.back().baseline = StageSettings::Baseline::past;
  // Of four episodes each, after two updates of imitation and one of the next stage.
  EXPECT_EQ(figure_after(1, "past.0.count"), 4);
  EXPECT_EQ(figure_after(2, "past.0.count"), 0);
  EXPECT_EQ(figure_after(2, "past.0.sum"), 0);
  EXPECT_EQ(figure_after(3, "past.0.count"), 4);
  settings_.stages.back().carries_past = true;
  EXPECT_EQ(figure_after(3, "past.0.count"), 12);
}

TEST_F(TrainingRun, BeginsEachStageWithANewOptimiser) {
  EXPECT_EQ(figure_after(1, "adam_steps"), 1);
  EXPECT_EQ(figure_after(2, "adam_steps"), 0);
  for (const auto& [name, tensor] : checkpoint_after(2).tensors) {
    if (!name.starts_with("adam.")) continue;
    for (const float value : tensor.data) ASSERT_EQ(value, 0) << name;
  }
  EXPECT_EQ(figure_after(3, "adam_steps"), 1);
  settings_.stages.back().carries_moments = true;
  EXPECT_EQ(figure_after(3, "adam_steps"), 3);
}

// There is no stage behind it that would want another.
TEST_F(TrainingRun, KeepsTheOptimiserOfTheLastStage) {
  EXPECT_EQ(figure_after(6, "adam_steps"), 4);
}

TEST_F(TrainingRun, LogsAnewWhatCameAfterTheLastCheckpoint) {
  ASSERT_TRUE(run("run", 2));
  const std::string two = text_of(file("run/log.jsonl"));
  // As if it had gone on and been killed before the next checkpoint.
  ASSERT_TRUE(write_file(file("run/log.jsonl"), two + two));
  ASSERT_TRUE(run("run", 1));
  EXPECT_EQ(lines_in(text_of(file("run/log.jsonl"))), 3);
}

TEST_F(TrainingRun, RefusesACheckpointOfOtherSettings) {
  ASSERT_TRUE(run("run", 1));
  settings_.seed = 99;
  expect_another_run();
}

TEST_F(TrainingRun, RefusesACheckpointOfAnotherNetwork) {
  ASSERT_TRUE(run("run", 1));
  network_ = ResidualNet::fresh({.width = 16, .second = 8, .rounds = 1, .one_pass = true}, 1);
  expect_another_run();
}

TEST_F(TrainingRun, RefusesACheckpointThatBeganWithOtherTensors) {
  ASSERT_TRUE(run("run", 1));
  network_.tensors.begin()->second.data.back() += 0.5F;
  expect_another_run();
}

TEST_F(TrainingRun, RefusesACheckpointOfOtherConstraints) {
  ASSERT_TRUE(run("run", 1));
  world_ = make_world({.pins = {{.op = "op0", .devices = {device_name(0)}}}});
  expect_another_run();
}

TEST_F(TrainingRun, BeginsWithNoCheckpointOfAnotherFolder) {
  ASSERT_TRUE(run("run", 1));
  Source source = must(Source::open(file("run/checkpoint.safetensors")));
  network_ = must(read_tensors(source));
  const auto other = run("other");
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("model.safetensors"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(file("other")));
}

// What is in the folder when the lock is had counts, not what was there before.
TEST_F(TrainingRun, GoesOnFromWhatAnotherRunHasLeftMeanwhile) {
  ASSERT_TRUE(run("other", 2));
  class Late : public Training {
   public:
    bool done() const override { return true; }
    int64_t updates() const override { return 0; }
    int64_t episodes() const override { return 0; }
    int64_t total_episodes() const override { return 0; }
    std::optional<double> best_ratio() const override { return std::nullopt; }
    Result<std::optional<std::string>> advance(const Stop&,
                                               const std::function<double()>&) override {
      return std::optional<std::string>();
    }
    TensorFile model() const override { return {}; }
    TensorFile checkpoint() const override { return {}; }
  };
  std::vector<std::string> updates;
  const auto make = [&](const TensorFile& state,
                        const std::string&) -> Result<std::unique_ptr<Training>> {
    const auto found = state.metadata.find("updates");
    updates.push_back(found == state.metadata.end() ? "none" : found->second);
    if (updates.size() == 1) std::filesystem::copy(file("other"), file("run"));
    return std::unique_ptr<Training>(std::make_unique<Late>());
  };
  const FolderRun wish{.folder = file("run"),
                       .settings = settings_to_text(network_, settings_, {world_.get()})};
  ASSERT_TRUE(train_in_folder(network_, "fresh", wish, make));
  EXPECT_EQ(updates, (std::vector<std::string>{"none", "2"}));
}

TEST_F(TrainingRun, RefusesABrokenCheckpointAndLeavesItThere) {
  ASSERT_TRUE(run("run", 1));
  const std::string path = file("run/checkpoint.safetensors");
  const std::string whole = text_of(path);
  const std::string broken = whole.substr(0, whole.size() / 2);
  ASSERT_TRUE(write_file(path, broken));
  const auto next = run("run");
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().kind, Error::Kind::invalid_input);
  EXPECT_EQ(text_of(path), broken);
}

TEST_F(TrainingRun, SaysHowItHasEnded) {
  const RunEnd stopped = must(run("run", 3));
  EXPECT_FALSE(stopped.done);
  EXPECT_EQ(stopped.updates, 3);
  EXPECT_EQ(stopped.episodes, 12);
  EXPECT_EQ(stopped.total_episodes, 24);
  EXPECT_TRUE(stopped.best_ratio);
  EXPECT_TRUE(std::filesystem::exists(stopped.model));
  EXPECT_TRUE(must(run("run")).done);
  const RunEnd again = must(run("run"));
  EXPECT_TRUE(again.done);
  EXPECT_EQ(again.updates, 0);
}

// However long an update may take, its time will come.
TEST_F(TrainingRun, ComesToTheSameBytesWhereverAnUpdateWasCutShort) {
  settings_.stages.back().repeats = 2;
  settings_.check_every = 1;
  ASSERT_TRUE(run("whole"));
  int dropped = 0;
  for (std::chrono::microseconds time(0);; time = time * 5 / 4 + std::chrono::microseconds(50)) {
    const RunSettings wish{.folder = file("parts"), .stop = Stop().by(Stop::Clock::now() + time)};
    const RunEnd end = must(train_in_folder(network_, "fresh", settings_, {world_.get()}, wish));
    if (end.done) break;
    ++dropped;
  }
  EXPECT_GT(dropped, 0);
  for (const char* name : {"checkpoint.safetensors", "model.safetensors"}) {
    EXPECT_EQ(text_of(file("whole/") + name), text_of(file("parts/") + name)) << name;
  }
}

TEST_F(TrainingRun, EndsWithTheLastGoodCheckpointWhereNumbersEnd) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  settings_.stages.back().learning_rate = {1e-3, kNan};
  // A share of 0 times NaN is NaN: the second stage fails at once.
  const auto ended = run("run");
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().kind, Error::Kind::failed);
  EXPECT_NE(ended.error().message.find("no number"), std::string::npos);
  Source source = must(Source::open(file("run/checkpoint.safetensors")));
  EXPECT_EQ(must(read_tensors(source)).metadata.at("updates"), "2");
}

TEST_F(TrainingRun, TriesItsFilesBeforeItLearns) {
  for (const char* name : {"model.safetensors", "checkpoint.safetensors", "log.jsonl"}) {
    std::filesystem::remove_all(file("run"));
    std::filesystem::create_directories(file("run/") + name);
    int updates = 0;
    RunSettings wish{.folder = file("run")};
    wish.on_update = [&](const UpdateReport&, double) { ++updates; };
    EXPECT_FALSE(train_in_folder(network_, "fresh", settings_, {world_.get()}, wish)) << name;
    EXPECT_EQ(updates, 0) << name;
  }
}

TEST_F(TrainingRun, KeepsWhatItLearnedIfItsLogCannotBeWritten) {
  std::filesystem::create_directories(file("run"));
  std::filesystem::create_symlink("/dev/full", file("run/log.jsonl"));
  const auto ended = run("run");
  ASSERT_FALSE(ended);
  EXPECT_NE(ended.error().message.find("log.jsonl"), std::string::npos);
  Source source = must(Source::open(file("run/checkpoint.safetensors")));
  EXPECT_EQ(must(read_tensors(source)).metadata.at("updates"), "1");
}

}  // namespace
}  // namespace tutti
