#include "tutti/train/doppler/real_stage.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "tutti/base/file/folder_lock.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/base/file/output.h"
#include "tutti/calibrate/search_proposer.h"
#include "tutti/calibrate/state_file.h"
#include "tutti/plan/file.h"
#include "tutti/train/checkpoint.h"
#include "tutti/train/doppler/labels.h"

namespace tutti {
namespace {

// Names in the checkpoint, in addition to the learner's.
constexpr const char* kGraph = "real.graph";
constexpr const char* kMachine = "real.machine";
constexpr const char* kRound = "real.round";
constexpr const char* kRuns = "real.runs";
constexpr const char* kStartNs = "real.start_ns";
constexpr const char* kBest = "real.best";
constexpr const char* kPastCount = "real.past";
constexpr const char* kBestNs = "real.best_ns";
constexpr const char* kCompleteWith = "real.complete_with";
constexpr const char* kProposer = "real.proposer";  // absent: the policy
constexpr const char* kSearch = "search";

// Of the control, for each plan that it proposes.
constexpr int64_t kSimulationsForEach = 1000;

std::string past_name(int64_t index) {
  return fmt::format("real.past.{}", index);
}

struct Files {
  explicit Files(const std::string& folder)
      : checkpoint(folder + "/checkpoint.safetensors"),
        model(folder + "/model.safetensors"),
        knowledge(folder + "/knowledge.json"),
        plan(folder + "/plan.json"),
        log(folder + "/log.jsonl") {}
  std::string checkpoint, model, knowledge, plan, log;
};

std::string log_line(const RealRound& round) {
  JsonWriter json(0);
  json.open_object().field("round", round.round).field("runs", round.runs);
  json.field("best_ns", round.best_ns).field("start_ns", round.start_ns);
  json.field("raced", round.raced).field("refused", round.refused);
  json.field("prediction_error", round.error);
  if (round.own) {
    json.field("own_predicted_ratio", round.own->predicted);
    if (round.own->mean_ns) json.field("own_ns", *round.own->mean_ns);
  }
  json.close_object();
  return json.text();
}

// The proposer of plans, as its folder sees it.
struct ProposerFiles {
  bool learns = true;
  const char* policy = "doppler (stage III)";  // in the plan's provenance
  std::function<TensorFile()> checkpoint{};    // of a learner
  std::function<TensorFile()> model{};
};

// What a folder holds of an earlier call.
struct Kept {
  TensorFile learner{};
  std::optional<RealSearchState> state{};
  Knowledge knowledge{};
};

Result<void> check_kind(const TensorFile& file, const std::string& path, bool learns) {
  if (!file.metadata.contains(kGraph)) {
    return invalid_input(path + ": this run is one in simulation; name another folder");
  }
  const auto found = file.metadata.find(kProposer);
  const bool learned = found == file.metadata.end() || found->second != kSearch;
  if (learned == learns) return {};
  return invalid_input(
      fmt::format("{}: this run was begun {} --search-alone; {}, or name another "
                  "folder",
                  path, learned ? "without" : "with", learned ? "leave it out" : "give it again"));
}

Result<Kept> load(const Files& files, const Problem& problem, bool learns) {
  Result<Source> source = Source::open(files.checkpoint);
  if (!source) return source.error();
  Result<TensorFile> file = read_tensors(*source);
  if (!file) return file.error();
  if (auto good = check_kind(*file, files.checkpoint, learns); !good) return good.error();
  const auto is = [&](const char* key, uint64_t fingerprint) {
    const auto found = file->metadata.find(key);
    return found != file->metadata.end() && found->second == fmt::format("{:x}", fingerprint);
  };
  if (!is(kGraph, problem.graph.fingerprint()) || !is(kMachine, problem.machine.fingerprint())) {
    return invalid_input(
        fmt::format("{}: this run was begun with another graph or machine; repeat those, or name "
                    "another folder",
                    files.checkpoint));
  }
  const auto round = file->count(kRound, files.checkpoint);
  const auto runs = file->count(kRuns, files.checkpoint);
  const auto start_ns = file->count(kStartNs, files.checkpoint);
  if (!round) return round.error();
  if (!runs) return runs.error();
  if (!start_ns) return start_ns.error();
  const auto best_ns = file->count(kBestNs, files.checkpoint);
  const auto complete_with = file->count(kCompleteWith, files.checkpoint);
  if (!best_ns) return best_ns.error();
  if (!complete_with) return complete_with.error();
  Result<Plan> best = kept_plan(kBest, problem, *file, files.checkpoint);
  if (!best) return best.error();
  const auto past_count = file->count(kPastCount, files.checkpoint);
  if (!past_count) return past_count.error();
  std::vector<Plan> past;
  for (int64_t i = 0; i < *past_count; ++i) {
    Result<Plan> plan = kept_plan(past_name(i), problem, *file, files.checkpoint);
    if (!plan) return plan.error();
    past.push_back(std::move(*plan));
  }
  Result<Source> known = Source::open(files.knowledge);
  if (!known) return known.error();
  Result<CalibrationState> calibration = read_calibration(*known);
  if (!calibration) return calibration.error();
  Kept kept;
  kept.state = RealSearchState{.best = std::move(*best),
                               .past = std::move(past),
                               .round = static_cast<int>(*round),
                               .runs = *runs,
                               .start_ns = static_cast<double>(*start_ns),
                               .best_ns = static_cast<double>(*best_ns),
                               .complete_with = *complete_with};
  kept.knowledge = std::move(calibration->knowledge);
  kept.learner = std::move(*file);
  for (auto it = kept.learner.tensors.begin(); it != kept.learner.tensors.end();) {
    it = it->first.starts_with("real.") ? kept.learner.tensors.erase(it) : std::next(it);
  }
  return kept;
}

// The checkpoint last: with it the round is done.
Result<void> save(const Files& files, const ProposerFiles& proposer_files, const Problem& problem,
                  const Knowledge& knowledge, const RealSearchState& state) {
  const std::string known = calibration_to_json(
      {.machine_fingerprint = problem.machine.fingerprint(), .knowledge = knowledge});
  if (auto done = write_file(files.knowledge, known); !done) return done;
  if (proposer_files.learns) {
    if (auto done = write_file(files.model, tensors_to_bytes(proposer_files.model())); !done)
      return done;
  }
  // Times were planned on what was known in its round, which changes.
  Plan plan{.placement = state.best.placement,
            .priority = state.best.priority,
            .strict_order = state.best.strict_order};
  plan.provenance = {.policy = proposer_files.policy,
                     .evaluations = state.runs,
                     .graph_fingerprint = problem.graph.fingerprint(),
                     .machine_fingerprint = problem.machine.fingerprint(),
                     .costs_fingerprint = problem.costs.fingerprint()};
  if (auto done = write_file(files.plan, plan_to_json(plan, problem)); !done) return done;
  TensorFile checkpoint = proposer_files.learns ? proposer_files.checkpoint() : TensorFile{};
  if (!proposer_files.learns) checkpoint.metadata[kProposer] = kSearch;
  checkpoint.metadata[kGraph] = fmt::format("{:x}", problem.graph.fingerprint());
  checkpoint.metadata[kMachine] = fmt::format("{:x}", problem.machine.fingerprint());
  checkpoint.metadata[kRound] = std::to_string(state.round);
  checkpoint.metadata[kRuns] = std::to_string(state.runs);
  checkpoint.metadata[kStartNs] = std::to_string(static_cast<int64_t>(state.start_ns));
  checkpoint.metadata[kBestNs] = std::to_string(static_cast<int64_t>(state.best_ns));
  checkpoint.metadata[kCompleteWith] = std::to_string(state.complete_with);
  keep_plan(kBest, with_ranks(state.best), checkpoint);
  checkpoint.metadata[kPastCount] = std::to_string(state.past.size());
  for (size_t i = 0; i < state.past.size(); ++i) {
    keep_plan(past_name(static_cast<int64_t>(i)), with_ranks(state.past[i]), checkpoint);
  }
  return write_file(files.checkpoint, tensors_to_bytes(checkpoint));
}

// What the folder has, if there is a run in it; else what is begun with.
Result<Kept> take_up(const Files& files, const Problem& problem, bool learns, Kept start) {
  std::error_code unreadable;
  if (!std::filesystem::exists(files.checkpoint, unreadable)) return start;
  return load(files, problem, learns);
}

Result<RealSearchResult> search_in_folder(const Files& files, const ProposerFiles& proposer_files,
                                          Kept& kept, const Problem& problem,
                                          const Constraints& constraints, Runtime& runtime,
                                          Proposer& proposer, const FirstPlans& plans,
                                          const RealStageSettings& settings) {
  Result<std::vector<Plan>> first = std::vector<Plan>{};
  if (!kept.state) first = plans();
  if (!first) return first.error();
  // Only once nothing can be refused any more: until then the folder stays as it was.
  if (auto done = shorten_log(files.log, kept.state ? kept.state->round : 0); !done) {
    return done.error();
  }
  std::ofstream log(files.log, std::ios::app);
  RealSearchSettings search = settings.search;
  search.on_round = [&](const RealRound& round, const RealSearchState& state) -> Result<void> {
    log << log_line(round) << std::flush;
    if (!log) return failed(fmt::format("{} could not be written", files.log));
    if (settings.on_round) settings.on_round(round);
    return save(files, proposer_files, problem, kept.knowledge, state);
  };
  return search_for_real(problem.graph, problem.machine, constraints, kept.knowledge, runtime,
                         proposer, *first, search, kept.state);
}

}  // namespace

Result<RealSearchResult> learn_for_real(const TensorFile& start, const std::string& path,
                                        const Problem& problem, const Constraints& constraints,
                                        Knowledge knowledge, Runtime& runtime,
                                        const FirstPlans& plans,
                                        const RealStageSettings& settings) {
  const Result<FolderLock> lock = FolderLock::take(settings.folder);
  if (!lock) return lock.error();
  const Files files(settings.folder);
  auto kept = take_up(files, problem, /*learns=*/true,
                      {.learner = start, .state = {}, .knowledge = std::move(knowledge)});
  if (!kept) return kept.error();
  auto proposer =
      PolicyProposer::make(kept->learner, kept->state ? files.checkpoint : path, settings.policy);
  if (!proposer) return proposer.error();
  const ProposerFiles proposer_files{.checkpoint = [&] { return (*proposer)->checkpoint(); },
                                     .model = [&] { return (*proposer)->model(); }};
  return search_in_folder(files, proposer_files, *kept, problem, constraints, runtime, **proposer,
                          plans, settings);
}

Result<RealSearchResult> search_alone_for_real(const Problem& problem,
                                               const Constraints& constraints, Knowledge knowledge,
                                               Runtime& runtime, const FirstPlans& plans,
                                               const RealStageSettings& settings) {
  const Result<FolderLock> lock = FolderLock::take(settings.folder);
  if (!lock) return lock.error();
  const Files files(settings.folder);
  auto kept = take_up(files, problem, /*learns=*/false,
                      {.learner = {}, .state = {}, .knowledge = std::move(knowledge)});
  if (!kept) return kept.error();
  SearchProposer proposer(kSimulationsForEach, settings.policy.threads);
  const ProposerFiles proposer_files{.learns = false, .policy = "search and races"};
  return search_in_folder(files, proposer_files, *kept, problem, constraints, runtime, proposer,
                          plans, settings);
}

}  // namespace tutti
