#include "tutti/base/output.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tutti/base/source.h"

namespace tutti {
namespace {

class OutputTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / "tutti_output_test";
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
    path_ = (folder_ / "file").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string content() const {
    Result<Source> source = Source::open(path_);
    return source ? *source->read_all() : "absent";
  }
  int files() const {
    int count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_)) ++count;
    return count;
  }

  std::filesystem::path folder_;
  std::string path_;
};

TEST_F(OutputTest, KeepsTheOldFileUntilTheNewOneIsWhole) {
  ASSERT_TRUE(write_file(path_, "old"));
  Result<Output> output = Output::open(path_);
  ASSERT_TRUE(output);
  output->write("new");
  EXPECT_EQ(content(), "old");
  ASSERT_TRUE(output->commit());
  EXPECT_EQ(content(), "new");
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputTest, LeavesNothingBehindWithoutCommit) {
  ASSERT_TRUE(write_file(path_, "old"));
  {
    Result<Output> output = Output::open(path_);
    ASSERT_TRUE(output);
    output->write("half");
  }
  EXPECT_EQ(content(), "old");
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputTest, RefusesAFolderAndAFolderThatIsNotThere) {
  EXPECT_FALSE(Output::open(folder_.string()));
  EXPECT_FALSE(Output::open((folder_ / "no" / "file").string()));
}

TEST_F(OutputTest, WritesToDevicesInPlace) {
  EXPECT_TRUE(write_file("/dev/null", "gone"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(OutputTest, TellsWhenTheDiskIsFull) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "needs /dev/full";
  const Result<void> written = write_file("/dev/full", "text");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, Error::Kind::failed);
}

}  // namespace
}  // namespace tutti
