// The documents tell the truth about the repository: what they link to and name exists, and what
// they show tutti printing is what an example prints.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "test/support/markdown.h"
#include "test/support/repository.h"
#include "tutti/policy/registry.h"

namespace tutti {
namespace {

std::string at(const std::string& file, int line) {
  return fmt::format("{}:{}: ", file, line);
}

// The headings of a file as GitHub names them: lower case, dashes for blanks, no punctuation.
std::set<std::string> anchors_of(const std::string& path) {
  std::set<std::string> anchors;
  for (const std::string& line : lines_of(repository_text(path))) {
    if (line[0] != '#' || line.find(' ') == std::string::npos) continue;
    std::string anchor;
    for (const char c : line.substr(line.find(' ') + 1)) {
      const auto byte = static_cast<unsigned char>(c);
      if (std::isalnum(byte) != 0 || c == '-' || c == '_')
        anchor += static_cast<char>(std::tolower(byte));
      if (c == ' ') anchor += '-';
    }
    anchors.insert(anchor);
  }
  return anchors;
}

// The first word of a code span, if it looks like the path of a file or folder of ours: below one
// of our folders, or a document. A bare "graph.json" may be anybody's.
std::string path_in(const std::string& span) {
  static const std::regex kPath(
      R"((tutti|tools|studies|test|docs|scripts|examples|cmake|bench|web|\.ci)/[A-Za-z0-9_./-]*|\w+\.md)");
  const std::string word = span.substr(0, span.find(' '));
  return std::regex_match(word, kPath) ? word : "";
}

// "compare" for "tutti compare graph.json"; empty if it is no such command.
std::string command_in(const std::string& text) {
  static const std::regex kCommand(R"(tutti ([a-z][a-z-]*).*)");
  std::smatch match;
  return std::regex_match(text, match, kCommand) ? match[1].str() : "";
}

// The names that tools/*.cc gives to add_subcommand.
std::set<std::string> sub_commands() {
  static const std::regex kName(R"re(add_subcommand\(\s*"([\w-]+)")re");
  std::set<std::string> names;
  for (const std::string& path : repository_files("tools", ".cc")) {
    const std::string text = repository_text(path);
    for (auto it = std::sregex_iterator(text.begin(), text.end(), kName);
         it != std::sregex_iterator(); ++it) {
      names.insert((*it)[1]);
    }
  }
  return names;
}

TEST(Docs, EveryLinkLeadsSomewhere) {
  for (const std::string& file : repository_files("", ".md")) {
    const auto folder = std::filesystem::path(file).parent_path();
    for (const auto& [target, line] : read_markdown(file).links) {
      if (target.find("://") != std::string::npos) continue;
      const size_t hash = target.find('#');
      const std::string name = target.substr(0, hash);
      const std::string path =
          name.empty() ? file : (folder / name).lexically_normal().generic_string();
      ASSERT_TRUE(in_repository(path)) << at(file, line) << "no " << path;
      if (hash == std::string::npos) continue;
      EXPECT_TRUE(anchors_of(path).contains(target.substr(hash + 1)))
          << at(file, line) << path << " has no heading " << target.substr(hash);
    }
  }
}

// A change log may speak of files that are gone.
TEST(Docs, EveryPathNamedInCodeExists) {
  for (const std::string& file : repository_files("", ".md")) {
    if (file == "CHANGELOG.md") continue;
    const auto folder = std::filesystem::path(file).parent_path();
    for (const auto& [span, line] : read_markdown(file).spans) {
      const std::string path = path_in(span);
      if (path.empty()) continue;
      EXPECT_TRUE(in_repository(path) || in_repository(folder / path))
          << at(file, line) << "no " << path;
    }
  }
}

TEST(Docs, EveryCommandExists) {
  const std::set<std::string> known = sub_commands();
  ASSERT_TRUE(known.contains("plan"));
  int count = 0;
  for (const std::string& file : repository_files("", ".md")) {
    const Markdown markdown = read_markdown(file);
    std::vector<Markdown::Part> commands = markdown.spans;
    for (const Fence& fence : markdown.fences) {
      for (const std::string& line : lines_of(fence.text)) {
        commands.push_back({line.starts_with("$ ") ? line.substr(2) : line, fence.line});
      }
    }
    for (const auto& [text, line] : commands) {
      const std::string command = command_in(text);
      if (command.empty()) continue;
      EXPECT_TRUE(known.contains(command)) << at(file, line) << "no command in: " << text;
      ++count;
    }
  }
  EXPECT_GT(count, 10);
}

TEST(Docs, ReferencePagesNameEveryCommandAndPolicy) {
  const std::string commands = repository_text("docs/commands.md");
  const std::string ending = "_command.cc";
  for (const std::string& path : repository_files("tools", ending)) {
    const std::string file = std::filesystem::path(path).filename().string();
    std::string name = file.substr(0, file.size() - ending.size());
    std::replace(name.begin(), name.end(), '_', '-');  // what_if_command.cc: tutti what-if
    EXPECT_NE(commands.find("`tutti " + name), std::string::npos)
        << "docs/commands.md lacks tutti " << name;
  }
  const std::string policies = repository_text("docs/policies.md");
  for (const PolicyEntry& entry : policy_registry()) {
    EXPECT_NE(policies.find("`" + entry.name + "`"), std::string::npos)
        << "docs/policies.md lacks policy " << entry.name;
  }
}

// A block that begins with "$ tutti" is a transcript: it must stand in some example's expected.txt,
// which the tests compare with what the program prints.
TEST(Docs, TranscriptsAreThoseOfExamples) {
  std::string printed;
  for (const std::string& path : repository_files("examples", "expected.txt")) {
    printed += repository_text(path);
  }
  for (const std::string& file : repository_files("", ".md")) {
    for (const Fence& fence : read_markdown(file).fences) {
      if (!fence.text.starts_with("$ tutti ")) continue;
      EXPECT_NE(printed.find(fence.text), std::string::npos)
          << at(file, fence.line) << "no expected.txt of examples/ holds this transcript";
    }
  }
}

// It is compiled and run by examples/04_embed.
TEST(Docs, TheFirstProgramOfTheReadmeIsTheTestedOneInTwentyLines) {
  const std::string program = repository_text("examples/04_embed/first.cc");
  EXPECT_NE(repository_text("README.md").find("```cpp\n" + program + "```"), std::string::npos)
      << "README.md should show examples/04_embed/first.cc as it is";
  EXPECT_LE(lines_of(program).size(), 20U);
}

TEST(Docs, EveryExampleSaysWhatItPrints) {
  const auto examples = std::filesystem::path(TUTTI_SOURCE_DIR) / "examples";
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(examples)) {
    ++count;
    for (const char* name : {"README.md", "run.sh", "expected.txt"}) {
      EXPECT_TRUE(std::filesystem::exists(entry.path() / name))
          << entry.path() << " lacks " << name;
    }
  }
  EXPECT_GT(count, 0);
}

// Question, answer, one figure, the method with its commands, the data; history is in the notebook.
// Parts that a script makes do not count for the length.
TEST(Docs, ResultPagesFollowOneTemplateOnTwoScreens) {
  int count = 0;
  for (const std::string& file : repository_files("docs/results", ".md")) {
    if (file.find("/notebook/") != std::string::npos || file.ends_with("README.md")) continue;
    ++count;
    const std::string text = repository_text(file);
    for (const char* part : {"**Question.** ", "**Answer.** ", ".svg)", "\n|", "**Method.** ",
                             "**Data.** ", "\n```\n"}) {
      EXPECT_NE(text.find(part), std::string::npos) << file << " lacks " << part;
    }
    int lines = 0;
    int words = 0;
    bool made = false;
    for (const std::string& line : lines_of(text)) {
      if (line.starts_with("<!-- ")) made = line.find(": made by ") != std::string::npos;
      if (made) continue;
      ++lines;
      std::istringstream stream(line);
      for (std::string word; stream >> word;) ++words;
    }
    EXPECT_LE(lines, 120) << file;
    EXPECT_LE(words, 900) << file;
  }
  EXPECT_GT(count, 20);
}

TEST(Docs, IndexesListEveryPage) {
  const std::pair<const char*, const char*> indexes[] = {{"docs/adr", "docs/adr/README.md"},
                                                         {"docs/results", "docs/results/README.md"},
                                                         {"docs/formats", "docs/formats/README.md"},
                                                         {"examples", "README.md"}};
  for (const auto& [folder, index] : indexes) {
    const std::string listed = repository_text(index);
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(TUTTI_SOURCE_DIR) / folder)) {
      const std::string name = entry.path().filename().string();
      if (name == "README.md") continue;
      EXPECT_NE(listed.find(name), std::string::npos)
          << index << " lacks " << folder << "/" << name;
    }
  }
}

}  // namespace
}  // namespace tutti
