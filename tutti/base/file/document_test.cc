#include "tutti/base/file/document.h"

#include <gtest/gtest.h>

#include <string>

namespace tutti {
namespace {

Result<Document> parse(const std::string& text) {
  Source source = Source::from_text("test.json", text);
  return read_json(source);
}

TEST(Json, GivesEveryPartItsLine) {
  const auto document = parse("{\n\"a\": 1\n,\n\"b\": [\n\"x\"\n,\n{\"c\": null}\n]\n}\n");
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_EQ(document->line, 1);
  EXPECT_EQ(document->find("a")->line, 2);
  EXPECT_EQ(document->find("b")->line, 4);
  EXPECT_EQ(document->find("b")->items[0].line, 5);
  EXPECT_EQ(document->find("b")->items[1].line, 7);
  EXPECT_EQ(document->find("absent"), nullptr);
}

TEST(Json, KeepsWholeNumbersExact) {
  const auto document = parse("[9223372036854775807, -1, 18446744073709551615, 0.5]");
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_EQ(document->items[0].integer, INT64_MAX);
  EXPECT_EQ(document->items[1].integer, -1);
  EXPECT_EQ(document->items[2].kind, Document::Kind::number);
  EXPECT_EQ(document->items[3].number, 0.5);
}

TEST(Json, RefusesWhatIsNotOneWellFormedText) {
  const struct {
    std::string text;
    std::string expected;  // in the message
  } cases[] = {
      {"", "test.json:1: not valid JSON"},
      {"{\"a\": 1,\n\"b\"", "test.json:2: not valid JSON"},
      {"{} {}", "not valid JSON"},
      {"[1, NaN]", "not valid JSON"},
      {"[Infinity]", "not valid JSON"},
      {"[1e999]", "number overflow"},
      {"[\"\xff\"]", "not valid JSON"},
      {"[\"\xed\xa0\x80\"]", "not valid JSON"},
      {"{\"a\": 1,\n \"a\": 2}", "test.json:2: key \"a\" stands twice"},
      {std::string(100000, '['), "nested deeper than 64 levels"},
      {"[\"no end", "not valid JSON"},
  };
  for (const auto& [text, expected] : cases) {
    const auto document = parse(text);
    ASSERT_FALSE(document) << text.substr(0, 40);
    EXPECT_NE(document.error().message.find(expected), std::string::npos)
        << document.error().message;
    EXPECT_EQ(document.error().message.find("json.exception"), std::string::npos);
    EXPECT_EQ(document.error().kind, Error::Kind::invalid_input);
  }
}

TEST(Json, FindsARepeatedKeyAmongMany) {
  std::string text = "{";
  for (int i = 0; i < 40; ++i) text += "\"k" + std::to_string(i) + "\": 0,\n";
  EXPECT_TRUE(parse(text + "\"k40\": 0}"));
  EXPECT_FALSE(parse(text + "\"k7\": 0}"));
}

TEST(Json, StreamsOnlyTheArraysItIsToldTo) {
  Source source =
      Source::from_text("test.json", "{\"a\": [1, 2], \"b\": [3, [4]], \"c\": {\"a\": [5]}}");
  std::string taken;
  const auto root = read_json_streamed(source, {"a"}, [&](std::string_view key, Document&& item) {
    taken += std::string(key) + std::to_string(item.integer) + " ";
    return Result<void>();
  });
  ASSERT_TRUE(root) << root.error().message;
  EXPECT_EQ(taken, "a1 a2 ");
  EXPECT_TRUE(root->find("a")->items.empty());
  EXPECT_EQ(root->find("b")->items.size(), 2U);
  EXPECT_EQ(root->find("c")->find("a")->items.size(), 1U);
}

TEST(Json, StopsAtTheFirstErrorOfItsTaker) {
  Source source = Source::from_text("test.json", "{\"a\": [1, 2, 3]}");
  int calls = 0;
  const auto root = read_json_streamed(source, {"a"}, [&](std::string_view, Document&&) {
    return ++calls == 2 ? Result<void>(invalid_input("two is too many")) : Result<void>();
  });
  ASSERT_FALSE(root);
  EXPECT_EQ(root.error().message, "two is too many");
  EXPECT_EQ(calls, 2);
}

TEST(Documents, AreTheSameFromTomlAndJson) {
  if (!can_read_toml()) GTEST_SKIP() << "this build has no toml++";
  Source toml = Source::from_text("a.toml", "name = \"x\"\n[[list]]\nslots = 2\n");
  Source json = Source::from_text("a.json", "{\"name\": \"x\", \"list\": [{\"slots\": 2}]}");
  const auto from_toml = read_document(toml);
  const auto from_json = read_document(json);
  ASSERT_TRUE(from_toml) << from_toml.error().message;
  ASSERT_TRUE(from_json) << from_json.error().message;
  for (const auto* document : {&*from_toml, &*from_json}) {
    EXPECT_EQ(document->find("name")->text, "x");
    EXPECT_EQ(document->find("list")->items[0].find("slots")->integer, 2);
  }
  EXPECT_EQ(from_toml->find("list")->items[0].find("slots")->line, 3);
}

TEST(Documents, RefuseHostileToml) {
  if (!can_read_toml()) GTEST_SKIP() << "this build has no toml++";
  std::string dotted = "a";
  for (int i = 0; i < 100000; ++i) dotted += ".a";
  for (const std::string& text : {dotted + " = 1", "a = " + std::string(100000, '['),
                                  std::string("a = \"\xff\""), std::string("a = 1\na = 2")}) {
    Source source = Source::from_text("a.toml", text);
    EXPECT_FALSE(read_document(source)) << text.substr(0, 40);
  }
}

TEST(Utf8, AcceptsEveryLengthAndRefusesWhatIsNoCharacter) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("a\xc2\xa2\xe2\x82\xac\xf0\x90\x8d\x88"));
  for (const char* bad : {"\x80", "\xc0\x80", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80",
                          "\xf5\x80\x80\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\xff"}) {
    EXPECT_FALSE(is_utf8(bad));
  }
}

}  // namespace
}  // namespace tutti
