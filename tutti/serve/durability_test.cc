// What a server keeps across restarts and full disks.

#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tutti/serve/served_testing.h"

namespace tutti {
namespace {

TEST(Serve, GoesOnWhereItStoppedAndRunsNothingTwice) {
  const TestFolder folder;
  {
    const Served served(folder.path());
    for (const char* id : {"a", "b", "c"}) served.submit(std::string("?id=") + id);
    served.runner->let(1);
    EXPECT_EQ(served.state("a"), "done");
    served.runner->wait_for_start(2);
  }  // b is running
  const Served served(folder.path());
  served.runner->let(2);
  EXPECT_EQ(served.state("b"), "done");
  EXPECT_EQ(served.state("c"), "done");
  EXPECT_EQ(served.state("a"), "done");
  EXPECT_EQ(served.runner->started(), (std::vector<std::string>{"b", "c"}));
  EXPECT_NE(served.ask("GET", "/v1/jobs/b").body.find("\"attempts\":1"), std::string::npos)
      << "a run that was stopped with the server does not count";
  EXPECT_EQ(served.submit("?id=a"), 200);
}

TEST(Serve, WritesItsJournalAnewWhenItHasGrown) {
  const TestFolder folder;
  {
    const Served served(folder.path(), {.limits = {.kept_jobs = 5}, .longest_journal = 20000});
    served.runner->let(1000);
    for (int i = 0; i < 60; ++i) served.submit("?id=n" + std::to_string(i));
    EXPECT_EQ(served.state("n59"), "done");
    EXPECT_GT(served.daemon->figures().journal.rewrites_total, 0);
    EXPECT_LT(served.daemon->figures().journal.bytes, 25000);
  }
  const Served served(folder.path(), {.limits = {.kept_jobs = 5}});
  EXPECT_EQ(served.state("n59"), "done");
  EXPECT_EQ(served.daemon->figures().jobs.kept, 5);
}

TEST(Serve, SaysSoWhenItsDiskIsFullAndGoesOnAnswering) {
  const TestFolder folder;
  std::string said;
  DaemonOptions options;
  options.on_broken = [&said](const std::string& sentence) { said += sentence + "\n"; };
  const Served served(folder.path(), options);
  EXPECT_EQ(served.submit("?id=a"), 201);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  const auto size = static_cast<rlim_t>(served.daemon->figures().journal.bytes) + 10;
  const rlimit full{size, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
  const HttpReply refused = served.ask("POST", "/v1/jobs?id=b", kGraph);
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(refused.status, 503);
  EXPECT_NE(refused.body.find("the journal has failed"), std::string::npos) << refused.body;
  EXPECT_EQ(served.submit("?id=c"), 503);
  EXPECT_EQ(served.ask("DELETE", "/v1/jobs/a").status, 503);
  EXPECT_EQ(served.ask("GET", "/v1/jobs/a").status, 200);
  EXPECT_NE(served.ask("GET", "/metrics").body.find("tutti_journal_broken 1\n"), std::string::npos);
  // Nobody waits for what will not come, and what was refused is gone.
  EXPECT_EQ(served.ask("GET", "/v1/jobs/a?wait=60").status, 503);
  EXPECT_EQ(served.ask("POST", "/v1/drain").status, 503);
  EXPECT_EQ(served.ask("GET", "/v1/jobs/b?wait=60").status, 404);
  EXPECT_EQ(served.daemon->figures().jobs.accepting, 0);
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
}

// Row 14 of the audit: /healthz stayed 200.
TEST(Serve, SaysThatItIsNotWellOnceItsJournalHasFailed) {
  const TestFolder folder;
  const Served served(folder.path());
  EXPECT_EQ(served.ask("GET", "/healthz").status, 200);
  EXPECT_EQ(served.ask("GET", "/readyz").status, 200);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  const auto size = static_cast<rlim_t>(served.daemon->figures().journal.bytes) + 10;
  const rlimit full{size, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
  EXPECT_EQ(served.submit("?id=b"), 503);
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  const HttpReply health = served.ask("GET", "/healthz");
  EXPECT_EQ(health.status, 503);
  EXPECT_EQ(health.body, "the journal has failed\n");
  EXPECT_EQ(served.ask("GET", "/readyz").status, 503);
}

TEST(Serve, IsReadyWhileThereIsRoomAndItDoesNotDrain) {
  const TestFolder folder;
  const Served served(folder.path(), {.limits = {.open_jobs = 1}});
  EXPECT_EQ(served.ask("GET", "/readyz").body, "ready\n");
  EXPECT_EQ(served.submit("?id=a"), 201);
  EXPECT_EQ(served.ask("GET", "/readyz").status, 503);
  EXPECT_EQ(served.ask("GET", "/healthz").status, 200);
  served.runner->let(1);
  EXPECT_EQ(served.state("a"), "done");
  EXPECT_EQ(served.ask("GET", "/readyz").status, 200);
  served.ask("POST", "/v1/drain");
  EXPECT_EQ(served.ask("GET", "/readyz").body, "the server is draining\n");
}

TEST(Serve, KnowsWhoseAJobIsAlsoAfterARestart) {
  const TestFolder folder;
  const std::string alice(32, 'a');
  const std::string bob(32, 'b');
  const auto tokens = std::make_shared<const TokenStore>(
      *Tokens::parse("alice " + alice + "\nbob " + bob + "\n", "t"));
  for (const bool again : {false, true}) {
    const Served served(folder.path(), {}, "", {}, tokens);
    auto one = HttpClient::make(served.address(), alice);
    auto other = HttpClient::make(served.address(), bob);
    EXPECT_EQ(served.ask("GET", "/v1/jobs").status, 401);
    EXPECT_EQ(one->ask("POST", "/v1/jobs?id=a", kGraph)->status, again ? 200 : 201);
    EXPECT_EQ(other->ask("POST", "/v1/jobs?id=b", kGraph)->status, again ? 200 : 201);
    EXPECT_EQ(other->ask("POST", "/v1/jobs?id=a", kGraph)->status, 409);
    EXPECT_NE(other->ask("GET", "/v1/jobs/a")->body.find(R"("client":"alice")"), std::string::npos);
    const std::string metrics = one->ask("GET", "/metrics")->body;
    EXPECT_NE(metrics.find("tutti_client_jobs_open{client=\"bob\"} 1\n"), std::string::npos)
        << metrics;
  }
}

// Row 2 of the audit: numbers began anew beside the folders of earlier jobs.
TEST(Serve, GivesNoNumberAgainThatAFolderBesideTheJournalHas) {
  const TestFolder folder;
  {
    const Served served(folder.path());
    EXPECT_EQ(served.submit("?id=a"), 201);
    EXPECT_TRUE(served.daemon->notices().empty());
  }
  std::filesystem::create_directories(folder.path() + "/runs/41");
  std::filesystem::create_directories(folder.path() + "/runs/note");
  std::filesystem::remove(folder.path() + "/journal");
  const Served served(folder.path());
  ASSERT_EQ(served.daemon->notices().size(), 1U);
  EXPECT_NE(served.daemon->notices()[0].find("is older than"), std::string::npos);
  EXPECT_NE(served.ask("POST", "/v1/jobs?id=a", kGraph).body.find(R"("number":42)"),
            std::string::npos);
}

TEST(Serve, GivesNoNumberAgainThatAHistoryHas) {
  const TestFolder folder;
  std::filesystem::create_directories(folder.path() + "/history");
  std::ofstream(folder.path() + "/history/41.job") << "of another journal";
  const Served served(folder.path());
  EXPECT_NE(served.ask("POST", "/v1/jobs?id=a", kGraph).body.find(R"("number":42)"),
            std::string::npos);
}

// A server of before may have given the number of an old history again.
TEST(Serve, KeepsTheFolderOfAnOpenJobWhenAHistoryOfItsNumberIsDeleted) {
  const TestFolder folder;
  {
    const Served served(folder.path());
    EXPECT_EQ(served.submit("?id=open"), 201);
  }
  const std::filesystem::path path(folder.path());
  std::filesystem::create_directories(path / "history");
  const auto now = std::filesystem::file_time_type::clock::now();
  for (const int number : {1, 2}) {
    const std::string name = std::to_string(number);
    std::filesystem::create_directories(path / "runs" / name);
    std::ofstream(path / "runs" / name / "job.json") << "{}";
    std::ofstream(path / "history" / (name + ".job")) << "of another journal";
    std::filesystem::last_write_time(path / "history" / (name + ".job"),
                                     now - std::chrono::hours(30 - number));
  }
  const Served served(folder.path(), {.history = {.age = std::chrono::hours(1)}});
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  // They go in the order of their age.
  while (std::filesystem::exists(path / "runs" / "2") && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_FALSE(std::filesystem::exists(path / "runs" / "2"));
  EXPECT_FALSE(std::filesystem::exists(path / "history" / "1.job"));
  EXPECT_TRUE(std::filesystem::exists(path / "runs" / "1" / "job.json"));
}

TEST(Serve, KeepsAHistoryOfAJobThatNeverRan) {
  const TestFolder folder;
  const Served served(folder.path());
  EXPECT_EQ(served.submit("?id=runs"), 201);
  EXPECT_EQ(served.submit("?id=waits"), 201);
  EXPECT_EQ(served.ask("DELETE", "/v1/jobs/waits").status, 200);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  HttpReply history = served.ask("GET", "/v1/jobs/waits/history");
  while (history.status != 200 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    history = served.ask("GET", "/v1/jobs/waits/history");
  }
  EXPECT_EQ(history.status, 200) << history.body;
  EXPECT_NE(history.body.find("cancelled"), std::string::npos) << history.body;
}

TEST(Serve, RemovesTheFolderOfAJobThatIsForgotten) {
  const TestFolder folder;
  const Served served(folder.path(), {.limits = {.kept_jobs = 1}});
  std::filesystem::create_directories(folder.path() + "/runs/1");
  served.runner->let(2);
  for (const char* id : {"a", "b"}) {
    EXPECT_EQ(served.submit(std::string("?id=") + id), 201);
    EXPECT_EQ(served.state(id), "done");
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::filesystem::exists(folder.path() + "/runs/1") &&
         std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/runs/1"));
}

TEST(Serve, LeavesALineForEachStartAndEndInTheRunLog) {
  const TestFolder folder;
  const std::string log = folder.path() + "/runs.jsonl";
  {
    const Served served(folder.path(), {.run_log = log});
    served.submit("?id=a");
    served.runner->let(1);
    EXPECT_EQ(served.state("a"), "done");
  }
  std::ifstream file(log);
  std::string start;
  std::string end;
  std::string rest;
  std::getline(file, start);
  std::getline(file, end);
  EXPECT_TRUE(start.starts_with(R"({"job":"a","attempt":1,"event":"start","unix_ns":)")) << start;
  EXPECT_TRUE(end.ends_with(R"("state":"done","makespan_ns":1234})")) << end;
  EXPECT_FALSE(std::getline(file, rest));
}

}  // namespace
}  // namespace tutti
