#include "tutti/graph/import/onnx/numbers.h"

#include <algorithm>

namespace tutti {
namespace {

using Numbers = std::vector<int64_t>;

// Wraps around like the arithmetic of tensors, where C++ would not.
int64_t plus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t minus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
int64_t product(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

// A position that may count from the end, held within 0 and `size`.
int64_t within(int64_t position, int64_t size) {
  if (position < 0) position = std::max(plus(position, size), int64_t{0});
  return std::min(position, size);
}

class Evaluator {
 public:
  Evaluator(const OnnxModel& model, const OnnxNode& node)
      : model_(model), node_(node), facts_(model, node) {}

  std::optional<Numbers> evaluate() const {
    const std::string& type = node_.op_type;
    if (type == "Constant") return constant();
    if (type == "ConstantOfShape") return filled();
    if (type == "Shape") return onnx_shape_of(facts_);
    if (type == "Size") return size();
    if (type == "Concat") return concat();
    if (type == "Range") return onnx_range_of(facts_);
    const Numbers* first = operand(0);
    if (first == nullptr) return std::nullopt;
    if (type == "Identity" || type == "Cast" || type == "Reshape" || type == "Flatten" ||
        type == "Squeeze" || type == "Unsqueeze") {
      return *first;  // whole numbers alone come here, and the type says how they are arranged
    }
    if (type == "Gather") return gather(*first);
    if (type == "Slice") return slice(*first);
    if (type == "ReduceProd") return reduce_product(*first);
    if (type == "Where") return where(*first);
    const Numbers* second = operand(1);
    if (second == nullptr) return std::nullopt;
    return elementwise(type, *first, *second);
  }

 private:
  const Numbers* operand(size_t index) const { return facts_.numbers(index); }
  size_t rank(size_t index) const { return facts_.operand(index)->type.dims.size(); }

  std::optional<Numbers> constant() const {
    for (const char* key : {"value", "value_int", "value_ints"}) {
      if (const Numbers* numbers = facts_.attribute(key)) return *numbers;
    }
    return std::nullopt;
  }

  std::optional<Numbers> filled() const {
    const Numbers* number = facts_.attribute("value");
    const OnnxType& type = model_.values[static_cast<size_t>(node_.makes[0])].type;
    if (number == nullptr || number->size() != 1 || !type.shaped) return std::nullopt;
    if (type.elements() > static_cast<double>(kMostNumbers)) return std::nullopt;
    return Numbers(static_cast<size_t>(type.elements()), (*number)[0]);
  }

  std::optional<Numbers> size() const {
    const Numbers* dims = facts_.dims(0);
    if (dims == nullptr) return std::nullopt;
    int64_t all = 1;
    for (const int64_t dim : *dims) all = product(all, dim);
    return Numbers{all};
  }

  std::optional<Numbers> concat() const {
    Numbers all;
    for (size_t i = 0; i < node_.reads.size(); ++i) {
      const Numbers* part = operand(i);
      if (part == nullptr || rank(i) != 1) return std::nullopt;
      all.insert(all.end(), part->begin(), part->end());
      if (all.size() > kMostNumbers) return std::nullopt;
    }
    return all;
  }

  std::optional<Numbers> gather(const Numbers& data) const {
    const Numbers* indices = operand(1);
    if (indices == nullptr || rank(0) != 1) return std::nullopt;
    Numbers all;
    for (const int64_t index : *indices) {
      const auto count = static_cast<int64_t>(data.size());
      if (index < -count || index >= count) return std::nullopt;
      all.push_back(data[static_cast<size_t>(index < 0 ? index + count : index)]);
    }
    return all;
  }

  // Starts and ends are attributes before opset 10, and operands since.
  std::optional<Numbers> slice(const Numbers& data) const {
    if (rank(0) != 1) return std::nullopt;
    const auto bound = [&](const char* key, size_t index, int64_t fallback) {
      if (const Numbers* numbers = operand(index); numbers != nullptr && numbers->size() == 1) {
        return (*numbers)[0];
      }
      return node_.attributes.integer(key, fallback);
    };
    for (size_t i = 1; i < node_.reads.size(); ++i) {
      if (facts_.operand(i) != nullptr && (operand(i) == nullptr || operand(i)->size() != 1)) {
        return std::nullopt;
      }
    }
    const auto count = static_cast<int64_t>(data.size());
    if (bound("steps", 4, 1) != 1) return std::nullopt;
    const int64_t begin = within(bound("starts", 1, 0), count);
    const int64_t end = within(bound("ends", 2, count), count);
    if (end <= begin) return Numbers{};
    return Numbers(data.begin() + begin, data.begin() + end);
  }

  std::optional<Numbers> reduce_product(const Numbers& data) const {
    if (rank(0) > 1) return std::nullopt;
    int64_t all = 1;
    for (const int64_t number : data) all = product(all, number);
    return Numbers{all};
  }

  std::optional<Numbers> where(const Numbers& chosen) const {
    const Numbers* yes = operand(1);
    const Numbers* no = operand(2);
    if (yes == nullptr || no == nullptr) return std::nullopt;
    const size_t count = std::max({chosen.size(), yes->size(), no->size()});
    const auto at = [&](const Numbers& numbers, size_t i) {
      return numbers[numbers.size() == 1 ? 0 : i];
    };
    for (const Numbers* numbers : {&chosen, yes, no}) {
      if (numbers->size() != 1 && numbers->size() != count) return std::nullopt;
    }
    Numbers all(count);
    for (size_t i = 0; i < count; ++i) all[i] = at(chosen, i) != 0 ? at(*yes, i) : at(*no, i);
    return all;
  }

  // Operands of one size, or one of them a single number.
  static std::optional<Numbers> elementwise(const std::string& type, const Numbers& a,
                                            const Numbers& b) {
    if (a.size() != b.size() && a.size() != 1 && b.size() != 1) return std::nullopt;
    if (a.empty() || b.empty()) return Numbers{};
    Numbers all(std::max(a.size(), b.size()));
    for (size_t i = 0; i < all.size(); ++i) {
      const std::optional<int64_t> number =
          combine(type, a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]);
      if (!number) return std::nullopt;
      all[i] = *number;
    }
    return all;
  }

  static std::optional<int64_t> combine(const std::string& type, int64_t a, int64_t b) {
    if (type == "Add") return plus(a, b);
    if (type == "Sub") return minus(a, b);
    if (type == "Mul") return product(a, b);
    if (type == "Div") return b == 0 || b == -1 ? std::nullopt : std::optional(a / b);
    if (type == "Mod") return b <= 0 || a < 0 ? std::nullopt : std::optional(a % b);
    if (type == "Min") return std::min(a, b);
    if (type == "Max") return std::max(a, b);
    if (type == "Equal") return a == b ? 1 : 0;
    if (type == "Less") return a < b ? 1 : 0;
    if (type == "Greater") return a > b ? 1 : 0;
    return std::nullopt;
  }

  const OnnxModel& model_;
  const OnnxNode& node_;
  OnnxFacts facts_;
};

}  // namespace

std::optional<std::vector<int64_t>> onnx_shape_of(const OnnxFacts& facts) {
  const Numbers* dims = facts.dims(0);
  if (dims == nullptr) return std::nullopt;
  const auto count = static_cast<int64_t>(dims->size());
  const int64_t begin = within(facts.integer("start", 0), count);
  const int64_t end = within(facts.integer("end", count), count);
  if (end <= begin) return Numbers{};
  return Numbers(dims->begin() + begin, dims->begin() + end);
}

std::optional<std::vector<int64_t>> onnx_range_of(const OnnxFacts& facts) {
  for (size_t i = 0; i < 3; ++i) {
    if (facts.numbers(i) == nullptr || facts.numbers(i)->size() != 1) return std::nullopt;
  }
  const int64_t step = (*facts.numbers(2))[0];
  const int64_t end = (*facts.numbers(1))[0];
  if (step == 0) return std::nullopt;
  Numbers all;
  for (int64_t at = (*facts.numbers(0))[0]; step > 0 ? at < end : at > end; at = plus(at, step)) {
    all.push_back(at);
    if (all.size() > kMostNumbers) return std::nullopt;
  }
  return all;
}

std::optional<std::vector<int64_t>> onnx_numbers(const OnnxModel& model, const OnnxNode& node) {
  return Evaluator(model, node).evaluate();
}

}  // namespace tutti
