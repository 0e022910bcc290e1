// What commands that run something for real promise: run as a user would.

#include <chrono>
#include <string>
#include <thread>

#include "test/support/cli.h"
#include "tutti/kernels/cpu/blas.h"

namespace tutti {
namespace {

class RunCommands : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    if (const auto opened = cpu::Blas::open(); !opened) GTEST_SKIP() << opened.error().message;
    graph_ = path("graph.json");
    const Ran made = run({"graph", "make", "chainmm", "--size", "48", "--split", "2,2,2",
                          "--devices", "2", "-o", graph_});
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }

  // Of one core, which every host has.
  static constexpr const char* kHere = "this-host:1x1";
  std::string graph_;
};

TEST_F(RunCommands, RunComparesItsNumbersWithTheReference) {
  const Ran ran = run({"run", graph_, "-m", kHere, "--policy", "heft", "--verify"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("verified: "), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("measured makespan"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("predicted by the simulator"), std::string::npos) << ran.out;
}

TEST_F(RunCommands, RunSaysEverythingAsJsonToo) {
  const Ran ran = run({"run", graph_, "-m", kHere, "--policy", "heft", "--repeats", "3", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  for (const char* key : {"\"predicted_ns\"", "\"median_ns\"", "\"makespans_ns\"", "\"devices\""}) {
    EXPECT_NE(ran.out.find(key), std::string::npos) << key << " in " << ran.out;
  }
}

TEST_F(RunCommands, ATraceOfARealRunPassesTheJudge) {
  const std::string plan = path("plan.json");
  const std::string trace = path("trace.json");
  ASSERT_EQ(run({"plan", graph_, "-m", kHere, "--policy", "heft", "-o", plan}).exit_code, 0);
  const Ran ran = run({"run", graph_, "-m", kHere, "--plan", plan, "--trace", trace});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const Ran judged = run({"check", graph_, "-m", kHere, "--plan", plan, "--trace", trace});
  EXPECT_EQ(judged.exit_code, 0) << judged.out << judged.err;
}

// Of an even count the median lies between two runs, and the one beside it is written.
TEST_F(RunCommands, EvenCountsOfRunsHaveATraceToo) {
  for (const char* repeats : {"2", "4"}) {
    const std::string trace = path("even.json");
    const Ran ran = run({"run", graph_, "-m", kHere, "--policy", "heft", "--repeats", repeats,
                         "--trace", trace, "--json"});
    ASSERT_EQ(ran.exit_code, 0) << repeats << ": " << ran.err;
    EXPECT_NE(ran.out.find("\"median_ns\""), std::string::npos) << ran.out;
    EXPECT_EQ(run({"check", graph_, "-m", kHere, "--trace", trace}).exit_code, 0) << repeats;
  }
}

TEST_F(RunCommands, ARunThatIsQuickerThanItsCostsSayPassesTheJudge) {
  // A device that is said to be a thousand times slower than any core: every bound is far above
  // what is measured.
  const std::string slow = write("slow.json", R"({"schema_version": 1, "name": "slow",
      "host": [{"name": "host", "memory_bytes": 1e9}],
      "device": [{"name": "cpu0", "kind": "cpu", "uses_host_memory": true, "units": 1,
                  "flops_per_s": 1e6, "bytes_per_s": 1e6}]})");
  const std::string trace = path("trace.json");
  const Ran ran = run({"run", graph_, "-m", slow, "--policy", "heft", "--trace", trace});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const Ran judged = run({"check", graph_, "-m", slow, "--trace", trace});
  EXPECT_EQ(judged.exit_code, 0) << judged.out << judged.err;
}

TEST_F(RunCommands, BarriersAndOnlinePoliciesRunToo) {
  EXPECT_EQ(run({"run", graph_, "-m", kHere, "--policy", "heft", "--bulk-synchronous"}).exit_code,
            0);
  EXPECT_EQ(run({"run", graph_, "-m", kHere, "--policy", "critical_path", "--online"}).exit_code,
            0);
}

TEST_F(RunCommands, CompareRunsPlansForReal) {
  const Ran ran = run({"compare", graph_, "-m", kHere, "--runtime", "local", "--policies",
                       "heft,single_device", "--repeats", "3", "--bulk-synchronous"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("heft, bulk-synchronous"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("best"), std::string::npos) << ran.out;
}

TEST_F(RunCommands, WhatCannotBeRunIsRefusedInOneSentence) {
  const std::string layered = path("layered.json");
  ASSERT_EQ(run({"graph", "make", "layered", "--ops", "9", "-o", layered}).exit_code, 0);
  const Ran alien = run({"run", graph_, "-m", "mixed-5", "--policy", "heft"});
  EXPECT_NE(alien.exit_code, 0);
  EXPECT_TRUE(alien.err.starts_with("tutti: ")) << alien.err;
  const Ran both = run({"run", graph_, "-m", kHere, "--policy", "heft", "--plan", "x.json"});
  EXPECT_EQ(both.exit_code, 2);
  expect_one_sentence(both, "not both");
  const Ran simulated = run({"compare", graph_, "-m", kHere, "--plans", "x.json"});
  EXPECT_EQ(simulated.exit_code, 2);
  expect_one_sentence(simulated, "--runtime local");
}

TEST_F(RunCommands, OneRunHasNoInterval) {
  const Ran once = run({"run", graph_, "-m", kHere, "--policy", "heft", "--repeats", "1"});
  ASSERT_EQ(once.exit_code, 0) << once.err;
  EXPECT_NE(once.out.find("(one run"), std::string::npos) << once.out;
  EXPECT_EQ(once.out.find("±"), std::string::npos) << once.out;
  const Ran json =
      run({"run", graph_, "-m", kHere, "--policy", "heft", "--repeats", "1", "--json"});
  EXPECT_NE(json.out.find("\"half_interval_ns\":null"), std::string::npos) << json.out;
  const Ran compared = run({"compare", graph_, "-m", kHere, "--runtime", "local", "--policies",
                            "heft", "--repeats", "1", "--json"});
  ASSERT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_NE(compared.out.find("\"half_interval\":null"), std::string::npos) << compared.out;
}

TEST_F(RunCommands, CompareRefusesFlagsThatItWouldNotLookAt) {
  for (const char* flag : {"--seeds", "--runs"}) {
    const Ran ran = run({"compare", graph_, "-m", kHere, "--runtime", "local", flag, "3"});
    EXPECT_EQ(ran.exit_code, 2);
    expect_one_sentence(ran, std::string(flag) + " is for simulated runs");
  }
  const Ran ran = run({"compare", graph_, "-m", kHere, "--repeats", "3"});
  EXPECT_EQ(ran.exit_code, 2);
  expect_one_sentence(ran, "--repeats is for real runs");
}

TEST_F(RunCommands, AGraphWithoutOpsIsRefused) {
  const std::string empty = write(
      "empty.json", R"({"format": "tutti-graph", "schema_version": 1, "name": "e", "ops": []})");
  const std::vector<std::vector<std::string>> commands = {
      {"run", empty, "-m", kHere},
      {"compare", empty, "-m", kHere, "--runtime", "local", "--policies", "heft"},
      {"validate", empty, "-m", kHere},
      {"calibrate", empty, "-m", kHere, "-o", path("costs.toml")}};
  for (const auto& command : commands) {
    const Ran ran = run(command);
    EXPECT_EQ(ran.exit_code, 2) << command[0];
    expect_one_sentence(ran, "the graph has no ops");
  }
}

TEST_F(RunCommands, NumbersThatACpuCannotComputeWithAreRefusedBeforeTheRun) {
  const std::string graph = path("bf16.json");
  ASSERT_EQ(run({"graph", "make", "chainmm", "--size", "16", "--split", "1,1,1", "--dtype", "bf16",
                 "-o", graph})
                .exit_code,
            0);
  const Ran ran = run({"run", graph, "-m", kHere, "--policy", "heft"});
  EXPECT_EQ(ran.exit_code, 2);
  expect_one_sentence(ran, "is of dtype bf16");
  const Ran online = run({"run", graph, "-m", kHere, "--policy", "critical_path", "--online"});
  EXPECT_EQ(online.exit_code, 2);
  expect_one_sentence(online, "is of dtype bf16");
  const Ran compared =
      run({"compare", graph, "-m", kHere, "--runtime", "local", "--policies", "heft"});
  EXPECT_EQ(compared.exit_code, 2) << compared.err;
  const Ran validated = run({"validate", graph, "-m", kHere, "--plans", "2"});
  EXPECT_EQ(validated.exit_code, 2) << validated.err;
}

TEST_F(RunCommands, WhatIsReadIsNotWrittenOver) {
  const std::string before = read_text(graph_);
  const Ran ran = run({"run", graph_, "-m", kHere, "--policy", "heft", "--trace", graph_});
  EXPECT_EQ(ran.exit_code, 2);
  expect_one_sentence(ran, "which is read");
  const Ran calibrated = run({"calibrate", graph_, "-m", kHere, "-o", graph_});
  EXPECT_EQ(calibrated.exit_code, 2);
  expect_one_sentence(calibrated, "which is read");
  const Ran validated = run({"validate", graph_, "-m", kHere, "-o", graph_});
  EXPECT_EQ(validated.exit_code, 2);
  expect_one_sentence(validated, "which is read");
  EXPECT_EQ(read_text(graph_), before);
}

TEST_F(RunCommands, FlagsOfSimulatedRunsAreRefusedForRealOnes) {
  for (const std::string flag : {"--noise", "--order", "--model"}) {
    const std::string value = flag == "--noise" ? "0.3" : flag == "--order" ? "fifo" : "physical";
    const Ran ran = run(
        {"compare", graph_, "-m", kHere, "--runtime", "local", "--policies", "heft", flag, value});
    EXPECT_EQ(ran.exit_code, 2) << flag;
    expect_one_sentence(ran, flag);
  }
}

TEST_F(RunCommands, AGpuThatIsNotThereIsNamedWithARemedy) {
  const std::string machine = write("gpu.json", R"({"schema_version": 1, "name": "g",
      "device": [{"name": "gpu0", "kind": "gpu", "flops_per_s": 1e12}],
      "link": [{"name": "l", "between": ["host", "gpu0"], "bandwidth_bytes_per_s": 1e10}]})");
  const Ran ran = run({"run", graph_, "-m", machine, "--policy", "heft"});
  if (ran.exit_code == 0) GTEST_SKIP() << "there is a GPU";
  EXPECT_EQ(ran.exit_code, 2);
  expect_one_sentence(ran, "device 'gpu0' is a GPU, but");
}

TEST_F(RunCommands, CostsOfOtherCoresAreWarnedOf) {
  const std::string costs = path("costs.json");
  ASSERT_EQ(run({"calibrate", graph_, "-m", kHere, "--ladder", "none", "--runs", "30", "--plans",
                 "0", "-o", costs})
                .exit_code,
            0);
  const Ran same = run({"plan", graph_, "-m", kHere, "--costs", costs, "--policy", "heft"});
  EXPECT_EQ(same.err, "");
  std::string machine = run({"machine", "show", kHere}).out;
  const size_t units = machine.find("units = 1");
  ASSERT_NE(units, std::string::npos) << machine;
  machine.replace(units, 9, "units = 8");
  const Ran other = run(
      {"plan", graph_, "-m", write("wide.toml", machine), "--costs", costs, "--policy", "heft"});
  EXPECT_EQ(other.exit_code, 0) << other.err;
  EXPECT_NE(other.err.find("measured on devices of cpu:1"), std::string::npos) << other.err;
  EXPECT_NE(other.err.find("has cpu:8"), std::string::npos) << other.err;
}

TEST_F(RunCommands, CalibrateSaysWhatItDoesNotMeasureAndWhy) {
  const std::string large = path("large.json");
  ASSERT_EQ(run({"graph", "make", "chainmm", "--size", "4096", "--split", "1,1,1", "-o", large})
                .exit_code,
            0);
  const Ran ran = run({"calibrate", large, "-m", kHere, "--ladder", "none", "--runs", "2",
                       "--plans", "0", "-o", path("costs.toml")});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.err.find("not measured: matmul 4096x4096, 4096x4096 and 2 more on cpu: "),
            std::string::npos)
      << ran.err;
}

// ---- Commands

// Values that have no room for their elements, and those of a dtype that no kernel knows.
TEST_F(RunCommands, SizesAndDtypesAreHeldToWhatKernelsWrite) {
  const char* const graph = R"({"format": "tutti-graph", "schema_version": 1,
      "inputs": [{"name": "x", "shape": [64, 64], "dtype": ")";
  const auto with = [&](const std::string& dtype, const std::string& bytes) {
    const std::string value = R"({"shape": [64, 64], "dtype": ")" + dtype + "\"" + bytes + "}";
    return write("sizes.json", graph + dtype + "\"" + bytes + R"(}], "ops": [{"name": "y",
        "kind": "relu", "operands": ["x"], "outputs": [)" +
                                   value + "]}]}");
  };
  for (const auto& [dtype, bytes, word] :
       {std::tuple("f32", ", \"bytes\": 1000", "fewer than its shape"),
        std::tuple("f32", ", \"bytes\": 0", "fewer than its shape"),
        std::tuple("f64", "", "dtype f64"), std::tuple("i8", "", "dtype i8")}) {
    const std::string file = with(dtype, bytes);
    for (const char* command : {"run", "compare"}) {
      std::vector<std::string> words = {command, file, "-m", kHere};
      if (std::string(command) == "run") {
        words.insert(words.end(), {"--policy", "heft"});
      } else {
        words.insert(words.end(), {"--runtime", "local", "--policies", "heft"});
      }
      const Ran ran = run(words);
      EXPECT_NE((ran.out + ran.err).find(word), std::string::npos) << ran.out << ran.err;
      if (std::string(command) == "run") {
        EXPECT_EQ(ran.exit_code, 2) << dtype << bytes;
      }
      EXPECT_LT(ran.exit_code, 4) << dtype << bytes;
    }
  }
}

class WorkflowCommands : public Cli {
 protected:
  // Two programs that leave their names in a file, the second after the first.
  std::string graph(const std::string& second = "echo two >> DIR/ledger") const {
    std::string text = R"({"format": "tutti-graph", "schema_version": 2, "name": "w", "ops": [
  {"name": "one", "kind": "sh", "run_time_ns": 1000,
   "command": {"argv": ["/bin/sh", "-c", "echo one >> DIR/ledger"]}},
  {"name": "two", "kind": "sh", "operands": ["one"], "run_time_ns": 1000,
   "command": {"argv": ["/bin/sh", "-c", "SECOND"], "directory": "DIR"}}]})";
    const auto replace = [&](const std::string& word, const std::string& by) {
      for (size_t at = text.find(word); at != std::string::npos; at = text.find(word)) {
        text.replace(at, word.size(), by);
      }
    };
    replace("SECOND", second);
    replace("DIR", path(""));
    return write("w.json", text);
  }

  Ran run_it(const std::string& graph,
             std::vector<std::string> flags = {"--allow-commands"}) const {
    std::vector<std::string> all = {"run", graph, "-m", "this-host:1x1", "--policy", "heft"};
    all.insert(all.end(), flags.begin(), flags.end());
    return run(all);
  }
  std::vector<std::string> here(std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"--allow-commands", "--run-folder", path("run")});
    return more;
  }
};

TEST_F(WorkflowCommands, AreNeverRunUnlessAllowed) {
  const std::string file = graph();
  const Ran ran = run_it(file, {});
  EXPECT_EQ(ran.exit_code, 2);
  expect_one_sentence(ran, "2 of its 2 ops are commands, programs that the file names");
  for (const char* command : {"plan", "simulate", "explain"}) {
    run({command, file, "-m", "this-host:1x1", "--policy", "heft"});
  }
  run({"compare", file, "-m", "this-host:1x1", "--policies", "heft", "--runtime", "local"});
  run({"calibrate", file, "-m", "this-host:1x1", "-o", path("costs.toml")});
  run({"validate", file, "-m", "this-host:1x1"});
  EXPECT_FALSE(std::filesystem::exists(path("ledger")));
  const Ran resumed = run_it(file, {"--resume"});
  EXPECT_EQ(resumed.exit_code, 2) << resumed.err;
}

TEST_F(WorkflowCommands, AreRunInOrderAndNotTwice) {
  const std::string file = graph();
  const Ran ran = run_it(file, here());
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("heft: ran 2 of 2 commands in "), std::string::npos) << ran.out;
  EXPECT_EQ(read_text(path("ledger")), "one\ntwo\n");
  const Ran again = run_it(file, here());
  EXPECT_EQ(again.exit_code, 2);
  expect_one_sentence(again, "holds a run that was begun before; add --resume");
  const Ran resumed = run_it(file, here({"--resume"}));
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_NE(resumed.out.find("ran 0 of 2 commands"), std::string::npos) << resumed.out;
  EXPECT_EQ(read_text(path("ledger")), "one\ntwo\n");
}

TEST_F(WorkflowCommands, SayWhatFailedAndHowToGoOn) {
  const std::string file = graph("test -e mended || { echo broken >&2; exit 5; }");
  const Ran ran = run_it(file, here({"--retries", "1"}));
  EXPECT_EQ(ran.exit_code, 1);
  expect_one_sentence(ran, "op 'two' on device 'cpu0': ended with exit code 5, after 'broken'");
  EXPECT_NE(ran.err.find("1 of 2 ops are done, and --resume"), std::string::npos) << ran.err;
  EXPECT_EQ(read_text(path("run/logs/1-two.2.log")), "broken\n");
  write("mended", "");
  const std::string trace = path("trace.json");
  const Ran resumed = run_it(file, here({"--resume", "--json", "--trace", trace}));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_NE(resumed.out.find("\"done_before\":1"), std::string::npos) << resumed.out;
  EXPECT_NE(resumed.out.find("\"done_now\":1"), std::string::npos) << resumed.out;
  const Ran judged = run({"check", file, "-m", "this-host:1x1", "--trace", trace});
  EXPECT_EQ(judged.exit_code, 0) << judged.out << judged.err;
}

TEST_F(WorkflowCommands, AreNotCompletedWithAnotherGraph) {
  ASSERT_EQ(run_it(graph(), here()).exit_code, 0);
  const Ran ran = run_it(graph("echo other"), here({"--resume"}));
  EXPECT_EQ(ran.exit_code, 2);
  expect_one_sentence(ran, "was begun with other commands");
  const Ran online = run_it(graph(), here({"--resume", "--online"}));
  EXPECT_EQ(online.exit_code, 2) << online.err;
}

TEST_F(WorkflowCommands, AreRunByOnlinePoliciesToo) {
  const Ran ran = run({"run", graph(), "-m", "this-host:2x1", "--policy", "critical_path",
                       "--online", "--allow-commands", "--run-folder", path("run")});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(read_text(path("ledger")), "one\ntwo\n");
}

std::string sleeps(const std::vector<std::string>& seconds) {
  std::string ops;
  for (size_t i = 0; i < seconds.size(); ++i) {
    ops += (ops.empty() ? "" : ",") + ("{\"name\": \"s" + std::to_string(i)) +
           R"(", "kind": "sleep", "command": {"argv": ["sleep", ")" + seconds[i] + "\"]}}";
  }
  return R"({"format": "tutti-graph", "schema_version": 2, "name": "s", "ops": [)" + ops + "]}";
}

// One after another they would take as long as all together.
TEST_F(WorkflowCommands, ThisHostHasASlotForEachCore) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "this host has one core";
  for (const auto& [seconds, together] :
       {std::pair{std::vector<std::string>{"0.5", "0.5", "0.5", "0.5"}, 2.0},
        std::pair{std::vector<std::string>{"0.9", "0.2", "0.2", "0.2", "0.3"}, 1.8}}) {
    const std::string file = write("sleeps.json", sleeps(seconds));
    const Ran ran = run({"run", file, "--policy", "heft", "--allow-commands", "--run-folder",
                         path("run" + std::to_string(seconds.size()))});
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    // The run's own time: the program itself may start slowly on a busy host.
    const std::string before = " commands in ";
    const size_t at = ran.out.find(before);
    ASSERT_NE(at, std::string::npos) << ran.out;
    const std::string time = ran.out.substr(at + before.size());
    size_t digits = 0;
    const double number = std::stod(time, &digits);
    const bool in_ms = time.substr(digits).starts_with(" ms");
    EXPECT_LT(in_ms ? number / 1000 : number, 0.9 * together) << ran.out;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_NE(ran.err.find(std::to_string(seconds.size()) +
                           " commands have no run time and are assumed to take 1 s each"),
              std::string::npos)
        << ran.err;
  }
}

// On devices with memories of their own, files take time to move; commands that seemed to take none
// all went to one device.
TEST_F(WorkflowCommands, WithoutTimesAreSpreadOverDevices) {
  const std::string file = write("wf.json", R"({"schemaVersion": "1.5", "name": "w", "workflow": {
    "specification": {"tasks": [
        {"id": "a", "inputFiles": ["in"], "outputFiles": ["x"]},
        {"id": "b", "inputFiles": ["in"], "outputFiles": ["y"]}],
      "files": [{"id": "in", "sizeInBytes": 1000000}, {"id": "x", "sizeInBytes": 1000000},
                {"id": "y", "sizeInBytes": 1000000}]},
    "execution": {"makespanInSeconds": 0, "executedAt": "now", "tasks": [
        {"id": "a", "command": {"program": "sleep", "arguments": ["1"]}},
        {"id": "b", "command": {"program": "sleep", "arguments": ["2"]}}]}}})");
  const std::string machine = write("two.json", R"({"schema_version": 1, "name": "two",
      "host": [{"name": "host", "memory_bytes": 1e9}],
      "device": [{"name": "cpu0", "kind": "cpu", "flops_per_s": 1e9, "bytes_per_s": 1e9},
                 {"name": "cpu1", "kind": "cpu", "flops_per_s": 1e9, "bytes_per_s": 1e9}],
      "link": [{"name": "l0", "between": ["host", "cpu0"], "bandwidth_bytes_per_s": 1e9},
               {"name": "l1", "between": ["host", "cpu1"], "bandwidth_bytes_per_s": 1e7}]})");
  const Ran ran = run({"plan", file, "-m", machine, "-o", "-"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.err.find("2 commands have no run time"), std::string::npos) << ran.err;
  EXPECT_NE(ran.out.find("\"cpu0\""), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("\"cpu1\""), std::string::npos) << ran.out;
}

TEST_F(WorkflowCommands, HaveFlagsThatMeanNothingWithoutThem) {
  const std::string plain = write("plain.json", kGraph);
  const Ran ran = run_it(plain, here());
  EXPECT_EQ(ran.exit_code, 2);
  expect_one_sentence(ran, "no op of it has a command; leave out --allow-commands");
  EXPECT_EQ(run_it(graph(), here({"--repeats", "3"})).exit_code, 2);
  EXPECT_EQ(run_it(graph(), here({"--op-timeout", "soon"})).exit_code, 2);
}

}  // namespace
}  // namespace tutti
