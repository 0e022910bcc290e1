#include "tutti/graph/graph.h"

#include <algorithm>
#include <array>

#include "tutti/base/check.h"
#include "tutti/base/fingerprint.h"

namespace tutti {
namespace {

struct DTypeInfo {
  const char* name;
  int bytes;
};
constexpr std::array<DTypeInfo, 11> kDTypes = {{{"unknown", 0},
                                                {"f64", 8},
                                                {"f32", 4},
                                                {"f16", 2},
                                                {"bf16", 2},
                                                {"i64", 8},
                                                {"i32", 4},
                                                {"i16", 2},
                                                {"i8", 1},
                                                {"u8", 1},
                                                {"bool", 1}}};

}  // namespace

const char* to_text(DType dtype) {
  return kDTypes[static_cast<size_t>(dtype)].name;
}

std::optional<DType> parse_dtype(std::string_view text) {
  for (size_t i = 0; i < kDTypes.size(); ++i) {
    if (kDTypes[i].name == text) return static_cast<DType>(i);
  }
  return std::nullopt;
}

int element_bytes(DType dtype) {
  return kDTypes[static_cast<size_t>(dtype)].bytes;
}

std::vector<std::pair<std::string_view, std::string_view>> Graph::attributes(OpId op) const {
  std::vector<std::pair<std::string_view, std::string_view>> found;
  if (attribute_begin_.empty()) return found;
  for (int32_t i = attribute_begin_[op.index]; i < attribute_begin_[op.index + 1]; ++i) {
    found.emplace_back(attributes_[i].first, attributes_[i].second);
  }
  return found;
}

const Command* Graph::command(OpId op) const {
  const auto found = std::lower_bound(
      commands_.begin(), commands_.end(), op,
      [](const std::pair<OpId, Command>& entry, OpId wanted) { return entry.first < wanted; });
  return found != commands_.end() && found->first == op ? &found->second : nullptr;
}

uint64_t Graph::commands_fingerprint() const {
  Fingerprint print;
  const auto add_all = [&](const std::vector<std::string>& texts) {
    print.add(static_cast<uint64_t>(texts.size()));
    for (const std::string& text : texts) print.add(std::string_view(text));
  };
  for (const auto& [op, command] : commands_) {
    print.add(op_name(op));
    add_all(command.argv);
    print.add(static_cast<uint64_t>(command.environment.size()));
    for (const auto& [name, text] : command.environment) {
      print.add(std::string_view(name));
      print.add(std::string_view(text));
    }
    print.add(std::string_view(command.directory));
    add_all(command.input_files);
    add_all(command.output_files);
    print.add(static_cast<int64_t>(command.timeout.count()));
    print.add(static_cast<int64_t>(command.cpu_time.count()));
    print.add(command.memory_bytes);
  }
  return print.value();
}

std::span<const int64_t> Graph::shape(ValueId value) const {
  if (shape_begin_.empty()) return {};
  return {shape_dims_.data() + shape_begin_[value.index],
          static_cast<size_t>(shape_begin_[value.index + 1] - shape_begin_[value.index])};
}

std::string Graph::value_name(ValueId value) const {
  const auto own = std::lower_bound(
      value_names_.begin(), value_names_.end(), value,
      [](const std::pair<ValueId, std::string>& entry, ValueId id) { return entry.first < id; });
  if (own != value_names_.end() && own->first == value) return own->second;
  const OpId op = producer(value);
  std::string name(op_name(op));
  if (output_count(op) > 1) {
    name += ':';
    name += std::to_string(value.index - first_output_[op.index]);
  }
  return name;
}

const Graph::InputInfo& Graph::input_info(ValueId value) const {
  const auto found =
      std::lower_bound(inputs_.begin(), inputs_.end(), value,
                       [](const InputInfo& info, ValueId id) { return info.value < id; });
  TUTTI_CHECK(found != inputs_.end() && found->value == value);
  return *found;
}

const Residence& Graph::residence(ValueId value) const {
  return input_info(value).residence;
}

bool Graph::is_weight(ValueId value) const {
  return input_info(value).weight;
}

int Graph::device_kind_index(std::string_view device_kind) const {
  const auto found = std::find(device_kinds_.begin(), device_kinds_.end(), device_kind);
  return found == device_kinds_.end() ? -1 : static_cast<int>(found - device_kinds_.begin());
}

const std::vector<Duration>* Graph::run_time_column(int kind) const {
  for (const RunTimeColumn& column : run_times_) {
    if (column.kind == kind) return &column.times;
  }
  return nullptr;
}

const std::vector<Duration>* Graph::transfer_column(int from_kind, int to_kind) const {
  for (const TransferColumn& column : transfers_) {
    if (column.from_kind == from_kind && column.to_kind == to_kind) return &column.times;
  }
  return nullptr;
}

std::optional<Duration> Graph::given_run_time(OpId op, std::string_view device_kind) const {
  const int kind = device_kind_index(device_kind);
  for (const int column_kind : {kind, -1}) {
    const std::vector<Duration>* column = run_time_column(column_kind);
    if (column != nullptr && (*column)[op.index].count() >= 0) return (*column)[op.index];
  }
  return std::nullopt;
}

std::optional<Duration> Graph::given_transfer(EdgeId edge, std::string_view from_kind,
                                              std::string_view to_kind) const {
  const int from = device_kind_index(from_kind);
  const int to = device_kind_index(to_kind);
  for (const auto& [from_column, to_column] :
       {std::pair{from, to}, std::pair{from, -1}, std::pair{-1, to}, std::pair{-1, -1}}) {
    const std::vector<Duration>* column = transfer_column(from_column, to_column);
    if (column != nullptr && (*column)[edge.index].count() >= 0) return (*column)[edge.index];
  }
  return std::nullopt;
}

}  // namespace tutti
