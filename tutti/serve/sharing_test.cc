// Clients that share a server: shares, quotas, deadlines, and what is said about them.

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "test/support/world.h"
#include "tutti/graph/make/cholesky.h"
#include "tutti/runtime/local/testing.h"
#include "tutti/serve/clients.h"
#include "tutti/serve/served_testing.h"

namespace tutti {
namespace {

using What = SubmitAnswer::What;

const auto kContent = std::make_shared<const std::string>(kGraph);

bool comes_true(const std::function<bool()>& so) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!so()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

Result<ClientRules> rules_in(const std::string& text) {
  Source source = Source::from_text("clients.toml", text);
  return read_clients(source);
}

TEST(Clients, AreReadFromAFile) {
  const auto rules = rules_in(R"({"schema_version": 1, "window_s": 5,
      "default": {"weight": 0.5, "open_jobs": 10},
      "client": [{"name": "alice", "weight": 3, "device_s": 30, "per_s": 90},
                 {"name": "bob", "open_jobs": 2}]})");
  ASSERT_TRUE(rules) << rules.error().message;
  EXPECT_TRUE(rules->shares.divided);
  EXPECT_EQ(rules->shares.window, std::chrono::seconds(5));
  EXPECT_EQ(rules->shares.usual.weight, 0.5);
  EXPECT_EQ(rules->open_jobs.usual, 10);
  ASSERT_EQ(rules->shares.named.size(), 2U);
  EXPECT_EQ(rules->shares.named[0].second.weight, 3);
  EXPECT_EQ(rules->shares.named[0].second.quota, std::chrono::seconds(30));
  EXPECT_EQ(rules->shares.named[0].second.quota_window, std::chrono::seconds(90));
  EXPECT_EQ(rules->open_jobs.named.at("alice"), 10);
  EXPECT_EQ(rules->open_jobs.named.at("bob"), 2);
  EXPECT_EQ(rules->shares.named[1].second.weight, 0.5);
  EXPECT_EQ(rules->shares.named[1].second.quota, kNever);
}

TEST(Clients, AreRefusedWithFileAndLine) {
  for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
           {"[]", "clients.toml"},
           {"{\"schema_version\": 2}", "schema_version"},
           {"{\"schema_version\": 1,\n\"client\": [{}]}", "clients.toml:2"},
           {"{\"schema_version\": 1, \"client\": [{\"name\": \"a b\"}]}", "a client's name"},
           {"{\"schema_version\": 1, \"client\": [{\"name\": \"a\", \"weight\": 0}]}", "weight"},
           {"{\"schema_version\": 1, \"client\": [{\"name\": \"a\", \"per_s\": 9}]}", "device_s"},
           {"{\"schema_version\": 1, \"client\": [{\"name\": \"a\"}, {\"name\": \"a\"}]}", "twice"},
           {"{\"schema_version\": 1, \"client\": [{\"name\": \"a\", \"wieght\": 1}]}", "wieght"}}) {
    const auto rules = rules_in(text);
    ASSERT_FALSE(rules) << text;
    EXPECT_NE(rules.error().message.find(part), std::string::npos) << rules.error().message;
  }
}

ClientRules two_clients() {
  ClientRules rules;
  rules.shares.divided = true;
  rules.shares.named = {{"alice", {.weight = 3}}, {"bob", {.weight = 1}}};
  return rules;
}

// The order in which the core starts jobs that all take the same time, one after another.
std::vector<std::string> started_by(Core& core, ClientShares& shares, int count) {
  std::vector<std::string> clients;
  Duration now{0};
  for (int i = 0; i < count; ++i) {
    const auto started = core.start(1, now);
    if (!started) break;
    clients.push_back(started->job.client);
    now += std::chrono::milliseconds(10);
    shares.ended(*started->account, 0, Duration(0), started->job.work,
                 std::chrono::milliseconds(10), now);
    shares.leave(*started->account);
  }
  return clients;
}

TEST(CoreSharing, ClientsTakeTurnsByWeightWhateverTheyAskFor) {
  ClientShares shares(two_clients().shares);
  Core core({}, &shares);
  core.recovered(1);
  int64_t records = 1;
  // Bob comes first, with the greatest priority there is.
  for (const char* client : {"bob", "alice"}) {
    for (int i = 0; i < 40; ++i) {
      Submission given = submission(std::string(client) + std::to_string(i),
                                    std::string(client) == "bob" ? kMostPriority : 0);
      given.client = client;
      given.work = std::chrono::milliseconds(10);
      EXPECT_EQ(core.submit(given, 1).verdict, Submitted::Verdict::accepted);
      ++records;
    }
  }
  core.journalled(records);
  const auto why = core.why_queued(*core.find("bob3"), 2, Duration(0));
  EXPECT_EQ(
      why,
      "waits for one of 2 places, 3 jobs of client 'bob' before it; the client had 0 % of the "
      "device time of late, and its share is 25 %");
  const auto clients = started_by(core, shares, 40);
  EXPECT_EQ(std::count(clients.begin(), clients.end(), "alice"), 30);
}

TEST(CoreSharing, TheEarliestDeadlineGoesFirstAmongEqualPriorities) {
  Core core({});
  core.recovered(1);
  for (const auto& [id, priority, deadline] : std::vector<std::tuple<std::string, int, int64_t>>{
           {"none", 0, 0}, {"late", 0, 900}, {"soon", 0, 500}, {"first", 1, 0}}) {
    Submission given = submission(id, priority);
    given.deadline_ms = deadline;
    core.submit(given, 1);
  }
  core.journalled(5);
  EXPECT_EQ(core.next_deadline(), 500);
  std::vector<std::string> order;
  while (const auto started = core.start(2)) order.push_back(started->job.id);
  EXPECT_EQ(order, (std::vector<std::string>{"first", "soon", "late", "none"}));
  // One that runs has to be stopped.
  const Expired expired = core.expire(500);
  EXPECT_TRUE(expired.records.empty());
  EXPECT_EQ(expired.running, std::vector<int64_t>{core.find("soon")->number});
  EXPECT_EQ(core.next_deadline(), 900);
}

TEST(CoreSharing, DeadlinesOutliveTheServer) {
  Core core({});
  core.recovered(1);
  Submission given = submission("a");
  given.deadline_ms = 500;
  given.work = Duration(7);
  given.commands = true;
  const Submitted submitted = core.submit(given, 1);
  Core next({});
  const auto read = read_record(to_bytes(*submitted.record), 3);
  ASSERT_TRUE(read && next.replay(*read));
  EXPECT_EQ(next.find("a")->deadline_ms, 500);
  EXPECT_EQ(next.find("a")->work, Duration(7));
  EXPECT_EQ(next.expire(499).records.size(), 0U);
  const Expired expired = next.expire(500);
  ASSERT_EQ(expired.records.size(), 1U);
  EXPECT_EQ(expired.records[0].outcome.message, "deadline missed: it was queued until then");
  EXPECT_FALSE(next.start(501));
}

TEST(CoreSharing, OneJobOfProgramsRunsAtATime) {
  Core core({});
  core.recovered(1);
  for (const char* id : {"p1", "p2", "k"}) {
    Submission given = submission(id);
    given.commands = id[0] == 'p';
    core.submit(given, 1);
  }
  core.journalled(4);
  const auto first = core.start(2);
  EXPECT_EQ(first->job.id, "p1");
  EXPECT_EQ(core.start(2)->job.id, "k");
  EXPECT_FALSE(core.start(2));
  EXPECT_EQ(core.why_queued(*core.find("p2"), 9, Duration(0)),
            "waits for the job of programs that runs");
  core.end(first->job.number, {}, 3);
  EXPECT_EQ(core.start(4)->job.id, "p2");
}

TEST(Sharing, AQuotaOfOpenJobsIsAnsweredWith429) {
  const TestFolder folder;
  DaemonOptions options;
  options.clients = two_clients();
  options.clients.open_jobs.named = {{"bob", 1}};
  const auto tokens = std::make_shared<TokenStore>(
      *Tokens::parse("alice 0123456789abcdef0\nbob 0123456789abcdef1\n", "t"));
  Served served(folder.path(), options, "", {}, tokens);
  const auto ask = [&](const std::string& token, const std::string& target) {
    auto client = *HttpClient::make(served.address(), token);
    return *client.ask("POST", target, kGraph);
  };
  const std::string bob = "0123456789abcdef1";
  EXPECT_EQ(ask(bob, "/v1/jobs?id=b1").status, 201);
  const HttpReply full = ask(bob, "/v1/jobs?id=b2");
  EXPECT_EQ(full.status, 429);
  EXPECT_NE(full.body.find("client 'bob' has as many open jobs as it may (1)"), std::string::npos)
      << full.body;
  EXPECT_TRUE(std::any_of(full.headers.begin(), full.headers.end(),
                          [](const auto& header) { return header.first == "retry-after"; }));
  EXPECT_EQ(ask("0123456789abcdef0", "/v1/jobs?id=a1").status, 201);
  served.runner->let(2);
  EXPECT_TRUE(comes_true([&] { return ask(bob, "/v1/jobs?id=b2").status == 201; }));
  served.runner->let(1);
}

TEST(Sharing, DeadlinesAreObeyedAndExplained) {
  const TestFolder folder;
  Served served(folder.path());
  // The graph takes 20 ms at least.
  const HttpReply late = served.ask("POST", "/v1/jobs?id=late&deadline_ms=10", kGraph);
  EXPECT_EQ(late.status, 422);
  EXPECT_NE(late.body.find("takes at least 20 ms"), std::string::npos) << late.body;
  EXPECT_EQ(served.submit("?id=bad&deadline_ms=-1"), 400);
  EXPECT_EQ(served.submit("?id=blocks"), 201);
  served.runner->wait_for_start(1);
  EXPECT_EQ(served.submit("?id=waits&deadline_ms=2000"), 201);
  EXPECT_NE(served.ask("GET", "/v1/jobs/waits").body.find("\"waits\":\"waits for one of 1 place"),
            std::string::npos);
  EXPECT_EQ(served.state("waits"), "failed");
  EXPECT_NE(served.ask("GET", "/v1/jobs/waits").body.find("deadline missed: it was queued"),
            std::string::npos);
  served.runner->let(1);
  EXPECT_EQ(served.state("blocks"), "done");
  EXPECT_EQ(served.submit("?id=runs&deadline_ms=2000"), 201);
  served.runner->wait_for_start(2);
  EXPECT_EQ(served.state("runs"), "failed");
  EXPECT_NE(served.ask("GET", "/v1/jobs/runs").body.find("deadline missed: it was running"),
            std::string::npos);
  EXPECT_EQ(served.daemon->figures().jobs.missed_total, 2);
  served.runner->let(1);
  EXPECT_EQ(served.submit("?id=good&deadline_ms=60000"), 201);
  EXPECT_EQ(served.state("good"), "done");
}

// Takes longer in simulated time, and no time for real.
TEST(Sharing, ADeadlineDoesNotCountSimulatedTime) {
  const TestFolder folder;
  DaemonOptions options;
  options.folder = folder.path();
  ClientShares shares;
  const auto daemon = must(Daemon::open(
      options, shares,
      must(runner_of(*make_preset("uniform-1"), "fifo", 1, shares, /*real=*/false)), nullptr));
  const auto content = std::make_shared<const std::string>(
      R"({"format": "tutti-graph", "schema_version": 1, "name": "long",
          "ops": [{"name": "a", "run_time_ns": 100000000000}]})");
  EXPECT_EQ(daemon->submit({.id = "a", .deadline_in_ms = 90'000}, content).what, What::accepted);
  EXPECT_EQ(daemon->wait("a", std::chrono::seconds(80))->state, JobState::done);
}

TEST(Sharing, AGraphIsPreparedOnce) {
  const TestFolder folder;
  Served served(folder.path());
  served.runner->let(5);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(served.submit("?id=j" + std::to_string(i)), 201);
    EXPECT_EQ(served.state("j" + std::to_string(i)), "done");
  }
  EXPECT_EQ(served.runner->prepared, 5);
}

// How many times as much device time alice has as bob, who weighs a third, while jobs of both wait:
// real ops on one core. None if the jobs were over too soon.
std::optional<double> ratio_of_two_clients(int tile) {
  const TestFolder folder;
  DaemonOptions options;
  options.folder = folder.path();
  options.clients = two_clients();
  options.make_graph = [tile](const std::string& /*words*/, int64_t /*most*/) {
    return make_cholesky({.tiles = 4, .tile_size = tile, .devices = 1});
  };
  ClientShares shares;
  const auto daemon = must(Daemon::open(
      options, shares,
      must(runner_of(testing::cpus(1, 1), "critical_path", 8, shares, /*real=*/true)), nullptr));
  const auto content = std::make_shared<const std::string>(R"({"make": "any"})");
  constexpr int kJobs = 200;
  std::vector<std::thread> submitters;
  for (int t = 0; t < 8; ++t) {
    submitters.emplace_back([&, t] {
      for (int i = t / 2; i < kJobs; i += 4) {
        const std::string client = t % 2 == 0 ? "alice" : "bob";
        EXPECT_EQ(
            daemon->submit({.id = client + std::to_string(i), .client = client}, content).what,
            What::accepted);
      }
    });
  }
  for (std::thread& thread : submitters) thread.join();
  const auto share_of = [&](const std::string& client) {
    for (const ClientShare& one : daemon->shares()) {
      if (one.name == client) return one;
    }
    return ClientShare{};
  };
  const ClientShare alice = share_of("alice");
  const ClientShare bob = share_of("bob");
  const std::string why = daemon->why_waiting(*daemon->find("bob199"));
  if (alice.open_jobs <= kJobs / 4) return std::nullopt;
  EXPECT_NE(why.find("its share is 25 %"), std::string::npos) << why;
  EXPECT_TRUE(comes_true([&] { return share_of("alice").open_jobs <= 24; }));
  const auto a = static_cast<double>((share_of("alice").used_total - alice.used_total).count());
  const auto b = static_cast<double>((share_of("bob").used_total - bob.used_total).count());
  EXPECT_GT(share_of("bob").open_jobs, 0);
  daemon->stop(std::chrono::milliseconds(0));
  return a / b;
}

TEST(Sharing, TwoClientsGetDeviceTimeByTheirWeights) {
  // Few jobs on a machine that may be busy: an op that loses its core counts for much, so that one
  // of a few runs must do. Without shares the ratio is 1 in each. The shares themselves are tested
  // in simulated time, and measured by bench/serve/share.
  std::optional<double> ratio;
  const auto is_right = [&] { return ratio && *ratio > 1.8 && *ratio < 6; };
  int tile = 160;
  for (int tries = 0; tries < 8 && !is_right(); ++tries) {
    ratio = ratio_of_two_clients(tile);
    if (!ratio) tile += tile / 2;
  }
  ASSERT_TRUE(ratio) << "too quick for this test";
  EXPECT_GT(*ratio, 1.8);
  EXPECT_LT(*ratio, 6);
}

TEST(Sharing, AQuotaOfDeviceTimeHoldsAClientAndSaysSo) {
  const TestFolder folder;
  DaemonOptions options;
  options.folder = folder.path();
  options.clients = two_clients();
  options.clients.shares.named[0].second.quota = std::chrono::milliseconds(1);
  options.clients.shares.named[0].second.quota_window = std::chrono::seconds(600);
  options.make_graph = [](const std::string& /*words*/, int64_t /*most*/) {
    // Takes several times the quota on any core, so that its own ops have to wait.
    return make_cholesky({.tiles = 8, .tile_size = 128, .devices = 1});
  };
  ClientShares shares;
  const auto daemon = must(Daemon::open(
      options, shares, must(runner_of(testing::cpus(1, 1), "fifo", 2, shares, /*real=*/true)),
      nullptr));
  const auto content = std::make_shared<const std::string>(R"({"make": "any"})");
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(daemon->submit({.id = "a" + std::to_string(i), .client = "alice"}, content).what,
              What::accepted);
  }
  EXPECT_TRUE(comes_true([&] {
    return daemon->why_waiting(*daemon->find("a3")).find("waits for the quota of client 'alice'") ==
           0;
  })) << daemon->why_waiting(*daemon->find("a3"));
  EXPECT_TRUE(comes_true([&] {
    return daemon->why_waiting(*daemon->find("a0")).find("its ops wait for the quota") == 0;
  })) << daemon->why_waiting(*daemon->find("a0"));
  // The other client goes on.
  EXPECT_EQ(daemon->submit({.id = "b", .client = "bob"}, content).what, What::accepted);
  EXPECT_EQ(daemon->wait("b", std::chrono::seconds(60))->state, JobState::done);
  EXPECT_FALSE(is_over(daemon->find("a3")->state));
  daemon->stop(std::chrono::milliseconds(0));
}

// The quota would hold the job for an hour.
TEST(Sharing, AQuotaThatIsRaisedLetsJobsGoOnAtOnce) {
  const TestFolder folder;
  DaemonOptions options;
  options.folder = folder.path();
  options.clients = two_clients();
  ShareRule& rule = options.clients.shares.named[0].second;
  rule.quota = std::chrono::milliseconds(1);
  rule.quota_window = std::chrono::seconds(3600);
  options.make_graph = [](const std::string& /*words*/, int64_t /*most*/) {
    return make_cholesky({.tiles = 8, .tile_size = 128, .devices = 1});
  };
  ClientRules raised = options.clients;
  raised.shares.named[0].second.quota = std::chrono::seconds(3600);
  ClientShares shares;
  const auto daemon = must(Daemon::open(
      options, shares, must(runner_of(testing::cpus(1, 1), "fifo", 2, shares, /*real=*/true)),
      nullptr));
  const auto content = std::make_shared<const std::string>(R"({"make": "any"})");
  EXPECT_EQ(daemon->submit({.id = "a", .client = "alice"}, content).what, What::accepted);
  EXPECT_TRUE(comes_true([&] {
    return daemon->why_waiting(*daemon->find("a")).find("its ops wait for the quota") == 0;
  }));
  daemon->set_clients(raised);
  EXPECT_EQ(daemon->wait("a", std::chrono::seconds(60))->state, JobState::done);
  daemon->stop(std::chrono::milliseconds(0));
}

TEST(ClientShares, CountsJobsOfClientsWithAQuotaThatHaveAPlace) {
  ClientShares shares(two_clients().shares);
  const int32_t alice = shares.client("alice");
  const int32_t bob = shares.client("bob");
  EXPECT_FALSE(shares.has_quota(alice));
  ShareRules rules = two_clients().shares;
  rules.named[0].second.quota = std::chrono::milliseconds(1);
  shares.set_rules(rules);
  EXPECT_TRUE(shares.has_quota(alice));
  JobAccount first = shares.enter(alice, Duration(5));
  JobAccount second = shares.enter(bob, Duration(5));
  EXPECT_EQ(shares.placed_with_quota(), 1);
  shares.leave(second);
  EXPECT_EQ(shares.placed_with_quota(), 1);
  shares.leave(first);
  shares.leave(first);  // counts once
  EXPECT_EQ(shares.placed_with_quota(), 0);
}

}  // namespace
}  // namespace tutti
