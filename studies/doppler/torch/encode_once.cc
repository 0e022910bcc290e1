#include "studies/doppler/torch/encode_once.h"

#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "studies/doppler/published/encoder.h"

namespace tutti {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

// The parameters of an encoder, in the order of the inputs of Encode. That of the large layer is
// not one of them: its gradient goes to the factored ones.
constexpr const char* kEncoderInputs[] = {
    "embed.weight",     "embed.bias",        "message.weight",   "message.bias",
    "gates_in.weight",  "gates_in.bias",     "message_sum.bias", "message_matrix.bias",
    "gates_state.bias", "gates_state.weight"};
constexpr const char* kLargeLayer = "message_matrix.weight";

// Encoder of encoder.h: from its weights to the embeddings.
class Encode : public torch::autograd::Function<Encode> {
 public:
  struct Job : torch::CustomClassHolder {
    const PublishedFeatures* features = nullptr;
    TowerShape shape;
    std::string prefix;       // of the names of its parameters
    Parameters parameters{};  // by name without the prefix
    std::shared_ptr<FactoredGradients> factored{};
    std::optional<Encoder> encoder{};
    std::vector<float> matrices{};
    EncoderTape tape{};

    const float* data(const char* name) const {
      const auto found = parameters.find(name);
      return found == parameters.end() ? nullptr : found->second.data_ptr<float>();
    }
    LayerWeights layer(const std::string& name) const {
      return {.weight = data((name + ".weight").c_str()), .bias = data((name + ".bias").c_str())};
    }
    Encoder make_encoder() const {
      return Encoder({.width = shape.width,
                      .columns = shape.op_columns,
                      .steps = shape.steps,
                      .embed = layer("embed"),
                      .message = layer("message"),
                      .message_matrix = layer("message_matrix"),
                      .message_sum = layer("message_sum"),
                      .gates_in = layer("gates_in"),
                      .gates_state = layer("gates_state")});
    }
  };

  static torch::Tensor forward(AutogradContext* context, const c10::intrusive_ptr<Job>& job,
                               const torch::Tensor&, const torch::Tensor&, const torch::Tensor&,
                               const torch::Tensor&, const torch::Tensor&, const torch::Tensor&,
                               const torch::Tensor&, const torch::Tensor&, const torch::Tensor&,
                               const torch::Tensor&) {
    job->encoder = job->make_encoder();
    job->matrices = job->encoder->matrices(*job->features);
    const std::vector<float> state =
        job->encoder->forward(*job->features, rounds_for(*job->features, job->shape), job->matrices,
                              job->features->op_rows.data(), &job->tape);
    context->saved_data["job"] = c10::IValue::make_capsule(job);
    return view_of(state, {job->features->ops, job->shape.width}).clone();
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto job =
        c10::static_intrusive_pointer_cast<Job>(context->saved_data["job"].toCapsule());
    const torch::Tensor by_state = gradients[0].contiguous();
    const EncoderGradient found =
        job->encoder->backward(*job->features, rounds_for(*job->features, job->shape),
                               job->matrices, job->tape, by_state.data_ptr<float>());
    const auto kinds = static_cast<int64_t>(job->features->message_values.size());
    const int64_t width = job->shape.width;
    (*job->factored)[job->prefix + kLargeLayer] = {
        .left = view_of(found.by_matrices, {kinds, width * width}).clone(),
        .right = view_of(found.hidden, {kinds, width}).clone()};
    const std::vector<float>* const parts[] = {&found.embed_weight,     &found.embed_bias,
                                               &found.message_weight,   &found.message_bias,
                                               &found.gates_in_weight,  &found.gates_in_bias,
                                               &found.message_sum_bias, &found.message_matrix_bias,
                                               &found.gates_state_bias, &found.gates_state_weight};
    tensor_list by = {torch::Tensor()};
    for (size_t i = 0; i < std::size(kEncoderInputs); ++i) {
      by.push_back(view_of(*parts[i], job->parameters.at(kEncoderInputs[i]).sizes().vec()).clone());
    }
    return by;
  }
};

}  // namespace

torch::Tensor encode_once(const Parameters& all, const TowerShape& shape,
                          const PublishedFeatures& features,
                          std::shared_ptr<FactoredGradients> factored) {
  auto job = c10::make_intrusive<Encode::Job>();
  job->features = &features;
  job->shape = shape;
  job->prefix = std::string(to_text(shape.role)) + ".";
  job->factored = std::move(factored);
  std::vector<torch::Tensor> inputs;
  for (const char* name : kEncoderInputs) {
    inputs.push_back(job->parameters[name] = all.at(job->prefix + name));
  }
  job->parameters[kLargeLayer] = all.at(job->prefix + kLargeLayer);
  return Encode::apply(job, inputs[0], inputs[1], inputs[2], inputs[3], inputs[4], inputs[5],
                       inputs[6], inputs[7], inputs[8], inputs[9]);
}

}  // namespace tutti
