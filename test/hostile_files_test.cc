// Gives the program hostile files of every format and holds it to what its users may rely on: exit
// code 2, one sentence that names the file, and an output file that is untouched.

#include <regex>
#include <string>
#include <vector>

#include "test/support/cli.h"

namespace tutti {
namespace {

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

using HostileReport = Cli;

TEST_F(HostileReport, IsRefusedWithItsNameAndLeavesTheOutputAlone) {
  const std::string start = "{\"bounds_ns\": {}, \"schema_version\": 1, \"lower_bound_ns\": 1,";
  const std::string update =
      "{\"update\":1,\"episodes\":1,\"stage\":0,\"seconds\":1,\"mean_ratio\":1}\n";
  const std::pair<const char*, std::string> texts[] = {
      {"truncated comparison", start + "\n\"results\": ["},
      {"wrong comparison", start + "\n\"results\": [3]}"},
      {"comparison of nan", start + "\n\"results\": [{\"policy\": NaN}]}"},
      {"comparison that is not UTF-8", start + "\n\"results\": [{\"policy\": \"\xff\"}]}"},
      {"deep comparison", start + "\n\"results\": " + kDeep},
      {"plan without its graph", plan(placed("a"))},
      {"trace without its graph", trace(span("a"))},
      {"binary", std::string("\0\x01\x02\xff\n", 5)},
      {"wrong training log", update + "[]\n"},
      {"training log that goes back", update + update},
      {"training log of nan", "{\"update\":1,\"episodes\":1,\"mean_ratio\":1,\"loss\":NaN}\n"},
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

}  // namespace
}  // namespace tutti
