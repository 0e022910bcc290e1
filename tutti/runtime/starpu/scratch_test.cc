#include "tutti/runtime/starpu/scratch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>

namespace tutti {
namespace {

namespace fs = std::filesystem;

class StarpuScratch : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "tutti_scratch_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    parent_ = pattern;
    if (const char* home = ::getenv("STARPU_HOME")) home_ = home;
  }
  void TearDown() override {
    fs::remove_all(parent_);
    home_.empty() ? ::unsetenv("STARPU_HOME") : ::setenv("STARPU_HOME", home_.c_str(), 1);
  }

  // As a rank that was killed `ago` left it.
  fs::path left(const std::string& name, std::chrono::minutes ago, bool lock = true) const {
    const fs::path folder = parent_ / name;
    fs::create_directories(folder / ".starpu" / "sampling");
    if (lock) std::ofstream(folder / "lock").put('\n');
    fs::last_write_time(folder, fs::file_time_type::clock::now() - ago);
    return folder;
  }

  fs::path parent_;
  std::string home_;
};

TEST_F(StarpuScratch, IsNamedInStarpuHomeWhileItIsThere) {
  fs::path path;
  ::setenv("STARPU_HOME", "/before", 1);
  {
    const Scratch scratch(parent_);
    path = scratch.path();
    EXPECT_TRUE(fs::is_directory(path));
    EXPECT_EQ(::getenv("STARPU_HOME"), path);
    std::ofstream(path / "what StarPU writes").put('\n');
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_STREQ(::getenv("STARPU_HOME"), "/before");
  ::unsetenv("STARPU_HOME");
  { const Scratch scratch(parent_); }
  EXPECT_EQ(::getenv("STARPU_HOME"), nullptr);
}

TEST_F(StarpuScratch, RemovesWhatAKilledRankLeftBehind) {
  const fs::path killed = left("tutti-starpu-a", std::chrono::minutes(5));
  const fs::path fresh = left("tutti-starpu-b", std::chrono::minutes(0));
  const fs::path unknown = left("tutti-starpu-c", std::chrono::minutes(5), /*lock=*/false);
  const fs::path other = left("of-somebody-else", std::chrono::minutes(5));
  const Scratch scratch(parent_);
  EXPECT_FALSE(fs::exists(killed));
  EXPECT_TRUE(fs::exists(fresh));
  EXPECT_TRUE(fs::exists(unknown));
  EXPECT_TRUE(fs::exists(other));
}

TEST_F(StarpuScratch, LeavesTheFolderOfARankThatIsAtWork) {
  const Scratch first(parent_);
  fs::last_write_time(first.path(), fs::file_time_type::clock::now() - std::chrono::minutes(5));
  const Scratch second(parent_);
  EXPECT_TRUE(fs::exists(first.path()));
  EXPECT_NE(first.path(), second.path());
}

TEST_F(StarpuScratch, AFolderThatCannotBeMadeIsNone) {
  const Scratch scratch(parent_ / "none");
  EXPECT_TRUE(scratch.path().empty());
}

}  // namespace
}  // namespace tutti
