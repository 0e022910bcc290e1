#include "tutti/graph/import/hlo/kernels.h"

#include <algorithm>
#include <utility>

#include "tutti/graph/import/hlo/library_calls.h"
#include "tutti/graph/import/hlo/opcodes.h"
#include "tutti/graph/import/hlo/rows.h"

namespace tutti {
namespace {

constexpr double kLaunchBytes = 1 << 20;  // what a GPU moves in the time that a launch takes
constexpr double kSmallReduction = 16;    // XLA computes those like element-wise ops
constexpr size_t kMostSteps = 64;
constexpr size_t kMostFactors = 8;  // that XLA lets a dot read, both sides together
constexpr double kFewBytes = 1024;
// XLA's cost model computes a root of a vector again for each of 3.2 million elements that read it,
// but not for 6.4 million.
constexpr double kMostComputedAgain = 1 << 22;

bool is_reduction(std::string_view opcode) {
  return opcode == "reduce" || opcode == "batch-norm-reduce";
}

// Element-wise ops of many clock cycles.
bool is_slow(std::string_view opcode) {
  constexpr std::string_view kSlow[] = {
      "atan2",        "cbrt", "cosine",   "divide", "erf",   "exponential", "exponential-minus-one",
      "expm1",        "log",  "logistic", "power",  "rsqrt", "remainder",   "sine",
      "log-plus-one", "sqrt", "tan",      "tanh",
  };
  return std::find(std::begin(kSlow), std::end(kSlow), opcode) != std::end(kSlow);
}

// Can be a part of a kernel that XLA writes itself.
bool is_fusible(std::string_view opcode) {
  constexpr std::string_view kOthers[] = {
      "batch-norm-inference",
      "batch-norm-map",
      "broadcast",
      "concatenate",
      "dynamic-slice",
      "gather",
      "iota",
      "map",
      "pad",
      "reduce-window",
      "reverse",
      "slice",
      "transpose",
      "reshape",
      "bitcast",
      "bitcast-convert",
  };
  return hlo_is_elementwise(opcode) || is_reduction(opcode) ||
         std::find(std::begin(kOthers), std::end(kOthers), opcode) != std::end(kOthers);
}

// Can be the last part alone: it writes in place.
bool is_last_only(std::string_view opcode) {
  return opcode == "dynamic-update-slice" || opcode == "scatter";
}

class KernelMaker {
 public:
  explicit KernelMaker(const HloFlat& flat)
      : flat_(flat),
        uses_(flat),
        call_end_(find_library_calls(flat, uses_)),
        kernel_of_call_(flat.nodes.size(), -1),
        readers_(flat.values.size()),
        most_nodes_(32 * flat.nodes.size() + 65536) {
    find_slow();
  }

  // From the last node to the first, so that all kernels that read a node are there before it.
  std::vector<HloKernel> make() {
    for (size_t i = flat_.nodes.size(); i-- > 0;) {
      const auto number = static_cast<int32_t>(i);
      const HloNode& node = flat_.nodes[i];
      if (node.parameter || node.constant) continue;
      if (call_end_[i] >= 0 && call_end_[i] != number) {
        join(number, kernel_of_call_[call_end_[i]]);
      } else if (call_end_[i] >= 0 || !join_readers(number)) {
        start(number);
      }
    }
    return std::move(kernels_);
  }

 private:
  double elements(int32_t value) const { return flat_.values[value].type.elements(); }
  double bytes(int32_t value) const { return static_cast<double>(flat_.values[value].type.bytes); }
  const HloNode& maker(int32_t value) const { return flat_.nodes[flat_.values[value].node]; }

  // Part of the code, not of memory.
  bool is_scalar_constant(int32_t value) const {
    return maker(value).constant && elements(value) <= 1;
  }

  // Not what goes on from a reduction: that can be part of its kernel, or it is in the rows of one.
  void find_slow() {
    std::vector<bool> reduced(flat_.nodes.size(), false);
    slow_.assign(flat_.nodes.size(), false);
    for (size_t i = 0; i < flat_.nodes.size(); ++i) {
      const HloNode& node = flat_.nodes[i];
      reduced[i] = is_reduction(node.opcode);
      if (!hlo_is_elementwise(node.opcode) || node.constant || node.value_count != 1) continue;
      slow_[i] = is_slow(node.opcode);
      for (const int32_t value : node.operands) {
        if (elements(value) != elements(node.first_value)) continue;
        const int32_t from = flat_.values[value].node;
        slow_[i] = slow_[i] || slow_[from];
        reduced[i] = reduced[i] || reduced[from];
      }
      slow_[i] = slow_[i] && !reduced[i];
    }
  }

  bool computes_much_again(const HloKernel& kernel, int32_t number) const {
    return slow_[number] && kernel.elements > kMostComputedAgain &&
           kernel.elements > elements(flat_.nodes[number].first_value);
  }

  bool reduces_much(const HloNode& node) const {
    if (!is_reduction(node.opcode) || node.operands.empty() || node.value_count == 0) return false;
    return reduced_elements(node) >= kSmallReduction * std::max(elements(node.first_value), 1.0);
  }

  static double reduced_elements(const HloNode& node) {
    double count = 1;
    for (const int64_t dim : node.seen) count *= static_cast<double>(dim);
    return count;
  }

  void start(int32_t number) {
    const HloNode& node = flat_.nodes[number];
    HloKernel kernel{.roots = {number}, .nodes = {number}, .follows = node.runs_after};
    kernel.library = call_end_[number] >= 0;
    kernel.fusible = !kernel.library && node.runs_after.empty() && !node.instruction->side_effect &&
                     (is_fusible(node.opcode) || is_last_only(node.opcode));
    kernel.pointwise = hlo_is_elementwise(node.opcode);
    if (node.value_count > 0) kernel.loop = flat_.values[node.first_value].type.dims;
    if (is_reduction(node.opcode)) reduce(node, kernel);
    kernel.elements = 1;
    for (const int64_t dim : kernel.loop) kernel.elements *= static_cast<double>(dim);
    const auto k = static_cast<int32_t>(kernels_.size());
    if (kernel.library) kernel_of_call_[number] = k;
    kernels_.push_back(std::move(kernel));
    read_operands(number, k);
    ++nodes_;
  }

  static void reduce(const HloNode& node, HloKernel& kernel) {
    kernel.reduces = true;
    kernel.loop = node.seen;
    kernel.reduced = node.instruction->dimensions;
    std::sort(kernel.reduced.begin(), kernel.reduced.end());
  }

  void join(int32_t number, int32_t k) {
    const HloNode& node = flat_.nodes[number];
    HloKernel& kernel = kernels_[k];
    kernel.nodes.push_back(number);
    kernel.follows.insert(kernel.follows.end(), node.runs_after.begin(), node.runs_after.end());
    for (int32_t leaf = 0; leaf < node.value_count; ++leaf) {
      kernel.reads.erase(node.first_value + leaf);
    }
    if (reduces_much(node)) {
      if (epilogue(node, kernel)) {
        reduce(node, kernel);
        kernel.elements = reduced_elements(node);
      } else {
        kernel.by_rows = true;
      }
    }
    kernel.pointwise =
        kernel.pointwise && is_pointwise(node) && elements(node.first_value) == kernel.elements;
    read_operands(number, k);
    ++nodes_;
  }

  bool is_pointwise(const HloNode& node) const {
    if (hlo_is_elementwise(node.opcode)) return true;
    return std::all_of(node.operands.begin(), node.operands.end(),
                       [&](int32_t value) { return is_scalar_constant(value); });
  }

  void read_operands(int32_t number, int32_t k) {
    for (const int32_t value : flat_.nodes[number].operands) {
      if (is_scalar_constant(value)) continue;
      if (kernels_[k].reads.insert(value).second) readers_[value].push_back(k);
    }
  }

  // Into all kernels that read it, or into none.
  bool join_readers(int32_t number) {
    const HloNode& node = flat_.nodes[number];
    if (node.value_count != 1 || !is_fusible(node.opcode)) return false;
    if (uses_.kept[node.first_value] || !node.runs_after.empty() || node.instruction->side_effect) {
      return false;
    }
    const std::vector<int32_t>& readers = readers_[node.first_value];
    if (readers.empty() || nodes_ + readers.size() > most_nodes_) return false;
    for (const int32_t k : readers) {
      if (!takes(kernels_[k], number, readers.size())) return false;
    }
    if (!pays(node, readers)) return false;
    for (const int32_t k : readers) join(number, k);
    return true;
  }

  bool takes(const HloKernel& kernel, int32_t number, size_t readers) const {
    const HloNode& node = flat_.nodes[number];
    if (kernel.library) return library_takes(kernel, number);
    if (!kernel.fusible) return false;
    if (kernel.reads.size() + node.operands.size() > kMostOperands) return false;
    if (computes_much_again(kernel, number)) return false;
    if (reduces_much(node)) {
      return readers == 1 && (epilogue(node, kernel) || joins_rows(kernel, number));
    }
    if (node.opcode == "transpose") return !kernel.reduces;
    if (node.opcode == "reduce-window") return readers == 1 && !kernel.reduces;
    return true;
  }

  // What stretches the bias, and what a dot's factors are made of.
  bool library_takes(const HloKernel& kernel, int32_t number) const {
    const HloNode& node = flat_.nodes[number];
    for (const int32_t user : uses_.users[node.first_value]) {
      if (call_end_[user] != kernel.roots[0]) continue;
      const std::string_view reader = flat_.nodes[user].opcode;
      if (reader == "convolution") return false;
      if (reader != "dot" && node.opcode != "broadcast") return false;
    }
    const bool convolves = std::any_of(kernel.nodes.begin(), kernel.nodes.end(), [&](int32_t part) {
      return flat_.nodes[part].opcode == "convolution";
    });
    return convolves || is_factor(kernel, number);
  }

  // Whether only the last two axes change places: libraries and Triton can read that as it is.
  bool turns_matrices(const HloNode& node) const {
    if (node.instruction->opcode != "transpose") return false;
    std::vector<int64_t> moved;
    for (const int64_t axis : node.instruction->dimensions) {
      if (axis < 0 || axis >= static_cast<int64_t>(node.seen.size())) return false;
      if (node.seen[axis] != 1) moved.push_back(axis);
    }
    return moved.size() >= 2 && std::is_sorted(moved.begin(), moved.end() - 2) &&
           (moved.size() == 2 || moved[moved.size() - 3] < std::min(moved.back(), moved.end()[-2]));
  }

  // XLA's gemm_fusion: what does not read much more than it makes. A broadcast parameter does not
  // count, and what a parameter alone is read by goes with it.
  bool is_factor(const HloKernel& kernel, int32_t number) const {
    const HloNode& node = flat_.nodes[number];
    if (kernel.reads.size() + node.operands.size() > kMostFactors) return false;
    if (node.opcode == "broadcast") return true;
    if (node.opcode == "transpose") return turns_matrices(node);
    const auto is_given = [&](int32_t value) {
      return maker(value).parameter || maker(value).constant;
    };
    const bool from_outside = std::all_of(
        node.operands.begin(), node.operands.end(),
        [&](int32_t value) { return is_given(value) && uses_.users[value].size() == 1; });
    if (node.opcode == "slice") return from_outside;
    if (!hlo_is_elementwise(node.opcode)) return false;
    if (node.operands.size() == 2) {
      for (const int32_t value : node.operands) {
        const HloNode& other = maker(value);
        if (is_scalar_constant(value)) return true;
        if (other.opcode == "broadcast" && !other.operands.empty() && is_given(other.operands[0])) {
          return true;
        }
      }
    }
    double read = 0;
    for (const int32_t value : node.operands) read += bytes(value);
    return from_outside || read <= bytes(node.first_value) + kFewBytes;
  }

  // Whether the kernel only goes on with each result of the reduction.
  bool epilogue(const HloNode& node, const HloKernel& kernel) const {
    return kernel.pointwise && !kernel.reduces && !kernel.by_rows &&
           kernel.elements == elements(node.first_value);
  }

  bool joins_rows(const HloKernel& kernel, int32_t number) const {
    const HloNode& node = flat_.nodes[number];
    if (kernel.reduces || kernel.elements != reduced_elements(node)) return false;
    return shares_source(kernel, node) && hlo_stays_in_rows(flat_, uses_, number);
  }

  // Whether both begin with one array, some element-wise steps before.
  bool shares_source(const HloKernel& kernel, const HloNode& node) const {
    std::vector<int32_t> read(kernel.reads.begin(), kernel.reads.end());
    std::sort(read.begin(), read.end());
    const std::vector<int32_t> ours = with_sources(std::move(read));
    const std::vector<int32_t> its = with_sources({node.operands[0]});
    return std::any_of(its.begin(), its.end(), [&](int32_t value) {
      return std::binary_search(ours.begin(), ours.end(), value);
    });
  }

  // Values, and what they are made of element by element; ascending. A search of limited length.
  std::vector<int32_t> with_sources(std::vector<int32_t> values) const {
    std::unordered_set<int32_t> known(values.begin(), values.end());
    for (size_t i = 0; i < values.size() && i < kMostSteps; ++i) {
      const HloNode& made_by = maker(values[i]);
      if (!hlo_is_elementwise(made_by.opcode)) continue;
      for (const int32_t value : made_by.operands) {
        if (!is_scalar_constant(value) && elements(value) == elements(values[i]) &&
            known.insert(value).second) {
          values.push_back(value);
        }
      }
    }
    std::sort(values.begin(), values.end());
    return values;
  }

  // Bytes that all kernels would read in its place, against those of computing it once: its own
  // operands, its result written and read by each, and a launch.
  bool pays(const HloNode& node, const std::vector<int32_t>& readers) const {
    const double copies = static_cast<double>(readers.size());
    double now = bytes(node.first_value) * (copies + 1) + kLaunchBytes;
    double then = 0;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      const int32_t value = node.operands[i];
      const auto before = node.operands.begin() + static_cast<int64_t>(i);
      if (is_scalar_constant(value) || std::find(node.operands.begin(), before, value) != before) {
        continue;
      }
      now += bytes(value);
      for (const int32_t k : readers) {
        if (!kernels_[k].reads.contains(value)) then += bytes(value);
      }
    }
    return then <= now;
  }

  const HloFlat& flat_;
  HloUses uses_;
  std::vector<int32_t> call_end_;
  std::vector<int32_t> kernel_of_call_;        // by last node of the call
  std::vector<std::vector<int32_t>> readers_;  // by value: kernels that read or have read it
  std::vector<bool> slow_;                     // by node: it, or what it is made of
  size_t most_nodes_;                          // of all kernels together
  size_t nodes_ = 0;
  std::vector<HloKernel> kernels_;
};

}  // namespace

std::vector<HloKernel> make_hlo_kernels(const HloFlat& flat) {
  return KernelMaker(flat).make();
}

}  // namespace tutti
