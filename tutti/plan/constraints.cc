#include "tutti/plan/constraints.h"

#include <fmt/format.h>

#include <utility>

#include "tutti/base/file/fields.h"

namespace tutti {
namespace {

Result<Constraints::MemoryLimit> read_memory_limit(const Document& item, const std::string& file) {
  Fields fields(item, file, "memory_limit");
  Constraints::MemoryLimit limit;
  limit.memory = fields.text("memory");
  limit.bytes = fields.integer("bytes", {});
  if (auto done = fields.done(); !done) return done.error();
  return limit;
}

Result<std::vector<std::string>> read_colocation(const Document& item, const std::string& file) {
  const Error wrong =
      error_at(file, item.line, "each of colocate must be a list of two ops or more");
  if (item.kind != Document::Kind::array || item.items.size() < 2) return wrong;
  std::vector<std::string> ops;
  for (const Document& op : item.items) {
    if (op.kind != Document::Kind::text || op.text.empty()) return wrong;
    ops.push_back(op.text);
  }
  return ops;
}

Result<Constraints::Pin> read_pin(const Document& item, const std::string& file) {
  Fields fields(item, file, "pin");
  Constraints::Pin pin;
  pin.op = fields.text("op");
  const std::string device = fields.text("device", "");
  pin.devices = fields.texts("devices");
  if (device.empty() == pin.devices.empty()) {
    fields.fail("pin needs either \"device\" or a list \"devices\" that is not empty");
  }
  if (!device.empty()) pin.devices = {device};
  if (auto done = fields.done(); !done) return done.error();
  return pin;
}

Result<Constraints::Forbidden> read_forbidden(const Document& item, const std::string& file) {
  Fields fields(item, file, "forbid");
  Constraints::Forbidden forbidden;
  forbidden.op = fields.text("op", "");
  forbidden.op_kind = fields.text("op_kind", "");
  forbidden.device = fields.text("device", "");
  forbidden.device_kind = fields.text("device_kind", "");
  if (forbidden.op.empty() == forbidden.op_kind.empty()) {
    fields.fail("forbid needs either \"op\" or \"op_kind\"");
  }
  if (forbidden.device.empty() == forbidden.device_kind.empty()) {
    fields.fail("forbid needs either \"device\" or \"device_kind\"");
  }
  if (auto done = fields.done(); !done) return done.error();
  return forbidden;
}

// Reads every item of the list `key` with `read`; `fields` remembers the first error.
template <class T>
std::vector<T> read_each(Fields& fields, const char* key, const std::string& file,
                         Result<T> (*read)(const Document&, const std::string&)) {
  std::vector<T> all;
  for (const Document& item : fields.items(key)) {
    Result<T> one = read(item, file);
    if (one) {
      all.push_back(std::move(*one));
    } else {
      fields.fail_with(one.error());
    }
  }
  return all;
}

}  // namespace

Result<Constraints> read_constraints(Source& source) {
  const Result<Document> document = read_document(source);
  if (!document) return document.error();
  const std::string& file = source.name();
  Fields fields(*document, file, "a constraints file");
  fields.schema_version(1);
  Constraints constraints;
  constraints.memory = fields.boolean("memory", true);
  constraints.memory_limits = read_each(fields, "memory_limit", file, read_memory_limit);
  constraints.colocations = read_each(fields, "colocate", file, read_colocation);
  constraints.pins = read_each(fields, "pin", file, read_pin);
  constraints.forbidden = read_each(fields, "forbid", file, read_forbidden);
  if (auto done = fields.done(); !done) return done.error();
  return constraints;
}

}  // namespace tutti
