// What the tests of serving share.

#ifndef TUTTI_SERVE_TESTING_H_
#define TUTTI_SERVE_TESTING_H_

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>

#include "tutti/serve/job.h"

namespace tutti {

// A folder that goes when the test does.
class TestFolder {
 public:
  TestFolder() {
    std::string pattern = ::testing::TempDir() + "tutti_serve_XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline Submission submission(const std::string& id, int32_t priority = 0,
                             const std::string& content = "content") {
  return {id, priority, "graph", 3, std::make_shared<const std::string>(content)};
}

}  // namespace tutti

#endif  // TUTTI_SERVE_TESTING_H_
