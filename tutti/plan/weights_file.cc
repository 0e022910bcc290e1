#include "tutti/plan/weights_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tutti/graph/limits.h"

namespace tutti {
namespace {

class KeepingReader {
 public:
  KeepingReader(const std::string& file, const Problem& problem)
      : file_(file),
        problem_(problem),
        memories_(static_cast<size_t>(problem.machine.memory_count())) {
    keeping_.kept.resize(memories_);
    keeping_.stream_buffer_bytes.assign(memories_, 0);
    for (const ValueId weight : problem.homed_weights()) {
      weights_.emplace(problem.graph.value_name(weight), weight);
    }
  }

  WeightKeeping read(Fields& fields) {
    seen_.assign(memories_, false);
    for (const Document& item : fields.items("kept_weights")) {
      Fields entry(item, file_, "kept_weights");
      read_kept(entry);
      entry.done_within(fields);
    }
    seen_.assign(memories_, false);
    for (const Document& item : fields.items("stream_buffer_bytes")) {
      Fields entry(item, file_, "stream_buffer_bytes");
      const std::optional<size_t> memory = read_memory(entry);
      const int64_t bytes = entry.integer("bytes", {.most = kMostBytes});
      if (memory) keeping_.stream_buffer_bytes[*memory] = bytes;
      entry.done_within(fields);
    }
    return std::move(keeping_);
  }

 private:
  // None, with the reason in `entry`, if the name is wrong.
  std::optional<size_t> read_memory(Fields& entry) {
    const std::string name = entry.text("memory");
    if (!entry.good()) return std::nullopt;
    for (size_t i = 0; i < memories_; ++i) {
      if (problem_.machine.memory(MemoryId{static_cast<int32_t>(i)}).name != name) continue;
      if (seen_[i]) {
        entry.fail(fmt::format("memory '{}' stands twice; remove one", name));
        return std::nullopt;
      }
      seen_[i] = true;
      return i;
    }
    entry.fail(fmt::format("the machine has no memory '{}'", name));
    return std::nullopt;
  }

  void read_kept(Fields& entry) {
    const std::optional<size_t> memory = read_memory(entry);
    const std::vector<std::string> names = entry.texts("weights");
    if (!memory) return;
    std::vector<ValueId>& kept = keeping_.kept[*memory];
    for (const std::string& name : names) {
      const auto weight = weights_.find(name);
      if (weight == weights_.end()) {
        return entry.fail(fmt::format(
            "'{}' is no weight of the graph with a residence; only those are kept", name));
      }
      if (problem_.home(weight->second).index == static_cast<int32_t>(*memory)) {
        return entry.fail(fmt::format("weight '{}' is at home in this memory; leave it out", name));
      }
      kept.push_back(weight->second);
    }
    std::sort(kept.begin(), kept.end());
    if (std::adjacent_find(kept.begin(), kept.end()) != kept.end()) {
      entry.fail("a weight stands twice; remove one");
    }
  }

  const std::string& file_;
  const Problem& problem_;
  size_t memories_;
  std::unordered_map<std::string, ValueId> weights_;
  std::vector<bool> seen_;  // by memory
  WeightKeeping keeping_;
};

}  // namespace

WeightKeeping read_keeping(Fields& fields, const std::string& file, const Problem& problem) {
  const bool kept = fields.entry("kept_weights") != nullptr;
  const bool buffers = fields.entry("stream_buffer_bytes") != nullptr;
  if (!kept && !buffers) return {};
  return KeepingReader(file, problem).read(fields);
}

void write_keeping(const WeightKeeping& keeping, const Problem& problem, JsonWriter& json) {
  const auto name = [&](size_t i) -> const std::string& {
    return problem.machine.memory(MemoryId{static_cast<int32_t>(i)}).name;
  };
  json.key("kept_weights").open_list();
  for (size_t i = 0; i < keeping.kept.size(); ++i) {
    if (keeping.kept[i].empty()) continue;
    json.open_object().field("memory", name(i)).key("weights").open_list();
    for (const ValueId weight : keeping.kept[i]) json.value(problem.graph.value_name(weight));
    json.close_list().close_object();
  }
  json.close_list();
  json.key("stream_buffer_bytes").open_list();
  for (size_t i = 0; i < keeping.stream_buffer_bytes.size(); ++i) {
    if (keeping.stream_buffer_bytes[i] == 0) continue;
    json.open_object().field("memory", name(i));
    json.field("bytes", keeping.stream_buffer_bytes[i]).close_object();
  }
  json.close_list();
}

}  // namespace tutti
