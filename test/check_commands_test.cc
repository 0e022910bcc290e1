// tutti check on forged files, as a user would run it: each of the forgeries that an audit got past
// an earlier judge is refused in a sentence of its own, and what was not looked at is told.

#include <algorithm>
#include <regex>
#include <string>

#include "test/support/cli.h"
#include "test/support/world.h"
#include "tutti/plan/file.h"
#include "tutti/runtime/sim/sim.h"

namespace tutti {
namespace {

class CheckCommands : public Cli {
 protected:
  static constexpr const char* kMachine = "p100-4";

  void SetUp() override {
    Cli::SetUp();
    graph_ = path("graph.json");
    plan_ = path("plan.json");
    trace_ = path("trace.json");
    ASSERT_EQ(
        run({"graph", "make", "layered", "--ops", "60", "--width", "20", "-o", graph_}).exit_code,
        0);
    ASSERT_EQ(run({"plan", graph_, "-m", kMachine, "--policy", "heft", "-o", plan_}).exit_code, 0);
    simulate("priority");
  }

  void simulate(const std::string& order) const {
    const Ran ran = run(
        {"simulate", graph_, "-m", kMachine, "--plan", plan_, "--order", order, "--trace", trace_});
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
  }

  Ran check(const std::string& trace_text) const {
    return run({"check", graph_, "-m", kMachine, "--plan", plan_, "--trace",
                write("forged.json", trace_text)});
  }

  // What a file says of a simulator; before schema_version 3 that was one text.
  inline static const std::regex kSimulated{
      "\"runtime\":\"sim\",\\s*\"model\":\"physical\",\\s*"
      "\"movement\":\"hops\",\\s*\"barriers\":false,"};

  // As an earlier tutti wrote it: without a digest, so that only rules can tell.
  std::string as_version_1() const {
    std::string text = read_text(trace_);
    text = std::regex_replace(text, std::regex(",\\s*\"digest\": *\"[0-9a-f]{16}\""), "");
    text = std::regex_replace(text, kSimulated, "\"runtime\":\"sim/physical\",");
    return replaced(text, "\"schema_version\":3", "\"schema_version\":1");
  }

  static std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const size_t place = text.find(from);
    EXPECT_NE(place, std::string::npos) << from;
    return place == std::string::npos ? text : text.replace(place, from.size(), to);
  }

  // Every op takes a nanosecond, and the run ends with the last of them.
  static std::string cut_to_nanoseconds(const std::string& text) {
    static const std::regex op(
        "\"dur\":[0-9.]+,\"args\":(\\{\"op\":[^}]*\"start_ns\":([0-9]+),\"finish_ns\":)[0-9]+");
    std::string cut;
    int64_t last = 0;
    auto rest = text.cbegin();
    for (std::sregex_iterator it(text.begin(), text.end(), op), end; it != end; ++it) {
      const int64_t finish = std::stoll((*it)[2]) + 1;
      last = std::max(last, finish);
      cut.append(rest, (*it)[0].first);
      cut += "\"dur\":0.001,\"args\":" + (*it)[1].str() + std::to_string(finish);
      rest = (*it)[0].second;
    }
    cut.append(rest, text.cend());
    return std::regex_replace(cut, std::regex("\"makespan_ns\":[0-9]+"),
                              "\"makespan_ns\":" + std::to_string(last));
  }

  static void expect_refused(const Ran& ran, const std::string& sentence) {
    EXPECT_EQ(ran.exit_code, 2) << ran.out << ran.err;
    EXPECT_NE((ran.out + ran.err).find(sentence), std::string::npos) << ran.out << ran.err;
  }

  std::string graph_, plan_, trace_;
};

TEST_F(CheckCommands, FindNothingWrongWithGenuineFiles) {
  const Ran ran = check(read_text(trace_));
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("rules not applied, or not in full:\n"
                         "  plan: timeline: the timeline is the policy's estimate"),
            std::string::npos)
      << ran.out;
  EXPECT_EQ(ran.out.find("trace:"), std::string::npos) << ran.out;  // all rules for it were applied
  const Ran old = check(as_version_1());
  EXPECT_EQ(old.exit_code, 0) << old.out << old.err;
  EXPECT_NE(old.out.find("trace: digest: files of schema_version 1 have none"), std::string::npos)
      << old.out;
}

// (a) The timeline of a simulated run, with an op 1 ns before its operand can have come over a link
// that others use.
TEST_F(CheckCommands, RefuseATimelineThatIsANanosecondEarly) {
  Source source = must(Source::open(graph_));
  const World world(must(read_graph(source)), kMachine);
  Source plan_source = must(Source::open(plan_));
  Plan plan = must(read_plan(plan_source, *world.problem));
  SimRuntime runtime;
  const Trace trace = must(runtime.run(*world.problem, plan));
  for (const OpSpan& span : trace.ops) {
    plan.start[static_cast<size_t>(span.op.index)] = span.start;
    plan.finish[static_cast<size_t>(span.op.index)] = span.finish;
  }
  plan.planned_makespan = trace.makespan;
  plan.simulated = true;
  const auto check_plan_file = [&] {
    return run({"check", graph_, "-m", kMachine, "--plan",
                write("simulated.json", plan_to_json(plan, *world.problem))});
  };
  const Ran genuine = check_plan_file();
  EXPECT_EQ(genuine.exit_code, 0) << genuine.out;
  EXPECT_NE(genuine.out.find("good: every rule holds"), std::string::npos) << genuine.out;
  int unseen = 0;
  for (size_t op = 0; op < plan.start.size(); ++op) {
    plan.start[op] -= Duration{1};
    plan.finish[op] -= Duration{1};
    const Ran forged = check_plan_file();
    EXPECT_EQ(forged.exit_code, 2) << forged.out;
    unseen += forged.out.find("which the timeline is said to be of") != std::string::npos;
    plan.start[op] += Duration{1};
    plan.finish[op] += Duration{1};
  }
  EXPECT_GT(unseen, 0);  // by no other rule
}

// (b, c) What viewers show is what the judge reads.
TEST_F(CheckCommands, RefuseTimesAndNamesThatContradictTheArguments) {
  for (const std::string& text : {read_text(trace_), as_version_1()}) {
    const std::regex start("\"ts\":[0-9.]+,\"ph\":\"X\"");
    const auto first = std::regex_constants::format_first_only;
    expect_refused(check(std::regex_replace(text, start, "\"ts\":7.007,\"ph\":\"X\"", first)),
                   "display: \"ts\" is 7.007 us, but \"args\" say");
    expect_refused(
        check(std::regex_replace(text, std::regex("\"dur\":[0-9.]+"), "\"dur\":0.001", first)),
        "display: \"dur\" is 0.001 us, but \"args\" say");
    expect_refused(check(std::regex_replace(text, std::regex("\"name\":\"[^\"]+\",\"cat\":\"op\""),
                                            "\"name\":\"idle\",\"cat\":\"op\"", first)),
                   "display: \"name\" is 'idle', but \"args\" say");
  }
}

// (d, e) A simulated run that calls itself real, and in which nothing takes any time.
TEST_F(CheckCommands, RefuseSimulatedRunsAsRealOnes) {
  const std::pair<const char*, const char*> runtimes[] = {
      {"local", "\"runtime\":\"local\","},
      {"local/direct", "\"runtime\":\"local\",\"movement\":\"direct\","},
      {"starpu/dmda", "\"runtime\":\"starpu\",\"scheduler\":\"dmda\",\"movement\":\"direct\","}};
  for (const auto& [text, fields] : runtimes) {
    expect_refused(check(replaced(cut_to_nanoseconds(as_version_1()), "\"sim/physical\"",
                                  "\"" + std::string(text) + "\"")),
                   "trace: speed: op ");
    const std::string real =
        std::regex_replace(cut_to_nanoseconds(read_text(trace_)), kSimulated, fields);
    expect_refused(check(real), "which every real run writes, is missing: this was not measured");
    expect_refused(check(replaced(real, "\"digest\":",
                                  "\"measured\":{\"process\":7,\"began_unix_ms\":1},\"digest\":")),
                   "digest: the trace was changed after it was written");
  }
}

// (f) Values that are files are not sent; these are none.
TEST_F(CheckCommands, RefuseFilesThatAreNone) {
  const std::string text = replaced(as_version_1(), "\"sim/physical\"", "\"local/files\"");
  const std::regex transfer(
      ",\\s*\\{\"name\":[^{}]*\"cat\":\"(transfer|channel)\"[^{}]*\\{[^{}]*\\}\\}");
  expect_refused(check(std::regex_replace(text, transfer, "")),
                 "trace: records: the runtime 'local/files' runs commands, whose values are files");
}

// (g) An order that is recorded is held to, whichever it is.
TEST_F(CheckCommands, RefuseAFifoThatIsNone) {
  simulate("lifo");
  const std::string text = as_version_1();
  expect_refused(check(replaced(text, "\"order\":\"lifo\"", "\"order\":\"fifo\"")),
                 "trace: ready order: op ");
  expect_refused(check(replaced(text, "\"order\":\"lifo\"", "\"order\":\"priority\"")),
                 "trace: ready order: op ");
  expect_refused(check(replaced(text, "\"order\":\"lifo\"", "\"order\":\"random\"")),
                 "trace: replay: op ");
}

TEST_F(CheckCommands, SayAsJsonWhatWasNotApplied) {
  const Ran ran = run({"check", graph_, "-m", kMachine, "--trace", trace_, "--json"});
  EXPECT_EQ(ran.exit_code, 0) << ran.out;
  Source source = Source::from_text("out", ran.out);
  const Document told = must(read_json(source));
  EXPECT_TRUE(told.find("good")->boolean);
  std::vector<std::string> rules;
  for (const Document& one : told.find("not_applied")->items) {
    EXPECT_EQ(one.find("of")->text, "trace");
    EXPECT_FALSE(one.find("reason")->text.empty());
    rules.push_back(one.find("rule")->text);
  }
  EXPECT_EQ(rules,
            (std::vector<std::string>{"placement", "strict order", "ready order", "replay"}));
}

// A plan's own times count kept weights as there or as loaded; it can be run either way.
TEST_F(CheckCommands, PlansWithKeptWeightsRunColdAndWarm) {
  const std::string graph = write("layers.json", R"({"format": "tutti-graph", "schema_version": 1,
 "inputs": [{"name": "w0", "bytes": 1000, "weight": true, "residence": "host"},
            {"name": "w1", "bytes": 1000, "weight": true, "residence": "host"}],
 "ops": [{"name": "a", "operands": ["w0"], "outputs": [{"bytes": 1}], "run_time_ns": 100},
         {"name": "b", "operands": ["a", "w1"], "outputs": [{"bytes": 1}], "run_time_ns": 100}]})");
  const std::string machine = write("gpu.json", R"({"schema_version": 1, "name": "m",
 "host": [{"name": "host"}], "device": [{"name": "gpu", "kind": "gpu", "memory_bytes": 5000}],
 "link": [{"name": "pcie", "between": ["host", "gpu"], "bandwidth_bytes_per_s": 1e9}]})");
  const std::string warm = path("warm.json");
  const std::string cold = path("cold.json");
  ASSERT_EQ(run({"plan", graph, "-m", machine, "-o", warm}).exit_code, 0);
  ASSERT_EQ(run({"plan", graph, "-m", machine, "--cold", "-o", cold}).exit_code, 0);
  const auto simulated = [&](const std::string& plan, bool loads) {
    std::vector<std::string> words = {"simulate", graph, "-m", machine, "--plan", plan, "--json"};
    if (loads) words.push_back("--cold");
    const Ran ran = run(words);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return ran;
  };
  for (const bool loads : {false, true}) {
    const std::string makespan = loads ? "\"makespan_ns\":2100" : "\"makespan_ns\":200";
    EXPECT_NE(simulated(warm, loads).out.find(makespan), std::string::npos);
    EXPECT_NE(simulated(cold, loads).out.find(makespan), std::string::npos);
  }
  EXPECT_NE(simulated(warm, true).err.find("not those of a run with --cold"), std::string::npos);
  EXPECT_EQ(simulated(cold, true).err, "");
  EXPECT_NE(run({"check", graph, "-m", machine, "--plan", warm, "--cold"}).exit_code, 0);
}

}  // namespace
}  // namespace tutti
