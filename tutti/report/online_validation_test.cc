#include "tutti/report/online_validation.h"

#include <gtest/gtest.h>

#include "tutti/base/file/document.h"

namespace tutti {
namespace {

const std::string kOnlineText = R"({"format":"tutti-online-validation","schema_version":1,
 "machine":"m","seed":"1","jobs":40,"turns":2,"load":0.7,
 "summary":{"rank_correlation":0.5,"rank_correlation_interval":[-1,1],"mean_error":0.05,
   "mean_error_interval":[0.03,0.08],"agreement_of_turns":0.9,"pairs_that_differ":1,
   "pairs_in_same_order":1},
 "policies":[{"policy":"fifo","real_slowdown":2.5,"real_slowdown_interval":[2.4,2.6],
   "simulated_slowdown":2.4,"simulated_slowdown_interval":[2.3,2.5],"error":-0.04,
   "error_interval":[-0.05,-0.03],"real_jobs_in_system":2.1,"simulated_jobs_in_system":2,
   "decision_ns":210,"real_slowdowns":[2.4,2.6],"simulated_slowdowns":[2.3,2.5]}],
 "residuals":[{"kind":"matmul","where":"cpu","count":12,"median_ratio":1.04,"median_error":0.05,
   "time_share":0.8}],"later":1})";

Result<ReportedOnlineValidation> read_online(const std::string& text) {
  Source source = Source::from_text("v.json", text);
  return read_online_validation(source);
}

TEST(ReportedOnlineValidation, ReadsWhatValidateWrites) {
  const Result<ReportedOnlineValidation> validation = read_online(kOnlineText);
  ASSERT_TRUE(validation) << validation.error().message;
  EXPECT_EQ(validation->turns, 2);
  EXPECT_EQ(validation->load, 0.7);
  EXPECT_EQ(validation->rank_correlation.low, -1);
  ASSERT_EQ(validation->policies.size(), 1u);
  EXPECT_EQ(validation->policies[0].simulated.high, 2.5);
  EXPECT_EQ(validation->policies[0].error.value, -0.04);
  EXPECT_EQ(validation->residuals[0].count, 12);
}

TEST(ReportedOnlineValidation, GoesIntoThePageAsJson) {
  JsonWriter json(/*inline_depth=*/1);
  write_online_validation(*read_online(kOnlineText), json);
  Source page = Source::from_text("page", json.text());
  const Result<Document> data = read_json(page);
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->find("policies")->items[0].find("real")->find("low")->number, 2.4);
}

TEST(ReportedOnlineValidation, SaysWhatIsWrongInOneSentence) {
  const std::pair<std::string, std::string> wrong[] = {
      {"\"tutti-online-validation\"", "\"tutti-validation\""},
      {"\"summary\"", "\"sum\""},
      {"[-1,1]", "[1,-1]"},
      {"[-1,1]", "[1]"},
      {"[-1,1]", "[-1,2]"},
      {"\"real_slowdown\":2.5", "\"real_slowdown\":-1"},
      {"\"schema_version\":1", "\"schema_version\":2"},
      {"\"turns\":2", "\"turns\":2.5"}};
  for (const auto& [from, to] : wrong) {
    std::string text = kOnlineText;
    text.replace(text.find(from), from.size(), to);
    const Result<ReportedOnlineValidation> validation = read_online(text);
    ASSERT_FALSE(validation) << to;
    EXPECT_EQ(validation.error().message.find("v.json:"), 0u) << validation.error().message;
  }
}

}  // namespace
}  // namespace tutti
