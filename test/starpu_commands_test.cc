// What --runtime starpu promises on one rank and on several, started as a user would. The ranks are
// processes of this host that talk through MPI.

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <thread>

#include "test/support/cli.h"
#include "tutti/kernels/cpu/blas.h"

namespace tutti {
namespace {

// A host for each of two ranks, one core each.
constexpr const char* kTwoHosts = R"({"schema_version": 1, "name": "two",
 "host": [{"name": "alpha"}, {"name": "beta"}],
 "device": [
  {"name": "a", "kind": "cpu", "host": "alpha", "uses_host_memory": true, "flops_per_s": 1e10},
  {"name": "b", "kind": "cpu", "host": "beta", "uses_host_memory": true, "flops_per_s": 1e10}],
 "link": [{"name": "cable", "between": ["alpha", "beta"], "bandwidth_bytes_per_s": 1e9}]}
)";

class StarpuCommands : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    if (::access("/usr/bin/mpirun", X_OK) != 0) GTEST_SKIP() << "there is no mpirun";
    if (const auto opened = cpu::Blas::open(); !opened) GTEST_SKIP() << opened.error().message;
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    graph_ = path("graph.json");
    machine_ = write("two.json", kTwoHosts);
    const Ran made = run({"graph", "make", "cholesky", "--tiles", "4", "--tile-size", "32",
                          "--devices", "2", "-o", graph_});
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }

  static Wish on_ranks(int count) {
    return {.launcher = {"/usr/bin/timeout", "--kill-after=5", "300", "/usr/bin/mpirun", "-n",
                         std::to_string(count), "--oversubscribe", "--bind-to", "none"}};
  }

  // The text after "key": in JSON.
  static std::string after(const std::string& json, const std::string& key) {
    const size_t begin = json.find("\"" + key + "\":");
    if (begin == std::string::npos) return {};
    return json.substr(begin, json.find(',', begin) - begin);
  }

  std::string graph_;
  std::string machine_;
};

TEST_F(StarpuCommands, TwoRanksComeToTheBytesOfTheLocalEngine) {
  const Ran local = run({"run", graph_, "-m", "this-host:1x1", "--policy", "single_device",
                         "--repeats", "1", "--json"});
  ASSERT_EQ(local.exit_code, 0) << local.err;
  const std::string trace = path("trace.json");
  const std::string plan = path("plan.json");
  ASSERT_EQ(run({"plan", graph_, "-m", machine_, "--policy", "expert", "-o", plan}).exit_code, 0);
  const Ran ranks = run({"run", graph_, "-m", machine_, "--plan", plan, "--runtime", "starpu",
                         "--repeats", "2", "--verify", "--trace", trace, "--json"},
                        on_ranks(2));
  ASSERT_EQ(ranks.exit_code, 0) << ranks.err;
  EXPECT_EQ(after(ranks.out, "ranks"), "\"ranks\":2");
  EXPECT_EQ(after(ranks.out, "results_fingerprint"), after(local.out, "results_fingerprint"));
  const Ran judged = run({"check", graph_, "-m", machine_, "--plan", plan, "--trace", trace});
  EXPECT_EQ(judged.exit_code, 0) << judged.out << judged.err;
}

// Sixteen workers and the four threads that talk to MPI take turns on whatever cores there are, so
// that each of them is interrupted anywhere. StarPU-MPI's thread polled with a lock held, and a
// worker that had something to send could wait for that lock for ever: such runs did not end.
TEST_F(StarpuCommands, FourRanksOfFourWorkersComeToTheEndOfEveryRun) {
  std::string hosts;
  std::string devices;
  std::string links;
  for (int host = 0; host < 4; ++host) {
    const char* comma = host == 0 ? "" : ",";
    hosts += fmt::format(R"({}{{"name":"h{}"}})", comma, host);
    links +=
        fmt::format(R"({}{{"name":"l{}","between":["h{}","net"],"bandwidth_bytes_per_s":1e9}})",
                    comma, host, host);
    for (int core = 0; core < 4; ++core) {
      devices += fmt::format(
          R"({}{{"name":"d{}{}","kind":"cpu","host":"h{}","uses_host_memory":true,"flops_per_s":1e10}})",
          devices.empty() ? "" : ",", host, core, host);
    }
  }
  const std::string machine = write(
      "four.json", fmt::format(R"({{"schema_version":1,"name":"four","host":[{}],"device":[{}],)"
                               R"("switch":[{{"name":"net"}}],"link":[{}]}})",
                               hosts, devices, links));
  const std::string graph = path("wide.json");
  ASSERT_EQ(run({"graph", "make", "cholesky", "--tiles", "8", "--tile-size", "32", "--devices",
                 "16", "-o", graph})
                .exit_code,
            0);
  const Ran local = run({"run", graph, "-m", "this-host:1x1", "--policy", "single_device",
                         "--repeats", "1", "--json"});
  ASSERT_EQ(local.exit_code, 0) << local.err;
  const Ran ranks = run({"run", graph, "-m", machine, "--policy", "heft", "--runtime", "starpu",
                         "--repeats", "100", "--json"},
                        on_ranks(4));
  ASSERT_EQ(ranks.exit_code, 0) << ranks.err;
  EXPECT_EQ(after(ranks.out, "ranks"), "\"ranks\":4");
  EXPECT_EQ(after(ranks.out, "results_fingerprint"), after(local.out, "results_fingerprint"));
}

TEST_F(StarpuCommands, CompareHasRowsOfStarpusSchedulersOnSeveralRanks) {
  const Ran ran = run({"compare", graph_, "-m", machine_, "--runtime", "starpu", "--policies",
                       "heft", "--schedulers", "eager,dmdas", "--repeats", "2"},
                      on_ranks(2));
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  for (const char* row : {"heft", "StarPU eager, hosts by expert", "StarPU dmdas", "2 ranks"}) {
    EXPECT_NE(ran.out.find(row), std::string::npos) << row << " in " << ran.out;
  }
}

TEST_F(StarpuCommands, OneRankNeedsNoLauncherAndAsksOnlinePolicies) {
  const Ran ran = run({"run", graph_, "-m", machine_, "--runtime", "starpu", "--policy",
                       "critical_path", "--online", "--repeats", "1"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
}

TEST_F(StarpuCommands, RanksDescribeTheirHostsAsAMachine) {
  const std::string found = path("found.json");
  const Ran ran = run({"machine", "discover", "--ranks", "--json", "-o", found}, on_ranks(2));
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const Ran planned = run({"plan", graph_, "-m", found, "--policy", "heft", "-o", path("p")});
  EXPECT_EQ(planned.exit_code, 0) << planned.err;
}

TEST_F(StarpuCommands, WhatRanksCannotDoIsRefusedInASentence) {
  const Ran many =
      run({"run", graph_, "-m", machine_, "--runtime", "starpu", "--policy", "heft"}, on_ranks(3));
  EXPECT_NE(many.exit_code, 0);
  EXPECT_NE(many.err.find("machine 'two' has 2 hosts, but 3 ranks were started"), std::string::npos)
      << many.err;
  const Ran scheduler = run({"run", graph_, "-m", machine_, "--scheduler", "dmda"});
  EXPECT_EQ(scheduler.exit_code, 2);
  expect_one_sentence(scheduler, "--runtime starpu");
  const Ran barriers = run({"run", graph_, "--runtime", "starpu", "--bulk-synchronous"});
  EXPECT_EQ(barriers.exit_code, 2);
  expect_one_sentence(barriers, "--runtime local");
}

TEST_F(StarpuCommands, ARankThatDiesEndsTheRun) {
  // A process that is called tutti-starpu and has our folder on its command line is a rank of ours.
  // It is killed a second after it was seen: mpirun itself may wait for ever for a rank that died
  // while it was being started.
  std::thread killer([this] {
    int seen = 0;
    for (int turn = 0; turn < 600; ++turn) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const std::string folder = entry.path().string();
        if (read_text(folder + "/comm") != "tutti-starpu\n") continue;
        if (read_text(folder + "/cmdline").find(machine_) == std::string::npos) continue;
        if (++seen < 20) break;
        ::kill(std::atoi(entry.path().filename().c_str()), SIGKILL);
        return;
      }
    }
  });
  const Ran ran = run({"run", graph_, "-m", machine_, "--runtime", "starpu", "--policy", "heft",
                       "--repeats", "100000"},
                      on_ranks(2));
  killer.join();
  EXPECT_NE(ran.exit_code, 0);
  // mpirun's own words if the rank dies before it has joined the others.
  const bool told = ran.err.find("rank") != std::string::npos ||
                    ran.err.find("process returned") != std::string::npos;
  EXPECT_TRUE(told) << ran.err;
}

// The other rank goes on with what is no result, and fails for that reason.
TEST_F(StarpuCommands, NameTheOpThatFailedFirst) {
  const std::string graph = write("fails.json", R"({"format": "tutti-graph", "schema_version": 1,
 "inputs": [{"name": "x", "shape": [16, 16], "dtype": "f32", "residence": {"device": "b"}}],
 "ops": [{"name": "product", "kind": "matmul", "operands": ["x", "x"], "flops": 1000,
          "outputs": [{"shape": [16, 16], "dtype": "f32"}]},
         {"name": "first", "kind": "potrf", "operands": ["product"], "flops": 1000,
          "outputs": [{"shape": [16, 16], "dtype": "f32"}]},
         {"name": "second", "kind": "potrf", "operands": ["first"], "flops": 1000,
          "outputs": [{"shape": [16, 16], "dtype": "f32"}]}]})");
  const std::string constraints =
      write("pins.json", R"({"schema_version": 1, "pin": [{"op": "product", "devices": ["b"]},
 {"op": "first", "devices": ["b"]}, {"op": "second", "devices": ["a"]}]})");
  const Ran ran = run({"run", graph, "-m", machine_, "--constraints", constraints, "--policy",
                       "heft", "--runtime", "starpu", "--repeats", "1"},
                      on_ranks(2));
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.err.find("op 'first' on device 'b': potrf"), std::string::npos) << ran.err;
  EXPECT_EQ(ran.err.find("'second'"), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace tutti
