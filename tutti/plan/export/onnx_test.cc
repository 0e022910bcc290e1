#include "tutti/plan/export/onnx.h"

#include <gtest/gtest.h>

#include "tutti/plan/export/wire.h"
#include "tutti/plan/testing.h"

namespace tutti {
namespace {

using namespace tutti::testing;

// A node as ONNX has it: input 1, output 2, op_type 4; entries are metadata_props, 9.
std::string node(const std::string& output, const std::vector<std::string>& entries = {}) {
  std::string bytes;
  add_field(bytes, 1, "x");
  add_field(bytes, 2, output);
  add_field(bytes, 4, "Relu");
  for (const std::string& entry : entries) add_field(bytes, 9, entry);
  return bytes;
}

std::string entry(const std::string& key, const std::string& value) {
  std::string bytes;
  add_field(bytes, 1, key);
  add_field(bytes, 2, value);
  return bytes;
}

// ir_version 8 as a number, a producer's name, a graph of these nodes between a name and an
// initializer, and an opset behind it.
std::string model(const std::vector<std::string>& nodes) {
  std::string graph;
  for (const std::string& one : nodes) add_field(graph, 1, one);
  add_field(graph, 2, "net");
  add_field(graph, 5, std::string(300, 'w'));
  std::string bytes = "\x08\x08";
  add_field(bytes, 2, "test");
  add_field(bytes, 7, graph);
  add_field(bytes, 8, "opset");
  return bytes;
}

// a and b run on gpu0, c and d on gpu1, e on cpu0: values are called as their ops.
struct Small {
  World world{small_graph(), small_machine()};
  Plan plan = small_plan(world.problem());

  Result<AnnotatedModel> annotate(const std::string& bytes) const {
    return annotate_onnx(bytes, plan, world.problem());
  }
};

TEST(AnnotateOnnx, WritesTheDeviceOfEachNodeAndKeepsTheRest) {
  const Small small;
  const Result<AnnotatedModel> made =
      small.annotate(model({node("a"), node("constant"), node("e", {entry("author", "me")})}));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->annotated, 2);
  EXPECT_EQ(made->bytes,
            model({node("a", {entry("layer_ann", "device0")}), node("constant"),
                   node("e", {entry("author", "me"), entry("layer_ann", "device2")})}));
}

TEST(AnnotateOnnx, ReplacesAnAnnotationThatIsThere) {
  const Small small;
  const Result<AnnotatedModel> once = small.annotate(model({node("a"), node("c")}));
  ASSERT_TRUE(once) << once.error().message;
  const Result<AnnotatedModel> twice = small.annotate(once->bytes);
  ASSERT_TRUE(twice) << twice.error().message;
  EXPECT_EQ(twice->bytes, once->bytes);
}

TEST(AnnotateOnnx, SaysWhatTheAnnotationsMean) {
  Small small;
  small.plan.placement = {kGpu0, kGpu0, kGpu0, kGpu0, kCpu0};
  const Result<AnnotatedModel> made = small.annotate(model({node("a")}));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->settings, "gpu:0(=device0); cpu(=device2)");
  EXPECT_EQ(made->warning, "");
}

TEST(AnnotateOnnx, WarnsThatASessionHasOneGpu) {
  const Result<AnnotatedModel> made = Small().annotate(model({node("a")}));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_NE(made->warning.find("2 GPUs"), std::string::npos) << made->warning;
}

TEST(AnnotateOnnx, RefusesAnotherModel) {
  const Result<AnnotatedModel> made = Small().annotate(model({node("elsewhere")}));
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("no node"), std::string::npos) << made.error().message;
}

TEST(AnnotateOnnx, NeverReadsBeyondAModelThatIsCutOff) {
  const Small small;
  const std::string whole = model({node("a"), node("e", {entry("author", "me")})});
  int refused = 0;
  for (size_t length = 0; length < whole.size(); ++length) {
    const std::string cut = whole.substr(0, length);  // a buffer of its own: sanitizers see its end
    refused += !small.annotate(cut).has_value();
  }
  // Only what is cut between two fields of the model is one still: behind the graph.
  EXPECT_EQ(refused, static_cast<int>(whole.size()) - 1);
}

TEST(AnnotateOnnx, RefusesRubbish) {
  for (const std::string& rubbish : {std::string("{\"format\": 1}"), std::string(20, '\xff'),
                                     std::string("\x0b\x0c"), std::string(3, '\0')}) {
    EXPECT_FALSE(Small().annotate(rubbish));
  }
}

}  // namespace
}  // namespace tutti
