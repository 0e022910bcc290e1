// What tutti export promises: run as a user would.

#include <string>
#include <utility>
#include <vector>

#include "test/support/cli.h"
#include "test/support/shared_data.h"

namespace tutti {
namespace {

using ExportCommand = Cli;

TEST_F(ExportCommand, WritesThePlanInEveryForm) {
  const std::string graph = write("graph.json", kGraph);
  const std::string plan = path("plan.json");
  ASSERT_EQ(run({"plan", graph, "-m", "uniform-2", "--policy", "heft", "-o", plan}).exit_code, 0);
  const std::pair<const char*, const char*> forms[] = {{"csv", "\na,op,device0,0,0,100\n"},
                                                       {"torch", "\"b\":\"cuda:0\""},
                                                       {"starpu", "\nName: b\nNode: 0\nSpec"}};
  for (const auto& [form, expected] : forms) {
    const Ran ran = run({"export", graph, "-m", "uniform-2", "--plan", plan, "--to", form});
    EXPECT_EQ(ran.exit_code, 0) << form << ": " << ran.err;
    EXPECT_NE(ran.out.find(expected), std::string::npos) << form << ": " << ran.out;
  }
}

TEST_F(ExportCommand, NamesADeviceThatTheMachineLacks) {
  const std::string graph = write("graph.json", kGraph);
  const std::string plan = path("plan.json");
  ASSERT_EQ(run({"plan", graph, "-m", "uniform-2", "--policy", "heft", "-o", plan}).exit_code, 0);
  const Ran ran = run({"export", graph, "-m", "cpu-gpu", "--plan", plan, "--to", "csv"});
  EXPECT_EQ(ran.exit_code, 2);
  expect_one_sentence(ran, "device0");
}

TEST_F(ExportCommand, AnnotatesTheOnnxModelThatWasPlanned) {
  const char* const kModel = "ort_onnx/mobilenet_v2_opset11.onnx";
  TUTTI_NEEDS_SHARED_DATA(kModel);
  const std::string model = shared_data(kModel);
  const std::string plan = path("plan.json");
  const Ran planned = run({"plan", model, "-m", "cpu-gpu", "--policy", "round_robin", "-o", plan});
  if (planned.err.find("libonnx") != std::string::npos) GTEST_SKIP() << planned.err;
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  const std::string annotated = path("annotated.onnx");
  const std::vector<std::string> wish = {"-m", "cpu-gpu", "--plan", plan, "--to", "ort"};
  std::vector<std::string> first = {"export", model, "-o", annotated};
  first.insert(first.end(), wish.begin(), wish.end());
  const Ran ran = run(first);
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("session.layer_assignment_settings = cpu(=device0); gpu:0(=device1)\n"),
            std::string::npos)
      << ran.out;
  EXPECT_GT(read_text(annotated).size(), read_text(model).size());
  // It is still that model: the plan fits it, and annotating it again changes nothing.
  std::vector<std::string> second = {"export", annotated, "-o", path("again.onnx")};
  second.insert(second.end(), wish.begin(), wish.end());
  const Ran again = run(second);
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(read_text(path("again.onnx")), read_text(annotated));
}

TEST_F(ExportCommand, AnnotatesNothingButOnnxModels) {
  const std::string graph = write("graph.json", kGraph);
  const std::string plan = path("plan.json");
  ASSERT_EQ(run({"plan", graph, "-m", "uniform-2", "--policy", "heft", "-o", plan}).exit_code, 0);
  const Ran ran = run({"export", graph, "-m", "uniform-2", "--plan", plan, "--to", "ort"});
  EXPECT_EQ(ran.exit_code, 2);
  expect_one_sentence(ran, "--to ort annotates the ONNX model");
}

TEST_F(ExportCommand, GivesATraceArrowsAndCountersThatTheJudgeIgnores) {
  const std::string graph = write("graph.json", kGraph);
  const std::string trace = path("trace.json");
  const std::string seen = path("seen.json");
  ASSERT_EQ(
      run({"simulate", graph, "-m", "uniform-2", "--policy", "heft", "--trace", trace}).exit_code,
      0);
  const Ran ran =
      run({"export", graph, "-m", "uniform-2", "--trace", trace, "--to", "perfetto", "-o", seen});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  for (const char* part : {R"("ph":"s")", R"("ph":"f","bp":"e")", R"("ph":"C")"}) {
    EXPECT_NE(read_text(seen).find(part), std::string::npos) << part;
    EXPECT_EQ(read_text(trace).find(part), std::string::npos) << part;
  }
  const Ran judged = run({"check", graph, "-m", "uniform-2", "--trace", seen});
  EXPECT_EQ(judged.exit_code, 0) << judged.err << judged.out;
}

TEST_F(ExportCommand, AsksForAPlanOrATraceAsTheFormNeeds) {
  const std::string graph = write("graph.json", kGraph);
  const Ran perfetto = run({"export", graph, "-m", "uniform-2", "--plan", "p", "--to", "perfetto"});
  EXPECT_EQ(perfetto.exit_code, 2);
  expect_one_sentence(perfetto, "--to perfetto shows a run: give --trace");
  const Ran csv = run({"export", graph, "-m", "uniform-2", "--to", "csv"});
  EXPECT_EQ(csv.exit_code, 2);
  expect_one_sentence(csv, "--to csv writes a plan: give --plan");
}

}  // namespace
}  // namespace tutti
