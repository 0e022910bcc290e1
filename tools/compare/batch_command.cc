// tutti batch: many graphs, machines, policies and seeds; every sample in a file, which a run that
// was cut short goes on with; and a table of all against a baseline.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>

#include "tools/commands.h"
#include "tools/compare/batch.h"
#include "tools/compare/batch_summary.h"
#include "tools/compare/sample_file.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/base/suggest.h"

namespace tutti {
namespace {

// How far it is, and how long it will take if cells of a policy go on taking as long as they did.
class BatchProgress {
 public:
  BatchProgress(const Batch& batch, const std::vector<size_t>& cells, int at_once)
      : batch_(batch), at_once_(at_once), total_(cells.size()) {
    for (const size_t cell : cells) ++left_[batch.cells()[cell].policy];
  }

  void cell_done(size_t cell) {
    const auto now = Clock::now();
    ++done_;
    const int policy = batch_.cells()[cell].policy;
    --left_[policy];
    // Cells run side by side: what passes between two ends is one part of a cell's time.
    spent_[policy] += std::chrono::duration<double>(now - last_).count() * at_once_;
    ++ended_[policy];
    last_ = now;
    show(now);
  }

  void clear() const {
    if (shows_progress()) fmt::print(stderr, "\r\033[K");
  }

 private:
  using Clock = std::chrono::steady_clock;

  // On a terminal with every cell; in a log once a minute.
  void show(Clock::time_point now) {
    const std::string line = fmt::format("{} of {} plans, {} left", done_, total_,
                                         to_text(nanoseconds_of(1e9 * std::ceil(seconds_left()))));
    if (shows_progress()) {
      fmt::print(stderr, "\r\033[K{} ...", line);
    } else if (now - said_ >= std::chrono::minutes(1)) {
      fmt::print(stderr, "tutti: {}\n", line);
      said_ = now;
    }
  }

  double seconds_left() const {
    double all = 0;
    double count = 0;
    for (const auto& [policy, seconds] : spent_) {
      all += seconds;
      count += ended_.at(policy);
    }
    double left = 0;
    for (const auto& [policy, cells] : left_) {
      const auto ended = ended_.find(policy);
      const double each = ended == ended_.end() ? all / count : spent_.at(policy) / ended->second;
      left += each * cells;
    }
    return left / at_once_;
  }

  const Batch& batch_;
  int at_once_;
  size_t total_;
  size_t done_ = 0;
  std::map<int, int> left_{};  // cells, by policy
  std::map<int, int> ended_{};
  std::map<int, double> spent_{};  // seconds
  Clock::time_point last_ = Clock::now();
  Clock::time_point said_ = last_;
};

Result<std::string> baseline_of(const BatchArguments& arguments,
                                const std::vector<std::string>& policies) {
  const auto takes_part = [&](const std::string& name) {
    return std::find(policies.begin(), policies.end(), name) != policies.end();
  };
  if (arguments.baseline.empty()) return takes_part("heft") ? "heft" : policies.front();
  if (takes_part(arguments.baseline)) return arguments.baseline;
  return invalid_input("--baseline: " +
                       unknown_word("policy in this experiment", arguments.baseline, policies));
}

struct Finished {
  BatchSummary summary;
  int64_t samples = 0;
  int64_t found = 0;  // of them were in the file
};

std::string finished_to_json(const BatchArguments& arguments, const Finished& finished) {
  const auto figure = [](JsonWriter& json, const char* key, const std::optional<double>& value) {
    json.key(key);
    value ? json.value(*value) : json.null();
  };
  JsonWriter json;
  json.open_object().field("schema_version", 1);
  json.field("graphs", static_cast<int64_t>(arguments.graphs.size()));
  json.field("machines", static_cast<int64_t>(arguments.machines.size()));
  json.field("pairs", finished.summary.pairs).field("seeds", arguments.seeds);
  json.field("samples", finished.samples).field("found", finished.found);
  json.field("baseline", finished.summary.baseline).key("policies").open_list();
  for (const PolicySummary& row : finished.summary.policies) {
    json.open_object().field("policy", row.policy);
    figure(json, "ratio", row.ratio);
    figure(json, "ratio_low", row.ratio_low);
    figure(json, "ratio_high", row.ratio_high);
    figure(json, "worst_ratio", row.worst_ratio);
    json.field("better", row.better).field("worse", row.worse);
    json.field("mean_rank", row.mean_rank).field("best", row.best);
    figure(json, "mean_gap", row.mean_gap);
    json.field("pairs", row.pairs).field("refused", row.refused).close_object();
  }
  json.close_list().close_object();
  return json.text();
}

void print_finished(const BatchArguments& arguments, const Finished& finished) {
  if (arguments.common.json) {
    fmt::print("{}", finished_to_json(arguments, finished));
    return;
  }
  fmt::print("graphs: {}, machines: {}, policies: {}, seeds: {}, samples: {}{}\n",
             arguments.graphs.size(), arguments.machines.size(), finished.summary.policies.size(),
             arguments.seeds, finished.samples,
             finished.found == 0 ? "" : fmt::format(" ({} were there)", finished.found));
  fmt::print("{}", batch_table(finished.summary));
  fmt::print(
      "  x {0}: mean makespan divided by that of {0}, geometric mean over pairs of graph and "
      "machine\n",
      finished.summary.baseline);
  if (!arguments.output.empty()) fmt::print("samples written to {}\n", arguments.output);
}

// The cells that have no samples yet, in their order.
std::vector<size_t> cells_to_run(const Batch& batch, const std::vector<Sample>& samples) {
  std::vector<bool> there(batch.cells().size() + 1, false);
  for (const Sample& sample : samples) there[batch.place_of(sample)] = true;
  std::vector<size_t> cells;
  for (size_t cell = 0; cell < batch.cells().size(); ++cell) {
    if (!there[cell]) cells.push_back(cell);
  }
  return cells;
}

// Those of this experiment, in the order of its cells: a file may hold others too.
std::vector<Sample> in_order(const Batch& batch, std::vector<Sample> samples) {
  samples.erase(std::remove_if(samples.begin(), samples.end(),
                               [&](const Sample& sample) {
                                 return batch.place_of(sample) == batch.cells().size();
                               }),
                samples.end());
  std::stable_sort(samples.begin(), samples.end(), [&](const Sample& a, const Sample& b) {
    return batch.place_of(a) < batch.place_of(b);
  });
  return samples;
}

Result<std::optional<SampleFile>> open_samples(const BatchArguments& arguments,
                                               const SampleFormat& format, const Batch& batch) {
  if (arguments.output.empty()) return std::optional<SampleFile>();
  Result<SampleFile> file = SampleFile::open(
      arguments.output, format, [&](const Sample& sample) { return batch.accept(sample); });
  if (!file) return file.error();
  if (file->dropped() > 0) {
    print_note(fmt::format("{}: samples that were not whole were dropped: {}", arguments.output,
                           file->dropped()));
  }
  return std::optional<SampleFile>(std::move(*file));
}

int report_interrupt(const BatchArguments& arguments, size_t done, size_t all) {
  tell_of_interrupt(arguments.output.empty()
                        ? "no summary without all samples; with --output they would be kept"
                        : "the same command goes on from the samples that are written");
  print_note(fmt::format("{} of {} plans had been made", done, all));
  return 0;  // the program turns it into 130
}

int run_batch(BatchArguments& arguments) {
  if (const auto good = arguments.take_experiment(); !good) return report(good.error());
  if (const auto good = arguments.check(); !good) return report(good.error());
  SampleFormat format;
  if (!arguments.output.empty()) {
    const Result<SampleFormat> chosen = SampleFormat::of(arguments.output, arguments.plan_time);
    if (!chosen) return report(chosen.error());
    format = *chosen;
  }
  const Result<Batch> batch = Batch::prepare(arguments);
  if (!batch) return report(batch.error());
  const Result<std::string> baseline = baseline_of(arguments, batch->policies());
  if (!baseline) return report(baseline.error());
  Result<std::optional<SampleFile>> file = open_samples(arguments, format, *batch);
  if (!file) return report(file.error());
  std::vector<Sample> samples = *file ? (*file)->samples() : std::vector<Sample>();
  const std::vector<size_t> cells = cells_to_run(*batch, samples);
  const auto found = static_cast<int64_t>(in_order(*batch, samples).size());
  BatchProgress progress(*batch, cells, arguments.cells_at_once());
  size_t done = 0;
  const Result<void> ran = batch->run(cells, [&](size_t cell, const std::vector<Sample>& made) {
    samples.insert(samples.end(), made.begin(), made.end());
    const Result<void> kept = *file ? (*file)->append(made) : Result<void>();
    if (kept) progress.cell_done(cell);
    done += kept ? 1 : 0;
    return kept;
  });
  progress.clear();
  if (!ran) return report(ran.error());
  if (done < cells.size()) return report_interrupt(arguments, done, cells.size());
  if (*file) {
    const auto finished =
        (*file)->finish([&](const Sample& sample) { return batch->place_of(sample); });
    if (!finished) return report(finished.error());
  }
  samples = in_order(*batch, std::move(samples));
  print_finished(arguments, {.summary = summarise_batch(samples, batch->policies(), *baseline),
                             .samples = static_cast<int64_t>(samples.size()),
                             .found = found});
  const bool any = std::any_of(samples.begin(), samples.end(),
                               [](const Sample& sample) { return sample.error.empty(); });
  return any ? 0 : report(infeasible(samples.back().error));
}

}  // namespace

void add_batch_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "batch",
      "Compare policies on many graphs and machines, keep every sample, go on after a kill");
  command->footer(
      "Example: tutti batch graphs/*.json -m p100-4,v100-8-nvlink --policies heft,peft,auto "
      "--seeds "
      "5 -o samples.csv\n"
      "         tutti batch experiment.toml -o samples.jsonl");
  auto arguments = std::make_shared<BatchArguments>();
  arguments->add_to(*command);
  command->callback([arguments, &exit_code] { exit_code = run_batch(*arguments); });
}

}  // namespace tutti
