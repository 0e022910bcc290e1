#include "tutti/graph/file_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "tutti/graph/limits.h"

namespace tutti {
namespace {

using Kind = Document::Kind;

constexpr Fields::Whole kTime = {.most = kLongestTimeNs};

// Nothing if it passes kMostBytes.
std::optional<int64_t> bytes_of(const std::vector<int64_t>& shape, DType dtype) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  int64_t bytes = element_bytes(dtype);
  for (const int64_t size : shape) {
    if (bytes > kMostBytes / size) return std::nullopt;
    bytes *= size;
  }
  return bytes;
}

// "*" in a file, no name in a GivenTime.
std::string device_kind(std::string_view spelled) {
  return spelled == "*" ? std::string() : std::string(spelled);
}

}  // namespace

ValueSpec value_from(Fields& fields) {
  ValueSpec value;
  value.name = fields.text("name", "");
  for (const Document& item : fields.items("shape")) {
    value.shape.push_back(fields.as_integer(item, "shape", {.most = kMostBytes}).value_or(0));
  }
  if (value.shape.size() > kMostDimensions) {
    fields.fail(fmt::format("a shape has at most {} dimensions", kMostDimensions));
  }
  const std::string dtype = fields.text("dtype", "unknown");
  if (const std::optional<DType> known = parse_dtype(dtype)) {
    value.dtype = *known;
  } else {
    fields.fail(
        fmt::format("dtype '{}' is not known; use f64, f32, f16, bf16, i64, i32, i16, i8, "
                    "u8, bool, or leave it out and give bytes",
                    dtype));
  }
  const std::optional<int64_t> implied = bytes_of(value.shape, value.dtype);
  if (!implied) fields.fail("the shape has more than 2^60 bytes; fix its dimensions");
  value.bytes = fields.integer("bytes", {.fallback = implied.value_or(0), .most = kMostBytes});
  return value;
}

Residence residence_from(Fields& fields) {
  const Document* entry = fields.entry("residence");
  if (entry == nullptr || entry->text == "everywhere") return {};
  if (entry->text == "host") return {.where = Residence::Where::host};
  const Document* device = entry->find("device");
  if (device != nullptr && !device->text.empty() && entry->items.size() == 1) {
    return {.where = Residence::Where::device, .device = device->text};
  }
  fields.fail_at(*entry,
                 "residence must be \"everywhere\", \"host\" or {\"device\": \"its name\"}");
  return {};
}

std::vector<GivenTime> run_times_from(Fields& fields) {
  std::vector<GivenTime> times;
  const Document* entry = fields.entry("run_time_ns");
  if (entry == nullptr) return times;
  if (entry->kind != Kind::object) {
    times.push_back({"", Duration(fields.as_integer(*entry, "run_time_ns", kTime).value_or(0))});
    return times;
  }
  for (size_t i = 0; i < entry->items.size(); ++i) {
    if (entry->keys[i].empty()) {
      fields.fail_at(entry->items[i], "a device kind has no name; write \"*\" for every kind");
    }
    const auto time = fields.as_integer(entry->items[i], "run_time_ns", kTime);
    times.push_back({device_kind(entry->keys[i]), Duration(time.value_or(0))});
  }
  return times;
}

std::vector<std::vector<GivenTransfer>> transfers_from(Fields& fields, size_t operand_count) {
  const std::vector<Document>& entries = fields.items("transfer_time_ns");
  std::vector<std::vector<GivenTransfer>> transfers(entries.size());
  if (!entries.empty() && entries.size() != operand_count) {
    fields.fail(
        fmt::format("transfer_time_ns has {} entries for {} operands; give one for each, "
                    "null where none is known",
                    entries.size(), operand_count));
  }
  for (size_t i = 0; i < entries.size(); ++i) {
    const Document& entry = entries[i];
    if (entry.kind == Kind::null) continue;
    if (entry.kind != Kind::object) {
      const auto time = fields.as_integer(entry, "transfer_time_ns", kTime);
      transfers[i].push_back({"", "", Duration(time.value_or(0))});
      continue;
    }
    for (size_t k = 0; k < entry.items.size(); ++k) {
      const std::string& pair = entry.keys[k];
      const size_t arrow = pair.find('>');
      if (arrow == std::string::npos || arrow == 0 || arrow + 1 == pair.size()) {
        fields.fail_at(entry.items[k],
                       fmt::format("'{}' is not a pair of device kinds like \"cpu>gpu\"", pair));
        break;
      }
      const auto time = fields.as_integer(entry.items[k], "transfer_time_ns", kTime);
      transfers[i].push_back({device_kind(std::string_view(pair).substr(0, arrow)),
                              device_kind(std::string_view(pair).substr(arrow + 1)),
                              Duration(time.value_or(0))});
    }
  }
  return transfers;
}

std::optional<Command> command_from(Fields& fields, const std::string& file) {
  const Document* entry = fields.entry("command");
  if (entry == nullptr) return std::nullopt;
  Fields inner(*entry, file, "the command");
  Command command;
  command.argv = inner.texts("argv");
  if (const Document* environment = inner.entry("environment")) {
    if (environment->kind != Kind::object) {
      inner.fail_at(*environment, "the environment of a command must be a table of texts");
    }
    for (size_t i = 0; i < environment->keys.size(); ++i) {
      if (environment->items[i].kind != Kind::text) {
        inner.fail_at(environment->items[i],
                      fmt::format("variable '{}' must be a text; quote it", environment->keys[i]));
      }
      command.environment.emplace_back(environment->keys[i], environment->items[i].text);
    }
  }
  command.directory = inner.text("directory", "");
  command.input_files = inner.texts("input_files");
  command.output_files = inner.texts("output_files");
  const Fields::Whole time = {.fallback = 0, .most = kLongestTimeNs};
  command.timeout = Duration(inner.integer("timeout_ns", time));
  command.cpu_time = Duration(inner.integer("cpu_time_ns", time));
  command.memory_bytes = inner.integer("memory_bytes", {.fallback = 0, .most = kMostBytes});
  if (auto done = inner.done(); !done) {
    fields.fail_with(done.error());
  } else if (const std::string fault = fault_of(command); !fault.empty()) {
    fields.fail_at(*entry, "its command cannot be run: " + fault);
  }
  return command;
}

}  // namespace tutti
