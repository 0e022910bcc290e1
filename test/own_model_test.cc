// From a model of one's own to a plan, and from its profile to costs: run as a user would.

#include <filesystem>
#include <regex>
#include <string>

#include "test/support/cli.h"
#include "test/support/shared_data.h"
#include "tutti/graph/import/import.h"
#include "tutti/graph/import/onnx/onnx.h"

namespace tutti {
namespace {

using OwnModel = Cli;

double makespan_ns(const std::string& json) {
  std::smatch found;
  if (!std::regex_search(json, found, std::regex("\"makespan_ns\": *([0-9.e+]+)"))) return -1;
  return std::stod(found[1]);
}

// Whatever the shared models leave open.
std::vector<std::string> dims_for(const std::string& stem) {
  if (stem == "bert_toy_optimized") return {"--dim", "max_seq_len_in_batch=16"};
  if (stem == "gpt2_megatron") return {"--dim", "seq_len=32", "--dim", "past_seq_len=32"};
  if (stem == "self_attention_megatron_basic_test") return {"--dim", "seqlen=8"};
  return {};
}

// HEFT, because it plans thousands of ops at once; what is shown is that each file becomes a
// problem of this host that can be planned.
TEST_F(OwnModel, IsPlannedInOneCommandWhateverItsFormat) {
  int planned = 0;
  for (const char* folder :
       {"onnx_light", "ort_onnx", "xla_hlo", "pipedream_profiles",
        "dnn_partitioning/latency-inputs", "dnn_partitioning/throughput-inputs", "estee/json"}) {
    TUTTI_NEEDS_SHARED_DATA(folder);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(shared_data(folder))) {
      const std::string ending = entry.path().extension();
      const std::string stem = entry.path().stem();
      if (!entry.is_regular_file() || stem == "SOURCE" || stem == "LICENSE") continue;
      if (ending == ".onnx" && !can_read_onnx()) continue;
      std::vector<std::string> words = {"plan", entry.path(), "--policy", "heft", "--json"};
      for (const std::string& word : dims_for(stem)) words.push_back(word);
      Ran ran = run(words);
      if (ran.exit_code == 3) {  // more than the memory of this host: then where there is enough
        EXPECT_NE(ran.err.find("memory"), std::string::npos) << ran.err;
        words.insert(words.end(), {"-m", "uniform-4"});
        ran = run(words);
      }
      ASSERT_EQ(ran.exit_code, 0) << entry.path() << ": " << ran.err;
      EXPECT_GT(makespan_ns(ran.out), 0) << entry.path();
      ++planned;
    }
  }
  EXPECT_GE(planned, can_read_onnx() ? 56 : 46);
}

// Colours of dnn_partitioning are obeyed, on four GPUs and a CPU, also after conversion.
TEST_F(OwnModel, KeepsColoursTogether) {
  const std::string name = "dnn_partitioning/throughput-inputs/LayerGraphs/bert24_training.json";
  TUTTI_NEEDS_SHARED_DATA(name);
  const std::string converted = path("graph.json");
  ASSERT_EQ(run({"graph", "convert", shared_data(name), "-o", converted}).exit_code, 0);
  for (const std::string& graph : {shared_data(name), converted}) {
    const std::string plan = path("plan.json");
    const Ran ran = run({"plan", graph, "-m", "mixed-5", "--policy", "contention_eft", "-o", plan});
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const Ran checked = run({"check", graph, "-m", "mixed-5", "--plan", plan});
    EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
  }
}

TEST_F(OwnModel, RefusesDimensionsThatMeanNothing) {
  const std::string graph = write("graph.json", kGraph);
  expect_one_sentence(run({"plan", graph, "--dim", "batch=8"}), "--dim is for ONNX models");
  expect_one_sentence(run({"graph", "info", graph, "--dim", "batch"}), "such as batch=8, not");
  expect_one_sentence(run({"graph", "info", graph, "--dim", "batch=-1"}), "such as batch=8, not");
}

TEST_F(OwnModel, FusesHloUnlessToldNotTo) {
  const std::string hlo = write("m.hlo", R"(HloModule m
ENTRY main {
  x = f32[64]{0} parameter(0)
  a = f32[64]{0} exponential(x)
  ROOT b = f32[64]{0} negate(a)
}
)");
  const auto ops = [&](std::vector<std::string> words) {
    const Ran ran = run(words);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    std::smatch found;
    if (!std::regex_search(ran.out, found, std::regex("\"ops\": *([0-9]+)"))) return -1;
    return std::stoi(found[1]);
  };
  EXPECT_EQ(ops({"graph", "info", hlo, "--json"}), 1);
  EXPECT_EQ(ops({"graph", "info", hlo, "--no-fuse", "--json"}), 2);
  EXPECT_EQ(run({"plan", hlo, "--no-fuse", "--policy", "heft"}).exit_code, 0);
  expect_one_sentence(run({"plan", write("graph.json", kGraph), "--no-fuse"}),
                      "--no-fuse is for HLO and StableHLO text");
}

// One model as two frameworks wrote it. Without fusion, every instruction of the HLO text cost a
// launch, which eight devices could share: 10.61 ms became 3.94.
TEST_F(OwnModel, GainsTheSameAsHloAndAsOnnx) {
  TUTTI_NEEDS_SHARED_DATA("xla_hlo");
  TUTTI_NEEDS_SHARED_DATA("onnx_light");
  if (!can_read_onnx()) GTEST_SKIP() << "this build reads no ONNX";
  const auto gain_percent = [&](const std::string& file) {
    const Ran ran =
        run({"plan", shared_data(file), "-m", "v100-8-nvlink", "--evaluations", "2000"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    const std::string number = "([0-9.]+) ms";
    std::smatch found;
    if (!std::regex_search(
            ran.out, found,
            std::regex("makespan " + number + "[^\n]*best single device takes " + number))) {
      ADD_FAILURE() << ran.out;
      return 1e9;
    }
    return 100 * (1 - std::stod(found[1]) / std::stod(found[2]));
  };
  const double hlo = gain_percent("xla_hlo/resnet50_keras_jax_f32.hlo");
  const double onnx = gain_percent("onnx_light/light_resnet50.onnx");
  EXPECT_NEAR(hlo, onnx, 5);
}

TEST_F(OwnModel, SaysThatImportedKindsHaveNoCode) {
  if (!can_read_onnx()) GTEST_SKIP() << "this build reads no ONNX";
  const std::string model = TUTTI_SOURCE_DIR "/test/corpus/onnx/good_network.onnx";
  const Ran ran = run({"run", model});
  expect_one_sentence(ran,
                      "there is no code here for ops of kind 'Conv', 'Relu', 'Reshape', 'Gemm' "
                      "and 1 more");
  EXPECT_NE(ran.err.find("plan, simulate, compare and export work"), std::string::npos);
  EXPECT_NE(ran.err.find("docs/python.md"), std::string::npos);
}

// A trace in the form that ONNX Runtime writes, of a graph that is shared: two runs of each op, the
// second a tenth longer, among fences and session events. Every fiftieth op is left out, as fused
// ops are, and some kernels belong to no op.
class OnnxRuntimeTrace {
 public:
  explicit OnnxRuntimeTrace(const Graph& graph) {
    add("Session", "model_loading_uri", 31000, "{}");
    for (const OpId op : graph.ops()) {
      if (op.index % 50 == 49) continue;
      const int us = 20 + (op.index * 37) % 400;
      const std::string name(graph.op_name(op));
      add("Node", name + "_fence_before", 1, "{\"op_name\" : \"x\"}");
      for (const int duration : {us, us + us / 10}) {
        add("Node", name + "_kernel_time", duration,
            "{\"op_name\" : \"x\",\"provider\" : \"CPUExecutionProvider\",\"node_index\" : \"" +
                std::to_string(op.index) + "\"}");
        total_us_ += duration / 2.0;
      }
    }
    add("Node", "ReorderOutput_token_89_kernel_time", 3, "{\"op_name\" : \"ReorderOutput\"}");
    add("Session", "model_run", 1000000, "{}");
  }

  std::string text() const { return "[\n" + events_ + "\n]\n"; }
  double total_ns() const { return total_us_ * 1e3; }

 private:
  void add(const std::string& category, const std::string& name, int us, const std::string& args) {
    if (!events_.empty()) events_ += ",\n";
    events_ += "{\"cat\" : \"" + category +
               "\",\"pid\" :1,\"tid\" :1,\"dur\" :" + std::to_string(us) +
               ",\"ts\" :" + std::to_string(at_us_) + ",\"ph\" : \"X\",\"name\" :\"" + name +
               "\",\"args\" : " + args + "}";
    at_us_ += us;
  }

  std::string events_;
  int64_t at_us_ = 13;
  double total_us_ = 0;
};

TEST_F(OwnModel, TakesItsCostsFromAProfile) {
  const std::string model =
      can_read_onnx() ? "onnx_light/light_resnet50.onnx" : "xla_hlo/resnet50_keras_jax_f32.hlo";
  TUTTI_NEEDS_SHARED_DATA(model);
  const auto imported = load_graph(shared_data(model));
  ASSERT_TRUE(imported) << imported.error().message;
  const OnnxRuntimeTrace trace(imported->graph);
  const std::string machine = write("machine.json", R"({"schema_version": 1, "name": "one",
    "device": [{"name": "cpu0", "kind": "cpu", "uses_host_memory": true, "flops_per_s": 1e12,
                "bytes_per_s": 1e12}]})");
  const std::string profile = write("profile.json", trace.text());
  const std::string costs = path("costs.json");
  const Ran ran = run({"costs", "import", profile, "--graph", shared_data(model), "-o", costs});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.err.find("names that no op has: 1: ReorderOutput_token_89"), std::string::npos)
      << ran.err;
  EXPECT_NE(ran.err.find("ops without a time, costed as before: "), std::string::npos) << ran.err;
  std::smatch share;
  ASSERT_TRUE(std::regex_search(ran.err, share, std::regex("\\(([0-9.]+) %\\)")));
  EXPECT_GE(std::stod(share[1]), 95);
  const Ran simulated = run({"simulate", shared_data(model), "-m", machine, "--costs", costs,
                             "--policy", "single_device", "--noise", "0", "--json"});
  ASSERT_EQ(simulated.exit_code, 0) << simulated.err;
  EXPECT_NEAR(makespan_ns(simulated.out), trace.total_ns(), 0.1 * trace.total_ns());
}

TEST_F(OwnModel, RefusesAProfileOfAnotherModel) {
  const std::string graph = write("graph.json", kGraph);
  const std::string profile = write("profile.csv", "name,time_us\nx,1\ny,2\n");
  expect_one_sentence(run({"costs", "import", profile, "--graph", graph, "-o", path("c.toml")}),
                      "none of its 2 names is that of an op of");
  EXPECT_FALSE(std::filesystem::exists(path("c.toml")));
  const std::string good = write("good.csv", "name,time_us\na,1\n");
  const Ran ran = run({"costs", "import", good, "--graph", graph});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_NE(ran.out.find("op = \"a\"\ndevice_kind = \"cpu\"\ntime_ns = 1000"), std::string::npos)
      << ran.out;
}

}  // namespace
}  // namespace tutti
