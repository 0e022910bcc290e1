// A Batch is an experiment: graphs x machines x policies x seeds, each combination of which is a
// cell with its samples. Samples are those of tutti compare with the same flags.

#ifndef TUTTI_TOOLS_COMPARE_BATCH_H_
#define TUTTI_TOOLS_COMPARE_BATCH_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tools/compare/batch_options.h"
#include "tools/compare/samples.h"

namespace tutti {

struct BatchCell {
  int graph = 0;
  int machine = 0;
  int policy = 0;
  uint64_t seed = 0;
};

class Batch {
 public:
  // Reads every graph with every machine once, so that nothing is found wrong hours later. Keeps a
  // reference to the arguments. Fails as tutti compare does; a problem that no plan fits becomes
  // samples that say so.
  static Result<Batch> prepare(const BatchArguments& arguments);

  // In the order of graphs, machines, policies and seeds. If neither a policy nor the durations
  // depend on the seed, the first seed is all there is.
  const std::vector<BatchCell>& cells() const { return cells_; }
  const std::vector<std::string>& policies() const { return policies_; }

  // Fails (invalid_input) on a sample that was made with other settings, or from another file of
  // the same name. Samples of cells that this experiment does not have are accepted.
  Result<void> accept(const Sample& sample) const;

  // The number of its cell, or that of all cells if it has none here.
  size_t place_of(const Sample& sample) const;

  // Makes the samples of those cells, several at the same time, until a Ctrl-C. `take` is called
  // for one cell after the other, in the order in which they end; what it returns ends the run.
  // Fails with that, or if a file was changed meanwhile.
  using Take = std::function<Result<void>(size_t cell, const std::vector<Sample>& samples)>;
  Result<void> run(const std::vector<size_t>& cells, const Take& take) const;

 private:
  struct Pair {
    std::string graph_fingerprint{};
    std::string machine_fingerprint{};
    std::string costs_fingerprint{};
    int64_t ops = 0;
    int64_t devices = 0;
    bool draws = false;  // the durations depend on the seed
    std::string refusal{};
  };
  class Loader;

  explicit Batch(const BatchArguments& arguments) : arguments_(&arguments) {}

  Result<void> read_pairs();
  Result<LoadedProblem> load(int graph, int machine, bool quiet) const;
  void list_cells();
  const Pair& pair_of(const BatchCell& cell) const;
  Sample blank(const BatchCell& cell) const;
  std::vector<Sample> samples_of(const BatchCell& cell, const Problem& problem,
                                 int64_t lower_bound_ns) const;

  const BatchArguments* arguments_;
  std::string settings_{};
  AutoSettings auto_settings_{};
  std::vector<PolicyEntry> entries_{};
  std::vector<std::string> policies_{};
  std::vector<Pair> pairs_{};  // machines of the first graph, of the second, ...
  std::vector<BatchCell> cells_{};
  std::map<std::tuple<std::string, std::string, std::string, uint64_t>, size_t> places_{};
};

}  // namespace tutti

#endif  // TUTTI_TOOLS_COMPARE_BATCH_H_
