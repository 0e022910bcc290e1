#include "tools/policy_list.h"

#include <algorithm>
#include <filesystem>

#include "tools/companion.h"
#include "tutti/search/deciders.h"
#include "tutti/search/planners.h"

namespace tutti {
namespace {

ListedPolicy planner(const PolicyEntry& entry) {
  ListedPolicy made{.kind = "planner",
                    .name = entry.name,
                    .what = entry.what,
                    .source = entry.source,
                    .seeded = entry.seeded,
                    .online = static_cast<bool>(entry.make_policy),
                    .learned = entry.learned,
                    .where = {"plan", "compare", "run"}};
  if (made.online) made.where.insert(made.where.end(), {"run --online", "serve"});
  if (entry.name == "doppler") made.where.emplace_back("train");
  return made;
}

// The name of this program's file; empty if that is not known.
std::string own_program() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).filename().string();
}

// "doppler<TAB>placeto<TAB>what it is", a line each; see tools/train/train.cc.
void add_training(std::vector<ListedPolicy>& deciders) {
  // Asked of this very program: tutti-study trains more than tutti-train does.
  const std::string text =
      has_companion("tutti-train") ? output_of(own_program(), {"train", "list"}) : "";
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    const size_t first = line.find('\t');
    const size_t second = line.find('\t', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    deciders.push_back(
        {.kind = "training",
         .name = line.substr(0, first) + " --config " + line.substr(first + 1, second - first - 1),
         .what = line.substr(second + 1),
         .source = "",
         .seeded = true,
         .learned = true,
         .where = {"train"}});
  }
}

}  // namespace

std::vector<ListedPolicy> listed_policies() {
  std::vector<ListedPolicy> deciders;
  for (const PolicyEntry& entry : all_planners({})) deciders.push_back(planner(entry));
  for (const PolicyEntry& entry : all_deciders()) {
    deciders.push_back({.kind = "decider",
                        .name = entry.name,
                        .what = entry.what,
                        .source = entry.source,
                        .seeded = entry.seeded,
                        .online = true,
                        .where = {"cluster", "serve"}});
  }
  deciders.push_back({.kind = "decider",
                      .name = "symphony=FILE",
                      .what = "a model of tutti train symphony, made for this machine",
                      .source = "",
                      .online = true,
                      .learned = true,
                      .where = {"cluster", "serve", "train"}});
  add_training(deciders);
  return deciders;
}

std::vector<std::string> names_for_real_service() {
  std::vector<std::string> names;
  for (const PolicyEntry& entry : all_deciders()) names.push_back(entry.name);
  names.emplace_back("symphony=FILE");
  return names;
}

}  // namespace tutti
