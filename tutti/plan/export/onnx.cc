#include "tutti/plan/export/onnx.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <unordered_map>
#include <vector>

#include "tutti/plan/export/numbering.h"
#include "tutti/plan/export/wire.h"

namespace tutti {
namespace {

// The numbers of fields in onnx.proto.
constexpr uint32_t kGraphOfModel = 7;
constexpr uint32_t kNodeOfGraph = 1;
constexpr uint32_t kOutputOfNode = 2;
constexpr uint32_t kMetadataOfNode = 9;
constexpr uint32_t kKeyOfEntry = 1;
constexpr uint32_t kValueOfEntry = 2;

// What ONNX Runtime looks for.
constexpr std::string_view kAnnotation = "layer_ann";

// An annotation stands in a list with commas and brackets, and devices may be called anything.
std::string annotation_of(DeviceId device) {
  return fmt::format("device{}", device.index);
}

class Annotator {
 public:
  Annotator(const Plan& plan, const Problem& problem) : plan_(plan), problem_(problem) {
    for (const OpId op : problem.graph.ops()) {
      for (const ValueId value : problem.graph.outputs(op)) {
        maker_.emplace(problem.graph.value_name(value), op);
      }
    }
  }

  int64_t annotated() const { return annotated_; }

  // False if these are not the bytes of such a message, as below.
  bool copy_model(std::string_view model, std::string& to) {
    while (!model.empty()) {
      const std::optional<WireField> field = take_field(model);
      if (!field) return false;
      if (field->number != kGraphOfModel) {
        to += field->whole;
        continue;
      }
      std::string graph;
      if (!copy_graph(field->content, graph)) return false;
      add_field(to, kGraphOfModel, graph);
    }
    return true;
  }

 private:
  bool copy_graph(std::string_view graph, std::string& to) {
    while (!graph.empty()) {
      const std::optional<WireField> field = take_field(graph);
      if (!field) return false;
      if (field->number != kNodeOfGraph) {
        to += field->whole;
        continue;
      }
      std::string node;
      if (!copy_node(field->content, node)) return false;
      add_field(to, kNodeOfGraph, node);
    }
    return true;
  }

  bool copy_node(std::string_view node, std::string& to) {
    OpId op;
    while (!node.empty()) {
      const std::optional<WireField> field = take_field(node);
      if (!field) return false;
      if (field->number == kOutputOfNode) {
        const auto found = maker_.find(std::string(field->content));
        if (found != maker_.end()) op = found->second;
      }
      // An annotation that is there already gives way to ours.
      if (field->number == kMetadataOfNode && is_annotation(field->content)) continue;
      to += field->whole;
    }
    if (!op.valid()) return true;
    std::string entry;
    add_field(entry, kKeyOfEntry, kAnnotation);
    add_field(entry, kValueOfEntry, annotation_of(plan_.placement[op.index]));
    add_field(to, kMetadataOfNode, entry);
    ++annotated_;
    return true;
  }

  static bool is_annotation(std::string_view entry) {
    while (!entry.empty()) {
      const std::optional<WireField> field = take_field(entry);
      if (!field) return false;
      if (field->number == kKeyOfEntry) return field->content == kAnnotation;
    }
    return false;
  }

  const Plan& plan_;
  const Problem& problem_;
  std::unordered_map<std::string, OpId> maker_;  // by the name of a value
  int64_t annotated_ = 0;
};

// How ONNX Runtime calls it.
std::string designator(const Device& device, const DeviceNumber& number) {
  if (number.on_host_memory) return "cpu";
  if (device.kind == "npu" || device.kind == "fpga") return device.kind;
  return fmt::format("gpu:{}", number.index);
}

// "cpu(=device0); gpu:0(=device1)", of the devices that the plan uses.
void describe_devices(const Plan& plan, const Problem& problem, AnnotatedModel& model) {
  const std::vector<DeviceNumber> numbers = number_devices(problem.machine);
  const std::set<DeviceId> used(plan.placement.begin(), plan.placement.end());
  std::vector<std::string> rules;
  std::set<std::string> gpus;
  for (const DeviceId device : used) {
    const std::string name =
        designator(problem.machine.device(device), numbers[static_cast<size_t>(device.index)]);
    rules.push_back(fmt::format("{}(={})", name, annotation_of(device)));
    if (name.starts_with("gpu")) gpus.insert(name);
  }
  model.settings = fmt::format("{}", fmt::join(rules, "; "));
  if (gpus.size() > 1) {
    model.warning = fmt::format(
        "the plan uses {} GPUs, and a session of ONNX Runtime has one; cut the model, or plan for "
        "one GPU",
        gpus.size());
  }
}

}  // namespace

Result<AnnotatedModel> annotate_onnx(std::string_view model, const Plan& plan,
                                     const Problem& problem) {
  Annotator annotator(plan, problem);
  AnnotatedModel made;
  if (!annotator.copy_model(model, made.bytes)) return invalid_input("this is not an ONNX model");
  made.annotated = annotator.annotated();
  if (made.annotated == 0) {
    return invalid_input("no node of this model makes a value of the graph; was it read from it?");
  }
  describe_devices(plan, problem, made);
  return made;
}

}  // namespace tutti
