#include "tools/dispatchers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tutti/base/file/source.h"
#include "tutti/policy/online/quick_enough.h"
#include "tutti/policy/symphony/dispatcher.h"
#include "tutti/runtime/arriving/own_counters.h"
#include "tutti/runtime/cluster/options.h"
#include "tutti/search/dispatchers.h"
#include "tutti/telemetry/available.h"

namespace tutti {
namespace {

constexpr std::string_view kModel = "symphony=";

Result<NamedDispatcher> model_of(const std::string& name, const Cluster& cluster,
                                 const std::vector<Counter>& counters,
                                 const DeciderOptions& options) {
  const std::string path = name.substr(kModel.size());
  if (path.empty()) return invalid_input("symphony= names no model; write symphony=FILE");
  Result<Source> source = Source::open(path);
  if (!source) return source.error();
  const Result<TensorFile> file = read_tensors(*source);
  if (!file) return file.error();
  auto model = SymphonyModel::load(*file, path, cluster, counters);
  if (!model) return model.error();
  if ((*model)->network().shape().knowledge == Insight::truth) {
    return invalid_input(path +
                         ": the model is told the truth, which only its training knows; train one "
                         "that is told what counters say");
  }
  const DispatcherEntry* quick = nullptr;
  if (!options.quick.empty()) {
    const Result<const DispatcherEntry*> found = find_any_dispatcher(options.quick);
    if (!found) return found.error();
    quick = *found;
  }
  return NamedDispatcher{
      name,
      [model = *model, quick, batch = options.decisions_per_look]() -> std::unique_ptr<Dispatcher> {
        auto symphony = std::make_unique<SymphonyDispatcher>(model, MindOptions{.batch = batch});
        if (quick == nullptr) return symphony;
        return std::make_unique<QuickEnough>(std::move(symphony), quick->make(quick->tuned()));
      }};
}

}  // namespace

bool is_model(const std::string& name) {
  return name.starts_with(kModel);
}

Result<std::vector<NamedDispatcher>> find_dispatchers(const std::vector<std::string>& names,
                                                      const Cluster& cluster,
                                                      const std::vector<Counter>& counters,
                                                      const DeciderOptions& options) {
  std::vector<NamedDispatcher> found;
  const auto add = [&](const DispatcherEntry& entry) {
    found.push_back({entry.name, [&entry] { return entry.make(entry.tuned()); }});
  };
  if (names.empty()) {
    for (const DispatcherEntry& entry : all_dispatchers()) add(entry);
  }
  for (const std::string& name : names) {
    if (is_model(name)) {
      Result<NamedDispatcher> model = model_of(name, cluster, counters, options);
      if (!model) return model.error();
      found.push_back(std::move(*model));
      continue;
    }
    const Result<const DispatcherEntry*> entry = find_any_dispatcher(name);
    if (!entry && name == "symphony") {
      return invalid_input("symphony needs a trained model of this machine: symphony=FILE");
    }
    if (!entry) return entry.error();
    add(**entry);
  }
  return found;
}

std::string known_dispatchers() {
  std::string text = "Dispatchers:\n";
  for (const DispatcherEntry& entry : all_dispatchers())
    text += fmt::format("  {:<14} {}\n", entry.name, entry.what);
  text += fmt::format("  {:<14} {}\n", "symphony=FILE",
                      "a model of tutti train symphony, made for this machine");
  return text;
}

std::unique_ptr<CounterFeed> read_host(const Machine& machine, const FeedOptions& options) {
  std::vector<std::unique_ptr<CounterSource>> sources;
  for (AvailableSource& item : available_sources(machine, CoresAre::processors)) {
    // Those of this process and its threads are about no part of the machine.
    const bool about_us = item.name == "process" || item.name == "thread";
    if (item.source != nullptr && !about_us) sources.push_back(std::move(item.source));
  }
  return std::make_unique<CounterFeed>(std::move(sources), options);
}

std::vector<Counter> counters_for_real(const Machine& machine, const CounterFeed& feed) {
  std::vector<Counter> counters = usual_counters(machine);
  std::erase_if(counters, [&](const Counter& counter) {
    if (OwnCounters::tells(machine, counter)) return false;
    return std::none_of(feed.counters().begin(), feed.counters().end(),
                        [&](const Counter& fed) { return counts_the_same(fed, counter); });
  });
  return counters;
}

}  // namespace tutti
