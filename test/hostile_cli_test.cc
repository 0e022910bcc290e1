// Runs the program itself on hostile files and impossible wishes, and holds it to what its users
// may rely on: exit code 2 and one sentence for what they gave wrong, 3 for what cannot be, 1 when
// the world fails; and an output file that is whole or untouched.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "tutti/base/document.h"

namespace tutti {
namespace {

constexpr const char* kOld = "what was here before\n";

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Ran {
  int exit_code = -1;  // 128 and more: killed by a signal
  std::string out;
  std::string err;
};

struct Wish {
  std::string standard_output{};  // a path; empty: captured
  long longest_file = 0;          // in bytes, as on a full disk; 0: no limit
};

// Each test has a folder of its own.
class Cli : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "tutti_hostile_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

  Ran run(const std::vector<std::string>& arguments, const Wish& wish = {}) const {
    const std::string captured = path("captured");
    std::filesystem::create_directory(captured);
    const std::string out = wish.standard_output.empty() ? captured + "/out" : wish.standard_output;
    const std::string err = captured + "/err";
    const pid_t child = ::fork();
    if (child == 0) become_tutti(arguments, wish, out, err);
    int status = 0;
    ::waitpid(child, &status, 0);
    Ran ran{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            wish.standard_output.empty() ? read_text(out) : "", read_text(err)};
    std::filesystem::remove_all(captured);
    return ran;
  }

  // The names in the folder, to see that nothing was left behind.
  std::vector<std::string> listing() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

 private:
  [[noreturn]] static void become_tutti(const std::vector<std::string>& arguments, const Wish& wish,
                                        const std::string& out, const std::string& err) {
    std::vector<char*> words = {const_cast<char*>(TUTTI_BINARY)};
    for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    const rlimit seconds{20, 20};  // what hangs shall fail
    ::setrlimit(RLIMIT_CPU, &seconds);
    if (wish.longest_file > 0) {
      const rlimit bytes{static_cast<rlim_t>(wish.longest_file),
                         static_cast<rlim_t>(wish.longest_file)};
      ::setrlimit(RLIMIT_FSIZE, &bytes);
      ::signal(SIGXFSZ, SIG_IGN);  // a write then fails instead
    }
    ::execv(TUTTI_BINARY, words.data());
    ::_exit(127);
  }

  std::string folder_;
};

// One line that ends, begins with the program's name and holds what is expected.
void expect_one_sentence(const Ran& ran, const std::string& expected) {
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  EXPECT_TRUE(ran.err.starts_with("tutti: ")) << ran.err;
  EXPECT_TRUE(ran.err.ends_with("\n")) << ran.err;
  EXPECT_NE(ran.err.find(expected), std::string::npos) << ran.err;
  EXPECT_TRUE(is_utf8(ran.err)) << ran.err;
  EXPECT_TRUE(ran.out.empty()) << ran.out;
}

constexpr const char* kGraph = R"({"format": "tutti-graph", "schema_version": 1, "name": "g",
 "ops": [{"name": "a", "outputs": [{"bytes": 1000}], "run_time_ns": 100},
         {"name": "b", "operands": ["a"], "outputs": [{"bytes": 1000}], "run_time_ns": 100}]}
)";

// What a hostile file is given as, and how the reader's own good file looks where that depends on
// the graph.
enum class As { graph, machine, costs, constraints, plan, trace };

enum Line { with_line, without_line };

struct Hostile {
  std::string claim;
  As as;
  std::string text;
  Line line = with_line;
};

void PrintTo(const Hostile& hostile, std::ostream* out) {
  *out << hostile.claim;
}

std::string graph(const std::string& ops) {
  return "{\"format\": \"tutti-graph\", \"schema_version\": 1,\n \"ops\": [" + ops + "]}\n";
}

std::string wf(const std::string& tasks, const std::string& files = "") {
  return "{\"workflow\": {\"specification\": {\n\"tasks\": [" + tasks + "],\n\"files\": [" + files +
         "]}}}\n";
}

std::string hoft(const std::string& nodes, const std::string& edges = "") {
  return "{\"nodes\": [" + nodes + "],\n\"edges\": [" + edges + "]}\n";
}

std::string node(const std::string& id, const std::string& time = "1") {
  return "{\"id\": " + id + ", \"kernel\": \"k\", \"cpu_us\": " + time + ", \"gpu_us\": 1}";
}

std::string edge(const std::string& from, const std::string& to) {
  return "{\"src\": " + from + ", \"dst\": " + to + ", \"CC\": 1, \"CG\": 1, \"GC\": 1, \"GG\": 1}";
}

std::string machine(const std::string& devices, const std::string& rest = "") {
  return "{\"schema_version\": 1,\n \"device\": [" + devices + "]" + rest + "}\n";
}

std::string rules(const std::string& rest) {
  return "{\"schema_version\": 1,\n " + rest + "}\n";
}

// `GRAPH` stands for the fingerprint of kGraph.
std::string plan(const std::string& ops, const std::string& rest = "") {
  return "{\"format\": \"tutti-plan\", \"schema_version\": 1, \"graph_fingerprint\": \"GRAPH\",\n"
         " \"machine_fingerprint\": \"0000000000000000\",\n"
         " \"costs_fingerprint\": \"0000000000000000\", \"seed\": \"1\",\n \"ops\": [" +
         ops + "]" + rest + "}\n";
}

std::string placed(const std::string& op, const std::string& priority = "0",
                   const std::string& device = "device0") {
  return "{\"op\": \"" + op + "\", \"device\": \"" + device + "\", \"priority\": " + priority + "}";
}

std::string trace(const std::string& events) {
  return "{\"tutti\": {\"format\": \"tutti-trace\", \"schema_version\": 1, \"runtime\": \"r\",\n"
         " \"graph_fingerprint\": \"GRAPH\", \"machine_fingerprint\": \"0000000000000000\",\n"
         " \"seed\": \"1\", \"makespan_ns\": 1},\n \"traceEvents\": [" +
         events + "]}\n";
}

std::string span(const std::string& op, const std::string& start = "0") {
  return "{\"cat\": \"op\", \"args\": {\"op\": \"" + op +
         "\", \"device\": \"device0\", \"slot\": 0, \"start_ns\": " + start +
         ", \"finish_ns\": 1}}";
}

const std::string kDeep(100000, '[');
const std::string kDevice = R"({"name": "d", "kind": "k"})";

std::vector<Hostile> hostile_graphs() {
  return {
      {"GraphTruncated", As::graph, graph("{\"name\": \"a\"}").substr(0, 60)},
      {"GraphHuge", As::graph, graph(R"({"name": "a", "outputs": [{"bytes": 1e19}]})")},
      {"GraphCyclic", As::graph,
       graph(R"({"name": "a", "operands": ["b"]}, {"name": "b", "operands": ["a"]})"),
       without_line},
      {"GraphDuplicate", As::graph, graph("{\"name\": \"a\"},\n{\"name\": \"a\"}")},
      {"GraphDuplicateOfTwoLines", As::graph, graph(R"({"name": "a\nb"}, {"name": "a\nb"})")},
      {"GraphNegative", As::graph, graph(R"({"name": "a", "flops": -1})")},
      {"GraphNan", As::graph, graph(R"({"name": "a", "flops": NaN})")},
      {"GraphDeep", As::graph, graph(kDeep)},
      {"GraphNotUtf8", As::graph, graph("{\"name\": \"\xff\"}")},

      {"DopplerTruncated", As::graph, "3\n0\n0\n"},
      {"DopplerHuge", As::graph, "2147483647\n0\n0\n1\n1,1\n1,1\n"},
      {"DopplerCyclic", As::graph, "3\n0\n0,1\n1,0\n1,1\n1,1\n", without_line},
      {"DopplerUneven", As::graph, "3\n0\n0,0\n1\n1,1\n1,1\n"},
      {"DopplerNegative", As::graph, "3\n0\n0\n1\n1,1\n-1,1\n"},
      {"DopplerNan", As::graph, "3\n0\n0\n1\n1,1\nnan,1\n"},
      {"DopplerNotUtf8", As::graph, "3\n0\n0\n1\n1,1,\xff\n1,1\n"},

      {"StgTruncated", As::graph, "2\n0 0 0\n1 5 1 0\n"},
      {"StgHuge", As::graph, "2147483645\n0 0 0\n"},
      {"StgCyclic", As::graph, "1\n0 0 0\n1 5 1 2\n2 0 1 1\n", without_line},
      {"StgDuplicate", As::graph, "1\n0 0 0\n0 5 0\n2 0 1 1\n"},
      {"StgNegative", As::graph, "1\n0 0 0\n1 -5 1 0\n2 0 1 1\n"},
      {"StgNan", As::graph, "1\n0 0 0\n1 nan 1 0\n2 0 1 1\n"},
      {"StgNotUtf8", As::graph, "1\n0 0 0\n1 \xff 1 0\n2 0 1 1\n"},

      {"WfTruncated", As::graph, wf("{\"id\": \"a\"}").substr(0, 50)},
      {"WfHuge", As::graph, wf(R"({"id": "a"})", R"({"id": "f", "sizeInBytes": 1e19})")},
      {"WfCyclic", As::graph, wf(R"({"id": "a", "parents": ["b"]}, {"id": "b", "parents": ["a"]})"),
       without_line},
      {"WfDuplicate", As::graph, wf("{\"id\": \"a\"},\n{\"id\": \"a\"}")},
      {"WfNegative", As::graph, wf(R"({"id": "a"})", R"({"id": "f", "sizeInBytes": -1})")},
      {"WfNan", As::graph, wf(R"({"id": "a"})", R"({"id": "f", "sizeInBytes": NaN})")},
      {"WfDeep", As::graph, wf(kDeep)},
      {"WfNotUtf8", As::graph, wf("{\"id\": \"\xff\"}")},

      {"DotTruncated", As::graph, "digraph {\n a -> b"},
      {"DotHuge", As::graph, "digraph {\n a -> b [size=1e19];\n}"},
      {"DotCyclic", As::graph, "digraph {\n a -> b -> a;\n}", without_line},
      {"DotCyclicOverTwoLines", As::graph, "digraph {\n \"a\nb\" -> \"a\nb\";\n}", without_line},
      {"DotNegative", As::graph, "digraph {\n a [size=-1];\n}"},
      {"DotNan", As::graph, "digraph {\n a [size=nan];\n}"},
      {"DotDeep", As::graph, "digraph " + std::string(100000, '{')},
      {"DotNotUtf8", As::graph, "digraph {\n \"\xff\" -> b;\n}"},

      {"HoftTruncated", As::graph, hoft(node("0")).substr(0, 40)},
      {"HoftHuge", As::graph, hoft(node("0"), edge("0", "2147483647"))},
      {"HoftCyclic", As::graph,
       hoft(node("0") + "," + node("1"), edge("0", "1") + "," + edge("1", "0")), without_line},
      {"HoftDuplicate", As::graph, hoft(node("0") + ",\n" + node("0"))},
      {"HoftNegative", As::graph, hoft(node("0", "-1"))},
      {"HoftNan", As::graph, hoft(node("0", "NaN"))},
      {"HoftDeep", As::graph, hoft(node("0") + "," + kDeep)},
      {"HoftNotUtf8", As::graph, hoft("{\"cpu_us\": \"\xff\"}")},

      {"EmptyGraph", As::graph, "", without_line},
      {"NoGraph", As::graph, "Dear tutti,\nplease plan this.\n"},
      {"BinaryGraph", As::graph, std::string("\0\x01\x02\xff\n", 5)},
  };
}

std::vector<Hostile> hostile_machines_and_rules() {
  return {
      {"MachineTruncated", As::machine, machine(kDevice).substr(0, 40)},
      {"MachineHuge", As::machine, machine(R"({"name": "d", "kind": "k", "slots": 1e18})")},
      {"MachineCyclic", As::machine,
       machine(kDevice, R"(, "link": [{"name": "l", "between": ["d", "d"]}])")},
      {"MachineDuplicate", As::machine, machine(kDevice + ",\n" + kDevice)},
      {"MachineNegative", As::machine,
       machine(R"({"name": "d", "kind": "k", "memory_bytes": -1})")},
      {"MachineNan", As::machine, machine(R"({"name": "d", "kind": "k", "flops_per_s": NaN})")},
      {"MachineDeep", As::machine, machine(kDeep)},
      {"MachineNotUtf8", As::machine, machine("{\"name\": \"\xff\", \"kind\": \"k\"}")},

      {"CostsTruncated", As::costs, rules("\"run_time\": [").substr(0, 35)},
      {"CostsHuge", As::costs, rules(R"("run_time": [{"kind": "k", "time_ns": 1e18}])")},
      {"CostsDuplicate", As::costs, rules("\"run_time\": [],\n\"run_time\": []")},
      {"CostsNegative", As::costs, rules(R"("run_time": [{"kind": "k", "time_ns": -1}])")},
      {"CostsNan", As::costs, rules(R"("run_time": [{"kind": "k", "time_ns": NaN}])")},
      {"CostsDeep", As::costs, rules("\"run_time\": " + kDeep)},
      {"CostsNotUtf8", As::costs, rules("\"run_time\": [{\"kind\": \"\xff\", \"time_ns\": 1}]")},

      {"ConstraintsTruncated", As::constraints, rules("\"pin\": [").substr(0, 30)},
      {"ConstraintsHuge", As::constraints,
       rules(R"("memory_limit": [{"memory": "m", "bytes": 1e19}])")},
      {"ConstraintsDuplicate", As::constraints, rules("\"pin\": [],\n\"pin\": []")},
      {"ConstraintsNegative", As::constraints,
       rules(R"("memory_limit": [{"memory": "m", "bytes": -1}])")},
      {"ConstraintsNan", As::constraints,
       rules(R"("memory_limit": [{"memory": "m", "bytes": NaN}])")},
      {"ConstraintsDeep", As::constraints, rules("\"pin\": " + kDeep)},
      {"ConstraintsNotUtf8", As::constraints,
       rules("\"pin\": [{\"op\": \"\xff\", \"device\": \"device0\"}]")},
      {"ConstraintsOfAnotherGraph", As::constraints,
       rules(R"("pin": [{"op": "z", "device": "device0"}])"), without_line},
  };
}

// The same hostility in the other notation.
std::vector<Hostile> hostile_toml() {
  if (!can_read_toml()) return {};
  const std::string head = "schema_version = 1\n";
  const std::string device = "[[device]]\nname = \"d\"\nkind = \"k\"\n";
  std::string dotted = "a";
  for (int i = 0; i < 100000; ++i) dotted += i % 2 == 0 ? ".\"=\"" : ".a";
  return {
      {"TomlTruncated", As::machine, head + "[[device]]\nname = \"d"},
      {"TomlHuge", As::machine, head + device + "slots = 99999999999999999999\n"},
      {"TomlDuplicate", As::machine, head + device + "kind = \"k\"\n"},
      {"TomlNegative", As::machine, head + device + "memory_bytes = -1\n"},
      {"TomlNan", As::machine, head + device + "flops_per_s = nan\n"},
      {"TomlDeep", As::machine, head + "name = " + kDeep},
      {"TomlDeeplyDotted", As::machine, head + dotted + " = 1\n"},
      {"TomlNotUtf8", As::machine, head + "name = \"\xff\"\n"},
      {"TomlEmpty", As::machine, ""},
  };
}

std::vector<Hostile> hostile_plans_and_traces() {
  const std::string both = placed("a") + ",\n" + placed("b");
  return {
      {"PlanTruncated", As::plan, plan(both).substr(0, 200)},
      {"PlanHuge", As::plan, plan(placed("a", "1e30") + "," + placed("b"))},
      {"PlanCyclic", As::plan, plan(both, R"(, "strict_order": {"device0": ["b", "a"]})"),
       without_line},
      {"PlanDuplicate", As::plan, plan(both + ",\n" + placed("a"))},
      {"PlanNegative", As::plan,
       plan(R"({"op": "a", "device": "device0", "priority": 0, "start_ns": -1, "finish_ns": 1},)" +
            placed("b"))},
      {"PlanNan", As::plan, plan(placed("a", "NaN") + "," + placed("b"))},
      {"PlanDeep", As::plan, plan(kDeep)},
      {"PlanNotUtf8", As::plan, plan(placed("\xff"))},

      {"TraceTruncated", As::trace, trace(span("a")).substr(0, 200)},
      {"TraceHuge", As::trace, trace(span("a", "1e19"))},
      {"TraceDuplicate", As::trace, trace("{\"cat\": \"op\",\n\"cat\": \"op\"}")},
      {"TraceNegative", As::trace, trace(span("a", "-1"))},
      {"TraceNan", As::trace, trace(span("a", "NaN"))},
      {"TraceDeep", As::trace, trace(kDeep)},
      {"TraceNotUtf8", As::trace, trace(span("\xff"))},
  };
}

std::vector<Hostile> all_hostile() {
  std::vector<Hostile> all = hostile_graphs();
  for (auto more : {hostile_machines_and_rules(), hostile_toml(), hostile_plans_and_traces()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

class HostileFile : public Cli, public ::testing::WithParamInterface<Hostile> {
 protected:
  std::vector<std::string> arguments(const std::string& file, const std::string& output) const {
    const std::string good = path("graph.json");
    switch (GetParam().as) {
      case As::graph:
        return {"graph", "convert", file, "-o", output};
      case As::machine:
        return {"machine", "show", file, "-o", output};
      case As::costs:
        return {"plan", good, "-m", "uniform-2", "--costs", file, "-o", output};
      case As::constraints:
        return {"plan", good, "-m", "uniform-2", "--constraints", file, "-o", output};
      case As::plan:
        return {"simulate", good, "-m", "uniform-2", "--plan", file, "--trace", output};
      case As::trace:
        return {"check", good, "-m", "uniform-2", "--trace", file};
    }
    return {};
  }

  // Plans and traces must be of the graph, or no more is read of them than that they are not.
  std::string text_for_graph() const {
    std::string text = GetParam().text;
    if (const size_t at = text.find("GRAPH"); at != std::string::npos) {
      const Ran info = run({"graph", "info", path("graph.json"), "--json"});
      std::smatch found;
      EXPECT_TRUE(std::regex_search(info.out, found, std::regex("\"fingerprint\": ?\"(\\w+)\"")));
      text.replace(at, 5, found[1]);
    }
    return text;
  }
};

TEST_P(HostileFile, IsRefusedWithItsNameAndLeavesTheOutputAlone) {
  write("graph.json", kGraph);
  const std::string file = write("hostile", text_for_graph());
  const std::string output = write("output", kOld);
  const size_t files_before = listing().size();
  const Ran ran = run(arguments(file, output));
  EXPECT_EQ(ran.exit_code, 2) << ran.err;
  expect_one_sentence(ran, file + ":");
  if (GetParam().line == with_line) {
    EXPECT_TRUE(std::regex_search(ran.err, std::regex(file + ":[1-9][0-9]*: "))) << ran.err;
  }
  EXPECT_EQ(read_text(output), kOld);
  EXPECT_EQ(listing().size(), files_before);
}

INSTANTIATE_TEST_SUITE_P(Every, HostileFile, ::testing::ValuesIn(all_hostile()),
                         [](const auto& instance) { return instance.param.claim; });

using Infeasible = Cli;

TEST_F(Infeasible, PinToAForbiddenDeviceExitsWith3) {
  const std::string file = write(
      "rules.json",
      rules(
          R"("pin": [{"op": "a", "device": "device0"}], "forbid": [{"op": "a", "device": "device0"}])"));
  const std::string output = write("plan.json", kOld);
  const Ran ran = run({"plan", write("graph.json", kGraph), "-m", "uniform-2", "--constraints",
                       file, "-o", output});
  EXPECT_EQ(ran.exit_code, 3) << ran.err;
  expect_one_sentence(ran, "op 'a'");
  EXPECT_EQ(read_text(output), kOld);
}

TEST_F(Infeasible, MemoryTooSmallExitsWith3) {
  const std::string file = write("rules.json", rules(R"("memory_limit": [
      {"memory": "device0", "bytes": 10}, {"memory": "device1", "bytes": 10}])"));
  const std::string output = write("plan.json", kOld);
  for (const std::string policy : {"auto", "heft", "single_device"}) {
    const Ran ran = run({"plan", write("graph.json", kGraph), "-m", "uniform-2", "--constraints",
                         file, "--policy", policy, "-o", output});
    EXPECT_EQ(ran.exit_code, 3) << policy << ": " << ran.err;
    expect_one_sentence(ran, "");
    EXPECT_EQ(read_text(output), kOld);
  }
}

struct Wrong {
  std::string claim;
  std::vector<std::string> arguments;
};

void PrintTo(const Wrong& wrong, std::ostream* out) {
  *out << wrong.claim;
}

class WrongCommand : public Cli, public ::testing::WithParamInterface<Wrong> {};

// GRAPH stands for a good graph, FOLDER for a folder.
TEST_P(WrongCommand, ExitsWith2AndSaysWhy) {
  std::vector<std::string> arguments = GetParam().arguments;
  for (std::string& argument : arguments) {
    if (argument == "GRAPH") argument = write("graph.json", kGraph);
    if (argument == "FOLDER") argument = path("");
  }
  const Ran ran = run(arguments);
  EXPECT_EQ(ran.exit_code, 2) << ran.err;
  EXPECT_FALSE(ran.err.empty());
  EXPECT_TRUE(ran.out.empty()) << ran.out;
}

INSTANTIATE_TEST_SUITE_P(
    Every, WrongCommand,
    ::testing::Values(
        Wrong{"Nothing", {}}, Wrong{"UnknownCommand", {"plann"}},
        Wrong{"UnknownFlag", {"plan", "GRAPH", "--fast"}}, Wrong{"NoGraph", {"plan"}},
        Wrong{"TooMany", {"plan", "GRAPH", "GRAPH"}},
        Wrong{"SeedIsText", {"plan", "GRAPH", "--seed", "x"}},
        Wrong{"SeedIsNegative", {"plan", "GRAPH", "--seed", "-1"}},
        Wrong{"NoThreads", {"plan", "GRAPH", "--threads", "-1"}},
        Wrong{"NoiseIsNan", {"plan", "GRAPH", "--noise", "nan"}},
        Wrong{"NoiseIsNegative", {"plan", "GRAPH", "--noise", "-1"}},
        Wrong{"NoSeeds", {"compare", "GRAPH", "--seeds", "0"}},
        Wrong{"HugeSeeds", {"compare", "GRAPH", "--seeds", "99999999999999999999"}},
        Wrong{"UnknownModel", {"plan", "GRAPH", "--model", "ideal"}},
        Wrong{"UnknownPolicy", {"plan", "GRAPH", "-m", "uniform-2", "--policy", "luck"}},
        Wrong{"UnknownPolicies",
              {"compare", "GRAPH", "-m", "uniform-2", "--policies", "heft,luck"}},
        Wrong{"UnknownMachine", {"plan", "GRAPH", "-m", "p100-5"}},
        Wrong{"NoMachine", {"plan", "GRAPH", "-m", "uniform-0"}},
        Wrong{"HugeMachine", {"plan", "GRAPH", "-m", "uniform-99999999999"}},
        Wrong{"EmptyMachine", {"plan", "GRAPH", "-m", ""}},
        Wrong{"MissingGraph", {"plan", "/no/such/graph.json"}},
        Wrong{"MissingPlan", {"check", "GRAPH", "-m", "uniform-2", "--plan", "/no/such/plan"}},
        Wrong{"FolderAsGraph", {"plan", "FOLDER", "-m", "uniform-2"}},
        Wrong{"FolderAsMachine", {"plan", "GRAPH", "-m", "FOLDER"}},
        Wrong{"FolderAsCosts", {"plan", "GRAPH", "-m", "uniform-2", "--costs", "FOLDER"}},
        Wrong{"FolderAsOutput", {"graph", "convert", "GRAPH", "-o", "FOLDER"}},
        Wrong{"OutputInNoFolder", {"graph", "convert", "GRAPH", "-o", "/no/such/folder/x"}},
        Wrong{"EmptyStandardInput", {"graph", "convert", "-"}},
        Wrong{"NothingToCheck", {"check", "GRAPH", "-m", "uniform-2"}},
        Wrong{"OnlineWithoutPolicy", {"simulate", "GRAPH", "-m", "uniform-2", "--online"}},
        Wrong{"ReportOfNothing", {"report"}},
        Wrong{"ReportOfAGraphAlone", {"report", "GRAPH", "-m", "uniform-2"}},
        Wrong{"ReportOfTwoGraphs", {"report", "GRAPH", "GRAPH", "-m", "uniform-2"}},
        Wrong{"ReportOfAFolder", {"report", "FOLDER"}},
        Wrong{"ReportOfNoFile", {"report", "/no/such/trace.json"}},
        Wrong{"ReportOfEmptyStandardInput", {"report", "-"}},
        Wrong{"NegativeOps", {"graph", "make", "layered", "--ops", "-5"}},
        Wrong{"HugeOps", {"graph", "make", "layered", "--ops", "99999999999999999999"}},
        Wrong{"NegativeWidth", {"graph", "make", "layered", "--width", "-5"}},
        Wrong{"NegativeBytes", {"graph", "make", "layered", "--bytes", "-5"}},
        Wrong{"FlopsAreNan", {"graph", "make", "layered", "--flops", "nan"}}),
    [](const auto& instance) { return instance.param.claim; });

using OtherProblem = Cli;

TEST_F(OtherProblem, IsWarnedOfInOneLine) {
  const std::string file = write("graph.json", kGraph);
  const std::string plan = path("plan.json");
  ASSERT_EQ(run({"plan", file, "-m", "uniform-2", "--policy", "heft", "-o", plan}).exit_code, 0);
  const std::string warning = "tutti: warning: " + plan + ": the plan was made for ";
  for (const std::string command : {"simulate", "check"}) {
    const Ran same = run({command, file, "-m", "uniform-2", "--plan", plan});
    EXPECT_EQ(same.exit_code, 0) << same.err;
    EXPECT_EQ(same.err, "");
    const Ran other = run({command, file, "-m", "uniform-3", "--plan", plan});
    EXPECT_EQ(other.exit_code, 0) << other.err;
    EXPECT_EQ(other.err, warning + "another machine\n");
    const Ran noisy = run({command, file, "-m", "uniform-2", "--noise", "0.1", "--plan", plan});
    EXPECT_EQ(noisy.err, warning + "other costs\n");
  }
}

using Make = Cli;

TEST_F(Make, SaysInOneSentenceWhatCannotBeMade) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wishes = {
      {{"chainmm", "--split", "3,1,1"}, "does not split into 3 equal blocks"},
      {{"chainmm", "--split", "2,2"}, "--split is '2,2'"},
      {{"chainmm", "--split", "2,x,2"}, "--split is '2,x,2'"},
      {{"chainmm", "--split", "0,1,1"}, "does not split into 0 equal blocks"},
      {{"chainmm", "--size", "-1"}, "has size -1"},
      {{"chainmm", "--size", "2000000000", "--split", "1,1,1"}, "bytes"},
      {{"chainmm", "--size", "1048576", "--split", "65536,65536,1"}, "ops and edges"},
      {{"chainmm", "--dtype", "i8"}, "--dtype is 'i8'"},
      {{"chainmm", "--devices", "0"}, "devices, not 0"},
      {{"ffnn", "--sizes", "4096"}, "sizes"},
      {{"ffnn", "--sizes", "4096,many"}, "--sizes is '4096,many'"},
      {{"ffnn", "--batch", "7"}, "does not split into 4 equal blocks"},
      {{"llama-block", "--split", "pp"}, "there is no split 'pp'"},
      {{"llama-block", "--split", "dp", "--batch", "3"}, "does not split into 4"},
      {{"llama-block", "--shards", "-4"}, "for -4 shards"},
      {{"llama-block", "--batch", "-9223372036854775808"}, "a batch of -9223372036854775808"},
      {{"llama-block", "--row-shards", "3000000000"}, "does not split"},
      {{"llama-layer", "--split", "tp", "--shards", "64"}, "does not split into 64"},
      {{"llama-layer", "--heads", "0"}, "do not make 0 heads"},
      {{"cholesky", "--tiles", "1000000"}, "ops and edges"},
      {{"cholesky", "--tile-size", "0"}, "at least 1 tile"},
      {{"fork-join", "--width", "99999999999"}, "ops and edges"},
      {{"tree", "--levels", "100"}, "ops and edges"},
      {{"tree", "--direction", "up"}, "--direction is 'up'"},
      {{"stencil", "--radius", "-1"}, "radius"},
      {{"fft", "--points", "12"}, "power of two"},
      {{"all-to-all", "--width", "1000000"}, "ops and edges"},
      {{"random", "--ccr", "nan"}, "ratio"},
      {{"random", "--rate", "0"}, "positive"}};
  for (const auto& [flags, expected] : wishes) {
    std::vector<std::string> arguments = {"graph", "make"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.exit_code, 2) << expected;
    expect_one_sentence(ran, expected);
  }
}

TEST_F(Make, WritesTheSameBytesForTheSameFlags) {
  for (const char* kind : {"chainmm", "ffnn", "llama-block", "llama-layer", "cholesky", "layered",
                           "fork-join", "tree", "stencil", "fft", "all-to-all", "random"}) {
    const Ran first = run({"graph", "make", kind});
    EXPECT_EQ(first.exit_code, 0) << kind << ": " << first.err;
    EXPECT_EQ(first.out, run({"graph", "make", kind}).out) << kind;
    // What is written can be read again, fingerprint included.
    const Ran read = run({"graph", "info", write("made.json", first.out)});
    EXPECT_EQ(read.exit_code, 0) << kind << ": " << read.err;
  }
}

using HostileReport = Cli;

TEST_F(HostileReport, IsRefusedWithItsNameAndLeavesTheOutputAlone) {
  const std::string start = "{\"bounds_ns\": {}, \"schema_version\": 1, \"lower_bound_ns\": 1,";
  const std::pair<const char*, std::string> texts[] = {
      {"truncated comparison", start + "\n\"results\": ["},
      {"wrong comparison", start + "\n\"results\": [3]}"},
      {"comparison of nan", start + "\n\"results\": [{\"policy\": NaN}]}"},
      {"comparison that is not UTF-8", start + "\n\"results\": [{\"policy\": \"\xff\"}]}"},
      {"deep comparison", start + "\n\"results\": " + kDeep},
      {"plan without its graph", plan(placed("a"))},
      {"trace without its graph", trace(span("a"))},
      {"binary", std::string("\0\x01\x02\xff\n", 5)},
  };
  const std::string output = write("report.html", kOld);
  for (const auto& [claim, text] : texts) {
    const std::string file = write("file.json", text);
    const Ran ran = run({"report", file, "-o", output});
    EXPECT_EQ(ran.exit_code, 2) << claim << ": " << ran.err;
    expect_one_sentence(ran, file);
    EXPECT_EQ(read_text(output), kOld) << claim;
  }
}

using FullDisk = Cli;

TEST_F(FullDisk, ExitsWith1AndLeavesNoTemporaryFile) {
  const Ran ran = run({"graph", "make", "layered", "--ops", "1000", "-o", "/dev/full"});
  EXPECT_EQ(ran.exit_code, 1);
  expect_one_sentence(ran, "/dev/full: ");
  for (const auto& entry : std::filesystem::directory_iterator("/dev")) {
    EXPECT_FALSE(entry.path().filename().string().starts_with("full.")) << entry.path();
  }
}

TEST_F(FullDisk, KeepsTheOldFile) {
  const std::string output = write("graph.json", kOld);
  const Ran ran =
      run({"graph", "make", "layered", "--ops", "1000", "-o", output}, {.longest_file = 8192});
  EXPECT_EQ(ran.exit_code, 1);
  expect_one_sentence(ran, output + ": ");
  EXPECT_EQ(read_text(output), kOld);
  EXPECT_EQ(listing(), std::vector<std::string>{"graph.json"});
}

TEST_F(FullDisk, BehindStandardOutputExitsWith1) {
  const std::string file = write("graph.json", kGraph);
  const std::vector<std::string> commands[] = {
      {"graph", "convert", file},
      {"graph", "info", file},
      {"graph", "info", file, "--json"},
      {"machine", "show", "uniform-1024"},
      {"machine", "list"},
      {"policies"},
      {"plan", file, "-m", "uniform-1024", "--policy", "heft"},
      {"plan", file, "-m", "uniform-2", "--policy", "heft", "-o", "-"},
      {"simulate", file, "-m", "uniform-2", "--policy", "heft", "--json"},
      {"compare", file, "-m", "uniform-2", "--policies", "heft"},
  };
  for (const std::vector<std::string>& command : commands) {
    const Ran ran = run(command, {.standard_output = "/dev/full"});
    EXPECT_EQ(ran.exit_code, 1) << command[0] << " " << command[1 % command.size()];
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
}

}  // namespace
}  // namespace tutti
