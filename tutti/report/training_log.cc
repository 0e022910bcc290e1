#include "tutti/report/training_log.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "tutti/base/file/fields.h"
#include "tutti/base/file/json_lines.h"

namespace tutti {
namespace {

constexpr int64_t kMostCount = int64_t{1} << 53;  // the page's numbers are exact up to here
constexpr double kMostSeconds = 1e12;
constexpr double kLargestFigure = 1e15;
constexpr int kMostStages = 1000;

Figure figure(Fields& fields, std::string_view key) {
  constexpr double kMost = std::numeric_limits<double>::max();
  const Document* entry = fields.entry(key);
  if (entry == nullptr || entry->kind == Document::Kind::null) return std::nullopt;
  const Figure number = fields.as_number(*entry, key, {.least = -kMost, .most = kMost});
  return number && std::abs(*number) <= kLargestFigure ? number : std::nullopt;
}

struct Logged {
  LoggedUpdate update;
  int stage = 0;
  Figure greedy_ratio{};
};

Result<Logged> parse(const Document& line, const std::string& file) {
  Fields fields(line, file, "the update");
  Logged logged;
  LoggedUpdate& update = logged.update;
  update.time.update = fields.integer("update", {.most = kMostCount});
  update.time.episodes = fields.integer("episodes", {.most = kMostCount});
  update.time.seconds = fields.number("seconds", {.most = kMostSeconds});
  const bool symphony = fields.entry("slowdown") != nullptr;  // which has one stage
  if (!symphony) logged.stage = static_cast<int>(fields.integer("stage", {.most = kMostStages}));
  update.mean_ratio = figure(fields, "mean_ratio");
  update.best_ratio = figure(fields, "best_ratio");
  update.label_ratio = figure(fields, "label_ratio");
  update.match = figure(fields, "match");
  update.loss = figure(fields, "loss");
  update.select_entropy = figure(fields, "select_entropy");
  update.place_entropy = figure(fields, symphony ? "entropy" : "place_entropy");
  update.gradient_norm = figure(fields, "gradient_norm");
  logged.greedy_ratio = figure(fields, symphony ? "ratio" : "greedy_ratio");
  if (auto done = fields.done_with_foreign_keys(); !done) return done.error();
  return logged;
}

// Takes updates one after the other. Every stride-th is kept; when they become too many, every
// other one is dropped and the stride doubles, so that what is kept depends on the log alone.
class Collector {
 public:
  explicit Collector(std::string file) : file_(std::move(file)) {}

  Result<void> take(Logged logged, int line) {
    TrainingTime& time = logged.update.time;
    if (log_.update_count > 0) {
      if (time.update <= last_.time.update || time.episodes < last_.time.episodes ||
          logged.stage < log_.stages.back().stage) {
        return error_at(file_, line,
                        fmt::format("update {} follows update {} but does not go on from it; give "
                                    "the log of each training run as a file of its own",
                                    time.update, last_.time.update));
      }
      // A resumed run counts its seconds from 0.
      if (time.seconds < last_logged_seconds_) earlier_seconds_ += last_logged_seconds_;
      last_logged_seconds_ = time.seconds;
      time.seconds += earlier_seconds_;
    } else {
      last_logged_seconds_ = time.seconds;
    }
    if (log_.stages.empty() || log_.stages.back().stage != logged.stage) {
      log_.stages.push_back({.stage = logged.stage, .before = last_.time});
    }
    if (logged.greedy_ratio) {
      if (log_.greedy.size() == kMostGreedyPoints) {
        return error_at(file_, line,
                        fmt::format("there are more than {} greedy ratios, which no page could "
                                    "show; give the lines of fewer updates",
                                    kMostGreedyPoints));
      }
      log_.greedy.push_back({.time = time, .ratio = *logged.greedy_ratio});
    }
    keep(logged.update);
    return {};
  }

  int64_t count() const { return log_.update_count; }

  // Requires that something was taken.
  TrainingLog finish() {
    if (log_.updates.back().time.update != last_.time.update) log_.updates.push_back(last_);
    return std::move(log_);
  }

 private:
  void keep(const LoggedUpdate& update) {
    last_ = update;
    if (log_.update_count++ % stride_ != 0) return;
    if (log_.updates.size() == kMostLoggedUpdates) {
      for (size_t i = 0; 2 * i < kMostLoggedUpdates; ++i) log_.updates[i] = log_.updates[2 * i];
      log_.updates.resize((kMostLoggedUpdates + 1) / 2);
      stride_ *= 2;
      if ((log_.update_count - 1) % stride_ != 0) return;
    }
    log_.updates.push_back(update);
  }

  std::string file_;
  TrainingLog log_;
  LoggedUpdate last_{};
  double last_logged_seconds_ = 0;
  double earlier_seconds_ = 0;
  int64_t stride_ = 1;
};

}  // namespace

bool looks_like_training_log(std::string_view start) {
  const size_t first = start.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || start[first] != '{') return false;
  const std::string_view line = start.substr(first, start.find('\n', first) - first);
  return line.find("\"update\"") != std::string_view::npos &&
         line.find("\"episodes\"") != std::string_view::npos &&
         (line.find("\"mean_ratio\"") != std::string_view::npos ||
          line.find("\"slowdown\"") != std::string_view::npos);
}

Result<TrainingLog> read_training_log(Source& source) {
  const std::string file = source.name();
  Collector collector(file);
  bool cut = false;
  for (bool more = true; more;) {
    const Result<JsonLine> line = next_json_line(
        source, kLongestLogLine, "no training log has such: give the log.jsonl of a training run");
    if (!line) return line.error();
    more = line->whole;
    if (line->blank()) continue;
    const Result<Document> document = read_json_line(*line, file);
    if (!document) {
      if (line->whole) return document.error();
      cut = true;  // the writer was killed
      continue;
    }
    Result<Logged> logged = parse(*document, file);
    if (!logged) return logged.error();
    if (auto taken = collector.take(*logged, line->number); !taken) return taken.error();
  }
  if (collector.count() == 0) {
    return invalid_input(fmt::format(
        "{}: holds no whole update of a training run; let tutti train make one first", file));
  }
  TrainingLog log = collector.finish();
  log.name = file;
  log.cut = cut;
  return log;
}

}  // namespace tutti
