#include "tools/train/flags.h"

#include <fmt/format.h>

#include "tools/inputs.h"

namespace tutti {

void add_run_flags(CLI::App& command, SearchOptions& budget, std::string& folder,
                   const std::string& about_budget) {
  budget.add_budget_to(command);
  command.remove_option(command.get_option("--evaluations"));
  command.get_option("--budget")
      ->description("Wall clock of this call, such as 10m; the same command resumes the run" +
                    about_budget);
  const CLI::Validator names_a_folder(
      [](std::string& text) {
        return text.empty() ? std::string("must name a folder, and is empty") : std::string();
      },
      "FOLDER");
  command
      .add_option("-o,--out", folder,
                  "Folder for checkpoint, model and log; a run that is there is resumed. A "
                  "checkpoint is written every 20 s and at the end")
      ->required()
      ->check(names_a_folder);
}

Stop stop_of(const SearchOptions& options) {
  const Budget budget = options.to_budget();
  return budget.wall_clock ? budget.stop.by(Stop::Clock::now() + *budget.wall_clock) : budget.stop;
}

void tell_the_end(const RunEnd& end, const std::string& quality) {
  const std::string how = !end.done          ? "stopped"
                          : end.updates == 0 ? "nothing was left to learn"
                                             : "done";
  const std::string next =
      end.done           ? "; to train it further, begin with it in another folder (--from)"
      : end.updates == 0 ? "; no update was finished: the same command with more time goes on"
                         : "; the same command goes on from there";
  const std::string episodes =
      end.episodes > end.total_episodes
          ? fmt::format("{} episodes, whole updates for the {} asked for", end.episodes,
                        end.total_episodes)
          : fmt::format("{} of {} episodes", end.episodes, end.total_episodes);
  fmt::print(stderr, "{}tutti: {}: {}, {}; the model is {}{}\n", shows_progress() ? "\r\033[K" : "",
             how, episodes, quality, end.model, next);
}

}  // namespace tutti
