#include "tools/beside.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace tutti {

Error go_on_as(const std::string& program, const std::string& name,
               const std::vector<std::string>& arguments, const std::string& needs) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string path = (self.parent_path() / program).string();
  if (error || access(path.c_str(), X_OK) != 0) {
    return failed(fmt::format("there is no {}: it is built where {}; install that and build again",
                              path, needs));
  }
  std::vector<std::string> kept = {name};
  kept.insert(kept.end(), arguments.begin(), arguments.end());
  std::vector<char*> words;
  for (std::string& word : kept) words.push_back(word.data());
  words.push_back(nullptr);
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
