#include "tools/beside.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace tutti {
namespace {

// Empty if this program does not know where it is itself.
std::string path_beside(const std::string& program) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "" : (self.parent_path() / program).string();
}

// As exec wants them. Refers to `kept`.
std::vector<char*> words_for_exec(std::vector<std::string>& kept) {
  std::vector<char*> words;
  words.reserve(kept.size() + 1);
  for (std::string& word : kept) words.push_back(word.data());
  words.push_back(nullptr);
  return words;
}

}  // namespace

bool is_beside(const std::string& program) {
  const std::string path = path_beside(program);
  return !path.empty() && access(path.c_str(), X_OK) == 0;
}

std::string output_of(const std::string& program, const std::vector<std::string>& arguments) {
  if (!is_beside(program)) return "";
  const std::string path = path_beside(program);
  std::vector<std::string> kept = {program};
  kept.insert(kept.end(), arguments.begin(), arguments.end());
  const std::vector<char*> words = words_for_exec(kept);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "";
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    execv(path.c_str(), words.data());
    _exit(127);
  }
  close(ends[1]);
  std::string text;
  char part[4096];
  ssize_t count = 0;
  while (child > 0 && (count = read(ends[0], part, sizeof(part))) != 0) {
    if (count > 0) text.append(part, static_cast<size_t>(count));
    if (count < 0 && errno != EINTR) break;
  }
  close(ends[0]);
  int status = 1;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : "";
}

Error go_on_as(const std::string& program, const std::string& name,
               const std::vector<std::string>& arguments, const std::string& needs) {
  const std::string path = path_beside(program);
  if (!is_beside(program)) {
    return failed(fmt::format("there is no {}: it is built where {}; install that and build again",
                              path, needs));
  }
  std::vector<std::string> kept = {name};
  kept.insert(kept.end(), arguments.begin(), arguments.end());
  const std::vector<char*> words = words_for_exec(kept);
  std::fflush(stdout);
  execv(path.c_str(), words.data());
  return failed(fmt::format("{} could not be started: {}", path, std::strerror(errno)));
}

std::vector<std::string> own_arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  if (!words.empty()) words.erase(words.begin());
  return words;
}

Error go_on_with_starpu() {
  return go_on_as("tutti-starpu", "tutti", own_arguments(),
                  "StarPU and MPI are (Debian: libstarpu-dev libopenmpi-dev openmpi-bin)");
}

}  // namespace tutti
