#include "tutti/base/file/source.h"

#include <gtest/gtest.h>

#include <string>

#include "tutti/base/file/output.h"

namespace tutti {
namespace {

TEST(Source, LooksAtItsBeginningWithoutTakingIt) {
  Source source = Source::from_text("a", "xy");
  EXPECT_EQ(source.peek(), "xy");
  EXPECT_EQ(source.get(), 'x');
  EXPECT_EQ(source.get(), 'y');
  EXPECT_EQ(source.get(), -1);
  EXPECT_EQ(source.get(), -1);
}

TEST(Source, CountsLinesFromOne) {
  Source source = Source::from_text("a", "x\n\ny");
  EXPECT_EQ(source.line(), 1);
  while (source.get() != 'y') {
  }
  EXPECT_EQ(source.line(), 3);
}

TEST(Source, ReadsAFileLargerThanItsBuffer) {
  const std::string path = testing::TempDir() + "/tutti_source_test";
  std::string text;
  for (int i = 0; i < 40000; ++i) text += std::to_string(i) + "\n";
  ASSERT_TRUE(write_file(path, text));
  Result<Source> source = Source::open(path);
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ(source->peek().size(), size_t{1} << 16);
  EXPECT_EQ(source->get(), '0');
  const Result<std::string> rest = source->read_all();
  ASSERT_TRUE(rest);
  EXPECT_EQ(*rest, text.substr(1));
  Result<Source> again = Source::open(path);
  EXPECT_FALSE(again->read_all(/*limit=*/1000));
  std::remove(path.c_str());
}

TEST(Source, RefusesFoldersAndAbsentFiles) {
  EXPECT_FALSE(Source::open(testing::TempDir()));
  EXPECT_FALSE(Source::open(testing::TempDir() + "/no/such/file"));
}

TEST(Errors, NameFileAndLine) {
  EXPECT_EQ(error_at("f.json", 3, "bad").message, "f.json:3: bad");
}

}  // namespace
}  // namespace tutti
