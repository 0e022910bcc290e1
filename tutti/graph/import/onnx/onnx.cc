#include "tutti/graph/import/onnx/onnx.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "tutti/graph/builder.h"
#include "tutti/graph/import/onnx/flops.h"
#include "tutti/graph/import/onnx/model.h"
#include "tutti/graph/import/onnx/shard.h"
#include "tutti/graph/import/text.h"
#include "tutti/graph/limits.h"

namespace tutti {
namespace {

class ModelBuilder {
 public:
  explicit ModelBuilder(const OnnxModel& model) : model_(model), value_(model.values.size()) {}

  Result<Imported> build(const std::string& name) {
    GraphBuilder builder(name);
    add_inputs(builder);
    for (const OnnxNode& node : model_.nodes) {
      if (builder.too_large()) break;
      if (!node.folded) add_op(builder, node);
    }
    Result<Graph> graph = std::move(builder).build();
    if (!graph) return graph.error();
    Imported imported{.graph = std::move(*graph)};
    warn(imported.warnings);
    return imported;
  }

 private:
  // The model's inputs, and the constants that an op reads.
  void add_inputs(GraphBuilder& builder) {
    std::vector<bool> is_read(model_.values.size(), false);
    for (const OnnxNode& node : model_.nodes) {
      if (node.folded) continue;
      for (const int32_t read : node.reads) {
        if (read >= 0) is_read[static_cast<size_t>(read)] = true;
      }
      for (const int32_t earlier : node.follows) is_read[static_cast<size_t>(earlier)] = true;
    }
    for (const int32_t input : model_.inputs) {
      if (builder.too_large() || !is_read[static_cast<size_t>(input)]) continue;
      value_[static_cast<size_t>(input)] = builder.add_input(
          {.value = spec_of(input, 0), .residence = {.where = Residence::Where::host}});
    }
    for (size_t i = 0; i < model_.values.size() && !builder.too_large(); ++i) {
      if (!is_read[i] || !model_.values[i].constant) continue;
      value_[i] = builder.add_input({.value = spec_of(static_cast<int32_t>(i), 0), .weight = true});
    }
  }

  // `otherwise`: the bytes of a value whose type is not known.
  ValueSpec spec_of(int32_t number, int64_t otherwise) {
    const OnnxValue& value = model_.values[static_cast<size_t>(number)];
    if (!value.type.known()) {
      unshaped_.push_back(number);
      return {.name = value.name, .bytes = otherwise};
    }
    return {.name = value.name,
            .bytes = value.type.bytes(),
            .shape = value.type.dims,
            .dtype = value.type.dtype};
  }

  void add_op(GraphBuilder& builder, const OnnxNode& node) {
    std::vector<ValueId> operands;
    int64_t largest = 0;
    for (const int32_t read : node.reads) {
      if (read < 0) continue;
      operands.push_back(value_[static_cast<size_t>(read)]);
      const OnnxType& type = model_.values[static_cast<size_t>(read)].type;
      if (type.known()) largest = std::max(largest, type.bytes());
    }
    for (const int32_t earlier : node.follows) {
      operands.push_back(value_[static_cast<size_t>(earlier)]);
    }
    std::vector<ValueSpec> outputs;
    for (const int32_t made : node.makes) {
      if (made >= 0) outputs.push_back(spec_of(made, largest));
    }
    const std::optional<double> flops = onnx_flops(model_, node);
    if (!flops) uncounted_.insert(shown(node.op_type));
    std::vector<GivenTime> run_times;
    if (onnx_is_view(node.op_type)) run_times.push_back({"", Duration{0}});
    const OpId op = builder.add_op({.name = node.name,
                                    .kind = node.op_type,
                                    .operands = operands,
                                    .outputs = outputs,
                                    .flops = flops.value_or(0),
                                    .run_times = run_times});
    if (builder.too_large()) return;
    size_t next = 0;
    const auto made_values = builder.outputs(op);
    for (const int32_t made : node.makes) {
      if (made < 0) continue;
      value_[static_cast<size_t>(made)] =
          ValueId{(*made_values.begin()).index + static_cast<int32_t>(next++)};
    }
  }

  // One sentence for all bodies.
  void warn_of_bodies(std::vector<std::string>& warnings) const {
    if (model_.once.empty() && model_.open.empty()) return;
    std::string sentence;
    if (!model_.once.empty()) {
      constexpr size_t kMostNames = 5;
      std::vector<std::string> names;
      for (const std::string& name : model_.once) {
        if (names.size() < kMostNames) names.push_back(fmt::format("'{}'", shown(name)));
      }
      if (model_.once.size() > kMostNames) {
        names.push_back(fmt::format("{} more", model_.once.size() - kMostNames));
      }
      sentence = fmt::format(
          "the model does not say how often the body of {} runs: it counts once; give the rounds "
          "with --dim {}=N",
          fmt::join(names, ", "), shown(model_.once[0]));
    }
    if (!model_.open.empty()) {
      sentence += fmt::format("{}open dimensions of bodies count as 1: {}; set them with --dim too",
                              sentence.empty() ? "" : "; ", fmt::join(model_.open, ", "));
    }
    warnings.push_back(std::move(sentence));
  }

  void warn(std::vector<std::string>& warnings) const {
    warn_of_bodies(warnings);
    if (!uncounted_.empty()) {
      warnings.push_back(fmt::format("the flops of {} are not known; such ops count by their bytes",
                                     fmt::join(uncounted_, ", ")));
    }
    // Those that no op reads, such as the mask of a Dropout, do not matter.
    std::set<int32_t> read;
    for (const OnnxNode& node : model_.nodes) read.insert(node.reads.begin(), node.reads.end());
    std::vector<int32_t> guessed;
    for (const int32_t value : unshaped_) {
      if (read.contains(value)) guessed.push_back(value);
    }
    if (guessed.empty()) return;
    warnings.push_back(
        fmt::format("the shapes of {} values could not be inferred, the first '{}'; each counts as "
                    "large as the "
                    "largest that its op reads",
                    guessed.size(), shown(model_.values[static_cast<size_t>(guessed[0])].name)));
  }

  const OnnxModel& model_;
  std::vector<ValueId> value_;  // by value of the model
  std::vector<int32_t> unshaped_;
  std::set<std::string> uncounted_;
};

}  // namespace

bool looks_like_onnx(std::string_view start) {
  // The first field is ir_version, a small number, and one of the others of a model follows.
  constexpr std::string_view kNextTags = "\x12\x1a\x22\x28\x32\x3a\x42\x72";
  return start.size() >= 3 && start[0] == '\x08' && start[1] > 0 && start[1] < 0x40 &&
         kNextTags.find(start[2]) != std::string_view::npos;
}

bool can_read_onnx() {
#ifdef TUTTI_HAVE_ONNX
  return true;
#else
  return false;
#endif
}

Result<Imported> read_onnx(Source& source, const ImportOptions& options) {
  Result<OnnxModel> model = read_onnx_model(source, options);
  if (!model) return model.error();
  shard_onnx_products(*model, options.shards);
  Result<Imported> imported =
      ModelBuilder(*model).build(model->name.empty() ? graph_name_of(source) : model->name);
  if (!imported) return invalid_input(source.name() + ": " + imported.error().message);
  return imported;
}

}  // namespace tutti
