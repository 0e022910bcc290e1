#include "tutti/serve/history/kept_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "tutti/base/file/document.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/trace/file.h"

namespace tutti {
namespace {

constexpr std::string_view kMagic = "tutti-history 1";
constexpr size_t kMostOps = 2000;  // with their waits, one by one
constexpr size_t kColumns = 60;    // of a timeline in text
constexpr size_t kMostLanes = 256;

// Shares of a slot's time, column by column.
struct TextLane {
  DeviceId device{};
  int slot = 0;
  std::vector<double> busy = std::vector<double>(kColumns, 0);
};

std::vector<TextLane> lanes_of(const Trace& trace, Duration end) {
  std::map<std::pair<int32_t, int>, TextLane> lanes;
  const double column = static_cast<double>(std::max<int64_t>(1, end.count())) / kColumns;
  for (const OpSpan& span : trace.ops) {
    TextLane& lane = lanes[{span.device.index, span.slot}];
    lane.device = span.device;
    lane.slot = span.slot;
    const double from = static_cast<double>(span.start.count()) / column;
    const double to = static_cast<double>(span.finish.count()) / column;
    for (size_t i = static_cast<size_t>(std::max(0.0, from)); i < kColumns; ++i) {
      const double covered =
          std::min(to, static_cast<double>(i + 1)) - std::max(from, static_cast<double>(i));
      if (covered <= 0) break;
      lane.busy[i] = std::min(1.0, lane.busy[i] + covered);
    }
  }
  std::vector<TextLane> listed;
  for (auto& [key, lane] : lanes) listed.push_back(std::move(lane));
  return listed;
}

void write_waits(const Waits& waits, JsonWriter& json) {
  json.field("deciding_ns", waits.deciding).field("device_ns", waits.device);
  json.field("operands_ns", waits.operands).field("memory_ns", waits.memory);
}

void write_ops(const RunRecord& run, JsonWriter& json) {
  const Graph& graph = run.problem->graph;
  const Machine& machine = run.problem->machine;
  const std::vector<OpWait> ops = op_waits(run);
  Waits sum;
  Duration running{0};
  for (const OpWait& op : ops) {
    sum += op.waits;
    running += op.finished - op.started;
  }
  json.key("waits").open_object();
  write_waits(sum, json);
  json.field("running_ns", running).close_object();
  json.field("ops_left_out", static_cast<int64_t>(ops.size() - std::min(ops.size(), kMostOps)));
  json.key("ops").open_list();
  for (size_t i = 0; i < std::min(ops.size(), kMostOps); ++i) {
    const OpWait& op = ops[i];
    json.open_object().field("op", std::string(graph.op_name(op.op)));
    json.field("device", machine.device(op.device).name).field("ready_ns", op.ready);
    write_waits(op.waits, json);
    json.field("start_ns", op.started).field("finish_ns", op.finished).close_object();
  }
  json.close_list();
}

void write_lanes(const RunRecord& run, JsonWriter& json) {
  const Machine& machine = run.problem->machine;
  json.key("lanes").open_list();
  size_t count = 0;
  for (const TextLane& lane : lanes_of(run.trace, run.completion)) {
    if (++count > kMostLanes) break;
    json.open_object().field("device", machine.device(lane.device).name).field("slot", lane.slot);
    json.key("busy").open_list();
    for (const double share : lane.busy) json.raw(fmt::format("{:.2g}", share));
    json.close_list().close_object();
  }
  json.close_list();
}

// One line for each thing that happened to the job as a whole.
void write_log(const JobFacts& facts, JsonWriter& json) {
  json.key("log").open_list();
  const auto line = [&](int64_t time_ms, const std::string& what) {
    json.open_object().field("unix_ms", time_ms).field("what", what).close_object();
  };
  line(facts.accepted_ms, facts.client.empty() ? "accepted" : "accepted from " + facts.client);
  if (facts.started_ms > 0)
    line(facts.started_ms, fmt::format("started, attempt {}", facts.attempts));
  if (facts.ended_ms > 0) {
    line(facts.ended_ms, facts.message.empty()
                             ? std::string(to_text(facts.state))
                             : fmt::format("{}: {}", to_text(facts.state), facts.message));
  }
  json.close_list();
}

double ratio(Duration time, Duration bound) {
  return static_cast<double>(time.count()) /
         static_cast<double>(std::max<int64_t>(1, bound.count()));
}

}  // namespace

KeptJob keep_job(const EndedJob& ended) {
  const JobFacts& facts = ended.facts;
  KeptJob kept{.summary = {}, .submission = ended.content == nullptr ? "" : *ended.content};
  JsonWriter json(/*inline_depth=*/2);
  json.open_object().field("format", "tutti-history").field("schema_version", 1);
  json.field("id", facts.id).field("number", facts.number).field("state", to_text(facts.state));
  json.field("accepted_unix_ms", facts.accepted_ms).field("graph", facts.graph);
  json.field("runtime", ended.runtime).field("policy", ended.policy);
  json.field("machine", ended.machine);
  const Duration queued = facts.started_ms == 0
                              ? Duration(0)
                              : std::chrono::milliseconds(facts.started_ms - facts.accepted_ms);
  json.field("queue_ns", std::max(queued, Duration(0)));
  if (ended.run != nullptr && facts.state == JobState::done) {
    const RunRecord& run = *ended.run;
    const Duration bound = critical_path(*run.problem);
    // Simulated time and the wall clock of the queue cannot be added.
    const bool real = ended.runtime == "local";
    json.field("run_ns", run.completion).field("critical_path_ns", bound);
    json.field("slowdown", ratio(real ? run.completion + queued : run.completion, bound));
    json.field("run_slowdown", ratio(run.completion, bound));
    if (run.entered > Duration(0)) json.field("waited_for_memory_ns", run.entered);
    if (!run.trace.ops.empty()) {
      write_ops(run, json);
      write_lanes(run, json);
      kept.trace = trace_to_text(*run.problem, run.trace);
    }
  }
  write_log(facts, json);
  json.close_object();
  kept.summary = json.take();
  return kept;
}

std::string to_file(const KeptJob& kept) {
  return fmt::format("{} {} {} {}\n", kMagic, kept.summary.size(), kept.trace.size(),
                     kept.submission.size()) +
         kept.summary + kept.trace + kept.submission;
}

Result<KeptJob> kept_job_from_file(const std::string& name, std::string text) {
  const auto broken = [&](const char* what) {
    return invalid_input(fmt::format("{}: {}; remove it, nothing else needs it", name, what));
  };
  const size_t end = text.find('\n');
  if (!text.starts_with(kMagic) || end == std::string::npos || end > 100)
    return broken("is no history of a job");
  const char* at = text.data() + kMagic.size();
  const char* const line_end = text.data() + end;
  size_t sizes[3] = {};
  for (size_t& size : sizes) {
    if (at == line_end || *at != ' ') return broken("has no sizes in its first line");
    const auto read = std::from_chars(at + 1, line_end, size);
    if (read.ec != std::errc{}) return broken("has no sizes in its first line");
    at = read.ptr;
  }
  const size_t left = text.size() - end - 1;
  if (at != line_end || sizes[0] > left || sizes[1] > left - sizes[0] ||
      sizes[2] != left - sizes[0] - sizes[1])
    return broken("is not as long as its first line says");
  return KeptJob{.summary = text.substr(end + 1, sizes[0]),
                 .trace = text.substr(end + 1 + sizes[0], sizes[1]),
                 .submission = text.substr(end + 1 + sizes[0] + sizes[1])};
}

bool is_summary_of(std::string_view summary, const JobFacts& job) {
  Source source = Source::from_text("history", std::string(summary));
  const Result<Document> document = read_json(source);
  if (!document) return false;
  const Document* const id = document->find("id");
  const Document* const accepted = document->find("accepted_unix_ms");
  return id != nullptr && accepted != nullptr && id->text == job.id &&
         static_cast<int64_t>(accepted->number) == job.accepted_ms;
}

}  // namespace tutti
