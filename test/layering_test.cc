// Dependencies point downwards only. The table below is the plan of the house; every #include and
// every room of tutti/CMakeLists.txt is held to it.

#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "test/support/repository.h"

namespace tutti {
namespace {

struct Room {
  std::string name;
  std::vector<std::string> uses;  // it may also use what these may use
};

// Lowest first. A room may stand here before its folder exists, but no folder without standing
// here.
const std::vector<Room> kRooms = {
    {"base", {}},
    {"graph", {"base"}},
    {"machine", {"base"}},
    {"kernels", {"graph"}},
    {"costs", {"graph", "machine", "kernels"}},
    {"plan", {"costs"}},
    {"belief", {"machine"}},
    {"policy", {"plan", "belief"}},
    {"trace", {"plan"}},
    {"telemetry", {"machine"}},
    {"runtime", {"plan", "trace", "kernels", "telemetry"}},  // policies only through plan/policy.h
    {"search", {"policy", "runtime"}},
    {"door", {"search"}},
    {"calibrate", {"search"}},
    {"train", {"calibrate"}},
    {"report", {"plan", "trace", "belief"}},
    {"serve", {"policy", "runtime", "belief", "report"}},
};

using Allowed = std::map<std::string, std::set<std::string>>;

// For each room all that it may include, itself among them.
Allowed allowed_rooms() {
  Allowed allowed;
  for (const Room& room : kRooms) {
    std::set<std::string>& all = allowed[room.name];
    all.insert(room.name);
    for (const std::string& used : room.uses)
      all.insert(allowed[used].begin(), allowed[used].end());
  }
  return allowed;
}

// "plan" for "tutti/plan/bound/load.h".
std::string room_of(const std::string& path) {
  const size_t begin = path.find('/') + 1;
  return path.substr(begin, path.find('/', begin) - begin);
}

std::vector<std::string> sources_of(const std::string& folder) {
  std::vector<std::string> sources;
  for (const char* ending : {".h", ".cc", ".cu"}) {
    const auto some = repository_files(folder, ending);
    sources.insert(sources.end(), some.begin(), some.end());
  }
  return sources;
}

// What a file includes in quotes.
std::vector<std::string> includes_of(const std::string& path) {
  static const std::regex kInclude(R"re(^\s*#\s*include\s*"([^"]+)")re");
  std::vector<std::string> included;
  std::smatch match;
  for (const std::string& line : lines_of(repository_text(path))) {
    if (std::regex_search(line, match, kInclude)) included.push_back(match[1]);
  }
  return included;
}

bool is_for_tests(const std::string& path) {
  for (const char* ending : {"_test.cc", "_test.cu", "testing.h", "_fuzz.cc"}) {
    if (path.ends_with(ending)) return true;
  }
  return false;
}

std::string expected_guard(const std::string& path) {
  std::string guard = path.starts_with("tutti/") ? "" : "TUTTI_";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    guard += std::isalnum(byte) != 0 ? static_cast<char>(std::toupper(byte)) : '_';
  }
  return guard + "_";
}

TEST(Layering, RoomsStandAboveAllThatTheyUse) {
  std::set<std::string> below;
  for (const Room& room : kRooms) {
    for (const std::string& used : room.uses) {
      EXPECT_TRUE(below.contains(used))
          << room.name << " uses " << used << ", which is not below it";
    }
    EXPECT_TRUE(below.insert(room.name).second) << room.name << " stands twice";
  }
}

TEST(Layering, RuntimesDoNotKnowPolicies) {
  const Allowed allowed = allowed_rooms();
  EXPECT_FALSE(allowed.at("runtime").contains("policy"));
  EXPECT_FALSE(allowed.at("policy").contains("runtime"));
}

TEST(Layering, EveryFolderIsARoomOfTheTable) {
  const Allowed allowed = allowed_rooms();
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(TUTTI_SOURCE_DIR) / "tutti")) {
    if (!entry.is_directory()) continue;
    const std::string name = entry.path().filename().string();
    EXPECT_TRUE(allowed.contains(name)) << "tutti/" << name << " is no room of the table";
  }
}

TEST(Layering, EveryIncludePointsDownwards) {
  const Allowed allowed = allowed_rooms();
  int count = 0;
  for (const std::string& path : sources_of("tutti")) {
    const auto room = allowed.find(room_of(path));
    if (room == allowed.end()) continue;  // EveryFolderIsARoomOfTheTable says so
    for (const std::string& included : includes_of(path)) {
      ++count;
      if (included.starts_with("test/")) {
        EXPECT_TRUE(is_for_tests(path)) << path << " is no test but includes " << included;
        continue;
      }
      // Those of the door itself: InstalledHeadersIncludeOnlyEachOther looks at them.
      if (room->first == "door" && room_of(included).ends_with(".h")) continue;
      ASSERT_TRUE(included.starts_with("tutti/"))
          << path << " includes " << included << "; name files from the root, tutti/...";
      EXPECT_TRUE(room->second.contains(room_of(included)))
          << path << " includes " << included << ", but " << room->first << " may not use "
          << room_of(included);
    }
  }
  EXPECT_GT(count, 100) << "hardly any include was found; is this test looking in the right place?";
}

// What re-creates a paper or serves an experiment is used by nothing that people run.
// The headers that users include (cmake/install.cmake): tutti/tutti.h, tutti/tutti_c.h and those of
// tutti/door.
TEST(Layering, InstalledHeadersIncludeOnlyEachOther) {
  std::set<std::string> installed = {"tutti/tutti.h", "tutti/tutti_c.h"};
  for (const std::string& path : repository_files("tutti/door", ".h")) {
    if (!path.starts_with("tutti/door/c/")) installed.insert(path);
  }
  EXPECT_GT(installed.size(), 4U);
  EXPECT_LE(installed.size(), 15U);
  static const std::regex kInclude(R"re(^\s*#\s*include\s*(["<])([^">]+)[">])re");
  std::set<std::string> reached;
  for (const std::string& path : installed) {
    std::smatch match;
    for (const std::string& line : lines_of(repository_text(path))) {
      if (!std::regex_search(line, match, kInclude)) continue;
      EXPECT_EQ(match[1], "<") << path << " includes " << match[2] << " in quotes";
      const std::string included = match[2];
      if (!included.starts_with("tutti/")) {
        EXPECT_EQ(included.find('/'), std::string::npos)
            << path << " includes " << included << ", which is not of the standard library";
        continue;
      }
      EXPECT_TRUE(installed.contains(included)) << path << " includes " << included;
      reached.insert(included);
    }
  }
  for (const std::string& path : installed) {
    EXPECT_TRUE(reached.contains(path) || path == "tutti/tutti.h")
        << path << " is installed, and tutti/tutti.h does not include it";
  }
}

TEST(Layering, NothingOfTheProductIncludesStudies) {
  int count = 0;
  for (const char* folder : {"tutti", "tools"}) {
    for (const std::string& path : sources_of(folder)) {
      for (const std::string& included : includes_of(path)) {
        ++count;
        EXPECT_FALSE(included.starts_with("studies/")) << path << " includes " << included;
      }
    }
  }
  EXPECT_GT(count, 100) << "hardly any include was found; is this test looking in the right place?";
  for (const char* list : {"tutti/CMakeLists.txt", "tools/CMakeLists.txt",
                           "tools/train/CMakeLists.txt", "tools/starpu/CMakeLists.txt"}) {
    EXPECT_EQ(repository_text(list).find("studies"), std::string::npos) << list;
  }
}

// The studies stand side by side: what two of them need belongs into the product.
TEST(Layering, StudiesDoNotKnowEachOther) {
  for (const std::string& path : sources_of("studies")) {
    if (room_of(path).ends_with(".cc") || room_of(path).ends_with(".h")) continue;
    for (const std::string& included : includes_of(path)) {
      if (!included.starts_with("studies/") || included == "studies/studies.h") continue;
      EXPECT_EQ(room_of(included), room_of(path)) << path << " includes " << included;
    }
  }
}

// Inside a room: which sub-folder may include which others of the same room. "." is the room's own
// folder. Sub-folders may always include themselves.
struct SubFolder {
  std::string name;
  std::set<std::string> uses;
};
const std::map<std::string, std::vector<SubFolder>> kSubFolders = {
    {"tutti/policy",
     {{"schedule", {}},
      {"nn", {}},
      {"places", {"schedule"}},
      {"heuristic", {"schedule", "places"}},
      {"coarse", {"schedule"}},
      {"doppler", {"schedule", "nn", "heuristic", "coarse"}},
      {"symphony", {"nn"}},
      {"online", {"schedule", "heuristic"}},
      {"online/eft", {"schedule", "online"}},
      {".", {"schedule", "heuristic", "doppler", "online", "online/eft"}}}},  // the registry
    {"tutti/runtime",
     {{".", {}},  // the seam; runtimes stand above it
      {"null", {"."}},
      {"sim/links", {}},
      {"sim", {".", "null", "sim/links"}},
      {"sim/jobs", {}},
      {"local/dispatch", {}},
      {"local", {"."}},
      {"local/cpu", {"local", "local/dispatch"}},
      {"local/cuda", {"local"}},
      {"local/values", {"local", "local/dispatch"}},
      {"local/jobs", {"local", "local/dispatch", "local/values"}},
      {"local/run", {".", "local", "local/cpu", "local/dispatch", "local/values", "local/jobs"}},
      {"command", {"local"}},
      {"arriving", {"sim/jobs", "local", "local/cpu", "local/jobs"}},
      {"starpu", {".", "local", "local/cpu"}}}},
    {"tutti/search",
     {{"evaluate", {}},
      {"exact", {"evaluate"}},
      {"walk", {"evaluate"}},
      {".", {"evaluate", "exact", "walk"}},
      {"throughput", {".", "evaluate"}}}},
    {"tools",
     {{"print", {}},
      {"parse", {"print"}},
      {".", {"print", "parse"}},
      {"graph", {".", "print", "parse"}},
      {"compare", {".", "print", "parse"}},
      {"measure", {".", "print"}},
      {"server", {".", "print", "graph"}},
      {"starpu", {".", "compare", "print"}},
      {"train", {".", "print"}}}},
    {"studies/doppler",
     {{"nn", {}},
      {"published", {"nn"}},
      {"released", {}},
      {"rivals", {"nn", "published"}},
      {".", {"published", "rivals"}},
      {"torch", {".", "nn", "published", "rivals"}},
      {"train", {"published", "rivals", "torch"}},
      {"bench", {".", "published", "rivals", "train"}}}},
    {"studies/symphony", {{".", {}}, {"train", {}}, {"bench", {"."}}}},
};

// "local/run" for "tutti/runtime/local/run/run.h" in tutti/runtime, "." for a file of the room's
// own folder.
std::string sub_folder_of(const std::string& room, const std::string& path) {
  const std::string rest = path.substr(room.size() + 1);
  const size_t end = rest.rfind('/');
  return end == std::string::npos ? "." : rest.substr(0, end);
}

TEST(Layering, SubFoldersIncludeOnlyWhatTheirTableAllows) {
  for (const auto& [room, folders] : kSubFolders) {
    std::map<std::string, std::set<std::string>> allowed;
    for (const SubFolder& folder : folders) {
      for (const std::string& used : folder.uses) {
        EXPECT_TRUE(allowed.contains(used))
            << room << ": " << folder.name << " uses " << used << ", which is not below it";
      }
      allowed[folder.name] = folder.uses;
    }
    int count = 0;
    for (const std::string& path : sources_of(room)) {
      if (is_for_tests(path)) continue;
      const std::string mine = sub_folder_of(room, path);
      ASSERT_TRUE(allowed.contains(mine)) << path << ": " << mine << " is not in the table";
      for (const std::string& included : includes_of(path)) {
        if (!included.starts_with(room + "/")) continue;
        ++count;
        const std::string other = sub_folder_of(room, included);
        EXPECT_TRUE(other == mine || allowed.at(mine).contains(other))
            << path << " includes " << included << ", but " << mine << " may not use " << other;
      }
    }
    EXPECT_GT(count, 3) << room << ": hardly any include was found";
  }
}

// A folder with more headers than this has a second idea in it. None may have more; a folder that
// must is added here with its reason.
TEST(Layering, NoFolderHasMoreThanFourteenHeaders) {
  constexpr int kMost = 14;
  const std::map<std::string, std::string> exceptions = {};
  std::map<std::string, int> headers;
  for (const char* root : {"tutti", "tools", "studies"}) {
    for (const std::string& path : repository_files(root, ".h")) {
      if (!is_for_tests(path)) ++headers[path.substr(0, path.rfind('/'))];
    }
  }
  EXPECT_GT(headers.size(), 20U);
  for (const auto& [folder, count] : headers) {
    if (exceptions.contains(folder)) continue;
    EXPECT_LE(count, kMost) << folder << " has " << count << " headers";
  }
}

TEST(Layering, EveryIncludeOfOursExists) {
  for (const char* folder : {"tutti", "tools", "studies", "test", "bench"}) {
    for (const std::string& path : sources_of(folder)) {
      for (const std::string& included : includes_of(path)) {
        EXPECT_TRUE(in_repository(included)) << path << " includes " << included;
      }
    }
  }
}

// Two types of one name are one to the linker, which keeps the functions of either. Those of the
// public door are in a namespace of their own.
TEST(Layering, NoTwoHeadersDefineATypeOfTheSameName) {
  std::map<std::string, std::string> where;
  for (const char* folder : {"tutti", "tools", "studies"}) {
    for (const std::string& path : repository_files(folder, ".h")) {
      const std::string text = repository_text(path);
      if (is_for_tests(path) || text.find("\nnamespace tutti {\n") == std::string::npos ||
          text.find("\ninline namespace ") != std::string::npos) {
        continue;
      }
      static const std::regex kType("\n(?:struct|class) ([A-Z]\\w*)(?: final)?(?: :| \\{)");
      for (std::sregex_iterator found(text.begin(), text.end(), kType), end; found != end;
           ++found) {
        const auto [first, is_new] = where.emplace((*found)[1].str(), path);
        EXPECT_TRUE(is_new || path.starts_with("studies/symphony/bench"))
            << path << " and " << first->second << " define " << first->first;
      }
    }
  }
  EXPECT_GT(where.size(), 200U);
}

TEST(Layering, NothingShippedIncludesTestingHeaders) {
  for (const char* folder : {"tutti", "tools"}) {
    for (const std::string& path : sources_of(folder)) {
      if (is_for_tests(path)) continue;
      for (const std::string& included : includes_of(path)) {
        EXPECT_FALSE(included.ends_with("testing.h")) << path << " includes " << included;
      }
    }
  }
}

// tutti_room(plan USES base graph machine costs) and the table say the same.
TEST(Layering, CMakeLinksOnlyWhatTheTableAllows) {
  const Allowed allowed = allowed_rooms();
  static const std::regex kRoom(R"(tutti_room\((\w+)([^)]*)\))");
  const std::string text = repository_text("tutti/CMakeLists.txt");
  std::set<std::string> built;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), kRoom);
       it != std::sregex_iterator(); ++it) {
    const std::string name = (*it)[1];
    ASSERT_TRUE(allowed.contains(name)) << name << " is no room of the table";
    EXPECT_TRUE(in_repository("tutti/" + name)) << name << " has no folder";
    built.insert(name);
    bool is_use = false;
    std::istringstream words((*it)[2]);
    for (std::string word; words >> word;) {
      if (word == "USES" || word == "LIBRARIES") {
        is_use = word == "USES";
      } else if (is_use) {
        EXPECT_TRUE(allowed.at(name).contains(word)) << name << " links " << word;
      }
    }
  }
  EXPECT_TRUE(built.contains("base")) << "no room was found in tutti/CMakeLists.txt";
}

TEST(Layering, HeaderGuardsAreNamedAfterTheirPaths) {
  for (const char* folder : {"tutti", "tools", "studies", "test", "bench"}) {
    for (const std::string& path : repository_files(folder, ".h")) {
      const std::string guard = expected_guard(path);
      const std::string text = repository_text(path);
      EXPECT_NE(text.find("#ifndef " + guard + "\n#define " + guard + "\n"), std::string::npos)
          << path << " should be guarded by " << guard;
      EXPECT_TRUE(text.ends_with("#endif  // " + guard + "\n"))
          << path << " should end with: #endif  // " << guard;
    }
  }
}

}  // namespace
}  // namespace tutti
