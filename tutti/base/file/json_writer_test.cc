#include "tutti/base/file/json_writer.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "tutti/base/file/document.h"

namespace tutti {
namespace {

TEST(JsonWriter, WritesOuterLevelsOnLinesAndInnerOnesInline) {
  JsonWriter json;
  json.open_object().field("name", "x").key("ops").open_list();
  json.open_object().field("a", 1).field("b", true).close_object();
  json.open_object().close_object();
  json.close_list().close_object();
  EXPECT_EQ(json.text(), "{\n \"name\":\"x\",\n \"ops\":[\n  {\"a\":1,\"b\":true},\n  {}\n ]\n}\n");
}

TEST(JsonWriter, WritesTextsThatReadBackTheSame) {
  const std::string text = "quote \" slash \\ line \n tab \t bell \x07 euro \xe2\x82\xac";
  JsonWriter json;
  json.open_list().value(text).close_list();
  Source source = Source::from_text("test", json.text());
  const auto document = read_json(source);
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_EQ(document->items[0].text, text);
}

TEST(JsonWriter, WritesNumbersThatReadBackTheSame) {
  const double numbers[] = {0.1, 1e300, 5e-324, 1.0 / 3, 123456789012345680.0, 0};
  JsonWriter json;
  json.open_list();
  for (const double number : numbers) json.value(number);
  json.value(std::numeric_limits<int64_t>::max()).close_list();
  Source source = Source::from_text("test", json.text());
  const auto document = read_json(source);
  ASSERT_TRUE(document) << document.error().message;
  for (size_t i = 0; i < std::size(numbers); ++i) EXPECT_EQ(document->items[i].number, numbers[i]);
  EXPECT_EQ(document->items.back().integer, std::numeric_limits<int64_t>::max());
}

TEST(JsonWriter, WritesNullForWhatIsNoNumber) {
  JsonWriter json;
  json.open_list().value(std::numeric_limits<double>::quiet_NaN()).null().close_list();
  EXPECT_EQ(json.text(), "[\n null,\n null\n]\n");
}

TEST(JsonWriter, HandsOverWhatIsWrittenSoFar) {
  JsonWriter json(/*inline_depth=*/0);
  std::string whole;
  json.open_list();
  for (int i = 0; i < 3; ++i) {
    json.value(i);
    whole += json.take();
  }
  json.close_list();
  EXPECT_EQ(whole + json.take(), "[0,1,2]\n");
}

}  // namespace
}  // namespace tutti
