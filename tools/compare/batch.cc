#include "tools/compare/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>

#include "tools/version.h"
#include "tutti/base/fingerprint.h"
#include "tutti/base/mutex.h"
#include "tutti/base/parallel.h"
#include "tutti/plan/bound.h"
#include "tutti/search/compare.h"
#include "tutti/search/planners.h"

namespace tutti {
namespace {

// Digest of what stands in a file; empty without one.
Result<std::string> digest_of(const std::string& path) {
  if (path.empty()) return std::string();
  Result<Source> source = Source::open(path);
  if (!source) return source.error();
  const Result<std::string> text = source->read_all();
  if (!text) return text.error();
  Fingerprint fingerprint;
  fingerprint.add(std::string_view(*text));
  return fingerprint_text(fingerprint.value());
}

// All that decides a sample and is not in its other columns. What has its usual value is left out.
Result<std::string> settings_text(const BatchArguments& arguments) {
  std::string text = fmt::format("tutti {}; first seed {}; runs {}; model {}; order {}",
                                 build_facts().version, arguments.common.seed, arguments.runs,
                                 arguments.model.model, arguments.model.order);
  const auto add = [&](const char* name, const auto& value) {
    text += fmt::format("; {} {}", name, value);
  };
  const SearchOptions& search = arguments.search;
  if (arguments.inputs.noise) add("noise", *arguments.inputs.noise);
  if (arguments.inputs.cold) text += "; cold";
  if (!search.budget.empty()) add("budget", search.budget);
  if (search.evaluations) add("evaluations", *search.evaluations);
  if (search.scenarios) add("scenarios", *search.scenarios);
  if (search.tail_weight) add("tail-weight", *search.tail_weight);
  const ImportFlags& import = arguments.inputs.import_flags;
  for (const std::string& dim : import.dims) add("dim", dim);
  if (import.shards != 1) add("shard", import.shards);
  if (import.no_fuse) text += "; no-fuse";
  for (const auto& [name, path] :
       {std::pair("constraints", &arguments.inputs.constraints), {"network", &search.network}}) {
    const Result<std::string> digest = digest_of(*path);
    if (!digest) return digest.error();
    if (!digest->empty()) add(name, *digest);
  }
  return one_line(text);
}

std::string changed(const std::string& what, const std::string& name) {
  return fmt::format(
      "the {} '{}' was another when this sample was made; write to another file, or bring the {} "
      "back",
      what, name, what);
}

}  // namespace

// Problems while their cells run: read by the first, dropped with the last.
class Batch::Loader {
 public:
  struct Loaded {
    LoadedProblem problem;
    int64_t lower_bound_ns = 0;
  };

  Loader(const Batch& batch, const std::vector<size_t>& cells)
      : batch_(batch), slots_(batch.pairs_.size()) {
    for (const size_t cell : cells) ++slot_of(batch.cells_[cell]).cells;
  }

  Result<std::shared_ptr<const Loaded>> get(const BatchCell& cell) {
    Slot& slot = slot_of(cell);
    const MutexLock lock(slot.mutex);
    if (slot.loaded) return slot.loaded;
    Result<LoadedProblem> problem = batch_.load(cell.graph, cell.machine, /*quiet=*/true);
    if (!problem) return problem.error();
    const Pair& known = batch_.pair_of(cell);
    const Problem& made = *problem->problem;
    if (fingerprint_text(made.graph.fingerprint()) != known.graph_fingerprint ||
        fingerprint_text(made.machine.fingerprint()) != known.machine_fingerprint ||
        fingerprint_text(made.costs.fingerprint()) != known.costs_fingerprint) {
      return failed(fmt::format("'{}', '{}' or the costs were changed while the experiment ran",
                                batch_.arguments_->graphs[static_cast<size_t>(cell.graph)],
                                batch_.arguments_->machines[static_cast<size_t>(cell.machine)]));
    }
    const int64_t bound = lower_bounds(made).strongest().count();
    slot.loaded = std::make_shared<const Loaded>(Loaded{std::move(*problem), bound});
    return slot.loaded;
  }

  void done(const BatchCell& cell) {
    Slot& slot = slot_of(cell);
    const MutexLock lock(slot.mutex);
    if (--slot.cells == 0) slot.loaded.reset();
  }

 private:
  struct Slot {
    Mutex mutex;
    std::shared_ptr<const Loaded> loaded GUARDED_BY(mutex);
    int cells = 0;
  };

  Slot& slot_of(const BatchCell& cell) {
    const size_t machines = batch_.arguments_->machines.size();
    return slots_[static_cast<size_t>(cell.graph) * machines + static_cast<size_t>(cell.machine)];
  }

  const Batch& batch_;
  std::vector<Slot> slots_;
};

Result<Batch> Batch::prepare(const BatchArguments& arguments) {
  Batch batch(arguments);
  Result<AutoSettings> settings = arguments.search.settings(arguments.model, arguments.common);
  if (!settings) return settings.error();
  batch.auto_settings_ = std::move(*settings);
  batch.auto_settings_.threads = arguments.threads_for_each();
  for (const std::string& name : arguments.policies) {
    Result<PolicyEntry> entry = find_planner(name, batch.auto_settings_);
    if (!entry) return entry.error();
    batch.entries_.push_back(std::move(*entry));
  }
  if (batch.entries_.empty()) {
    batch.entries_ = planning_policies(batch.auto_settings_.trained_model);
  }
  if (const auto good = arguments.search.require_use(batch.entries_); !good) return good.error();
  for (const PolicyEntry& entry : batch.entries_) batch.policies_.push_back(entry.name);
  Result<std::string> text = settings_text(arguments);
  if (!text) return text.error();
  batch.settings_ = std::move(*text);
  if (const auto good = batch.read_pairs(); !good) return good.error();
  batch.list_cells();
  return batch;
}

Result<LoadedProblem> Batch::load(int graph, int machine, bool quiet) const {
  ProblemInputs inputs = arguments_->inputs;
  inputs.graph = arguments_->path_of_graph(arguments_->graphs[static_cast<size_t>(graph)]);
  inputs.machine = arguments_->path_of_machine(arguments_->machines[static_cast<size_t>(machine)]);
  inputs.import_flags.quiet = quiet;
  return inputs.load();
}

Result<void> Batch::read_pairs() {
  for (int graph = 0; graph < static_cast<int>(arguments_->graphs.size()); ++graph) {
    for (int machine = 0; machine < static_cast<int>(arguments_->machines.size()); ++machine) {
      const Result<LoadedProblem> loaded = load(graph, machine, /*quiet=*/false);
      Pair pair;
      if (loaded) {
        const Problem& problem = *loaded->problem;
        pair.graph_fingerprint = fingerprint_text(problem.graph.fingerprint());
        pair.machine_fingerprint = fingerprint_text(problem.machine.fingerprint());
        pair.costs_fingerprint = fingerprint_text(problem.costs.fingerprint());
        pair.ops = problem.graph.size();
        pair.devices = problem.machine.size();
        pair.draws = ScenarioSimulator(problem, arguments_->model.sim_model(),
                                       arguments_->model.ready_order())
                         .depends_on_seed();
      } else if (loaded.error().kind == Error::Kind::infeasible) {
        pair.refusal = loaded.error().message;
      } else {
        return loaded.error();
      }
      pairs_.push_back(std::move(pair));
    }
  }
  return {};
}

void Batch::list_cells() {
  const auto graphs = static_cast<int>(arguments_->graphs.size());
  const auto machines = static_cast<int>(arguments_->machines.size());
  for (int at = 0; at < graphs * machines; ++at) {
    const Pair& pair = pairs_[static_cast<size_t>(at)];
    for (size_t policy = 0; policy < entries_.size(); ++policy) {
      const bool once = !pair.refusal.empty() || (!entries_[policy].seeded && !pair.draws);
      for (int seed = 0; seed < (once ? 1 : arguments_->seeds); ++seed) {
        cells_.push_back({.graph = at / machines,
                          .machine = at % machines,
                          .policy = static_cast<int>(policy),
                          .seed = arguments_->common.seed + static_cast<uint64_t>(seed)});
        const Sample sample = blank(cells_.back());
        places_.try_emplace({sample.graph, sample.machine, sample.policy, sample.seed},
                            cells_.size() - 1);
      }
    }
  }
}

const Batch::Pair& Batch::pair_of(const BatchCell& cell) const {
  return pairs_[static_cast<size_t>(cell.graph) * arguments_->machines.size() +
                static_cast<size_t>(cell.machine)];
}

Sample Batch::blank(const BatchCell& cell) const {
  const Pair& pair = pair_of(cell);
  return {.graph = arguments_->graphs[static_cast<size_t>(cell.graph)],
          .machine = arguments_->machines[static_cast<size_t>(cell.machine)],
          .policy = policies_[static_cast<size_t>(cell.policy)],
          .seed = cell.seed,
          .error = pair.refusal,
          .ops = pair.ops,
          .devices = pair.devices,
          .graph_fingerprint = pair.graph_fingerprint,
          .machine_fingerprint = pair.machine_fingerprint,
          .costs_fingerprint = pair.costs_fingerprint,
          .settings = settings_};
}

Result<void> Batch::accept(const Sample& sample) const {
  if (sample.settings != settings_) {
    return invalid_input(fmt::format(
        "this sample was made with other settings: '{}' then, '{}' now; give the same flags, or "
        "write to another file",
        sample.settings, settings_));
  }
  const size_t place = place_of(sample);
  if (place == cells_.size()) return {};
  const Sample now = blank(cells_[place]);
  if (sample.graph_fingerprint != now.graph_fingerprint) {
    return invalid_input(changed("graph", sample.graph));
  }
  if (sample.machine_fingerprint != now.machine_fingerprint) {
    return invalid_input(changed("machine", sample.machine));
  }
  if (sample.costs_fingerprint != now.costs_fingerprint) {
    return invalid_input(
        "the costs were others when this sample was made; write to another file, or bring the "
        "costs back");
  }
  return {};
}

size_t Batch::place_of(const Sample& sample) const {
  const auto found = places_.find({sample.graph, sample.machine, sample.policy, sample.seed});
  return found == places_.end() ? cells_.size() : found->second;
}

std::vector<Sample> Batch::samples_of(const BatchCell& cell, const Problem& problem,
                                      int64_t lower_bound_ns) const {
  ScenarioSimulator judge(problem, arguments_->model.sim_model(), arguments_->model.ready_order());
  Sample sample = blank(cell);
  const PolicySample run =
      sample_policy(entries_[static_cast<size_t>(cell.policy)], problem, auto_settings_.budget,
                    judge.depends_on_seed() ? arguments_->runs : 1, judge, cell.seed);
  sample.lower_bound_ns = lower_bound_ns;
  if (arguments_->plan_time) sample.plan_seconds = run.plan_seconds;
  if (run.error) {
    sample.error = run.error->message;
    return {sample};
  }
  sample.evaluations = run.evaluations;
  sample.bytes_moved = static_cast<int64_t>(run.bytes_moved);
  if (run.planned_ns) sample.planned_ns = static_cast<int64_t>(*run.planned_ns);
  sample.runs = static_cast<int>(run.makespans_ns.size());
  std::vector<Sample> samples;
  for (const double makespan : run.makespans_ns) {
    sample.makespan_ns = static_cast<int64_t>(makespan);
    samples.push_back(sample);
    ++sample.run;
  }
  return samples;
}

Result<void> Batch::run(const std::vector<size_t>& cells, const Take& take) const {
  Loader loader(*this, cells);
  Mutex mutex;
  std::optional<Error> error;
  std::atomic<bool> over{false};
  const Stop stop = auto_settings_.budget.stop;
  const auto run_cell = [&](size_t at) -> Result<std::vector<Sample>> {
    const BatchCell& cell = cells_[at];
    if (!pair_of(cell).refusal.empty()) return std::vector<Sample>{blank(cell)};
    const auto loaded = loader.get(cell);
    if (!loaded) return loaded.error();
    return samples_of(cell, *(*loaded)->problem.problem, (*loaded)->lower_bound_ns);
  };
  parallel_for(static_cast<int>(cells.size()), arguments_->cells_at_once(), [&](int index, int) {
    if (over || stop.raised()) return;
    const size_t at = cells[static_cast<size_t>(index)];
    const Result<std::vector<Sample>> samples = run_cell(at);
    loader.done(cells_[at]);
    if (stop.raised()) return;  // a search that was cut short had less than its budget
    const MutexLock lock(mutex);
    if (over) return;
    const Result<void> taken = samples ? take(at, *samples) : Result<void>(samples.error());
    if (taken) return;
    error = taken.error();
    over = true;
  });
  if (error) return *error;
  return {};
}

}  // namespace tutti
