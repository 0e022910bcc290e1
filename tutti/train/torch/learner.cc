#include "tutti/train/learner.h"

#include <dlfcn.h>

#include <cmath>

#include "tutti/base/parallel.h"
#include "tutti/train/torch/module.h"

namespace tutti {
namespace {

constexpr double kFirstDecay = 0.9;
constexpr double kSecondDecay = 0.999;
constexpr double kEpsilon = 1e-8;
// Beside the parameters in a checkpoint.
constexpr std::string_view kFirstMoment = "adam.first.";
constexpr std::string_view kSecondMoment = "adam.second.";

torch::Tensor to_torch(const Tensor& tensor) {
  return view_of(tensor.data, tensor.shape).clone();
}

Tensor from_torch(const torch::Tensor& tensor) {
  const torch::Tensor flat = tensor.detach().contiguous();
  const float* data = flat.data_ptr<float>();
  return {.shape = flat.sizes().vec(), .data = {data, data + flat.numel()}};
}

// Lessons go side by side, each on one thread. libtorch cannot tell its BLAS so; if that is
// OpenBLAS, we can. Without, every product would wait for threads that are busy.
void use_one_thread_each() {
  at::set_num_threads(1);
  using SetThreads = void (*)(int);
  void* symbol = dlsym(RTLD_DEFAULT, "openblas_set_num_threads");
  if (symbol != nullptr) reinterpret_cast<SetThreads>(symbol)(1);
}

// One step of Adam for a whole tensor, in one pass over memory.
struct AdamStep {
  double scale;  // of the gradient
  double learning_rate;
  double first_share;
  double second_share;

  void apply(const float* gradient, int64_t count, float* first, float* second,
             float* parameter) const {
    const auto rate = static_cast<float>(learning_rate / first_share);
    const auto spread_scale = static_cast<float>(1 / second_share);
    const auto gradient_scale = static_cast<float>(scale);
    constexpr auto kFirst = static_cast<float>(kFirstDecay);
    constexpr auto kSecond = static_cast<float>(kSecondDecay);
    for (int64_t i = 0; i < count; ++i) {
      const float g = gradient[i] * gradient_scale;
      first[i] = kFirst * first[i] + (1 - kFirst) * g;
      second[i] = kSecond * second[i] + (1 - kSecond) * g * g;
      parameter[i] -=
          rate * first[i] / (std::sqrt(second[i] * spread_scale) + static_cast<float>(kEpsilon));
    }
  }
};

class TorchLearner : public Learner {
 public:
  // The file's moments must be of its tensors' shapes.
  TorchLearner(const TensorFile& file, std::unique_ptr<Module> module, int64_t steps, int threads)
      : module_(std::move(module)), metadata_(file.metadata), steps_(steps), threads_(threads) {
    use_one_thread_each();
    metadata_.erase(kAdamSteps);
    for (const auto& [name, tensor] : file.tensors) {
      if (name.starts_with("adam.")) continue;
      parameters_[name] = to_torch(tensor).requires_grad_(true);
      first_[name] = moment(file, std::string(kFirstMoment) + name, tensor);
      second_[name] = moment(file, std::string(kSecondMoment) + name, tensor);
    }
  }

  std::optional<StepResult> step(std::span<const Lesson> lessons,
                                 const StepOptions& options) override {
    const std::vector<Wanted> ways = ways_of(options);
    std::vector<Part> parts(lessons.size() * ways.size());
    parallel_for(static_cast<int>(parts.size()), threads_, [&](int index, int) {
      if (options.stop.now()) return;
      const auto at = static_cast<size_t>(index);
      parts[at] = gradient(lessons[at / ways.size()], ways[at % ways.size()], options);
    });
    if (options.stop.now()) return std::nullopt;
    StepResult result;
    std::vector<torch::Tensor> sum(parameters_.size());
    const double share = 1.0 / static_cast<double>(lessons.size());
    for (const Part& part : parts) {
      result.loss += share * part.result.loss;
      result.select_entropy += share * part.result.select_entropy;
      result.place_entropy += share * part.result.place_entropy;
      for (size_t i = 0; i < part.gradient.size(); ++i) {
        if (!part.gradient[i].defined()) continue;
        if (sum[i].defined()) {
          sum[i].add_(part.gradient[i]);
        } else {
          sum[i] = part.gradient[i].contiguous();
        }
      }
    }
    double squares = 0;
    for (const torch::Tensor& gradient : sum) {
      if (gradient.defined()) squares += std::pow(share * gradient.norm().item<double>(), 2);
    }
    result.gradient_norm = std::sqrt(squares);
    double scale = share;
    if (options.clip_norm > 0 && result.gradient_norm > options.clip_norm) {
      scale *= options.clip_norm / result.gradient_norm;
    }
    if (std::isfinite(squares) && std::isfinite(result.loss)) {
      descend(sum, scale, options.learning_rate);
    }
    return result;
  }

  std::vector<float> log_likelihoods(const Lesson& lesson) override {
    const torch::NoGradGuard guard;
    const Likelihoods found = module_->forward(parameters_, lesson, {});
    const torch::Tensor both = torch::stack({found.select, found.place}, -1).contiguous();
    const float* data = both.data_ptr<float>();
    return {data, data + both.numel()};
  }

  TensorFile model() const override {
    TensorFile file{.metadata = metadata_};
    for (const auto& [name, tensor] : parameters_) file.tensors[name] = from_torch(tensor);
    return file;
  }

  TensorFile checkpoint() const override {
    TensorFile file = model();
    file.metadata[kAdamSteps] = std::to_string(steps_);
    for (const auto& [name, tensor] : first_) {
      file.tensors[std::string(kFirstMoment) + name] = from_torch(tensor);
    }
    for (const auto& [name, tensor] : second_) {
      file.tensors[std::string(kSecondMoment) + name] = from_torch(tensor);
    }
    return file;
  }

 private:
  struct Part {
    std::vector<torch::Tensor> gradient{};  // by parameter; undefined where there is none
    StepResult result;
  };

  static torch::Tensor moment(const TensorFile& file, const std::string& name, const Tensor& like) {
    const auto found = file.tensors.find(name);
    return found != file.tensors.end() ? to_torch(found->second) : torch::zeros(like.shape);
  }

  // As they were when the episodes were recorded.
  static torch::Tensor recorded_likelihoods(const Lesson& lesson) {
    std::vector<torch::Tensor> all;
    for (const Episode* episode : lesson.episodes) {
      all.push_back(view_of(episode->likelihood, {static_cast<int64_t>(episode->op.size()), 2}));
    }
    return torch::stack(all);
  }

  // Policies that share no parameters learn side by side.
  std::vector<Wanted> ways_of(const StepOptions& options) const {
    const Wanted all{.select = options.learn_select, .place = options.learn_place};
    if (!module_->separable() || !all.select || !all.place) return {all};
    return {{.select = true, .place = false}, {.select = false, .place = true}};
  }

  Part gradient(const Lesson& lesson, const Wanted& wanted, const StepOptions& options) const {
    const Likelihoods found = module_->forward(parameters_, lesson, wanted);
    torch::Tensor weights = view_of(lesson.weights, {found.select.size(0), 1});
    if (options.discount < 1) {  // the further from the end, the less
      const int64_t steps = found.select.size(1);
      weights = weights * torch::pow(options.discount, torch::arange(steps - 1, -1, -1));
    }
    // Weights apart, every decision counts the same, whatever the length of the episode.
    torch::Tensor before;  // episodes x steps x 2
    if (options.clip_ratio > 0) before = recorded_likelihoods(lesson);
    const auto gain = [&](const torch::Tensor& likelihood, int64_t which) {
      if (options.clip_ratio == 0) return (weights * likelihood).mean();
      const torch::Tensor ratio = (likelihood - before.select(2, which)).exp();
      const torch::Tensor clipped = ratio.clamp(1 - options.clip_ratio, 1 + options.clip_ratio);
      return torch::min(weights * ratio, weights * clipped).mean();
    };
    torch::Tensor loss = torch::zeros({});
    if (wanted.select) {
      loss = loss - gain(found.select, 0) - options.entropy_weight * found.select_entropy.mean();
    }
    if (wanted.place) {
      loss = loss - gain(found.place, 1) - options.entropy_weight * found.place_entropy.mean();
    }
    Part part;
    if (loss.requires_grad()) {
      std::vector<torch::Tensor> leaves;
      for (const auto& [name, tensor] : parameters_) leaves.push_back(tensor);
      part.gradient = torch::autograd::grad({loss}, leaves, {}, /*retain_graph=*/false,
                                            /*create_graph=*/false, /*allow_unused=*/true);
    }
    part.result = {.loss = loss.item<double>(),
                   .select_entropy = found.select_entropy.mean().item<double>(),
                   .place_entropy = found.place_entropy.mean().item<double>()};
    return part;
  }

  void descend(const std::vector<torch::Tensor>& gradient, double scale, double learning_rate) {
    const torch::NoGradGuard guard;
    ++steps_;
    const double first_share = 1 - std::pow(kFirstDecay, static_cast<double>(steps_));
    const double second_share = 1 - std::pow(kSecondDecay, static_cast<double>(steps_));
    const AdamStep adam{scale, learning_rate, first_share, second_share};
    std::vector<std::string> names;
    for (const auto& [name, parameter] : parameters_) names.push_back(name);
    parallel_for(static_cast<int>(names.size()), threads_, [&](int index, int) {
      const auto at = static_cast<size_t>(index);
      const std::string& name = names[at];
      const torch::Tensor g =
          gradient[at].defined() ? gradient[at] : torch::zeros_like(parameters_.at(name));
      adam.apply(g.data_ptr<float>(), g.numel(), first_.at(name).data_ptr<float>(),
                 second_.at(name).data_ptr<float>(), parameters_.at(name).data_ptr<float>());
    });
  }

  std::unique_ptr<Module> module_;
  std::map<std::string, std::string> metadata_;
  Parameters parameters_;
  Parameters first_;
  Parameters second_;
  int64_t steps_;
  int threads_;
};

// The optimiser's memory, as far as there is one. Second moments are means of squares.
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

Result<std::unique_ptr<Module>> make_module(const TensorFile& file, const std::string& path) {
  const auto told = file.metadata.find("network");
  const std::string name = told == file.metadata.end() ? "" : told->second;
  if (name == "published") return make_published_module(file, path);
  if (name == "placeto") return make_placeto_module(file, path);
  if (name == "gdp") return make_gdp_module(file, path);
  return make_residual_module(file, path);
}

}  // namespace

Result<std::unique_ptr<Learner>> make_learner(const TensorFile& file, const std::string& path,
                                              int threads) {
  auto module = make_module(file, path);
  if (!module) return module.error();
  if (auto good = check_moments(file, path); !good) return good.error();
  const auto steps = file.count(kAdamSteps, path);
  if (!steps) return steps.error();
  return std::unique_ptr<Learner>(
      std::make_unique<TorchLearner>(file, std::move(*module), *steps, threads));
}

}  // namespace tutti
