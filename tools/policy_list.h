// Everything that can decide what runs where, by name, and the places where each name is accepted:
// what `tutti policies` lists. Errors and completions of commands print names from here or from the
// registries behind it, so that no list holds a name that is refused there.

#ifndef TUTTI_TOOLS_POLICY_LIST_H_
#define TUTTI_TOOLS_POLICY_LIST_H_

#include <string>
#include <vector>

namespace tutti {

struct ListedPolicy {
  // "planner": one graph, ahead; "decider": jobs that arrive; "training". A policy that is both has
  // a row for each.
  std::string kind;
  std::string name;
  std::string what;    // one line
  std::string source;  // the paper it follows, if any
  bool seeded = false;
  bool online = false;   // can be asked during a run
  bool learned = false;  // asks a trained model
  // "plan", "compare", "run", "run --online", "serve", "cluster", "train": where the name is given.
  std::vector<std::string> where{};
};

// Planners first, then deciders, then what tutti-train can train by name, if that program is
// installed.
std::vector<ListedPolicy> listed_policies();

// What `tutti serve --policy` accepts for real runs: deciders and symphony=FILE.
std::vector<std::string> names_for_real_service();

}  // namespace tutti

#endif  // TUTTI_TOOLS_POLICY_LIST_H_
