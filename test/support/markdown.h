// The parts of our Markdown files that tests look at: links, code spans, fenced blocks.

#ifndef TUTTI_TEST_SUPPORT_MARKDOWN_H_
#define TUTTI_TEST_SUPPORT_MARKDOWN_H_

#include <regex>
#include <string>
#include <vector>

#include "test/support/repository.h"

namespace tutti {

// A fenced block: ```language ... ```.
struct Fence {
  std::string language;
  std::string text;  // its lines, each with its end
  int line = 0;      // of the file, where it opens
};

struct Markdown {
  struct Part {
    std::string text;
    int line = 0;
  };
  std::vector<Part> links;  // their targets
  std::vector<Part> spans;  // `code` outside fences
  std::vector<Fence> fences;
};

inline void add_inline_parts(const std::string& line, int number, Markdown& markdown) {
  static const std::regex kSpan("`([^`]+)`");
  static const std::regex kLink(R"(\]\(([^)\s]+)\))");
  using Matches = std::sregex_iterator;
  for (auto it = Matches(line.begin(), line.end(), kSpan); it != Matches(); ++it) {
    markdown.spans.push_back({(*it)[1], number});
  }
  const std::string without_code = std::regex_replace(line, kSpan, "code");
  for (auto it = Matches(without_code.begin(), without_code.end(), kLink); it != Matches(); ++it) {
    markdown.links.push_back({(*it)[1], number});
  }
}

inline Markdown read_markdown(const std::string& path) {
  Markdown markdown;
  bool inside = false;
  int number = 0;
  for (const std::string& line : lines_of(repository_text(path))) {
    ++number;
    if (line.starts_with("```")) {
      inside = !inside;
      if (inside)
        markdown.fences.push_back({.language = line.substr(3), .text = "", .line = number});
    } else if (inside) {
      markdown.fences.back().text += line + "\n";
    } else {
      add_inline_parts(line, number, markdown);
    }
  }
  return markdown;
}

}  // namespace tutti

#endif  // TUTTI_TEST_SUPPORT_MARKDOWN_H_
