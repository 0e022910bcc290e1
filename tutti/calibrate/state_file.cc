#include "tutti/calibrate/state_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "tutti/base/file/document.h"
#include "tutti/base/file/fields.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/base/fingerprint.h"

namespace tutti {
namespace {

constexpr const char* kFormat = "tutti-calibration";
constexpr double kMostWork = 1e30;
constexpr double kMostStatedScale = 1e4;
constexpr double kMostExtraNs = 1e12;
constexpr const char* kLatency = "latency";  // as a kind that is nowhere
constexpr double kMostStatedLog = 39;  // e^39 ns are nearly the longest time that a file may state

void write_cell(JsonWriter& json, const CellKey& key, const Posterior& posterior) {
  const Posterior::State& state = posterior.state();
  json.open_object().field("kind", key.kind).field("where", key.where);
  json.field("variant", key.work.variant).field("flops", key.work.flops);
  json.field("read_bytes", key.work.read_bytes).field("written_bytes", key.work.written_bytes);
  json.field("runs", state.runs).field("count", state.count).field("outliers", state.outliers);
  json.field("rise", state.rise).field("fall", state.fall).field("rising", state.rising);
  json.field("falling", state.falling);
  json.key("samples").open_list();
  for (const Posterior::Sample& sample : state.samples) {
    json.open_list().value(sample.run).value(sample.log).close_list();
  }
  json.close_list().close_object();
}

void read_samples(Fields& fields, Posterior::State& state) {
  for (const Document& item : fields.items("samples")) {
    if (item.kind != Document::Kind::array || item.items.size() != 2) {
      return fields.fail_at(item, "\"samples\" must be a list of [run, logarithm of time]");
    }
    const auto run = fields.as_integer(item.items[0], "run", {.most = state.runs - 1});
    const auto log = fields.as_number(item.items[1], "logarithm",
                                      {.least = -kMostStatedLog, .most = kMostStatedLog});
    if (!run || !log) return;
    if (!state.samples.empty() && state.samples.back().run > *run) {
      return fields.fail_at(item, "the runs of \"samples\" must ascend");
    }
    state.samples.push_back({*log, *run});
  }
  if (state.samples.empty() || state.samples.size() > Posterior::kKept) {
    fields.fail(fmt::format("a cell must hold 1 to {} samples", Posterior::kKept));
  }
}

void read_cell(const Document& item, Fields& above, const std::string& file,
               std::map<CellKey, Posterior>& cells) {
  Fields fields(item, file, "a cell");
  CellKey key;
  key.kind = fields.text("kind", "");
  key.where = fields.text("where", "");
  key.work.variant = fields.text("variant", "");
  key.work.flops = fields.number("flops", {.most = kMostWork});
  key.work.read_bytes = fields.number("read_bytes", {.most = kMostWork});
  key.work.written_bytes = fields.number("written_bytes", {.most = kMostWork});
  Posterior::State state;
  state.runs = fields.integer("runs", {.least = 1});
  read_samples(fields, state);
  const auto kept = static_cast<int64_t>(state.samples.size());
  state.count = fields.integer("count", {.least = kept});
  state.outliers = fields.integer("outliers", {.most = state.count});
  state.rise = fields.number("rise", {.most = 100});
  state.fall = fields.number("fall", {.most = 100});
  state.rising = fields.integer("rising", {.most = state.runs});
  state.falling = fields.integer("falling", {.most = state.runs});
  if (fields.good() && !cells.emplace(key, Posterior::from(std::move(state))).second) {
    fields.fail("the cell stands twice");
  }
  fields.done_within(above);
}

Drift read_drift(const Document& item, Fields& above, const std::string& file) {
  Fields fields(item, file, "a drift");
  Drift drift;
  drift.kind = fields.text("kind", "");
  drift.where = fields.text("where", "");
  drift.ratio = fields.number("ratio", {.least = 1e-30, .most = 1e30});
  drift.cells = static_cast<int>(fields.integer("cells", {.least = 1, .most = 1 << 20}));
  drift.run = fields.integer("run", {});
  drift.when = fields.text("when", "");
  fields.done_within(above);
  return drift;
}

Scales read_scales(Fields& above, const std::string& file) {
  Scales scales;
  for (const Document& item : above.items("scales")) {
    Fields fields(item, file, "a scale");
    const std::string kind = fields.text("kind", "");
    const std::string where = fields.text("where", "");
    const double scale =
        fields.number("scale", {.least = 1 / kMostStatedScale, .most = kMostStatedScale});
    bool fresh = true;
    if (where.empty()) {
      (kind == kLatency ? scales.latency : scales.transfers) = scale;
      if (!kind.empty() && kind != kLatency) fields.fail("a scale of ops needs the key \"where\"");
    } else {
      if (!kind.empty())
        fields.fail(
            "a scale is of all ops on a kind of device; a state that has one for a kind of op is "
            "of an earlier tutti: measure again, with another file for --state");
      fresh = scales.devices.emplace(where, scale).second;
    }
    if (!fresh) fields.fail("the scale stands twice");
    fields.done_within(above);
  }
  for (const Document& item : above.items("stretches")) {
    Fields fields(item, file, "a stretch");
    const std::string kind = fields.text("kind");
    const std::string where = fields.text("where");
    const Stretch stretch{
        .factor =
            fields.number("factor", {.least = 1 / kMostStatedScale, .most = kMostStatedScale}),
        .extra_ns = fields.number("extra_ns", {.least = -kMostExtraNs, .most = kMostExtraNs})};
    const bool fresh = scales.kinds.emplace(std::pair(kind, where), stretch).second;
    if (!fresh) fields.fail("the stretch stands twice");
    fields.done_within(above);
  }
  return scales;
}

void write_scales(JsonWriter& json, const Scales& scales) {
  const auto row = [&](const std::string& kind, const std::string& where, double scale) {
    json.open_object().field("kind", kind).field("where", where);
    json.field("scale", scale).close_object();
  };
  json.key("scales").open_list();
  row("", "", scales.transfers);
  row(kLatency, "", scales.latency);
  for (const auto& [where, scale] : scales.devices) row("", where, scale);
  json.close_list().key("stretches").open_list();
  for (const auto& [key, stretch] : scales.kinds) {
    json.open_object().field("kind", key.first).field("where", key.second);
    json.field("factor", stretch.factor).field("extra_ns", stretch.extra_ns).close_object();
  }
  json.close_list();
}

}  // namespace

std::string calibration_to_json(const CalibrationState& state) {
  const Knowledge& knowledge = state.knowledge;
  JsonWriter json;
  json.open_object().field("format", kFormat).field("schema_version", 1);
  json.field("machine_fingerprint", fingerprint_text(state.machine_fingerprint));
  json.field("experiments_fingerprint", fingerprint_text(state.experiments_fingerprint));
  json.field("runs", state.runs).field("runs_learned", knowledge.runs());
  json.key("graphs").open_list();
  for (const uint64_t graph : knowledge.graphs()) json.value(fingerprint_text(graph));
  json.close_list().key("drifts").open_list();
  for (const Drift& drift : knowledge.drifts()) {
    json.open_object().field("kind", drift.kind).field("where", drift.where);
    json.field("ratio", drift.ratio).field("cells", drift.cells).field("run", drift.run);
    json.field("when", drift.when).close_object();
  }
  json.close_list();
  write_scales(json, knowledge.scales());
  json.key("cells").open_list();
  for (const auto& [key, posterior] : knowledge.cells()) write_cell(json, key, posterior);
  return json.close_list().close_object().text();
}

Result<CalibrationState> read_calibration(Source& source) {
  const std::string file = source.name();
  const Result<Document> root = read_json(source);
  if (!root) return root.error();
  Fields fields(*root, file, "the calibration");
  if (fields.text("format") != kFormat) {
    fields.fail(fmt::format("this is no calibration; 'format' must be {}", kFormat));
  }
  fields.schema_version(1);
  CalibrationState state;
  state.machine_fingerprint = fields.fingerprint("machine_fingerprint");
  state.experiments_fingerprint = fields.fingerprint("experiments_fingerprint");
  state.runs = fields.integer("runs", {});
  Knowledge::State knowledge;
  knowledge.runs = fields.integer("runs_learned", {});
  knowledge.graphs = fields.fingerprints("graphs");
  if (std::adjacent_find(knowledge.graphs.begin(), knowledge.graphs.end(),
                         std::greater_equal<>()) != knowledge.graphs.end()) {
    fields.fail("the fingerprints of \"graphs\" must ascend");
  }
  for (const Document& item : fields.items("drifts")) {
    knowledge.drifts.push_back(read_drift(item, fields, file));
  }
  knowledge.scales = read_scales(fields, file);
  const std::vector<Document>& cells = fields.items("cells");
  if (cells.size() > Knowledge::kMostCells) {
    fields.fail(fmt::format("there are more than {} cells", Knowledge::kMostCells));
  } else {
    for (const Document& item : cells) read_cell(item, fields, file, knowledge.cells);
  }
  if (auto done = fields.done(); !done) return done.error();
  state.knowledge = Knowledge::from(std::move(knowledge));
  return state;
}

Result<CalibrationState> load_calibration(const std::string& path, const Machine& machine) {
  Result<Source> source = Source::open(path);
  if (!source) return source.error();
  Result<CalibrationState> state = read_calibration(*source);
  if (state && state->machine_fingerprint != machine.fingerprint()) {
    return invalid_input(fmt::format(
        "{}: this was measured on another machine than '{}'; delete the file to start again", path,
        machine.name()));
  }
  return state;
}

}  // namespace tutti
