// Time of a greedy plan with the model that comes with tutti: on the published LLAMA-LAYER graph,
// and its growth with the number of ops, on layered graphs and on graphs where half of the ops are
// ready at once. Op by op, and as plan_greedily does it, which places groups of ops of large
// graphs. The time of plan_guarded is not included.
//
//   inference_bench [MACHINE]
//
// Prints medians of processor time (planning uses one thread), and the slope of log time over log
// ops by least squares.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tutti/base/check.h"
#include "tutti/graph/import/import.h"
#include "tutti/graph/make/family/family.h"
#include "tutti/graph/make/layered.h"
#include "tutti/machine/preset.h"
#include "tutti/policy/doppler/general.h"
#include "tutti/policy/doppler/planner.h"

namespace tutti {
namespace {

using Plans = Result<Plan> (*)(const DopplerModel&, const Problem&, const Stop&);

template <class T>
T must(Result<T> result) {
  if (!result) std::fprintf(stderr, "inference_bench: %s\n", result.error().message.c_str());
  TUTTI_CHECK(result.has_value());
  return std::move(*result);
}

double median_ms(const Graph& graph, const Machine& machine, const DopplerModel& model, Plans plans,
                 int runs) {
  const Problem problem =
      must(Problem::make(Shared<Graph>::borrowed(graph), Shared<Machine>::borrowed(machine)));
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    const std::clock_t begin = std::clock();
    must(plans(model, problem, {}));
    times.push_back(1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  std::nth_element(times.begin(), times.begin() + runs / 2, times.end());
  return times[static_cast<size_t>(runs / 2)];
}

void time_published_layer(const Machine& machine, const DopplerModel& model) {
  const char* chosen = std::getenv("TUTTI_DATA");
  const std::string folder = chosen != nullptr ? chosen : "../shared/data";
  const std::string path = folder + "/doppler/full_transformer_layer_261nodes.txt";
  if (!std::filesystem::exists(path)) {
    fmt::print("layer: left out, needs doppler/ in ../shared/data or $TUTTI_DATA\n");
    return;
  }
  const Graph graph = must(load_graph(path)).graph;
  fmt::print("layer      {:6} ops  {:9.2f} ms\n", graph.size(),
             median_ms(graph, machine, model, plan_greedily, 21));
}

// Of log time over log ops.
double slope(const std::vector<std::pair<double, double>>& points) {
  double x = 0;
  double y = 0;
  double xx = 0;
  double xy = 0;
  for (const auto& [ops, ms] : points) {
    x += std::log(ops);
    y += std::log(ms);
    xx += std::log(ops) * std::log(ops);
    xy += std::log(ops) * std::log(ms);
  }
  const auto n = static_cast<double>(points.size());
  return (n * xy - x * y) / (n * xx - x * x);
}

Graph layers(int64_t ops) {
  return must(make_layered({.ops = static_cast<int32_t>(ops)}));
}

Graph wide(int64_t ops) {
  const Weights small{.bytes = 1 << 14};  // one op must hold those of half the graph
  return must(make_fork_join({.stages = 2, .width = ops / 2, .weights = small}));
}

struct Family {
  const char* name;
  Graph (*make)(int64_t ops);
};
constexpr Family kFamilies[] = {{"layers", layers}, {"wide", wide}};

void time_growth(const Family& family, const char* how, Plans plans, const Machine& machine,
                 const DopplerModel& model) {
  std::vector<std::pair<double, double>> points;
  for (const int64_t ops : {1'000, 3'000, 10'000, 30'000, 100'000}) {
    const Graph graph = family.make(ops);
    points.emplace_back(graph.size(),
                        median_ms(graph, machine, model, plans, ops > 20'000 ? 3 : 7));
    fmt::print("{:8} {:8} ops  {:9.2f} ms  {:6.1f} us per op, {}\n", family.name, graph.size(),
               points.back().second, 1e3 * points.back().second / graph.size(), how);
  }
  fmt::print("{:8} slope {:.3f}, {}\n", family.name, slope(points), how);
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  using namespace tutti;
  const Machine machine = must(make_preset(argc > 1 ? argv[1] : "p100-4"));
  const DopplerModel model = general_model();
  time_published_layer(machine, model);
  for (const Family& family : kFamilies) {
    time_growth(family, "op by op", plan_op_by_op, machine, model);
    time_growth(family, "as planned", plan_greedily, machine, model);
  }
  return 0;
}
