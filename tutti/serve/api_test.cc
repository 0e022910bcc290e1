#include "tutti/serve/api.h"

#include <gtest/gtest.h>

#include <thread>

#include "tutti/base/random.h"
#include "tutti/serve/served_testing.h"

namespace tutti {
namespace {

TEST(Serve, TakesAJobRunsItAndSaysHowItEnded) {
  const TestFolder folder;
  const Served served(folder.path());
  const HttpReply accepted = served.ask("POST", "/v1/jobs?id=mine&priority=3", kGraph);
  EXPECT_EQ(accepted.status, 201);
  EXPECT_NE(accepted.body.find(R"("id":"mine")"), std::string::npos) << accepted.body;
  EXPECT_NE(accepted.body.find(R"("ops":2)"), std::string::npos) << accepted.body;
  served.runner->let(1);
  EXPECT_EQ(served.state("mine"), "done");
  EXPECT_NE(served.ask("GET", "/v1/jobs/mine").body.find(R"("makespan_ns":1234)"),
            std::string::npos);
}

TEST(Serve, GivesTheSameJobForTheSameSubmission) {
  const TestFolder folder;
  const Served served(folder.path());
  EXPECT_EQ(served.submit("?id=a"), 201);
  EXPECT_EQ(served.submit("?id=a"), 200);
  EXPECT_EQ(served.submit("?id=a&priority=1"), 409);
  EXPECT_EQ(served.submit("?id=a", R"({"make": "two"})"), 409);
  EXPECT_EQ(served.submit(""), 201);
  EXPECT_EQ(served.submit(""), 201);
  served.runner->let(3);
  EXPECT_EQ(served.state("job-3"), "done");
  EXPECT_EQ(served.runner->started().size(), 3U);
}

TEST(Serve, RefusesWhatIsNoJobWithASentenceAndTheRightStatus) {
  const TestFolder folder;
  const Served served(folder.path(), {.most_ops = 2});
  const std::string three =
      R"({"format": "tutti-graph", "schema_version": 1, "name": "three",
          "ops": [{"name": "a"}, {"name": "b"}, {"name": "c"}]})";
  const auto named = [](const std::string& name) {
    return R"({"format": "tutti-graph", "schema_version": 1, "name": ")" + name +
           R"(", "ops": [{"name": "a"}]})";
  };
  const std::string commands =
      R"({"format": "tutti-graph", "schema_version": 2, "name": "c",
          "ops": [{"name": "a", "command": {"argv": ["rm", "-rf", "/"]}}]})";
  struct Case {
    int status;
    std::string query;
    std::string body;
    std::string sentence;
  };
  const Case cases[] = {
      {400, "", "", "job"},
      {400, "", "[]", "neither a graph"},
      {400, "", "{\"a\": 1}", "neither a graph"},
      {400, "", "{\"make\": \"nothing\"}", "makes no graph"},
      {400, "", "{\"make\": \"two\", \"twice\": 1}", "twice"},
      {400, "", std::string(200, '['), "job:1"},
      {400, "", "{\"format\": \"tutti-graph\", \"schema_version\": 1, \"ops\": [{}]}", "job:1"},
      {413, "", three, "3 ops"},
      {413, "", std::string(100001, ' '), "97.66 KiB"},
      {422, "", named("unrunnable"), "no device can run it"},
      {403, "", commands, "--allow-commands"},
      {400, "?id=", kGraph, "id"},
      {400, "?id=a%2Fb", kGraph, "id"},
      {400, "?id=job-7", kGraph, "job-"},
      {400, "?id=.", kGraph, "id"},
      {400, "?id=..", kGraph, "id"},
      {400, "?id=" + std::string(300, 'a'), kGraph, "id"},
      {400, "?priority=high", kGraph, "priority"},
      {400, "?priority=5000", kGraph, "priority"},
      {400, "?prio=5", kGraph, "prio"},
  };
  for (const Case& one : cases) {
    const HttpReply reply = served.ask("POST", "/v1/jobs" + one.query, one.body);
    EXPECT_EQ(reply.status, one.status) << one.query << one.body.substr(0, 80);
    EXPECT_TRUE(reply.body.starts_with("{\"error\":\"")) << reply.body;
    EXPECT_NE(reply.body.find(one.sentence), std::string::npos) << reply.body;
  }
  EXPECT_EQ(served.ask("GET", "/v1/jobs").body.find("\"id\""), std::string::npos);
}

TEST(Serve, AnswersOnlyWhatItHas) {
  const TestFolder folder;
  const Served served(folder.path());
  EXPECT_EQ(served.ask("GET", "/nothing").status, 404);
  EXPECT_EQ(served.ask("GET", "/v1/jobs/nobody").status, 404);
  EXPECT_EQ(served.ask("DELETE", "/v1/jobs/nobody").status, 404);
  EXPECT_EQ(served.ask("GET", "/v1/jobs/a/b").status, 404);
  EXPECT_EQ(served.ask("PUT", "/v1/jobs").status, 405);
  EXPECT_EQ(served.ask("GET", "/v1/drain").status, 405);
  EXPECT_EQ(served.ask("POST", "/v1/drain", "x").status, 413);
  EXPECT_EQ(served.ask("GET", "/v1/jobs?limit=0").status, 400);
  EXPECT_EQ(served.ask("GET", "/v1/jobs?state=odd").status, 400);
  EXPECT_EQ(served.ask("GET", "/v1/jobs/a?wait=1000").status, 400);
  EXPECT_EQ(served.ask("GET", "/healthz").body, "ok\n");
  const HttpReply page = served.ask("GET", "/");
  EXPECT_EQ(page.type, "text/html; charset=utf-8");
  EXPECT_EQ(page.body.find("http://", page.body.find("<script")),
            page.body.find("http://www.w3.org/2000/svg"))
      << "the page fetches nothing from elsewhere";
}

TEST(Serve, PushesBackWhenItIsFullAndTakesJobsAgainAfterwards) {
  const TestFolder folder;
  const Served served(folder.path(), {.limits = {.open_jobs = 2}});
  EXPECT_EQ(served.submit("?id=a"), 201);
  EXPECT_EQ(served.submit("?id=b"), 201);
  const HttpReply full = served.ask("POST", "/v1/jobs?id=c", kGraph);
  EXPECT_EQ(full.status, 429);
  EXPECT_NE(full.body.find("as many open jobs as it may"), std::string::npos) << full.body;
  bool has_retry = false;
  for (const auto& [name, value] : full.headers) has_retry |= name == "retry-after" && value == "1";
  EXPECT_TRUE(has_retry);
  served.runner->let(1);
  EXPECT_EQ(served.state("a"), "done");
  EXPECT_EQ(served.submit("?id=c"), 201);
}

TEST(Serve, CancelsWhatWaitsAtOnceAndWhatRunsSoon) {
  const TestFolder folder;
  const Served served(folder.path());
  served.submit("?id=runs");
  served.submit("?id=waits");
  served.runner->wait_for_start(1);
  EXPECT_EQ(served.ask("DELETE", "/v1/jobs/waits").status, 200);
  EXPECT_EQ(served.state("waits"), "cancelled");
  EXPECT_LE(served.ask("DELETE", "/v1/jobs/runs").status, 202);
  EXPECT_EQ(served.state("runs"), "cancelled");
  EXPECT_EQ(served.ask("DELETE", "/v1/jobs/runs").status, 409);
  EXPECT_EQ(served.runner->started(), std::vector<std::string>{"runs"});
}

TEST(Serve, SaysWhyAJobFailed) {
  const TestFolder folder;
  const Served served(folder.path());
  served.submit("?id=bad", R"({"format": "tutti-graph", "schema_version": 1, "name": "g",
                               "ops": [{"name": "fails"}]})");
  served.runner->let(1);
  EXPECT_EQ(served.state("bad"), "failed");
  EXPECT_NE(served.ask("GET", "/v1/jobs/bad").body.find("op 'fails' failed"), std::string::npos);
}

TEST(Serve, TakesNothingNewWhileItDrains) {
  const TestFolder folder;
  const Served served(folder.path());
  served.submit("?id=a");
  EXPECT_NE(served.ask("POST", "/v1/drain").body.find("\"open\":1"), std::string::npos);
  EXPECT_EQ(served.submit("?id=b"), 503);
  EXPECT_EQ(served.submit("?id=a"), 200);
  served.runner->let(1);
  EXPECT_EQ(served.state("a"), "done");
  EXPECT_NE(served.ask("POST", "/v1/drain").body.find("\"open\":0"), std::string::npos);
}

TEST(Serve, CountsForPrometheus) {
  const TestFolder folder;
  const Served served(folder.path());
  served.submit("?id=a");
  served.runner->let(1);
  EXPECT_EQ(served.state("a"), "done");
  const HttpReply reply = served.ask("GET", "/metrics");
  EXPECT_EQ(reply.type, "text/plain; version=0.0.4; charset=utf-8");
  for (const char* line :
       {"# TYPE tutti_jobs_open gauge\n", "tutti_jobs_open{state=\"queued\"} 0\n",
        "tutti_jobs_accepted_total 1\n", "tutti_jobs_over_total{state=\"done\"} 1\n",
        "tutti_job_run_seconds_bucket{le=\"+Inf\"} 1\n", "tutti_job_run_seconds_count 1\n",
        "tutti_utilisation{resource=\"device0\",what=\"mean\"} 0.5\n",
        "tutti_http_connections 1\n"}) {
    EXPECT_NE(reply.body.find(line), std::string::npos) << line << reply.body;
  }
}

TEST(Serve, ShowsQueueUtilisationAndDecisions) {
  const TestFolder folder;
  const Served served(folder.path());
  served.submit("?id=a");
  served.runner->let(1);
  EXPECT_EQ(served.state("a"), "done");
  served.submit("?id=b");
  served.runner->wait_for_start(2);
  served.submit("?id=c");
  const std::string body = served.ask("GET", "/v1/overview").body;
  for (const char* part :
       {R"("queued":1)", R"("running":1)", R"("resource":"device0","mean":0.5)",
        R"("job":"b","op":"","device":"","reason":"the only job queued")", R"("policy":"p")"}) {
    EXPECT_NE(body.find(part), std::string::npos) << part << body;
  }
}

// Everybody but who has the token is turned away from everything but the page's frame.
TEST(Serve, LetsNobodyInWithoutTheToken) {
  const TestFolder folder;
  const std::string token = "0123456789abcdef-secret";
  const Served served(folder.path(), {}, token);
  EXPECT_EQ(served.submit("?id=a"), 201);
  std::vector<std::string> wrong = {"", "0123456789abcdef-secreT", "0123456789abcdef-secre",
                                    token + "x", "x"};
  for (const std::string& other : wrong) {
    auto client = HttpClient::make(served.address(), other);
    const std::pair<const char*, const char*> targets[] = {
        {"POST", "/v1/jobs"},     {"GET", "/v1/jobs"},   {"GET", "/v1/jobs/a"},
        {"DELETE", "/v1/jobs/a"}, {"POST", "/v1/drain"}, {"GET", "/metrics"},
        {"GET", "/v1/overview"},  {"GET", "/other"}};
    for (const auto& [method, target] : targets) {
      const auto reply = client->ask(method, target, method == std::string("POST") ? kGraph : "");
      ASSERT_TRUE(reply);
      EXPECT_EQ(reply->status, 401) << method << " " << target << " with '" << other << "'";
    }
    EXPECT_EQ(client->ask("GET", "/healthz")->status, 200);
    EXPECT_EQ(client->ask("GET", "/")->status, 200);
  }
  EXPECT_FALSE(served.daemon->figures().draining);
  EXPECT_EQ(served.daemon->figures().jobs.open(), 1);
}

// Requests, and bytes that are nearly requests. `more` stands among the headers of some.
std::string bent_request(Rng& rng, const std::string& more = {}) {
  const std::string host = "Host: localhost\r\n" + more;
  const std::string seeds[] = {
      "GET /v1/jobs?state=queued,done&limit=3&before=9 HTTP/1.1\r\n" + host + "\r\n",
      "GET /v1/jobs/a%20b?wait=0 HTTP/1.1\r\n" + host + "Range: bytes=0-1,2-3\r\n\r\n",
      "DELETE /v1/jobs/a HTTP/1.1\r\n" + host + "Origin: http://localhost\r\n\r\n",
      "POST /v1/jobs?id=a&priority=2 HTTP/1.1\r\n" + host +
          "Content-Length: " + std::to_string(std::string(kGraph).size()) + "\r\n\r\n" + kGraph,
      "POST /v1/jobs HTTP/1.1\r\n" + host + "Content-Length: 15\r\n\r\n{\"make\": \"two\"}",
      "POST /v1/drain HTTP/1.1\r\n" + host + "Content-Length: 0\r\n\r\n",
      "GET /metrics HTTP/1.0\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"};
  std::string text = seeds[rng.below(std::size(seeds))];
  for (uint64_t change = rng.below(5); change > 0; --change) {
    const size_t place = rng.below(text.size());
    switch (rng.below(4)) {
      case 0:
        text[place] = static_cast<char>(rng.below(256));
        break;
      case 1:
        text.resize(place + 1);
        break;
      case 2:
        text.erase(place, 1 + rng.below(16));
        break;
      default:
        text.insert(place, seeds[rng.below(std::size(seeds))].substr(0, rng.below(60)));
    }
    if (text.empty()) text = "x";
  }
  return text;
}

constexpr HttpLimits kImpatient{.head = std::chrono::milliseconds(50),
                                .body = std::chrono::milliseconds(50)};

// The server answers or closes, and serves the next client.
TEST(Serve, SurvivesHostileRequests) {
  const TestFolder folder;
  const Served served(folder.path(), {}, "", kImpatient);
  Rng rng(7);
  for (int i = 0; i < 250; ++i) {
    const std::string text = bent_request(rng);
    if (text.find("drain") != std::string::npos) continue;  // might be obeyed
    exchanged(served.server->port(), text);
  }
  served.runner->let(1000);
  EXPECT_EQ(served.submit("?id=after"), 201);
  EXPECT_EQ(served.state("after"), "done");
}

// However a request is bent, and whatever stands for a token in it: nothing is taken, stopped or
// told, and who has the token is served as before.
TEST(Serve, LetsNobodyInWhoBendsRequests) {
  const TestFolder folder;
  const std::string token = "0123456789abcdef-secret";
  const Served served(folder.path(), {}, token, kImpatient);
  ASSERT_EQ(served.submit("?id=mine"), 201);
  const std::string almost[] = {"",
                                "Authorization: Bearer \r\n",
                                "Authorization: Bearer 0123456789abcdef\r\n",
                                "Authorization: Bearer " + token + "0\r\n",
                                "Authorization: Basic " + token + "\r\n",
                                "Authorization:\r\n Bearer " + token + "\r\n",
                                "X-Authorization: Bearer " + token + "\r\n",
                                "Cookie: token=" + token + "\r\n"};
  Rng rng(11);
  int turned_away = 0;
  for (int i = 0; i < 300; ++i) {
    const std::string& more = almost[static_cast<size_t>(i) % std::size(almost)];
    const std::string text = bent_request(rng, more);
    // Bending may by chance spell the right header.
    if (text.find("\nAuthorization: Bearer " + token + "\r\n") != std::string::npos) continue;
    const std::string told = exchanged(served.server->port(), text);
    EXPECT_EQ(told.find("mine"), std::string::npos) << text;
    EXPECT_EQ(told.find("\"jobs\""), std::string::npos) << text;
    EXPECT_EQ(told.find("HTTP/1.1 201"), std::string::npos) << text;
    EXPECT_EQ(told.find("HTTP/1.1 202"), std::string::npos) << text;
    turned_away += told.find(" 401 ") != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(turned_away, 50);
  EXPECT_FALSE(served.daemon->figures().draining);
  EXPECT_EQ(served.daemon->figures().jobs.open(), 1);
  served.runner->let(1);
  EXPECT_EQ(served.state("mine"), "done");
}

TEST(Serve, LosesNothingOfWhatManyClientsSubmitAtOnce) {
  const TestFolder folder;
  constexpr int kClients = 16;
  constexpr int kEach = 25;
  {
    const Served served(folder.path());
    served.runner->let(kClients * kEach);
    std::vector<std::thread> clients;
    std::atomic<int> accepted{0};
    for (int c = 0; c < kClients; ++c) {
      clients.emplace_back([&, c] {
        auto client = HttpClient::make(served.address(), "");
        for (int i = 0; i < kEach; ++i) {
          const std::string id = "c" + std::to_string(c) + "-" + std::to_string(i);
          const auto reply = client->ask("POST", "/v1/jobs?id=" + id, kGraph);
          accepted += reply && reply->status == 201 ? 1 : 0;
        }
      });
    }
    for (std::thread& client : clients) client.join();
    EXPECT_EQ(accepted, kClients * kEach);
    const auto figures = served.daemon->figures();
    EXPECT_LT(figures.journal.syncs_total, figures.journal.records_total)
        << "records of several clients share a sync";
  }
  const Served again(folder.path());
  again.runner->let(kClients * kEach);
  for (int c = 0; c < kClients; ++c) {
    for (int i = 0; i < kEach; ++i) {
      EXPECT_EQ(again.state("c" + std::to_string(c) + "-" + std::to_string(i)), "done");
    }
  }
}

// Whoever starts a server without commands wants none, whatever an earlier one accepted.
TEST(Serve, CommandsOfAnEarlierServerAreNotRunByOneThatAllowsNone) {
  const TestFolder folder;
  {
    DaemonOptions options;
    options.allow_commands = true;
    const Served first(folder.path(), std::move(options));
    EXPECT_EQ(first.submit("?id=c", R"({"format": "tutti-graph", "schema_version": 2, "name": "c",
                                        "ops": [{"name": "a", "command": {"argv": ["true"]}}]})"),
              201);
    first.runner->wait_for_start(1);
  }
  const Served again(folder.path());
  EXPECT_EQ(again.state("c"), "failed");
  EXPECT_NE(again.ask("GET", "/v1/jobs/c").body.find("--allow-commands"), std::string::npos);
  EXPECT_TRUE(again.runner->started().empty());
}

}  // namespace
}  // namespace tutti
