// merge_hlo_kernels: XLA's multi-output fusion. Kernels that are merged must not be joined by a
// path through a third, or the result would have a cycle. Levels (the longest path to a kernel)
// make that plain: kernels of one level have no path between them; and if a kernel of level n has a
// single reader of level n + 1, no path leads round that edge. In one round only edges from even
// levels, or only from odd ones, are merged, so that merges of the same round cannot make a cycle
// together.

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "tutti/graph/import/hlo/kernels.h"

namespace tutti {
namespace {

constexpr int kMostRounds = 16;
constexpr int64_t kMostTried = 32;          // siblings that one kernel is held against
constexpr double kSmallProduct = 32 << 20;  // bytes: what XLA calls small, factors and result

class Merger {
 public:
  Merger(const HloFlat& flat, std::vector<HloKernel> kernels)
      : flat_(flat), kernels_(std::move(kernels)), maker_(flat.values.size(), -1) {}

  std::vector<HloKernel> merge() {
    round_of(&Merger::pair_products);
    int idle = 0;
    for (int round = 0; round < kMostRounds && idle < 2; ++round) {
      bool merged = round_of(&Merger::pair_siblings);
      even_ = round % 2 == 0;
      merged = round_of(&Merger::pair_with_readers) || merged;
      idle = merged ? 0 : idle + 1;
    }
    return std::move(kernels_);
  }

 private:
  bool round_of(void (Merger::*pair)()) {
    index();
    find_levels();
    into_.resize(kernels_.size());
    for (size_t k = 0; k < kernels_.size(); ++k) into_[k] = static_cast<int32_t>(k);
    const size_t before = kernels_.size();
    (this->*pair)();
    apply();
    return kernels_.size() < before;
  }

  void index() {
    std::fill(maker_.begin(), maker_.end(), -1);
    readers_.assign(flat_.values.size(), {});
    for (size_t k = 0; k < kernels_.size(); ++k) {
      const auto number = static_cast<int32_t>(k);
      for (const int32_t root : kernels_[k].roots) {
        const HloNode& node = flat_.nodes[root];
        for (int32_t leaf = 0; leaf < node.value_count; ++leaf) {
          maker_[node.first_value + leaf] = number;
        }
      }
      for (const int32_t value : kernels_[k].reads) readers_[value].push_back(number);
    }
    next_.assign(kernels_.size(), {});
    waits_.assign(kernels_.size(), 0);
    for (size_t k = 0; k < kernels_.size(); ++k) {
      for (const int32_t value : kernels_[k].reads) add_edge(value, static_cast<int32_t>(k));
      for (const int32_t value : kernels_[k].follows) add_edge(value, static_cast<int32_t>(k));
    }
  }

  void add_edge(int32_t value, int32_t to) {
    const int32_t from = maker_[value];
    if (from < 0 || from == to) return;
    next_[from].push_back(to);
    ++waits_[to];
  }

  void find_levels() {
    level_.assign(kernels_.size(), 0);
    std::vector<int32_t> ready;
    for (size_t k = 0; k < kernels_.size(); ++k) {
      if (waits_[k] == 0) ready.push_back(static_cast<int32_t>(k));
    }
    for (size_t i = 0; i < ready.size(); ++i) {
      for (const int32_t to : next_[ready[i]]) {
        level_[to] = std::max(level_[to], level_[ready[i]] + 1);
        if (--waits_[to] == 0) ready.push_back(to);
      }
    }
  }

  int32_t find(int32_t k) {
    while (into_[k] != k) k = into_[k] = into_[into_[k]];
    return k;
  }

  static bool may_have_results(const HloKernel& kernel) {
    return kernel.fusible && !kernel.by_rows;
  }

  static bool fit(const HloKernel& a, const HloKernel& b) {
    if (a.elements != b.elements) return false;
    if (a.reduces && b.reduces && (a.loop != b.loop || a.reduced != b.reduced)) return false;
    return a.reads.size() + a.roots.size() + b.reads.size() + b.roots.size() <= kMostOperands;
  }

  // b becomes part of a, at once but for the numbers of the others.
  void unite(int32_t a, int32_t b) {
    HloKernel& to = kernels_[a];
    HloKernel& from = kernels_[b];
    into_[b] = a;
    to.roots.insert(to.roots.end(), from.roots.begin(), from.roots.end());
    to.nodes.insert(to.nodes.end(), from.nodes.begin(), from.nodes.end());
    to.reads.insert(from.reads.begin(), from.reads.end());
    to.follows.insert(to.follows.end(), from.follows.begin(), from.follows.end());
    to.pointwise = to.pointwise && from.pointwise;
    if (from.reduces) {
      to.reduces = true;
      to.loop = from.loop;
      to.reduced = from.reduced;
    }
  }

  const HloNode* dot_of(const HloKernel& kernel) const {
    if (!kernel.library || !kernel.follows.empty()) return nullptr;
    for (const int32_t part : kernel.nodes) {
      if (flat_.nodes[part].opcode == "dot") return &flat_.nodes[part];
    }
    return nullptr;
  }

  bool is_small(const HloNode& dot) const {
    double bytes = static_cast<double>(flat_.values[dot.first_value].type.bytes);
    for (const int32_t value : dot.operands) {
      bytes += static_cast<double>(flat_.values[value].type.bytes);
    }
    return bytes <= kSmallProduct;
  }

  // XLA's dot_merger: products of one level that share a factor become one with the other factors
  // side by side, if one of two is small.
  void pair_products() {
    using Key = std::tuple<int32_t, size_t, uint64_t, int32_t>;  // factor, side, attributes, level
    std::map<Key, int32_t> first;
    std::vector<int32_t> side_of(kernels_.size(), -1);
    for (size_t number = 0; number < kernels_.size(); ++number) {
      const auto k = static_cast<int32_t>(number);
      const HloNode* dot = dot_of(kernels_[k]);
      if (dot == nullptr || dot->operands.size() != 2 || dot->value_count != 1) continue;
      for (size_t side = 0; side < 2; ++side) {
        const Key key{dot->operands[side], side, dot->instruction->details, level_[k]};
        const auto [known, is_new] = first.emplace(key, k);
        if (is_new) continue;
        const int32_t other = find(known->second);
        if (other == k || (side_of[other] >= 0 && side_of[other] != static_cast<int32_t>(side))) {
          continue;
        }
        if (!is_small(*dot) && !is_small(*dot_of(kernels_[known->second]))) continue;
        side_of[other] = static_cast<int32_t>(side);
        unite(other, k);
        break;
      }
    }
  }

  // Kernels of one level that read the same array of more than one element.
  void pair_siblings() {
    for (size_t value = 0; value < readers_.size(); ++value) {
      if (readers_[value].size() < 2 || flat_.values[value].type.elements() <= 1) continue;
      std::map<std::tuple<int32_t, double>, std::vector<int32_t>> alike;
      std::sort(readers_[value].begin(), readers_[value].end());
      for (const int32_t reader : readers_[value]) {
        const int32_t k = find(reader);
        if (!may_have_results(kernels_[k])) continue;
        std::vector<int32_t>& others = alike[{level_[k], kernels_[k].elements}];
        const auto last = others.end();
        const auto first = last - std::min<int64_t>(kMostTried, last - others.begin());
        if (std::any_of(first, last, [&](int32_t other) { return find(other) == k; })) continue;
        const auto fits = std::find_if(
            first, last, [&](int32_t other) { return fit(kernels_[find(other)], kernels_[k]); });
        fits == others.end() ? others.push_back(k) : unite(find(*fits), k);
      }
    }
  }

  // A kernel and the only one of the next level that reads it.
  void pair_with_readers() {
    for (size_t number = 0; number < kernels_.size(); ++number) {
      const auto k = static_cast<int32_t>(number);
      if ((level_[k] % 2 == 0) != even_) continue;
      if (!may_have_results(kernels_[k]) || kernels_[k].reduces) continue;
      int32_t reader = -1;
      bool single = true;
      for (const int32_t to : next_[k]) {
        if (level_[to] != level_[k] + 1) continue;
        single = single && (reader < 0 || reader == to);
        reader = to;
      }
      if (reader < 0 || !single || !may_have_results(kernels_[reader])) continue;
      if (fit(kernels_[reader], kernels_[k])) unite(reader, k);
    }
  }

  void apply() {
    std::vector<HloKernel> left;
    for (size_t k = 0; k < kernels_.size(); ++k) {
      if (into_[k] != static_cast<int32_t>(k)) continue;
      std::sort(kernels_[k].roots.begin(), kernels_[k].roots.end());
      left.push_back(std::move(kernels_[k]));
    }
    kernels_ = std::move(left);
  }

  const HloFlat& flat_;
  std::vector<HloKernel> kernels_;
  bool even_ = true;
  std::vector<int32_t> maker_;                 // by value
  std::vector<std::vector<int32_t>> readers_;  // by value
  std::vector<std::vector<int32_t>> next_;     // by kernel
  std::vector<int32_t> waits_;
  std::vector<int32_t> level_;
  std::vector<int32_t> into_;  // by kernel: what it is part of now
};

}  // namespace

std::vector<HloKernel> merge_hlo_kernels(const HloFlat& flat, std::vector<HloKernel> kernels) {
  return Merger(flat, std::move(kernels)).merge();
}

}  // namespace tutti
