#include "tutti/serve/core.h"

#include <gtest/gtest.h>

#include "tutti/base/random.h"
#include "tutti/serve/journal/frames.h"
#include "tutti/serve/testing.h"

namespace tutti {
namespace {

using Accept = Submitted::Verdict;

// A core whose records go to a journal that is on the disk when the test says so.
class World {
 public:
  explicit World(const CoreLimits& limits = {}) : limits_(limits), core(limits) { settle(); }

  Submitted submit(const Submission& given) {
    Submitted submitted = core.submit(given, ++now_);
    if (submitted.record) journal.push_back(*submitted.record);
    return submitted;
  }
  std::optional<Started> start() {
    std::optional<Started> started = core.start(++now_);
    if (started) journal.push_back(started->record);
    return started;
  }
  void end(int64_t number, const Outcome& outcome = {}) {
    journal.push_back(core.end(number, outcome, ++now_));
  }
  Cancelled cancel(const std::string& id) {
    Cancelled cancelled = core.cancel(id, ++now_);
    if (cancelled.record) journal.push_back(*cancelled.record);
    return cancelled;
  }
  std::vector<OverJob> sync() {
    return core.journalled(static_cast<int64_t>(journal.size() - before_));
  }
  void accept(const Submission& given) {
    ASSERT_EQ(submit(given).verdict, Accept::accepted);
    sync();
  }
  JobState state(const std::string& id) const {
    const auto facts = core.find(id);
    EXPECT_TRUE(facts) << id;
    return facts ? facts->state : JobState::accepting;
  }

  // The server dies with the first `kept` records on the disk, and another takes over.
  void die(size_t kept) {
    journal.resize(kept);
    core = Core(limits_);
    for (const Record& record : journal) {
      const Result<Record> read = read_record(to_bytes(record), kJournalVersion);
      ASSERT_TRUE(read);
      const Result<void> taken = core.replay(*read);
      ASSERT_TRUE(taken) << taken.error().message;
    }
    before_ = journal.size();
    settle();
  }
  void die() { die(journal.size()); }
  // The journal is written anew.
  void rewrite() {
    journal = core.snapshot();
    die();
  }

 private:
  void settle() {
    for (Record& record : core.recovered(++now_)) journal.push_back(std::move(record));
    sync();
  }

  CoreLimits limits_;
  size_t before_ = 0;  // records of earlier lives
  int64_t now_ = 1000;

 public:
  Core core;
  std::vector<Record> journal{};
};

TEST(Core, AcceptsAJobOnceItsRecordIsOnTheDisk) {
  World world;
  const Submitted submitted = world.submit(submission("a"));
  EXPECT_EQ(submitted.verdict, Accept::accepted);
  EXPECT_EQ(world.state("a"), JobState::accepting);
  EXPECT_FALSE(world.start());
  world.sync();
  EXPECT_EQ(world.state("a"), JobState::queued);
  EXPECT_TRUE(world.start());
}

TEST(Core, RunsTheGreatestPriorityFirstAndOfThoseWhoCameFirst) {
  World world;
  world.accept(submission("a", 1));
  world.accept(submission("b", 5));
  world.accept(submission("c", 5));
  world.accept(submission("d", -2));
  std::vector<std::string> order;
  std::vector<std::string> reasons;
  while (const auto started = world.start()) {
    order.push_back(started->job.id);
    reasons.push_back(started->reason);
  }
  EXPECT_EQ(order, (std::vector<std::string>{"b", "c", "a", "d"}));
  EXPECT_EQ(reasons[0], "it came first of those with priority 5; 4 jobs were queued");
  EXPECT_EQ(reasons[1], "its priority 5 is the greatest of 3 queued jobs");
  EXPECT_EQ(reasons[3], "the only job queued");
}

TEST(Core, ReportsAnEndOnceItIsOnTheDisk) {
  World world;
  world.accept(submission("a"));
  const auto started = world.start();
  world.end(started->job.number, {.makespan = Duration(7)});
  EXPECT_EQ(world.state("a"), JobState::running);
  const auto over = world.sync();
  ASSERT_EQ(over.size(), 1U);
  EXPECT_EQ(over[0].job.id, "a");
  EXPECT_TRUE(over[0].was_running);
  EXPECT_EQ(world.state("a"), JobState::done);
  EXPECT_EQ(world.core.find("a")->makespan, Duration(7));
  EXPECT_EQ(world.core.figures().open(), 0);
  EXPECT_EQ(world.core.figures().open_bytes, 0);
}

TEST(Core, GivesTheSameJobForTheSameSubmissionAndRefusesAnother) {
  World world;
  world.accept(submission("a", 3, "x"));
  EXPECT_EQ(world.submit(submission("a", 3, "x")).verdict, Accept::known);
  EXPECT_EQ(world.submit(submission("a", 3, "y")).verdict, Accept::conflict);
  EXPECT_EQ(world.submit(submission("a", 2, "x")).verdict, Accept::conflict);
  world.end(world.start()->job.number);
  world.sync();
  // Also when its content is gone, and after the server was started again.
  EXPECT_EQ(world.submit(submission("a", 3, "x")).verdict, Accept::known);
  world.die();
  EXPECT_EQ(world.submit(submission("a", 3, "x")).verdict, Accept::known);
  EXPECT_EQ(world.submit(submission("a", 3, "y")).verdict, Accept::conflict);
}

TEST(Core, GivesIdsOfItsOwnThatNoOtherJobEverHas) {
  World world({.kept_jobs = 1});
  EXPECT_EQ(world.submit(submission("")).job.id, "job-1");
  EXPECT_EQ(world.submit(submission("")).job.id, "job-2");
  world.sync();
  while (const auto started = world.start()) world.end(started->job.number);
  world.sync();
  EXPECT_FALSE(world.core.find("job-1"));  // forgotten
  world.rewrite();
  EXPECT_EQ(world.submit(submission("")).job.id, "job-3");
}

TEST(Core, RefusesMoreThanItsLimits) {
  World world({.open_jobs = 2, .open_bytes = 25});
  world.accept(submission("a", 0, "ten bytes."));
  EXPECT_EQ(world.submit(submission("b", 0, "sixteen bytes ..")).verdict, Accept::full);
  world.accept(submission("b", 0, "ten bytes."));
  EXPECT_EQ(world.submit(submission("c", 0, "")).verdict, Accept::full);
  EXPECT_EQ(world.submit(submission("a", 0, "ten bytes.")).verdict, Accept::known);
  world.end(world.start()->job.number);
  EXPECT_EQ(world.submit(submission("c", 0, "")).verdict, Accept::full);  // not yet on the disk
  world.sync();
  EXPECT_EQ(world.submit(submission("c", 0, "")).verdict, Accept::accepted);
}

TEST(Core, TakesNothingNewWhileItDrainsButKnowsWhatItHas) {
  World world;
  world.accept(submission("a"));
  world.core.drain();
  EXPECT_EQ(world.submit(submission("b")).verdict, Accept::draining);
  EXPECT_EQ(world.submit(submission("a")).verdict, Accept::known);
  EXPECT_TRUE(world.start());
}

TEST(Core, CancelsWhatIsQueuedAndAsksWhatRunsToStop) {
  World world;
  world.accept(submission("a"));
  world.accept(submission("b"));
  const auto a = world.start();
  EXPECT_EQ(world.cancel("b").verdict, Cancelled::Verdict::queued);
  EXPECT_FALSE(world.start());
  EXPECT_EQ(world.cancel("a").verdict, Cancelled::Verdict::running);
  EXPECT_EQ(world.cancel("a").verdict, Cancelled::Verdict::asked);
  EXPECT_EQ(world.state("b"), JobState::queued);  // not yet on the disk
  world.sync();
  EXPECT_EQ(world.state("b"), JobState::cancelled);
  EXPECT_EQ(world.state("a"), JobState::running);
  world.end(a->job.number, {.state = JobState::cancelled});
  world.sync();
  EXPECT_EQ(world.state("a"), JobState::cancelled);
  EXPECT_EQ(world.cancel("a").verdict, Cancelled::Verdict::over);
  EXPECT_EQ(world.cancel("nobody").verdict, Cancelled::Verdict::unknown);
}

TEST(Core, CancelsAJobThatIsNotYetAccepted) {
  World world;
  world.submit(submission("a"));
  EXPECT_EQ(world.cancel("a").verdict, Cancelled::Verdict::queued);
  world.sync();
  EXPECT_EQ(world.state("a"), JobState::cancelled);
  EXPECT_FALSE(world.start());
}

TEST(Core, RunsAgainWhatWasRunningWhenItDiedAndNothingThatWasOver) {
  World world;
  for (const char* id : {"a", "b", "c"}) world.accept(submission(id));
  world.end(world.start()->job.number);
  world.sync();
  world.start();
  world.die();
  EXPECT_EQ(world.state("a"), JobState::done);
  EXPECT_EQ(world.state("b"), JobState::queued);
  const auto again = world.start();
  EXPECT_EQ(again->job.id, "b");
  EXPECT_EQ(again->job.attempts, 2);
  EXPECT_EQ(*again->content, "content");
  EXPECT_EQ(world.start()->job.id, "c");
  EXPECT_FALSE(world.start());
}

TEST(Core, DoesNotRunAgainWhatSomebodyCancelled) {
  World world;
  world.accept(submission("a"));
  world.accept(submission("b"));
  world.start();
  world.cancel("a");
  world.cancel("b");
  world.die();
  EXPECT_FALSE(world.start());
  EXPECT_EQ(world.state("a"), JobState::cancelled);
  EXPECT_EQ(world.state("b"), JobState::cancelled);
}

TEST(Core, GivesUpAJobThatWasRunningEachTimeTheServerDied) {
  World world({.attempts = 3});
  world.accept(submission("a"));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(world.start());
    world.die();
    if (i == 0) world.rewrite();  // attempts are not forgotten
  }
  EXPECT_FALSE(world.start());
  EXPECT_EQ(world.state("a"), JobState::failed);
  EXPECT_EQ(world.core.find("a")->message,
            "given up: it was running each of the 3 times the server died after starting it");
}

TEST(Core, DoesNotCountAnAttemptThatWasStoppedWithTheServer) {
  World world({.attempts = 2});
  world.accept(submission("a"));
  for (int i = 0; i < 5; ++i) {
    const auto started = world.start();
    ASSERT_TRUE(started);
    EXPECT_EQ(started->job.attempts, 1);
    world.journal.push_back(world.core.put_back(started->job.number, 1));
    world.die();
  }
  EXPECT_EQ(world.state("a"), JobState::queued);
}

TEST(Core, ForgetsTheOldestOfWhatIsOver) {
  World world({.kept_jobs = 2});
  for (const char* id : {"a", "b", "c"}) world.accept(submission(id));
  while (const auto started = world.start()) {
    world.end(started->job.number);
    world.sync();
  }
  EXPECT_FALSE(world.core.find("a"));
  EXPECT_TRUE(world.core.find("b"));
  EXPECT_EQ(world.submit(submission("a")).verdict, Accept::accepted);
  EXPECT_EQ(world.core.figures().kept, 2);
}

TEST(Core, ListsTheLatestFirst) {
  World world;
  for (const char* id : {"a", "b", "c", "d"}) world.accept(submission(id));
  world.start();
  const auto ids = [](const std::vector<JobFacts>& jobs) {
    std::string text;
    for (const JobFacts& job : jobs) text += job.id;
    return text;
  };
  EXPECT_EQ(ids(world.core.list({}, 100, 10)), "dcba");
  EXPECT_EQ(ids(world.core.list({}, 4, 2)), "cb");
  EXPECT_EQ(ids(world.core.list({JobState::running}, 100, 10)), "a");
}

TEST(Core, RefusesRecordsThatContradictEachOther) {
  const Record accepted{.kind = Record::Kind::accepted,
                        .job = 4,
                        .id = "a",
                        .content = std::make_shared<const std::string>()};
  const Record ended{.kind = Record::Kind::ended, .job = 4};
  const Record number{.kind = Record::Kind::numbered, .job = 3};
  const std::vector<std::vector<Record>> wrong = {
      {ended}, {accepted, accepted}, {accepted, ended, ended}, {accepted, number}};
  for (const std::vector<Record>& records : wrong) {
    Core core({});
    for (size_t i = 0; i + 1 < records.size(); ++i) ASSERT_TRUE(core.replay(records[i]));
    EXPECT_FALSE(core.replay(records.back()));
  }
}

// Clients that submit, cancel and ask again, a server that dies with any part of its last records
// on the disk. Whoever was told "accepted" finds the job; whoever was told "over" never sees it
// started again.
TEST(Core, KeepsItsPromisesHoweverOftenItDies) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(seed);
    World world({.open_jobs = 6, .attempts = 1000});
    std::map<std::string, JobState> told;  // accepted, or over
    std::vector<int64_t> running;
    size_t synced = world.journal.size();
    int names = 0;
    for (int step = 0; step < 120; ++step) {
      switch (rng.below(8)) {
        case 0:
        case 1:
          world.submit(
              submission("c" + std::to_string(names++ % 40), static_cast<int32_t>(rng.below(3))));
          break;
        case 2:
        case 3:
          if (const auto started = world.start()) {
            EXPECT_FALSE(told.contains(started->job.id) && is_over(told[started->job.id]))
                << started->job.id << " runs again";
            running.push_back(started->job.number);
          }
          break;
        case 4:
          if (running.empty()) break;
          world.end(running.back());
          running.pop_back();
          break;
        case 5:
          world.cancel("c" + std::to_string(rng.below(40)));
          break;
        case 6:  // the disk catches up; now clients are told
          world.sync();
          synced = world.journal.size();
          for (const JobFacts& job : world.core.list({}, 1000, 1000)) told[job.id] = job.state;
          break;
        default:
          if (rng.below(3) != 0) break;
          if (rng.below(4) == 0) {
            world.sync();
            for (const JobFacts& job : world.core.list({}, 1000, 1000)) told[job.id] = job.state;
            world.rewrite();
          } else {
            world.die(synced + rng.below(world.journal.size() - synced + 1));
          }
          running.clear();
          synced = world.journal.size();
          for (const auto& [id, state] : told) {
            const auto found = world.core.find(id);
            ASSERT_TRUE(found) << id << " is lost, seed " << seed;
            if (is_over(state)) {
              EXPECT_EQ(found->state, state) << id << ", seed " << seed;
            }
          }
      }
    }
  }
}

TEST(Core, SaysNothingOfAJobThatWasForgottenMeanwhile) {
  const Core core({});
  JobFacts gone;
  gone.number = 7;
  EXPECT_EQ(core.why_queued(gone, 1, Duration(0)), "");
}

}  // namespace
}  // namespace tutti
