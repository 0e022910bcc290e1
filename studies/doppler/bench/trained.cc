// What the models of one training run make of one graph: the best seen (model.safetensors) and the
// final one (the parameters of checkpoint.safetensors). For each the makespan of its greedy plan,
// the best of that and 64 samples, and the mean of 64 samples. Without noise. One JSON object;
// times in ns.
//
//   trained FOLDER GRAPH MACHINE physical|released

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "studies/doppler/samples.h"
#include "studies/studies.h"
#include "tutti/base/check.h"
#include "tutti/graph/import/import.h"
#include "tutti/machine/preset.h"
#include "tutti/policy/doppler/planner.h"
#include "tutti/search/walk/guide.h"

namespace tutti {
namespace {

constexpr int kSamples = 64;

template <class T>
T must(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "trained: %s\n", result.error().message.c_str());
    std::exit(2);
  }
  return std::move(*result);
}

TensorFile tensors_in(const std::string& path) {
  Source source = must(Source::open(path));
  return must(read_tensors(source));
}

std::string figures_of(const TensorFile& file, const std::string& path, const Problem& problem,
                       const SearchModel& simulation) {
  const DopplerModel model = must(DopplerModel::load(file, path));
  Evaluator evaluator(problem, simulation);
  const double greedy = evaluator.cost(must(plan_greedily(model, problem)));
  const CostedPlan drawn = best_of_samples(model, problem, simulation, kSamples, Rng(1), 1);
  Guide guide(problem, model);
  double mean = 0;
  for (uint64_t k = 0; k < kSamples; ++k) {
    const auto plan = guide.draw_plan(Rng(2).split(k), Stop{});
    TUTTI_CHECK(plan.has_value());
    mean += evaluator.cost(*plan) / kSamples;
  }
  return fmt::format("{{\"greedy_ns\":{:.0f},\"best_of_64_ns\":{:.0f},\"mean_of_64_ns\":{:.0f}}}",
                     greedy, drawn.cost, mean);
}

void run(const std::string& folder, const std::string& path, const std::string& machine_name,
         const std::string& simulator) {
  const Problem problem =
      must(Problem::make(must(load_graph(path)).graph, must(load_machine(machine_name))));
  const std::optional<SimModel> known = find_sim_model(simulator);
  if (!known) {
    std::fprintf(stderr, "trained: there is no model of evaluation '%s'\n", simulator.c_str());
    std::exit(2);
  }
  const SearchModel simulation{.model = *known};
  const std::string best_path = folder + "/model.safetensors";
  const std::string last_path = folder + "/checkpoint.safetensors";
  const TensorFile best = tensors_in(best_path);
  TensorFile last = best;  // its names alone: a checkpoint holds more
  const TensorFile checkpoint = tensors_in(last_path);
  for (auto& [name, tensor] : last.tensors) {
    tensor = *must(checkpoint.find(name, tensor.shape, last_path));
  }
  fmt::print("{{\"best_seen\":{},\"final\":{}}}\n",
             figures_of(best, best_path, problem, simulation),
             figures_of(last, last_path, problem, simulation));
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  tutti::add_studies();
  if (argc != 5) {
    std::fprintf(stderr, "usage: trained FOLDER GRAPH MACHINE physical|released\n");
    return 2;
  }
  tutti::run(argv[1], argv[2], argv[3], argv[4]);
  return 0;
}
