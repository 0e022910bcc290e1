#include <fmt/format.h>

#include <memory>
#include <utility>

#include "tutti/base/file/json_writer.h"
#include "tutti/train/symphony/trainer.h"

namespace tutti {
namespace {

void add_world(JsonWriter& json, const SymphonyWorld& world) {
  json.field("machine", fmt::format("{:x}", world.cluster->machine().fingerprint()));
  json.key("jobs").open_list();
  for (const JobList* jobs : {&world.jobs, &world.check_jobs}) {
    for (const auto& job : *jobs) {
      json.value(fmt::format("{:x}-{:x}", job->graph().fingerprint(), job->costs().fingerprint()));
    }
  }
  json.close_list().key("loads").open_list();
  for (const double load : world.loads) json.value(load);
  json.close_list().key("truth").open_list();
  const HiddenTruth& truth = world.options.truth;
  for (const double part : {truth.link, truth.switched, truth.memory, truth.cache, truth.root,
                            truth.outstanding_threshold}) {
    json.value(part);
  }
  json.close_list().key("unknown_load").open_list();
  json.value(world.unknown_load.share).value(world.unknown_load.spread);
  json.value(world.unknown_load.mean_on.count()).value(world.unknown_load.mean_off.count());
  json.close_list().field("counters", static_cast<int64_t>(world.options.counters.size()));
  json.field("readings", world.options.readings);
  json.field("reading_error", world.options.reading_error).field("noise", world.options.noise);
  json.field("reward", 0);  // there was a choice once; folders from then can still be gone on with
  json.field("jobs_per_episode", world.jobs_per_episode);
}

std::string settings_to_text(const TensorFile& start, const SymphonySettings& settings,
                             const SymphonyWorld& world) {
  JsonWriter json(0);
  json.open_object();
  add_network(json, start);
  json.field("advantage", static_cast<int>(settings.advantage));
  json.field("episodes", settings.episodes).field("scenarios", settings.scenarios);
  json.field("rollouts", settings.rollouts);
  json.field("most_decisions", settings.play.most_decisions);
  json.field("reward_jobs", settings.play.reward_jobs).field("discount", settings.play.discount);
  json.field("horizon", settings.horizon).field("value_scale", settings.value_scale);
  json.field("passage", settings.passage).field("repeats", settings.repeats);
  json.field("minibatches", settings.minibatches);
  json.field("belief_stride", settings.belief_stride);
  add_ramp(json, "learning_rate", settings.learning_rate);
  add_ramp(json, "entropy_weight", settings.entropy_weight);
  json.field("value_weight", settings.value_weight).field("clip_norm", settings.clip_norm);
  json.field("clip_ratio", settings.clip_ratio).field("belief_rate", settings.belief_rate);
  json.field("belief_gradient", static_cast<int>(settings.belief_gradient));
  json.field("averaged_over", settings.averaged_over);
  json.field("check_every", settings.check_every).field("checks", settings.checks);
  json.field("seed", fmt::format("{}", settings.seed));
  add_world(json, world);
  json.close_object();
  return json.text();
}

}  // namespace

std::string log_line(const SymphonyReport& report, double seconds) {
  JsonWriter json(0);
  json.open_object().field("update", report.update).field("episodes", report.episodes);
  json.field("seconds", seconds).field("decisions", report.decisions);
  json.field("slowdown", report.slowdown).field("rest_share", report.rest_share);
  json.field("loss", report.step.loss).field("value_loss", report.step.value_loss);
  json.field("entropy", report.step.entropy).field("gradient_norm", report.step.gradient_norm);
  json.field("belief_norm", report.step.belief_norm);
  if (report.ratio) json.field("ratio", *report.ratio);
  json.close_object();
  return json.text();  // ends its line itself
}

Result<RunEnd> train_symphony(const TensorFile& start, const std::string& path,
                              const SymphonySettings& settings, const SymphonyWorld& world,
                              const SymphonyRun& run) {
  const FolderRun folder_run{
      .folder = run.folder, .settings = settings_to_text(start, settings, world), .stop = run.stop};
  return train_in_folder(
      start, path, folder_run,
      [&](const TensorFile& state, const std::string& from) -> Result<std::unique_ptr<Training>> {
        auto trainer = SymphonyTrainer::make(state, from, settings, world);
        if (!trainer) return trainer.error();
        (*trainer)->tell(run.on_update);
        return std::unique_ptr<Training>(std::move(*trainer));
      });
}

}  // namespace tutti
