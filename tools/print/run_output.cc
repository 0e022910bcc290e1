#include "tools/print/run_output.h"

#include <fmt/format.h>

#include "tools/print/table.h"
#include "tutti/base/file/output.h"
#include "tutti/trace/file.h"

namespace tutti {
namespace {

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

}  // namespace

std::string device_table(const Problem& problem, const TraceStats& stats) {
  const bool has_memory = !stats.peak_memory_bytes.empty();
  std::vector<std::string> head = {"device",        "ops",        "busy",      "waits for data",
                                   "for producers", "for memory", "for order", "is done"};
  if (has_memory) head.push_back("peak memory");
  Table table(head);
  for (const DeviceId id : problem.machine.devices()) {
    const DeviceStats& device = stats.devices[static_cast<size_t>(id.index)];
    std::vector<std::string> row = {
        problem.machine.device(id).name,   std::to_string(device.ops),
        percent(device.busy_share),        percent(device.waiting_for_data),
        percent(device.waiting_for_ops),   percent(device.waiting_for_memory),
        percent(device.waiting_for_order), percent(device.finished)};
    if (has_memory) {
      const MemoryId memory = problem.machine.memory_of(id);
      row.push_back(bytes_to_text(stats.peak_memory_bytes[static_cast<size_t>(memory.index)]));
    }
    table.add(row);
  }
  return table.text();
}

void add_devices(JsonWriter& json, const Problem& problem, const TraceStats& stats) {
  json.key("devices").open_list();
  for (const DeviceId id : problem.machine.devices()) {
    const DeviceStats& device = stats.devices[static_cast<size_t>(id.index)];
    json.open_object().field("device", problem.machine.device(id).name).field("ops", device.ops);
    json.field("busy", device.busy_share).field("waiting_for_data", device.waiting_for_data);
    json.field("waiting_for_ops", device.waiting_for_ops);
    json.field("waiting_for_memory", device.waiting_for_memory);
    json.field("waiting_for_order", device.waiting_for_order);
    json.field("finished", device.finished);
    if (!stats.peak_memory_bytes.empty()) {
      json.field("peak_memory_bytes",
                 stats.peak_memory_bytes[static_cast<size_t>(problem.machine.memory_of(id).index)]);
    }
    json.close_object();
  }
  json.close_list().key("channels").open_list();
  for (int32_t i = 0; i < problem.machine.channel_count(); ++i) {
    json.open_object().field("channel", problem.machine.channel(ChannelId{i}).name);
    json.field("busy", stats.channel_busy_share[static_cast<size_t>(i)]).close_object();
  }
  json.close_list();
}

Result<void> write_trace_to(const std::string& path, const Problem& problem, const Trace& trace) {
  Result<Output> output = Output::open(path);
  if (!output) return output.error();
  write_trace(problem, trace, *output);
  return output->commit();
}

Error with_partial_trace(Error error, const std::string& path, const Problem& problem,
                         const Trace& partial) {
  if (path.empty() || path == "-" || partial.ops.empty()) return error;
  if (!write_trace_to(path, problem, partial)) return error;
  error.message += fmt::format("; what had run until then is in {}", path);
  return error;
}

}  // namespace tutti
