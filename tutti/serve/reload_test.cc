// Servers that are reloaded while jobs come, wait and run.

#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <string>
#include <thread>

#include "tutti/serve/served_testing.h"

namespace tutti {
namespace {

bool comes_true(const std::function<bool()>& so) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!so()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

// Refuses everything.
class PickyRunner final : public GatedRunner {
 public:
  Result<PreparedJob> prepare(Graph /*graph*/) const override {
    return invalid_input("nothing runs here");
  }
};

TEST(Reload, QueuedJobsRunOnTheNewRunnerAndNoneIsLost) {
  const TestFolder folder;
  Served served(folder.path());
  served.submit("?id=old");
  served.runner->wait_for_start(1);
  served.submit("?id=queued");
  const Result<void> picky = served.daemon->reload(std::make_unique<PickyRunner>());
  ASSERT_FALSE(picky);
  EXPECT_EQ(picky.error().message,
            "job 'queued' is queued and could not be run then: nothing runs here; cancel it, or "
            "reload when it is over");
  auto fresh = std::make_unique<GatedRunner>();
  GatedRunner* const next = fresh.get();
  ASSERT_TRUE(served.daemon->reload(std::move(fresh)));
  EXPECT_TRUE(served.daemon->served_by().reloading);
  EXPECT_FALSE(served.daemon->reload(std::make_unique<GatedRunner>()));
  EXPECT_EQ(served.submit("?id=later"), 201);
  EXPECT_NE(served.ask("GET", "/v1/jobs/later").body.find("the server is reloaded then"),
            std::string::npos);
  next->let(2);
  served.runner->let(1);
  for (const char* id : {"old", "queued", "later"}) EXPECT_EQ(served.state(id), "done");
  EXPECT_EQ(next->started(), (std::vector<std::string>{"queued", "later"}));
  EXPECT_FALSE(served.daemon->served_by().reloading);
  EXPECT_EQ(served.daemon->figures().reloads_total, 1);
}

TEST(Reload, NewRulesOfClientsHoldAtOnce) {
  const TestFolder folder;
  Served served(folder.path());
  EXPECT_EQ(served.submit("?id=a"), 201);
  ClientRules rules;
  rules.open_jobs.usual = 1;
  served.daemon->set_clients(rules);
  // Jobs without a client share one account.
  EXPECT_EQ(served.submit("?id=b"), 429);
  EXPECT_EQ(served.ask("GET", "/metrics").body.find("jobs_open{client=\"\""), std::string::npos);
  served.runner->let(2);
  EXPECT_EQ(served.state("a"), "done");
  EXPECT_EQ(served.submit("?id=b"), 201);
}

// Prepares the first graph, once it is let go, and refuses the others.
class OneOnlyRunner final : public GatedRunner {
 public:
  Result<PreparedJob> prepare(Graph graph) const override {
    if (prepared > 0) return invalid_input("one is enough");
    return GatedRunner::prepare(std::move(graph));
  }
};

TEST(Reload, ThatIsRefusedChangesNothingForJobsThatComeMeanwhile) {
  const TestFolder folder;
  Served served(folder.path());
  served.submit("?id=old");
  served.runner->wait_for_start(1);
  served.submit("?id=queued");
  auto fresh = std::make_unique<OneOnlyRunner>();
  fresh->hold(true);
  OneOnlyRunner* const next = fresh.get();
  auto reloaded = std::async(
      std::launch::async, [&] { return served.daemon->reload(std::move(fresh)).error().message; });
  ASSERT_TRUE(comes_true([&] { return next->prepared == 1; }));
  EXPECT_EQ(served.submit("?id=meanwhile"), 201);
  EXPECT_FALSE(served.daemon->reload(std::make_unique<GatedRunner>())) << "one at a time";
  next->hold(false);
  EXPECT_NE(reloaded.get().find("job 'meanwhile' is queued and could not be run then: one is"),
            std::string::npos);
  served.runner->let(3);
  for (const char* id : {"old", "queued", "meanwhile"}) EXPECT_EQ(served.state(id), "done");
  EXPECT_EQ(served.runner->prepared, 3) << "each once, by the runner that stays";
}

TEST(Reload, TakesNoEffectBeforeItIsChecked) {
  const TestFolder folder;
  Served served(folder.path());
  served.submit("?id=old");
  served.runner->wait_for_start(1);
  served.submit("?id=next");
  served.submit("?id=last");
  auto fresh = std::make_unique<OneOnlyRunner>();
  fresh->hold(true);
  OneOnlyRunner* const next = fresh.get();
  auto reloaded =
      std::async(std::launch::async, [&] { return bool(served.daemon->reload(std::move(fresh))); });
  ASSERT_TRUE(comes_true([&] { return next->prepared == 1; }));
  // No job runs for a moment.
  served.runner->let(1);
  EXPECT_EQ(served.state("old"), "done");
  ASSERT_TRUE(comes_true([&] { return served.daemon->find("next")->state == JobState::running; }));
  served.submit("?id=meanwhile");
  next->hold(false);
  EXPECT_FALSE(reloaded.get());
  EXPECT_EQ(served.daemon->figures().reloads_total, 0);
  EXPECT_FALSE(served.daemon->served_by().reloading);
  served.runner->let(3);
  for (const char* id : {"next", "last", "meanwhile"}) EXPECT_EQ(served.state(id), "done");
}

TEST(Reload, ASubmissionThatRacesWithItIsCheckedForTheNewRunner) {
  const TestFolder folder;
  Served served(folder.path());
  served.runner->hold(true);
  auto status = std::async(std::launch::async, [&] {
    return HttpClient::make(served.address(), "")->ask("POST", "/v1/jobs?id=a", kGraph)->status;
  });
  GatedRunner* const old = served.runner;  // until the submission lets it go
  ASSERT_TRUE(comes_true([&] { return old->prepared == 1; }));
  EXPECT_TRUE(served.daemon->reload(std::make_unique<PickyRunner>()));
  old->hold(false);
  EXPECT_EQ(status.get(), 422);
}

TEST(Reload, AKnownIdIsKnownAlsoWhereItCouldNotRunAnyMore) {
  const TestFolder folder;
  Served served(folder.path());
  EXPECT_EQ(served.submit("?id=a"), 201);
  served.runner->let(1);
  EXPECT_EQ(served.state("a"), "done");
  ASSERT_TRUE(served.daemon->reload(std::make_unique<PickyRunner>()));
  EXPECT_EQ(served.submit("?id=a"), 200);
  EXPECT_EQ(served.submit("?id=a&priority=1"), 409);
  EXPECT_EQ(served.submit("?id=b"), 422);
}

}  // namespace
}  // namespace tutti
