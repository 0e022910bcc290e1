// What the tests of the house itself share: the files of this repository, as text.

#ifndef TUTTI_TEST_SUPPORT_REPOSITORY_H_
#define TUTTI_TEST_SUPPORT_REPOSITORY_H_

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace tutti {

// Paths are relative to the root of the repository throughout, such as "tutti/plan/plan.h".
inline bool in_repository(const std::filesystem::path& path) {
  return std::filesystem::exists(TUTTI_SOURCE_DIR / path);
}

// Empty if there is no such file.
inline std::string repository_text(const std::filesystem::path& path) {
  const std::ifstream file(TUTTI_SOURCE_DIR / path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Every file below a folder ("" for all) whose name ends so, by name. Builds, hidden folders and
// what npm fetched are passed over.
inline std::vector<std::string> repository_files(const std::string& folder,
                                                 const std::string& ending) {
  namespace fs = std::filesystem;
  const fs::path root = TUTTI_SOURCE_DIR;
  std::vector<std::string> files;
  if (!fs::exists(root / folder)) return files;
  for (auto entry = fs::recursive_directory_iterator(root / folder);
       entry != fs::recursive_directory_iterator(); ++entry) {
    const std::string name = entry->path().filename().string();
    if (entry->is_directory()) {
      const bool foreign = name[0] == '.' || name.starts_with("build") || name == "node_modules";
      if (foreign) entry.disable_recursion_pending();
    } else if (name.ends_with(ending)) {
      files.push_back(entry->path().lexically_relative(root).generic_string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace tutti

#endif  // TUTTI_TEST_SUPPORT_REPOSITORY_H_
