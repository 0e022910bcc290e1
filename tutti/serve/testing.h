// What the tests of serving share.

#ifndef TUTTI_SERVE_TESTING_H_
#define TUTTI_SERVE_TESTING_H_

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "tutti/policy/registry.h"
#include "tutti/serve/journal/job.h"
#include "tutti/serve/run/jobs_runner.h"

namespace tutti {

// A folder that goes when the test does.
class TestFolder {
 public:
  TestFolder() {
    std::string pattern = ::testing::TempDir() + "tutti_serve_XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// One of the registry; fails when it is made if there is none of that name.
inline MakeDecider registered_decider(const std::string& name) {
  return [name](const Cluster&, const std::vector<Counter>&) -> Result<std::unique_ptr<Decider>> {
    const Result<const PolicyEntry*> entry = find_decider(name);
    if (!entry) return entry.error();
    return (*entry)->tuned_decider();
  };
}

// Of a decider of the registry; real ones also run programs.
inline Result<std::unique_ptr<Runner>> runner_of(const Machine& machine, const std::string& policy,
                                                 int places, ClientShares& shares, bool real,
                                                 RealWorldOptions world = {},
                                                 std::shared_ptr<const Machine> slots = nullptr) {
  Result<Cluster> cluster = Cluster::make(machine, {});
  if (!cluster) return cluster.error();
  const Result<const PolicyEntry*> entry = find_decider(policy);
  if (!entry) return entry.error();
  JobsRunnerOptions options{.policy = policy,
                            .decider = registered_decider(policy),
                            .one_job_at_a_look = static_cast<bool>((*entry)->make_policy),
                            .places = places};
  if (!real) {
    return make_jobs_runner(make_simulated_world(std::move(*cluster)), std::move(options), shares);
  }
  Result<std::unique_ptr<JobWorld>> made = make_real_world(std::move(*cluster), std::move(world));
  if (!made) return made.error();
  auto commands = std::make_unique<CommandRunner>(
      CommandRunnerOptions{.policy = (*find_online_policy("critical_path"))->make_policy,
                           .policy_name = "critical_path",
                           .machine = std::move(slots)},
      (*made)->cluster().machine(), shares);
  return make_jobs_runner(std::move(*made), std::move(options), shares, std::move(commands));
}

inline Result<RunReport> run_graph(Runner& runner, const Graph& graph, const RunContext& context,
                                   DecisionLog& log) {
  const Result<PreparedJob> prepared = runner.prepare(graph);
  if (!prepared) return prepared.error();
  return runner.run(*prepared, context, log);
}

inline Submission submission(const std::string& id, int32_t priority = 0,
                             const std::string& content = "content") {
  return {id, priority, "graph", 3, std::make_shared<const std::string>(content)};
}

// A connection to a port of this computer.
inline int connected(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return socket;
}

// Everything that comes back until the server closes.
inline std::string read_to_end(int socket) {
  std::string text;
  char bytes[4096];
  ssize_t count = 0;
  while ((count = ::recv(socket, bytes, sizeof bytes, 0)) > 0) {
    text.append(bytes, static_cast<size_t>(count));
  }
  ::close(socket);
  return text;
}

// What comes back for those bytes.
inline std::string exchanged(int port, const std::string& bytes) {
  const int socket = connected(port);
  ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  ::shutdown(socket, SHUT_WR);
  return read_to_end(socket);
}

}  // namespace tutti

#endif  // TUTTI_SERVE_TESTING_H_
