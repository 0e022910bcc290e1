// For tests of commands: a folder of one's own, and whether a process is still at work.

#ifndef TUTTI_RUNTIME_COMMAND_TESTING_H_
#define TUTTI_RUNTIME_COMMAND_TESTING_H_

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>

#include "test/support/world.h"

namespace tutti::testing {

inline std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A folder that is gone after the test.
class Folder {
 public:
  Folder() {
    path_ = ::testing::TempDir() + "tutti_commands_XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }
  std::string path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Not when it is dead and only waits for somebody to ask how it ended.
inline bool is_at_work(const std::string& process) {
  const std::string status = text_of("/proc/" + process + "/stat");
  const size_t name_end = status.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= status.size()) return false;
  const char state = status[name_end + 2];
  return state != 'Z' && state != 'X';
}

// Waits until it is so; false if that does not come within half a minute.
template <class Condition>
bool comes_true(const Condition& condition) {
  for (int i = 0; i < 3000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace tutti::testing

#endif  // TUTTI_RUNTIME_COMMAND_TESTING_H_
