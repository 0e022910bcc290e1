#include "tutti/graph/import/hlo/fuse.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_set>
#include <utility>

#include "tutti/graph/import/hlo/kernels.h"

namespace tutti {
namespace {

// Makes groups of what the passes leave, in an order in which they can run.
class Finish {
 public:
  Finish(const HloFlat& flat, std::vector<HloKernel> kernels)
      : flat_(flat), kernels_(std::move(kernels)), maker_(flat.values.size(), -1) {
    for (size_t k = 0; k < kernels_.size(); ++k) {
      for (const int32_t root : kernels_[k].roots) {
        for (int32_t leaf = 0; leaf < flat.nodes[root].value_count; ++leaf) {
          maker_[flat.nodes[root].first_value + leaf] = static_cast<int32_t>(k);
        }
      }
    }
  }

  std::vector<HloGroup> groups() {
    find_what_is_read();
    std::vector<HloGroup> all;
    for (const int32_t k : order()) all.push_back(group(k));
    return all;
  }

 private:
  void find_what_is_read() {
    read_.assign(flat_.values.size(), false);
    for (const int32_t value : flat_.results) read_[value] = true;
    for (size_t k = 0; k < kernels_.size(); ++k) {
      for (const int32_t value : kernels_[k].reads) {
        if (maker_[value] != static_cast<int32_t>(k)) read_[value] = true;
      }
      for (const int32_t value : kernels_[k].follows) read_[value] = true;
    }
  }

  std::vector<int32_t> order() const {
    std::vector<int32_t> waits(kernels_.size(), 0);
    std::vector<std::vector<int32_t>> readers(kernels_.size());
    for (size_t k = 0; k < kernels_.size(); ++k) {
      const auto wait = [&](int32_t value) {
        const int32_t maker = maker_[value];
        if (maker < 0 || maker == static_cast<int32_t>(k)) return;
        readers[maker].push_back(static_cast<int32_t>(k));
        ++waits[k];
      };
      for (const int32_t value : kernels_[k].reads) wait(value);
      for (const int32_t value : kernels_[k].follows) wait(value);
    }
    using Entry = std::pair<int32_t, int32_t>;  // the root, the kernel
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    const auto add = [&](int32_t k) { ready.emplace(kernels_[k].roots.back(), k); };
    for (size_t k = 0; k < kernels_.size(); ++k) {
      if (waits[k] == 0) add(static_cast<int32_t>(k));
    }
    std::vector<int32_t> sorted;
    while (!ready.empty()) {
      const int32_t k = ready.top().second;
      ready.pop();
      sorted.push_back(k);
      for (const int32_t reader : readers[k]) {
        if (--waits[reader] == 0) add(reader);
      }
    }
    return sorted;
  }

  HloGroup group(int32_t number) {
    HloKernel& kernel = kernels_[number];
    HloGroup group{.root = kernel.roots.back()};
    group.nodes = std::move(kernel.nodes);
    std::sort(group.nodes.begin(), group.nodes.end());
    group.nodes.erase(std::unique(group.nodes.begin(), group.nodes.end()), group.nodes.end());
    for (const int32_t value : kernel.reads) {
      if (maker_[value] != number) group.reads.push_back(value);
    }
    std::sort(group.reads.begin(), group.reads.end());
    for (const int32_t value : kernel.follows) {
      if (maker_[value] != number) group.follows.push_back(value);
    }
    for (const int32_t root : kernel.roots) {
      const HloNode& node = flat_.nodes[root];
      for (int32_t value = node.first_value; value < node.first_value + node.value_count; ++value) {
        if (read_[value] || root == group.root) group.makes.push_back(value);
      }
    }
    // What a dot's factor is written by is named after the dot.
    const HloNode& root = flat_.nodes[group.root];
    group.kind = root.opcode == "transpose" ? root.opcode : root.instruction->opcode;
    if (group.nodes.size() > 1) group.kind = "fusion";
    for (const int32_t node : group.nodes) {
      if (kernel.library) {
        const std::string_view opcode = flat_.nodes[node].opcode;
        if (opcode == "dot" || opcode == "convolution") group.kind = opcode;
      }
    }
    return group;
  }

  const HloFlat& flat_;
  std::vector<HloKernel> kernels_;
  std::vector<int32_t> maker_;  // by value: the kernel that makes it, or -1
  std::vector<bool> read_;      // by value: by another kernel, or a result
};

}  // namespace

std::vector<HloGroup> fuse_hlo(const HloFlat& flat) {
  return Finish(flat, merge_hlo_kernels(flat, make_hlo_kernels(flat))).groups();
}

std::vector<HloGroup> separate_hlo(const HloFlat& flat) {
  std::vector<HloGroup> groups;
  for (size_t i = 0; i < flat.nodes.size(); ++i) {
    const HloNode& node = flat.nodes[i];
    if (node.parameter || node.constant) continue;
    HloGroup group{.root = static_cast<int32_t>(i), .kind = node.opcode};
    group.nodes = {group.root};
    group.reads = node.operands;
    for (int32_t leaf = 0; leaf < node.value_count; ++leaf) {
      group.makes.push_back(node.first_value + leaf);
    }
    group.follows = node.runs_after;
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace tutti
