// A server in this process, with a runner that runs nothing until the test says so.

#ifndef TUTTI_SERVE_SERVED_TESTING_H_
#define TUTTI_SERVE_SERVED_TESTING_H_

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <string>
#include <vector>

#include "tutti/machine/preset.h"
#include "tutti/runtime/local/jobs/options.h"
#include "tutti/serve/api.h"
#include "tutti/serve/http/client.h"
#include "tutti/serve/testing.h"

namespace tutti {

inline constexpr const char* kGraph =
    R"({"format": "tutti-graph", "schema_version": 1, "name": "two",
 "ops": [{"name": "a", "outputs": [{"bytes": 1000}], "run_time_ns": 100},
         {"name": "b", "operands": ["a"], "run_time_ns": 100}]})";

// Runs nothing, until the test says so. What has an op called "fails" fails.
class GatedRunner : public Runner {
 public:
  const char* name() const override { return "gated"; }
  std::string policy() const override { return "p"; }
  int places() const override { return 1; }
  const Machine& machine() const override { return machine_; }
  Duration share_time() const override { return share_clock(); }
  std::vector<Utilisation> utilisation() const override {
    return {{"device0", 0.5, 0.5, 0.5, true}};
  }
  Result<PreparedJob> prepare(Graph graph) const override {
    if (graph.name() == "unrunnable") return invalid_input("no device can run it");
    ++prepared;
    {
      MutexLock lock(mutex_);
      while (held_) changed_.wait(mutex_);
    }
    return PreparedJob{.graph = std::make_shared<const Graph>(std::move(graph)),
                       .least = std::chrono::milliseconds(20)};
  }
  Result<RunReport> run(const PreparedJob& prepared_job, const RunContext& context,
                        DecisionLog& /*log*/) override {
    const Graph& graph = *prepared_job.graph;
    const Stop& stop = context.stop;
    MutexLock lock(mutex_);
    started_.push_back(context.job);
    changed_.notify_all();
    while (open_ == 0 && !stop.now()) changed_.wait_for(mutex_, std::chrono::milliseconds(5));
    if (stop.now()) return failed("stopped");
    --open_;
    if (graph.op_name(OpId{0}) == "fails") return failed("op 'fails' failed");
    return RunReport{.makespan = Duration(1234)};
  }
  // Lets so many runs end.
  void let(int runs) {
    MutexLock lock(mutex_);
    open_ += runs;
    changed_.notify_all();
  }
  void wait_for_start(size_t count) {
    MutexLock lock(mutex_);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (started_.size() < count) {
      if (std::chrono::steady_clock::now() > deadline) {
        ADD_FAILURE() << started_.size() << " of " << count << " jobs have started";
        return;
      }
      changed_.wait_for(mutex_, std::chrono::milliseconds(100));
    }
  }
  std::vector<std::string> started() {
    MutexLock lock(mutex_);
    return started_;
  }
  // Graphs are not prepared until they are let go.
  void hold(bool held) {
    MutexLock lock(mutex_);
    held_ = held;
    changed_.notify_all();
  }
  mutable std::atomic<int> prepared{0};  // graphs, also those that are held

 private:
  Machine machine_ = *make_preset("uniform-1");
  mutable Mutex mutex_;
  mutable std::condition_variable_any changed_;
  bool held_ GUARDED_BY(mutex_) = false;
  int open_ GUARDED_BY(mutex_) = 0;
  std::vector<std::string> started_ GUARDED_BY(mutex_);
};

// A server in this process.
class Served {
 public:
  explicit Served(const std::string& folder, DaemonOptions options = {},
                  const std::string& token = "", const HttpLimits& limits = {},
                  std::shared_ptr<const TokenStore> tokens = nullptr) {
    options.folder = folder;
    options.make_graph = [](const std::string& words, int64_t /*most*/) -> Result<Graph> {
      if (words != "two") return invalid_input("'" + words + "' makes no graph");
      return read_submission(kGraph, {}, 10);
    };
    auto gated = std::make_unique<GatedRunner>();
    runner = gated.get();
    auto opened = Daemon::open(std::move(options), shares_, std::move(gated), nullptr);
    EXPECT_TRUE(opened) << opened.error().message;
    daemon = std::move(*opened);
    api = std::make_unique<Api>(*daemon,
                                tokens != nullptr ? Guard(std::move(tokens), {"known.example"})
                                                  : Guard(token, {"known.example"}),
                                ApiOptions{.most_body_bytes = 100000, .version = "test"});
    auto listening = HttpServer::open({"127.0.0.1", "0"}, limits, *api);
    EXPECT_TRUE(listening) << listening.error().message;
    server = std::move(*listening);
    api->watch(server.get());
    client_ = std::make_unique<HttpClient>(*HttpClient::make(address(), token));
  }
  ~Served() {
    daemon->stop(std::chrono::milliseconds(0));
    server->stop();
  }

  std::string address() const { return "127.0.0.1:" + std::to_string(server->port()); }
  HttpReply ask(const std::string& method, const std::string& target,
                const std::string& body = {}) const {
    const auto reply = client_->ask(method, target, body);
    EXPECT_TRUE(reply) << reply.error().message;
    return reply ? *reply : HttpReply{};
  }
  int submit(const std::string& query, const std::string& body = kGraph) const {
    return ask("POST", "/v1/jobs" + query, body).status;
  }
  // Waits until it is over.
  std::string state(const std::string& id) const {
    const std::string body = ask("GET", "/v1/jobs/" + id + "?wait=60").body;
    const size_t place = body.find("\"state\":\"");
    return place == std::string::npos
               ? body
               : body.substr(place + 9, body.find('"', place + 9) - place - 9);
  }

 private:
  ClientShares shares_;

 public:
  GatedRunner* runner = nullptr;
  std::unique_ptr<Daemon> daemon;
  std::unique_ptr<Api> api;
  std::unique_ptr<HttpServer> server;

 private:
  std::unique_ptr<HttpClient> client_;
};

}  // namespace tutti

#endif  // TUTTI_SERVE_SERVED_TESTING_H_
