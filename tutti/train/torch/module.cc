#include "tutti/train/torch/module.h"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tutti/base/check.h"
#include "tutti/base/parallel.h"
#include "tutti/policy/nn/dense.h"
#include "tutti/train/torch/adam.h"
#include "tutti/train/torch/parameters.h"

namespace tutti {
namespace {

// In a checkpoint, in addition to the parameters.
constexpr std::string_view kFirstMoment = "adam.first.";
constexpr std::string_view kSecondMoment = "adam.second.";

torch::Tensor to_torch(const StoredTensor& tensor) {
  return view_of(tensor.data, tensor.shape).clone();
}

StoredTensor from_torch(const torch::Tensor& tensor) {
  const torch::Tensor flat = tensor.detach().contiguous();
  const float* data = flat.data_ptr<float>();
  return {.shape = flat.sizes().vec(), .data = {data, data + flat.numel()}};
}

torch::Tensor moment(const TensorFile& file, const std::string& name, const StoredTensor& like) {
  const auto found = file.tensors.find(name);
  return found != file.tensors.end() ? to_torch(found->second) : torch::zeros(like.shape);
}

// A gradient as a product, with the side of the outputs turned: out x rank.
struct Product {
  std::vector<float> left;
  std::vector<float> right;  // rank x in
  int64_t rank = 0;
  int64_t in = 0;

  explicit Product(const FactoredGradient& of) {
    rank = of.left.size(0);
    in = of.right.size(1);
    const torch::Tensor turned = of.left.t().contiguous();
    left.assign(turned.data_ptr<float>(), turned.data_ptr<float>() + turned.numel());
    const torch::Tensor whole = of.right.contiguous();
    right.assign(whole.data_ptr<float>(), whole.data_ptr<float>() + whole.numel());
  }
  // Some rows of it.
  void fill(int64_t row, int64_t rows, float* to) const {
    std::fill_n(to, rows * in, 0.0F);
    multiply_add(left.data() + row * rank, static_cast<int>(rows), static_cast<int>(rank),
                 right.data(), static_cast<int>(in), to);
  }
};

// Some of a tensor. The gradient is that of the range, or of rows of a product, or 0.
struct AdamPiece {
  AdamStep step;
  AdamRange range;
  const Product* product = nullptr;
  int64_t row = 0;
};

bool apply_piece(const AdamPiece& piece) {
  if (piece.range.gradient != nullptr) return apply_adam(piece.step, piece.range);
  constexpr int64_t kNear = 1 << 12;  // numbers that stay in the nearest cache
  const int64_t in = piece.product == nullptr ? 1 : piece.product->in;
  const int64_t rows = std::max<int64_t>(1, kNear / in);
  std::vector<float> gradient(static_cast<size_t>(rows * in), 0.0F);
  bool finite = true;
  for (int64_t at = 0; at < piece.range.count; at += rows * in) {
    AdamRange range = piece.range;
    range.count = std::min(rows * in, piece.range.count - at);
    if (piece.product != nullptr) {
      piece.product->fill(piece.row + at / in, range.count / in, gradient.data());
    }
    range.gradient = gradient.data();
    for (const float** old : {&range.first, &range.second, &range.parameter}) *old += at;
    for (float** fresh : {&range.next_first, &range.next_second, &range.next_parameter}) {
      *fresh += at;
    }
    finite = apply_adam(piece.step, range) && finite;
  }
  return finite;
}

// Of a tensor that a thread takes at once; the result does not depend on it.
constexpr int64_t kAdamChunk = 1 << 16;

}  // namespace

// The optimiser's state, as far as there is one. Second moments are means of squares.
Result<void> check_moments(const TensorFile& file, const std::string& path) {
  for (const auto& [name, tensor] : file.tensors) {
    for (const std::string_view prefix : {kFirstMoment, kSecondMoment}) {
      if (!name.starts_with(prefix)) continue;
      const auto parameter = file.tensors.find(name.substr(prefix.size()));
      if (parameter == file.tensors.end() || parameter->second.shape != tensor.shape) {
        return invalid_input(path + ": '" + name + "' is of no tensor of the network");
      }
    }
    if (!name.starts_with(kSecondMoment)) continue;
    for (const float value : tensor.data) {
      if (value < 0) return invalid_input(path + ": '" + name + "' holds a negative square");
    }
  }
  return {};
}

void use_one_thread_each() {
  at::set_num_threads(1);
  using SetThreads = void (*)(int);
  void* symbol = dlsym(RTLD_DEFAULT, "openblas_set_num_threads");
  if (symbol != nullptr) reinterpret_cast<SetThreads>(symbol)(1);
}

TrainedParameters::TrainedParameters(const TensorFile& file, int64_t steps) {
  State& state = states_[now_];
  state.steps = steps;
  state.file.metadata = file.metadata;
  state.file.metadata.erase(kAdamSteps);
  for (const auto& [name, tensor] : file.tensors) {
    if (name.starts_with("adam.")) continue;
    const StoredTensor& kept = state.file.tensors[name] = tensor;
    state.values[name] = view_of(kept.data, kept.shape).requires_grad_(true);
    state.first[name] = moment(file, std::string(kFirstMoment) + name, tensor);
    state.second[name] = moment(file, std::string(kSecondMoment) + name, tensor);
  }
}

std::vector<torch::Tensor> TrainedParameters::leaves() const {
  std::vector<torch::Tensor> leaves;
  for (const auto& [name, tensor] : values()) leaves.push_back(tensor);
  return leaves;
}

TrainedParameters::State& TrainedParameters::next() {
  if (kept_ != now_) return states_[now_];
  State& other = states_[1 - now_];
  if (!other.values.empty()) return other;
  other.file = model();
  for (const auto& [name, tensor] : values()) {
    const StoredTensor& kept = other.file.tensors.at(name);
    other.values[name] = view_of(kept.data, kept.shape).requires_grad_(true);
    other.first[name] = torch::empty_like(tensor.detach());
    other.second[name] = torch::empty_like(tensor.detach());
  }
  return other;
}

bool TrainedParameters::descend(const std::vector<torch::Tensor>& gradient,
                                const std::vector<double>& scales, const std::vector<double>& rates,
                                int threads, const FactoredGradients& factored) {
  const torch::NoGradGuard guard;
  const State& from = now();
  State& to = next();
  to.steps = from.steps + 1;
  const double first_share = 1 - std::pow(kAdamFirstDecay, static_cast<double>(to.steps));
  const double second_share = 1 - std::pow(kAdamSecondDecay, static_cast<double>(to.steps));
  std::map<std::string, Product> products;
  for (const auto& [name, product] : factored) products.emplace(name, product);
  std::vector<AdamPiece> pieces;
  size_t at = 0;
  for (const auto& [name, value] : from.values) {
    const AdamStep adam{scales.size() == 1 ? scales[0] : scales[at],
                        rates.size() == 1 ? rates[0] : rates[at], first_share, second_share};
    const auto product = products.find(name);
    const bool multiplied = product != products.end();
    const float* slope = gradient[at].defined() ? gradient[at].data_ptr<float>() : nullptr;
    TUTTI_CHECK(!multiplied || slope == nullptr);
    const float* const old[] = {from.first.at(name).data_ptr<float>(),
                                from.second.at(name).data_ptr<float>(), value.data_ptr<float>()};
    float* const fresh[] = {to.first.at(name).data_ptr<float>(),
                            to.second.at(name).data_ptr<float>(),
                            to.values.at(name).data_ptr<float>()};
    const int64_t in = multiplied ? product->second.in : 1;
    const int64_t chunk = std::max<int64_t>(1, kAdamChunk / in) * in;  // whole rows
    for (int64_t begin = 0; begin < value.numel(); begin += chunk) {
      pieces.push_back({adam,
                        {.gradient = slope == nullptr ? nullptr : slope + begin,
                         .first = old[0] + begin,
                         .second = old[1] + begin,
                         .parameter = old[2] + begin,
                         .next_first = fresh[0] + begin,
                         .next_second = fresh[1] + begin,
                         .next_parameter = fresh[2] + begin,
                         .count = std::min(chunk, value.numel() - begin)},
                        multiplied ? &product->second : nullptr,
                        begin / in});
    }
    ++at;
  }
  std::vector<uint8_t> finite(pieces.size(), 0);
  parallel_for(static_cast<int>(pieces.size()), threads, [&](int index, int) {
    const auto piece = static_cast<size_t>(index);
    finite[piece] = apply_piece(pieces[piece]) ? 1 : 0;
  });
  now_ = static_cast<size_t>(&to - states_);
  return std::all_of(finite.begin(), finite.end(), [](uint8_t one) { return one == 1; });
}

void TrainedParameters::undo() {
  TUTTI_CHECK(kept_.has_value());
  now_ = *kept_;
}

void TrainedParameters::forget_moments() {
  const torch::NoGradGuard guard;
  State& state = states_[now_];
  state.steps = 0;
  for (auto& [name, tensor] : state.first) tensor.zero_();
  for (auto& [name, tensor] : state.second) tensor.zero_();
  kept_.reset();
}

TensorFile TrainedParameters::checkpoint() const {
  TensorFile file = model();
  file.metadata[kAdamSteps] = std::to_string(now().steps);
  for (const auto& [name, tensor] : now().first) {
    file.tensors[std::string(kFirstMoment) + name] = from_torch(tensor);
  }
  for (const auto& [name, tensor] : now().second) {
    file.tensors[std::string(kSecondMoment) + name] = from_torch(tensor);
  }
  return file;
}

torch::Tensor view_of(const std::vector<float>& data, std::vector<int64_t> shape) {
  return torch::from_blob(const_cast<float*>(data.data()), shape, torch::kFloat32);
}

torch::Tensor indices(const std::vector<int32_t>& data) {
  return torch::from_blob(const_cast<int32_t*>(data.data()), {static_cast<int64_t>(data.size())},
                          torch::kInt32)
      .to(torch::kInt64);
}

DecisionBatch gather_decisions(const Lesson& lesson) {
  DecisionBatch all;
  const Episode& first = *lesson.episodes.front();
  all.episodes = static_cast<int64_t>(lesson.episodes.size());
  all.steps = static_cast<int64_t>(first.op.size());
  all.devices = first.devices;
  int64_t widest = 1;
  for (const Episode* episode : lesson.episodes) {
    TUTTI_CHECK(static_cast<int64_t>(episode->op.size()) == all.steps);
    for (size_t step = 0; step < episode->op.size(); ++step) {
      widest =
          std::max<int64_t>(widest, episode->ready_begin[step + 1] - episode->ready_begin[step]);
    }
  }
  const int64_t count = all.episodes * all.steps;
  const auto cells = static_cast<size_t>(count * widest);
  std::vector<int32_t> op, device, ready(cells, 0);
  std::vector<uint8_t> is_ready(cells, 0), right_op(cells, 0), allowed, right_device;
  std::vector<float> rows;
  rows.reserve(static_cast<size_t>(count * all.devices * first.device_features));
  size_t row = 0;
  for (const Episode* episode : lesson.episodes) {
    op.insert(op.end(), episode->op.begin(), episode->op.end());
    device.insert(device.end(), episode->device.begin(), episode->device.end());
    allowed.insert(allowed.end(), episode->allowed.begin(), episode->allowed.end());
    right_device.insert(right_device.end(), episode->right_device.begin(),
                        episode->right_device.end());
    rows.insert(rows.end(), episode->rows.begin(), episode->rows.end());
    for (size_t step = 0; step < episode->op.size(); ++step, ++row) {
      size_t cell = row * static_cast<size_t>(widest);
      for (auto i = static_cast<size_t>(episode->ready_begin[step]);
           i < static_cast<size_t>(episode->ready_begin[step + 1]); ++i, ++cell) {
        ready[cell] = episode->ready[i];
        is_ready[cell] = 1;
        right_op[cell] = episode->right_op[i];
      }
    }
  }
  const auto flags = [&](std::vector<uint8_t>& data, int64_t columns) {
    return torch::from_blob(data.data(), {count, columns}, torch::kUInt8).to(torch::kBool);
  };
  all.op = indices(op).view({all.episodes, all.steps});
  all.device = indices(device).view({all.episodes, all.steps});
  all.ready = indices(ready).view({count, widest});
  all.is_ready = flags(is_ready, widest);
  all.right_op = flags(right_op, widest);
  all.rows = view_of(rows, {count, all.devices, first.device_features}).clone();
  all.allowed = flags(allowed, all.devices);
  all.right_device = flags(right_device, all.devices);
  return all;
}

Choice choose(const torch::Tensor& logits, const torch::Tensor& allowed,
              const torch::Tensor& right) {
  // A finite stand-in for minus infinity keeps gradients of empty places at 0.
  constexpr float kNoOdds = -1e9F;
  const torch::Tensor log_odds = torch::log_softmax(logits.masked_fill(~allowed, kNoOdds), -1);
  const torch::Tensor weights = log_odds.exp();
  return {.likelihood = torch::logsumexp(log_odds.masked_fill(~right, kNoOdds), -1),
          .entropy = -(weights * log_odds.masked_fill(~allowed, 0.0F)).sum(-1)};
}

}  // namespace tutti
