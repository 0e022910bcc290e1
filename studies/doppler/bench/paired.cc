// Two ways of training side by side on the problems of a list: how much longer the plans of the one
// take than those of the other, as a geometric mean over seeds and problems with its 95 % interval
// by family. Problems must differ in machine, family, size or ratio.
//
//   paired FIELD ONE.jsonl... : OTHER.jsonl...
//
// The files are what zero_shot prints, a seed each, as many on either side; FIELD is one of its
// figures, such as greedy. Problems that one of a pair leaves out are left out.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "studies/doppler/bench/listed.h"
#include "studies/studies.h"

namespace tutti {
namespace {

struct Judged {
  std::string family;
  double makespan = 0;
};

// By what names a problem.
std::map<std::string, Judged> read(const std::string& path, const std::string& field) {
  std::map<std::string, Judged> judged;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object() || !json.contains(field)) continue;
    const auto family = json.value("family", "");
    const std::string key = fmt::format("{} {} {} {}", json.value("machine", ""), family,
                                        json.value("size", ""), json.value("ratio", 0.0));
    judged[key] = {family, json.value(field, 0.0)};
  }
  return judged;
}

int run(const std::string& field, const std::vector<std::string>& ones,
        const std::vector<std::string>& others) {
  struct Sum {
    std::string family{};
    double logs = 0;
    int seeds = 0;
  };
  std::map<std::string, Sum> problems;  // seeds of one problem are one figure, not several
  for (size_t i = 0; i < ones.size(); ++i) {
    const auto one = read(ones[i], field);
    const auto other = read(others[i], field);
    for (const auto& [key, judged] : one) {
      const auto paired = other.find(key);
      if (paired == other.end() || judged.makespan <= 0 || paired->second.makespan <= 0) continue;
      Sum& sum = problems[key];
      sum.family = judged.family;
      sum.logs += std::log(judged.makespan / paired->second.makespan);
      ++sum.seeds;
    }
  }
  if (problems.empty()) {
    std::fprintf(stderr, "paired: the files have no problem in common\n");
    return 2;
  }
  std::map<std::string, std::vector<double>> families;
  for (const auto& [key, sum] : problems) families[sum.family].push_back(sum.logs / sum.seeds);
  const RatioInterval found = by_family(families);
  fmt::print("{} over {} problems, {} seeds: {:.4f} [{:.4f}, {:.4f}]\n", field, problems.size(),
             ones.size(), std::exp(found.mean), std::exp(found.low), std::exp(found.high));
  for (const auto& [family, logs] : families) {
    double sum = 0;
    for (const double value : logs) sum += value;
    fmt::print("  {}: {:.4f}\n", family, std::exp(sum / static_cast<double>(logs.size())));
  }
  return 0;
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  tutti::add_studies();
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto colon = std::find(words.begin(), words.end(), ":");
  const std::vector<std::string> ones(words.begin() + (words.empty() ? 0 : 1), colon);
  const std::vector<std::string> others(colon == words.end() ? colon : colon + 1, words.end());
  if (ones.empty() || ones.size() != others.size()) {
    std::fprintf(stderr, "usage: paired FIELD ONE.jsonl... : OTHER.jsonl...\n");
    return 2;
  }
  return tutti::run(words.front(), ones, others);
}
