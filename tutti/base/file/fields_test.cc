#include "tutti/base/file/fields.h"

#include <gtest/gtest.h>

#include <string>

namespace tutti {
namespace {

Document parse(const std::string& text) {
  Source source = Source::from_text("test.json", text);
  Result<Document> document = read_json(source);
  EXPECT_TRUE(document) << text;
  return std::move(*document);
}

TEST(Fields, GiveWhatTheObjectHoldsOrTheFallback) {
  const Document document =
      parse(R"({"name": "x", "slots": 1e3, "speed": 2, "on": true, "mode": "b", "tags": ["p"]})");
  Fields fields(document, "test.json", "device");
  EXPECT_EQ(fields.text("name"), "x");
  EXPECT_EQ(fields.text("note", "none"), "none");
  EXPECT_EQ(fields.integer("slots", {}), 1000);
  EXPECT_EQ(fields.integer("ways", {.fallback = 7}), 7);
  EXPECT_EQ(fields.number("speed", {}), 2.0);
  EXPECT_TRUE(fields.boolean("on", false));
  EXPECT_EQ(fields.choice("mode", {"a", "b"}), 1);
  EXPECT_EQ(fields.choice("shade", {"dark", "light"}), 0);
  EXPECT_EQ(fields.texts("tags"), std::vector<std::string>{"p"});
  EXPECT_TRUE(fields.items("list").empty());
  EXPECT_TRUE(fields.done());
}

TEST(Fields, TellTheFirstThingThatIsWrongAndItsLine) {
  const Document document = parse("{\n\"name\": 5,\n\"slots\": -1\n}");
  Fields fields(document, "test.json", "device");
  fields.text("name");
  fields.integer("slots", {});
  const Result<void> done = fields.done();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message,
            "test.json:2: \"name\" of device must be a text that is not empty");
}

TEST(Fields, NameEachKnownKeyOnceHoweverOftenItWasAskedFor) {
  const Document document = parse(R"({"start": 1, "begin": 2})");
  Fields fields(document, "test.json", "a span");
  fields.integer("start", {});
  fields.integer("start", {});
  fields.integer("finish", {.fallback = 0});
  const Result<void> done = fields.done();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message,
            "test.json:1: a span has no key \"begin\"; known are: start, finish");
}

TEST(Fields, RefuseWrongTypesAndNumbersOutOfRange) {
  const struct {
    const char* text;
    const char* expected;
  } cases[] = {
      {R"({"n": -1})", "whole number of at least 0"},
      {R"({"n": 1.5})", "whole number"},
      {R"({"n": 1e300})", "whole number"},
      {R"({"n": "7"})", "whole number"},
      {R"({})", "needs the key \"n\""},
      {R"({"n": null})", "needs the key \"n\""},
      {R"([1])", "must be a table of keys, not a list"},
  };
  for (const auto& [text, expected] : cases) {
    const Document document = parse(text);
    Fields fields(document, "test.json", "device");
    fields.integer("n", {});
    const Result<void> done = fields.done();
    ASSERT_FALSE(done) << text;
    EXPECT_NE(done.error().message.find(expected), std::string::npos) << done.error().message;
  }
}

TEST(Fields, RefuseKeysThatNobodyAskedForUnlessTheFormatIsForeign) {
  const Document document = parse("{\"name\": \"x\",\n\"nmae\": \"y\"}");
  Fields fields(document, "test.json", "device");
  fields.text("name");
  EXPECT_TRUE(fields.done_with_foreign_keys());
  const Result<void> done = fields.done();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "test.json:2: device has no key \"nmae\"; known are: name");
}

TEST(Fields, RefuseASchemaVersionOfAnotherBuild) {
  const Document document = parse(R"({"schema_version": 2})");
  Fields fields(document, "test.json", "machine");
  fields.schema_version(1);
  const Result<void> done = fields.done();
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("reads schema_version 1"), std::string::npos);
}

}  // namespace
}  // namespace tutti
