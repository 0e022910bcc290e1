#include "tutti/base/file/output.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "tutti/base/file/folder_lock.h"
#include "tutti/base/file/source.h"

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

TEST_F(OutputTest, AProbeSaysWhetherItCanBeWrittenAndLeavesNothing) {
  EXPECT_TRUE(probe_output("-"));
  EXPECT_TRUE(probe_output(path_));
  EXPECT_EQ(files(), 0);
  EXPECT_FALSE(probe_output((folder_ / "no" / "file").string()));
  EXPECT_FALSE(probe_output(folder_.string()));
  EXPECT_TRUE(probe_output("/dev/null"));
  // Opening a pipe that nobody reads would wait for ever.
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_TRUE(probe_output(path_));
}

TEST_F(OutputTest, FilesAreTheSameHoweverTheyAreSpelt) {
  const std::string round_about = (folder_ / "." / "file").string();
  EXPECT_TRUE(name_one_file(path_, path_));
  EXPECT_TRUE(name_one_file(path_, round_about));
  EXPECT_TRUE(name_one_file("-", "-"));
  EXPECT_FALSE(name_one_file("-", path_));
  EXPECT_FALSE(name_one_file(path_, path_ + "2"));
  EXPECT_FALSE(name_one_file("/dev/null", "/dev/null"));
  ASSERT_TRUE(write_file(path_, "there"));
  std::filesystem::create_symlink(path_, folder_ / "link");
  EXPECT_TRUE(name_one_file(path_, (folder_ / "link").string()));
}

TEST_F(OutputTest, ALockedFileIsRefusedUntilItIsLetGo) {
  {
    const Result<FileLock> lock = FileLock::take(path_);
    ASSERT_TRUE(lock) << lock.error().message;
    const Result<FileLock> other = FileLock::take(path_);
    ASSERT_FALSE(other);
    EXPECT_NE(other.error().message.find("another run"), std::string::npos);
    EXPECT_EQ(files(), 1);
  }
  EXPECT_EQ(files(), 0);
  EXPECT_TRUE(FileLock::take(path_));
}

TEST_F(OutputTest, KeepsTheModeOfTheFileThatItReplaces) {
  const auto mode = [&] {
    struct stat info {};
    EXPECT_EQ(::stat(path_.c_str(), &info), 0);
    return info.st_mode & 07777;
  };
  const mode_t before = ::umask(027);
  ASSERT_TRUE(write_file(path_, "new"));
  EXPECT_EQ(mode(), 0640u);  // 0666 without what the mask takes
  for (const mode_t kept : {0600u, 0664u, 0755u}) {
    ASSERT_EQ(::chmod(path_.c_str(), kept), 0);
    ASSERT_TRUE(write_file(path_, "newer"));
    EXPECT_EQ(mode(), kept);
  }
  ::umask(before);
}

TEST_F(OutputTest, WritesWhereLinksLeadAndLeavesTheLinks) {
  std::filesystem::create_directory(folder_ / "deep");
  const std::filesystem::path target = folder_ / "deep" / "target";
  std::filesystem::create_symlink("deep/target", folder_ / "second");
  std::filesystem::create_symlink("second", path_);  // a link to a link to what is not there yet
  for (const char* text : {"first", "again"}) {
    ASSERT_TRUE(write_file(path_, text));
    EXPECT_TRUE(std::filesystem::is_symlink(path_));
    EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(target)));
    EXPECT_EQ(content(), text);
  }
  std::filesystem::remove(folder_ / "second");
  std::filesystem::create_symlink("file", folder_ / "second");  // now they lead in a circle
  EXPECT_FALSE(write_file(path_, "nowhere"));
}

TEST_F(OutputTest, AFolderStaysLockedThoughTheLockFileIsDeleted) {
  const std::string folder = (folder_ / "locked").string();
  const Result<FolderLock> lock = FolderLock::take(folder);
  ASSERT_TRUE(lock);
  std::filesystem::remove(folder + "/lock");
  EXPECT_FALSE(FolderLock::take(folder));
}

TEST_F(OutputTest, APrivateFolderIsTheOwnersAlone) {
  const mode_t before = ::umask(0);
  for (const char* name : {"a/b", "c/d/"}) {
    ASSERT_TRUE(make_private_folder((folder_ / name).string()));
    EXPECT_EQ(std::filesystem::status(folder_ / name).permissions(), std::filesystem::perms(0700));
  }
  ::umask(before);
  ASSERT_TRUE(write_file(path_, "a file"));
  EXPECT_FALSE(make_private_folder(path_));
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
