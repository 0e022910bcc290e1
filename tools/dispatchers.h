// Dispatchers by the names that commands are given: those of tutti/search/dispatchers.h, and models
// of Symphony as symphony=FILE. Also what they are told of a real machine.

#ifndef TUTTI_TOOLS_DISPATCHERS_H_
#define TUTTI_TOOLS_DISPATCHERS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tutti/plan/dispatch.h"
#include "tutti/telemetry/counter_feed.h"

namespace tutti {

struct NamedDispatcher {
  std::string name;
  std::function<std::unique_ptr<Dispatcher>()> make;
};

struct DeciderOptions {
  int decisions_per_look = 1;
  // Who goes on where decisions take too long (tutti/policy/online/fallback.h); empty: nobody.
  std::string quick{};
};

// A model is told what counters say; others do not look at them.
bool is_model(const std::string& name);

// All but models if no names are given. Models are those of this cluster, which must outlive
// them, with these counters. Fails (invalid_input) with a sentence.
Result<std::vector<NamedDispatcher>> find_dispatchers(const std::vector<std::string>& names,
                                                      const Cluster& cluster,
                                                      const std::vector<Counter>& counters,
                                                      const DeciderOptions& options);

// For the help of commands.
std::string known_dispatchers();

// Reads what can be counted on this host, divided into that machine as the local engine binds it.
std::unique_ptr<CounterFeed> read_host(const Machine& machine, const FeedOptions& options);

// Of what is usually counted on a machine that which this host, or a run on it, can tell.
std::vector<Counter> counters_for_real(const Machine& machine, const CounterFeed& feed);

}  // namespace tutti

#endif  // TUTTI_TOOLS_DISPATCHERS_H_
