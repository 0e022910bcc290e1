// Runs the program itself as a user would, in a folder of its own, and keeps what it said.
//
// The including test defines TUTTI_BINARY.

#ifndef TUTTI_TEST_SUPPORT_CLI_H_
#define TUTTI_TEST_SUPPORT_CLI_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tutti/base/file/document.h"

namespace tutti {

inline constexpr const char* kOld = "what was here before\n";

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Ran {
  int exit_code = -1;  // 128 and more: killed by a signal
  std::string out;
  std::string err;
};

struct Wish {
  std::string standard_output{};        // a path; empty: captured
  long longest_file = 0;                // in bytes, as on a full disk; 0: no limit
  std::vector<std::string> launcher{};  // words before the program's own, such as mpirun's
};

// Each test has a folder of its own.
class Cli : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "tutti_hostile_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

  Ran run(const std::vector<std::string>& arguments, const Wish& wish = {}) const {
    const std::string captured = path("captured");
    std::filesystem::create_directory(captured);
    const std::string out = wish.standard_output.empty() ? captured + "/out" : wish.standard_output;
    const std::string err = captured + "/err";
    const pid_t child = ::fork();
    if (child == 0) {
      // What it would leave in /tmp if it is killed goes with the rest.
      ::setenv("TMPDIR", captured.c_str(), 1);
      // What the person who runs the tests prefers must not reach them.
      ::setenv("TUTTI_CONFIG", "", 1);
      ::setenv("TUTTI_COLOR", "never", 1);
      become_tutti(arguments, wish, out, err);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    Ran ran{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            wish.standard_output.empty() ? read_text(out) : "", read_text(err)};
    std::filesystem::remove_all(captured);
    return ran;
  }

  // The names in the folder, to see that nothing was left behind.
  std::vector<std::string> listing() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

 private:
  [[noreturn]] static void become_tutti(const std::vector<std::string>& arguments, const Wish& wish,
                                        const std::string& out, const std::string& err) {
    std::vector<char*> words;
    for (const std::string& word : wish.launcher) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(const_cast<char*>(TUTTI_BINARY));
    for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    const rlimit seconds{120, 120};  // what hangs shall fail
    ::setrlimit(RLIMIT_CPU, &seconds);
    if (wish.longest_file > 0) {
      const rlimit bytes{static_cast<rlim_t>(wish.longest_file),
                         static_cast<rlim_t>(wish.longest_file)};
      ::setrlimit(RLIMIT_FSIZE, &bytes);  // the program has to survive its signal itself
    }
    ::execv(words[0], words.data());
    ::_exit(127);
  }

  std::string folder_;
};

// One line that ends, begins with the program's name and holds what is expected.
inline void expect_one_sentence(const Ran& ran, const std::string& expected) {
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  EXPECT_TRUE(ran.err.starts_with("tutti: ")) << ran.err;
  EXPECT_TRUE(ran.err.ends_with("\n")) << ran.err;
  EXPECT_NE(ran.err.find(expected), std::string::npos) << ran.err;
  EXPECT_TRUE(is_utf8(ran.err)) << ran.err;
  EXPECT_TRUE(ran.out.empty()) << ran.out;
}

inline constexpr const char* kGraph = R"({"format": "tutti-graph", "schema_version": 1, "name": "g",
 "ops": [{"name": "a", "outputs": [{"bytes": 1000}], "run_time_ns": 100},
         {"name": "b", "operands": ["a"], "outputs": [{"bytes": 1000}], "run_time_ns": 100}]}
)";

inline std::string rules(const std::string& rest) {
  return "{\"schema_version\": 1,\n " + rest + "}\n";
}

}  // namespace tutti

#endif  // TUTTI_TEST_SUPPORT_CLI_H_
