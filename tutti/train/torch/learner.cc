#include "tutti/train/doppler/learner.h"

#include <algorithm>
#include <cmath>

#include "tutti/base/check.h"
#include "tutti/base/parallel.h"
#include "tutti/train/torch/module.h"
#include "tutti/train/torch/parameters.h"

namespace tutti {
namespace {

class TorchLearner : public Learner {
 public:
  // The file's moments must be of its tensors' shapes.
  TorchLearner(const TensorFile& file, std::unique_ptr<Module> module, int64_t steps, int threads)
      : module_(std::move(module)), trained_(file, steps), threads_(threads) {
    use_one_thread_each();
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
    std::vector<torch::Tensor> sum(trained_.values().size());
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
    const FactoredGradients factored = sum_of_products(parts);
    for (const auto& [name, product] : factored) squares += share * share * squares_of(product);
    result.gradient_norm = std::sqrt(squares);
    double scale = share;
    if (options.clip_norm > 0 && result.gradient_norm > options.clip_norm) {
      scale *= options.clip_norm / result.gradient_norm;
    }
    result.finite = std::isfinite(squares) && std::isfinite(result.loss);
    if (result.finite) {
      result.finite = trained_.descend(sum, {scale}, {options.learning_rate}, threads_, factored);
    }
    return result;
  }

  void keep() override { trained_.keep(); }
  void undo() override { trained_.undo(); }
  void forget_moments() override { trained_.forget_moments(); }

  std::vector<float> log_likelihoods(const Lesson& lesson) override {
    const torch::NoGradGuard guard;
    const Likelihoods found = module_->forward(trained_.values(), lesson, {});
    const torch::Tensor both = torch::stack({found.select, found.place}, -1).contiguous();
    const float* data = both.data_ptr<float>();
    return {data, data + both.numel()};
  }

  const TensorFile& model() const override { return trained_.model(); }
  TensorFile checkpoint() const override { return trained_.checkpoint(); }

 private:
  struct Part {
    std::vector<torch::Tensor> gradient{};  // by parameter; undefined where there is none
    std::shared_ptr<const FactoredGradients> factored{};
    StepResult result;
  };

  // The factors of a sum stand side by side.
  static FactoredGradients sum_of_products(const std::vector<Part>& parts) {
    std::map<std::string, std::pair<std::vector<torch::Tensor>, std::vector<torch::Tensor>>> all;
    for (const Part& part : parts) {
      if (part.factored == nullptr) continue;
      for (const auto& [name, product] : *part.factored) {
        all[name].first.push_back(product.left);
        all[name].second.push_back(product.right);
      }
    }
    FactoredGradients sum;
    for (const auto& [name, factors] : all) {
      sum[name] = {.left = torch::cat(factors.first), .right = torch::cat(factors.second)};
    }
    return sum;
  }

  // Of all its numbers: the sum over pairs of ranks of what both sides have in common.
  static double squares_of(const FactoredGradient& product) {
    const torch::Tensor left = product.left.mm(product.left.t());
    const torch::Tensor right = product.right.mm(product.right.t());
    return std::max(0.0,
                    (left.to(torch::kFloat64) * right.to(torch::kFloat64)).sum().item<double>());
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
    if (!module_->separable() || !options.learn_select) {
      return {{.select = options.learn_select, .place = true}};
    }
    return {{.select = true, .place = false}, {.select = false, .place = true}};
  }

  Part gradient(const Lesson& lesson, const Wanted& wanted, const StepOptions& options) const {
    const Likelihoods found = module_->forward(trained_.values(), lesson, wanted);
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
      part.gradient = torch::autograd::grad({loss}, trained_.leaves(), {}, /*retain_graph=*/false,
                                            /*create_graph=*/false, /*allow_unused=*/true);
      part.factored = found.factored;
    }
    part.result = {.loss = loss.item<double>(),
                   .select_entropy = found.select_entropy.mean().item<double>(),
                   .place_entropy = found.place_entropy.mean().item<double>()};
    return part;
  }

  std::unique_ptr<Module> module_;
  TrainedParameters trained_;
  int threads_;
};

std::vector<NetModule>& modules() {
  static std::vector<NetModule> all = {{"residual", make_residual_module}};
  return all;
}

Result<std::unique_ptr<Module>> make_module(const TensorFile& file, const std::string& path) {
  const std::string name = network_named_in(file);
  for (const NetModule& module : modules()) {
    if (module.network == name) return module.make(file, path);
  }
  return unknown_network(file, path);
}

}  // namespace

void add_module(NetModule module) {
  for (const NetModule& known : modules()) TUTTI_CHECK(known.network != module.network);
  modules().push_back(std::move(module));
}

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
