#include "tutti/report/validation.h"

#include <gtest/gtest.h>

#include "tutti/base/file/document.h"

namespace tutti {
namespace {

const std::string kText = R"({"format":"tutti-validation","schema_version":1,"machine":"m",
 "summary":{"graphs":1,"plans":2,"rank_correlation":1,"rank_correlation_better_half":0.5,
            "mean_error":0.1,"top1_regret":0.02},
 "graphs":[{"graph":"g","fingerprint":"00","rank_correlation":1,"rank_correlation_better_half":0.5,
            "mean_error":0.1,"bias":-0.05,"top1_regret":0.02,"plans":[
   {"policy":"heft","simulated_ns":90,"real_ns":100},
   {"policy":"random","simulated_ns":210,"real_ns":200}]}],
 "residuals":[{"kind":"matmul","where":"gpu","count":7,"median_ratio":1.1,"median_error":0.12,
               "time_share":0.9}],"later":1})";

Result<ReportedValidation> read(const std::string& text) {
  Source source = Source::from_text("v.json", text);
  return read_validation(source);
}

TEST(ReportedValidation, ReadsWhatValidateWrites) {
  const Result<ReportedValidation> validation = read(kText);
  ASSERT_TRUE(validation) << validation.error().message;
  EXPECT_EQ(validation->plans, 2);
  EXPECT_EQ(validation->agreement.rank_correlation_better_half, 0.5);
  ASSERT_EQ(validation->graphs.size(), 1u);
  EXPECT_EQ(validation->graphs[0].bias, -0.05);
  EXPECT_EQ(validation->graphs[0].plans[1].real_ns, 200);
  EXPECT_EQ(validation->residuals[0].median_ratio, 1.1);
}

TEST(ReportedValidation, GoesIntoThePageAsJson) {
  JsonWriter json(/*inline_depth=*/1);
  write_validation(*read(kText), json);
  Source page = Source::from_text("page", json.text());
  const Result<Document> data = read_json(page);
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->find("graphs")->items[0].find("plans")->items[0].find("real_ns")->number, 100);
}

TEST(ReportedValidation, SaysWhatIsWrongInOneSentence) {
  const std::pair<std::string, std::string> wrong[] = {
      {"\"tutti-validation\"", "\"other\""},
      {"\"summary\"", "\"sum\""},
      {"\"rank_correlation\":1,", "\"rank_correlation\":2,"},
      {"\"real_ns\":100", "\"real_ns\":-1"},
      {"\"schema_version\":1", "\"schema_version\":2"},
      {"\"count\":7", "\"count\":7.5"}};
  for (const auto& [from, to] : wrong) {
    std::string text = kText;
    text.replace(text.find(from), from.size(), to);
    const Result<ReportedValidation> validation = read(text);
    ASSERT_FALSE(validation) << to;
    EXPECT_EQ(validation.error().message.find("v.json:"), 0u) << validation.error().message;
  }
}

}  // namespace
}  // namespace tutti
