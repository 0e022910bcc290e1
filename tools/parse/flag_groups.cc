#include "tools/parse/flag_groups.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tutti {
namespace {

constexpr const char* kUngrouped = "Options";  // what the parser gives to flags
constexpr const char* kMore = "More";
constexpr const char* kGeneral = "General";

struct Heading {
  const char* title;
  std::string_view flags;  // each between blanks
};

constexpr std::array kHeadings = {
    Heading{"Inputs",
            " graph machine costs constraints dim shard no-fuse scale-by-machine-speed as-recorded "
            "plan plans make replay from-trace seen-graphs belief device-kind add remove bandwidth "
            "memory "},
    Heading{
        "Policy and budget",
        " policy policies baseline online network budget evaluations scenarios tail-weight from "
        "state fallback adapt adapted seed seeds threads parallel "},
    Heading{
        "Simulation",
        " model order noise cold runs load saturation jobs process set unknown-load queue-depth "
        "decision-delay counters "},
    Heading{"Real runs",
            " runtime repeats warm-up verify bulk-synchronous direct scheduler schedulers hosts-by "
            "unknown-work interval-ms decisions-per-look host-speed "},
    Heading{"Ops that are commands",
            " allow-commands run-folder resume retries op-timeout op-cpu-time op-memory op-output "
            "env "},
    Heading{"Server", " server token-file ca listen name clients "},
    Heading{"Output", " output trace svg machine-output update-costs run-log to plan-time json "},
    Heading{kGeneral, " help version color config no-config "},
};

bool lists(const Heading& heading, const std::string& flag) {
  return heading.flags.find(" " + flag + " ") != std::string_view::npos;
}

const char* title_of(const CLI::App& command, const CLI::Option& option) {
  if (option.get_positional()) return kHeadings[0].title;
  if (option.get_group() != kUngrouped) return option.get_group().c_str();
  // The one flag that is written by some commands and read by another.
  if (command.get_name() == "check" && option.check_lname("trace")) return kHeadings[0].title;
  for (const Heading& heading : kHeadings) {
    for (const std::string& name : option.get_lnames()) {
      if (lists(heading, name)) return heading.title;
    }
  }
  return kMore;
}

// In the order in which the help has them: those of other names stand before the general ones.
size_t place_of(const std::string& title) {
  for (size_t i = 0; i < kHeadings.size(); ++i) {
    if (title == kHeadings[i].title) return i + 1 == kHeadings.size() ? i + 1 : i;
  }
  return kHeadings.size() - 1;
}

}  // namespace

std::vector<FlagGroup> flag_groups(const CLI::App& command) {
  constexpr size_t kFew = 5;
  std::vector<FlagGroup> groups;
  size_t flags = 0;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    flags += option->get_positional() ? 0 : 1;
    const char* title = title_of(command, *option);
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const FlagGroup& one) { return one.title == title; });
    if (group == groups.end()) group = groups.insert(groups.end(), {title, {}});
    group->options.push_back(option);
  }
  std::stable_sort(groups.begin(), groups.end(), [](const FlagGroup& a, const FlagGroup& b) {
    return place_of(a.title) < place_of(b.title);
  });
  for (FlagGroup& group : groups) {
    std::stable_partition(group.options.begin(), group.options.end(),
                          [](const CLI::Option* option) { return option->get_positional(); });
  }
  if (flags > kFew) return groups;
  std::vector<FlagGroup> one;
  for (const FlagGroup& group : groups) {
    for (const CLI::Option* option : group.options) {
      const char* title = option->get_positional() ? "Inputs" : "Flags";
      if (one.empty() || one.back().title != title) one.push_back({title, {}});
      one.back().options.push_back(option);
    }
  }
  return one;
}

}  // namespace tutti
