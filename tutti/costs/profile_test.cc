#include "tutti/costs/profile.h"

#include <gtest/gtest.h>

#include <string>

#include "tutti/graph/builder.h"

namespace tutti {
namespace {

Result<Profile> read(const std::string& text, const std::string& device_kind = "cpu") {
  Source source = Source::from_text("profile", text);
  return read_profile(source, device_kind);
}

const CostSpec::OpTime* find(const Profile& profile, std::string_view op,
                             std::string_view device_kind = "cpu") {
  for (const CostSpec::OpTime& row : profile.ops) {
    if (row.op == op && row.device_kind == device_kind) return &row;
  }
  return nullptr;
}

// As ONNX Runtime 1.16 writes it: fences and session events beside the kernels, two runs.
const char kOnnxRuntime[] = R"([
{"cat" : "Session","pid" :78,"tid" :78,"dur" :30779,"ts" :13,"ph" : "X","name" :"model_loading_uri","args" : {}},
{"cat" : "Node","pid" :78,"tid" :78,"dur" :1,"ts" :96802,"ph" : "X","name" :"conv1_fence_before","args" : {"op_name" : "Conv"}},
{"cat" : "Node","pid" :78,"tid" :78,"dur" :100,"ts" :96807,"ph" : "X","name" :"conv1_kernel_time","args" : {"op_name" : "Conv","provider" : "CPUExecutionProvider","node_index" : "3","input_type_shape" : [{"float":[1,3,8,8]}]}},
{"cat" : "Node","pid" :78,"tid" :78,"dur" :40,"ts" :97807,"ph" : "X","name" :"relu_kernel_time","args" : {"op_name" : "Relu","provider" : "CUDAExecutionProvider"}},
{"cat" : "Node","pid" :78,"tid" :78,"dur" :9,"ts" :97907,"ph" : "X","name" :"_kernel_time","args" : {"op_name" : "Add"}},
{"cat" : "Node","pid" :78,"tid" :78,"dur" :120,"ts" :98807,"ph" : "X","name" :"conv1_kernel_time","args" : {"op_name" : "Conv","provider" : "CPUExecutionProvider"}},
{"cat" : "Session","pid" :78,"tid" :78,"dur" :5000,"ts" :99000,"ph" : "X","name" :"model_run","args" : {}}
])";

TEST(Profile, ReadsKernelTimesOfOnnxRuntime) {
  const auto profile = read(kOnnxRuntime);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->format, "onnxruntime");
  ASSERT_EQ(profile->ops.size(), 2u);
  const CostSpec::OpTime* conv = find(*profile, "conv1");
  ASSERT_NE(conv, nullptr);
  EXPECT_DOUBLE_EQ(conv->time_ns, 110'000);
  // Of 100 and 120 us: a deviation of sqrt(200) us over a mean of 110 us.
  EXPECT_NEAR(conv->spread, std::sqrt(200.0) / 110, 1e-9);
  ASSERT_NE(find(*profile, "relu", "gpu"), nullptr);
  EXPECT_DOUBLE_EQ(find(*profile, "relu", "gpu")->time_ns, 40'000);
}

// As PyTorch 2 exports it: fractions of a us, kernels that carry the id of the op that started
// them.
const char kKineto[] = R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "H200"}],
"record_shapes": 1, "displayTimeUnit": "ms", "baseTimeNanoseconds": 1759300074000000000,
"traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "embed", "pid": 20, "tid": 20, "ts": 2493828094901.425, "dur": 2.415, "args": {"External id": 1,"Record function id": 0, "Ev Idx": 0}},
  {"ph": "X", "cat": "cpu_op", "name": "project", "pid": 20, "tid": 20, "ts": 2493828094911.0, "dur": 30.0, "args": {"External id": 2,"Ev Idx": 1}},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 20, "tid": 20, "ts": 2493828094912.0, "dur": 5.0, "args": {"External id": 2, "correlation": 7}},
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 2493828094920.0, "dur": 11.5, "args": {"External id": 2, "correlation": 7}},
  {"ph": "X", "cat": "gpu_memset", "name": "Memset", "pid": 0, "tid": 7, "ts": 2493828094940.0, "dur": 0.5, "args": {"External id": 2, "correlation": 8}},
  {"ph": "X", "cat": "gpu_user_annotation", "name": "head", "pid": 0, "tid": 7, "ts": 2493828094950.0, "dur": 8.0, "args": {"External id": 3}},
  {"ph": "M", "name": "process_name", "pid": 20, "tid": 0, "args": {"name": "python"}},
  {"ph": "f", "id": 7, "pid": 0, "tid": 7, "ts": 2493828094920.0, "cat": "ac2g", "name": "ac2g", "bp": "e"}
]})";

TEST(Profile, ReadsOpsAndTheirKernelsFromKineto) {
  const auto profile = read(kKineto);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->format, "kineto");
  ASSERT_EQ(profile->ops.size(), 3u);
  ASSERT_NE(find(*profile, "embed"), nullptr);
  EXPECT_NEAR(find(*profile, "embed")->time_ns, 2415, 1e-6);
  ASSERT_NE(find(*profile, "project", "gpu"), nullptr);
  EXPECT_NEAR(find(*profile, "project", "gpu")->time_ns, 12'000, 1e-6);  // both kernels
  EXPECT_NE(find(*profile, "head", "gpu"), nullptr);
}

TEST(Profile, ReadsCsvInTheUnitOfItsHeader) {
  const auto profile = read("name,device_kind,time_ms\n\"a,b\",gpu,2.5\r\nc,,1e-3\n\nc,,3e-3\n");
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->format, "csv");
  ASSERT_NE(find(*profile, "a,b", "gpu"), nullptr);
  EXPECT_DOUBLE_EQ(find(*profile, "a,b", "gpu")->time_ns, 2.5e6);
  ASSERT_NE(find(*profile, "c"), nullptr);
  EXPECT_DOUBLE_EQ(find(*profile, "c")->time_ns, 2000);
}

TEST(Profile, SaysWhatItCouldNotMatch) {
  GraphBuilder builder("g");
  for (const char* name : {"conv1", "relu", "pool"}) builder.add_op({.name = name, .kind = "op"});
  const Graph graph = std::move(builder).build().value();
  const ProfileMatch match =
      match_profile(read("name,time_us\nconv1,5\nstrange,6\nrelu,7\nstrange,8\n").value(), graph);
  EXPECT_EQ(match.ops, 2);
  EXPECT_EQ(match.op_times.size(), 2u);
  EXPECT_EQ(match.unmatched, (std::vector<std::string>{"strange"}));
  EXPECT_EQ(match.without, (std::vector<OpId>{OpId{2}}));
}

TEST(Profile, RefusesHostileInputWithOneSentence) {
  const struct {
    const char* text;
    const char* expected;
  } cases[] = {
      {"", "is empty; a profile was expected"},
      {"[]", "the profile holds no ops"},
      {"[3]", "an event of a trace must be an object"},
      {"{}", "a trace needs the key \"traceEvents\""},
      {R"({"traceEvents": 3})", "must be a list"},
      {R"([{"ph": "X", "dur": 1}])", "event needs the key \"name\""},
      {R"([{"ph": "X", "name": "a", "dur": -1}])", "\"dur\" of event must be a finite number"},
      {R"([{"ph": "X", "name": "a", "dur": 1e300}])", "\"dur\" of event must be a finite number"},
      {"hello\n", "profile:1: not a profile that tutti knows"},
      {"name,time_us\na\n", "profile:2: a row needs 2 fields, and this has 1"},
      {"name,time_us\na,x\n", "profile:2: a time must be a finite number"},
      {"name,time_us\n,1\n", "profile:2: a row needs the name of an op"},
      {"name,time_us\n\xff,1\n", "profile:2: the line is not UTF-8"},
  };
  for (const auto& [text, expected] : cases) {
    const auto profile = read(text);
    ASSERT_FALSE(profile) << text;
    EXPECT_EQ(profile.error().kind, Error::Kind::invalid_input);
    EXPECT_NE(profile.error().message.find(expected), std::string::npos) << profile.error().message;
  }
}

}  // namespace
}  // namespace tutti
