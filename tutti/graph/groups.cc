#include "tutti/graph/groups.h"

#include <charconv>
#include <unordered_map>

namespace tutti {
namespace {

std::optional<std::string_view> attribute(const Graph& graph, OpId op, std::string_view key) {
  for (const auto& [name, value] : graph.attributes(op)) {
    if (name == key) return value;
  }
  return std::nullopt;
}

}  // namespace

Groups groups_of(const Graph& graph) {
  Groups groups;
  std::unordered_map<std::string_view, int32_t> index;
  groups.of_op.reserve(static_cast<size_t>(graph.size()));
  for (const OpId op : graph.ops()) {
    const auto name = attribute(graph, op, kGroupAttribute);
    auto group = static_cast<int32_t>(groups.members.size());
    if (name) {
      groups.named = true;
      group = index.emplace(*name, group).first->second;
    }
    if (group == static_cast<int32_t>(groups.members.size())) {
      groups.members.emplace_back();
      groups.names.emplace_back(name.value_or(""));
    }
    groups.members[static_cast<size_t>(group)].push_back(op);
    groups.of_op.push_back(group);
  }
  return groups;
}

std::optional<std::vector<int32_t>> shards_of(const Graph& graph) {
  std::vector<int32_t> shards;
  for (const OpId op : graph.ops()) {
    const auto text = attribute(graph, op, kShardAttribute);
    int32_t shard = -1;
    if (!text) return std::nullopt;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), shard);
    if (error != std::errc{} || end != text->data() + text->size() || shard < 0)
      return std::nullopt;
    shards.push_back(shard);
  }
  return shards;
}

}  // namespace tutti
