#include "tutti/report/training_log.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tutti {
namespace {

std::string line(int update, double seconds, const std::string& more = "", int stage = 0) {
  return fmt::format(R"({{"update":{},"episodes":{},"stage":{},"seconds":{},"mean_ratio":{}{}}})"
                     "\n",
                     update, 16 * update, stage, seconds, 2.0 - 0.25 * (update % 4), more);
}

Result<TrainingLog> read(const std::string& text) {
  Source source = Source::from_text("log.jsonl", text);
  return read_training_log(source);
}

TrainingLog must_read(const std::string& text) {
  Result<TrainingLog> log = read(text);
  EXPECT_TRUE(log) << log.error().message;
  return log ? std::move(*log) : TrainingLog{};
}

constexpr const char* kWritten =
    R"({"update":1,"episodes":32,"stage":0,"seconds":0.5,"mean_ratio":1.25,"best_ratio":1,"label_ratio":0.75,"match":0.5,"loss":-2,"select_entropy":1.5,"place_entropy":0.25,"gradient_norm":null}

{"update":2,"episodes":64,"stage":1,"seconds":1.5,"mean_ratio":1.125,"best_ratio":1,"label_ratio":0.75,"match":0,"loss":1e300,"select_entropy":1,"place_entropy":0.5,"gradient_norm":3,"greedy_ratio":0.875}
)";

TEST(TrainingLog, ReadsWhatTrainWrites) {
  const TrainingLog log = must_read(kWritten);
  EXPECT_EQ(log.name, "log.jsonl");
  EXPECT_EQ(log.update_count, 2);
  ASSERT_EQ(log.updates.size(), 2);
  EXPECT_EQ(log.updates[0].time.episodes, 32);
  EXPECT_EQ(log.updates[0].mean_ratio, 1.25);
  EXPECT_EQ(log.updates[0].label_ratio, 0.75);
  EXPECT_EQ(log.updates[0].match, 0.5);
  EXPECT_EQ(log.updates[0].loss, -2);
  EXPECT_EQ(log.updates[0].place_entropy, 0.25);
  EXPECT_FALSE(log.updates[0].gradient_norm) << "it was not finite";
  EXPECT_FALSE(log.updates[1].loss) << "no page could show it";
  ASSERT_EQ(log.greedy.size(), 1);
  EXPECT_EQ(log.greedy[0].time.seconds, 1.5);
  EXPECT_EQ(log.greedy[0].ratio, 0.875);
  ASSERT_EQ(log.stages.size(), 2);
  EXPECT_EQ(log.stages[0].before.episodes, 0);
  EXPECT_EQ(log.stages[1].stage, 1);
  EXPECT_EQ(log.stages[1].before.episodes, 32);
  EXPECT_FALSE(log.cut);
}

TEST(TrainingLog, ReadsSymphonysToo) {
  const std::string text =
      R"({"update":1,"episodes":24,"seconds":3,"slowdown":2.5,"loss":0.5,"entropy":0.6,"gradient_norm":1})"
      "\n"
      R"({"update":2,"episodes":48,"seconds":6,"slowdown":2.25,"loss":0.25,"entropy":0.5,"ratio":0.95})"
      "\n";
  EXPECT_TRUE(looks_like_training_log(text));
  const TrainingLog log = must_read(text);
  ASSERT_EQ(log.updates.size(), 2);
  EXPECT_EQ(log.updates[0].place_entropy, 0.6);
  EXPECT_EQ(log.updates[1].loss, 0.25);
  ASSERT_EQ(log.greedy.size(), 1);
  EXPECT_EQ(log.greedy[0].ratio, 0.95);
  EXPECT_EQ(log.stages.size(), 1);
}

TEST(TrainingLog, IsRecognisedByItsFirstLine) {
  EXPECT_TRUE(looks_like_training_log(kWritten));
  EXPECT_TRUE(looks_like_training_log("\n" + line(1, 1)));
  EXPECT_FALSE(looks_like_training_log(""));
  EXPECT_FALSE(looks_like_training_log(R"({"format": "tutti-graph", "ops": []})"));
  EXPECT_FALSE(looks_like_training_log("{\n\"update\":1,\"episodes\":1,\"mean_ratio\":1}"));
}

TEST(TrainingLog, IsReadUpToWhereItWasCut) {
  const std::string whole = line(1, 1) + line(2, 2);
  for (size_t size = line(1, 1).size() + 1; size + 2 < whole.size(); ++size) {
    const TrainingLog log = must_read(whole.substr(0, size));
    EXPECT_EQ(log.update_count, 1) << size;
    EXPECT_TRUE(log.cut) << size;
  }
  // Only the new line is missing: nothing is lost.
  const TrainingLog log = must_read(whole.substr(0, whole.size() - 1));
  EXPECT_EQ(log.update_count, 2);
  EXPECT_FALSE(log.cut);
}

TEST(TrainingLog, GoesOnCountingSecondsWhereARunWasTakenUpAgain) {
  const TrainingLog log = must_read(line(1, 10) + line(2, 20) + line(3, 4) + line(4, 5));
  EXPECT_EQ(log.updates[1].time.seconds, 20);
  EXPECT_EQ(log.updates[2].time.seconds, 24);
  EXPECT_EQ(log.updates[3].time.seconds, 25);
}

TEST(TrainingLog, ThinsUpdatesEvenlyAndKeepsFirstLastAndEveryGreedyRatio) {
  for (const int count : {1, 1999, 2000, 2001, 2002, 4001, 50001}) {
    std::string text;
    for (int i = 1; i <= count; ++i) {
      text += line(i, i, i % 7 == 0 ? R"(,"greedy_ratio":0.5)" : "", i <= count / 2 ? 0 : 1);
    }
    const TrainingLog log = must_read(text);
    EXPECT_EQ(log.update_count, count);
    EXPECT_LE(log.updates.size(), kMostLoggedUpdates + 1);
    EXPECT_GE(log.updates.size(), std::min<size_t>(count, kMostLoggedUpdates / 2));
    if (count <= 2000) {
      EXPECT_EQ(log.updates.size(), count);
    }
    EXPECT_EQ(log.updates.front().time.update, 1);
    EXPECT_EQ(log.updates.back().time.update, count);
    EXPECT_EQ(log.greedy.size(), count / 7);
    EXPECT_EQ(log.stages.back().before.update, count / 2);
    for (size_t i = 2; i + 1 < log.updates.size(); ++i) {
      EXPECT_EQ(log.updates[i].time.update - log.updates[i - 1].time.update,
                log.updates[1].time.update - 1);
    }
  }
}

TEST(TrainingLog, SaysWhatIsWrongInOneSentenceWithItsLine) {
  const std::string good = line(1, 1);
  const std::pair<std::string, std::string> texts[] = {
      {"", "log.jsonl: holds no whole update"},
      {"\n \n", "log.jsonl: holds no whole update"},
      {R"({"update":1,)", "log.jsonl: holds no whole update"},
      {good + "{\n" + line(2, 2), "log.jsonl:2: not valid JSON"},
      {good + "\n[]\n", "log.jsonl:3: the update must be a table of keys"},
      {good + "3\n", "log.jsonl:2: the update must be"},
      {good + R"({"episodes":2,"stage":0,"seconds":1})", "log.jsonl:2: the update needs the key"},
      {good + R"({"update":2,"update":3})"
              "\n",
       "log.jsonl:2: key \"update\" stands twice"},
      {good + line(2, -1), "log.jsonl:2: \"seconds\" of the update must be"},
      {good + line(2, 2, R"(,"match":"x")"), "log.jsonl:2: \"match\" of the update must be"},
      {good + line(2, 2, R"(,"match":[[[[]]]])"), "log.jsonl:2: \"match\" of the update must be"},
      {good + line(2, 2, R"(,"match":1e400)"), "log.jsonl:2: not valid JSON"},
      {good + line(2, 2, ",\"x\":\"\xff\""), "log.jsonl:2: not valid JSON"},
      {good + line(2, 2, ",\"x\":" + std::string(1000, '[')), "log.jsonl:2: "},
      {good + good, "log.jsonl:2: update 1 follows update 1 but"},
      {line(1, 1, "", 1) + line(2, 2, "", 0), "log.jsonl:2: update 2 follows update 1 but"},
      {good + line(2, 2, "", 1001), "log.jsonl:2: \"stage\" of the update must be"},
      {good + std::string(1 << 20, ' '), "log.jsonl:2: the line is longer than 65536 bytes"},
  };
  for (const auto& [text, start] : texts) {
    const Result<TrainingLog> log = read(text);
    ASSERT_FALSE(log) << text;
    EXPECT_TRUE(log.error().message.starts_with(start)) << log.error().message;
    EXPECT_EQ(log.error().message.find('\n'), std::string::npos) << log.error().message;
    EXPECT_EQ(log.error().kind, Error::Kind::invalid_input);
  }
}

}  // namespace
}  // namespace tutti
