#include "tutti/policy/heuristic/favourites.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <type_traits>

#include "tutti/policy/schedule/ranks.h"

#ifdef TUTTI_HAVE_CLP
#include <coin/Clp_C_Interface.h>
#include <dlfcn.h>

#include "tutti/base/openblas.h"
#endif

namespace tutti {
namespace {

// What one op sends to another.
struct Pair {
  OpId from;
  OpId to;
  double transfer;  // mean over pairs of different devices, of the slowest value, in ns
};

// By reader, then by producer.
std::vector<Pair> pairs_of(const Problem& problem) {
  const Graph& graph = problem.graph;
  const auto devices = static_cast<double>(problem.machine.size());
  const double factor = devices < 2 ? 1 : devices / (devices - 1);
  std::vector<Pair> pairs;
  for (const OpId op : graph.ops()) {
    const auto first = static_cast<ptrdiff_t>(pairs.size());
    for (const EdgeId edge : graph.edges(op)) {
      const OpId producer = graph.edge_from(edge);
      if (!producer.valid()) continue;
      pairs.push_back({producer, op, factor * problem.costs.mean_transfer_time_ns(edge)});
    }
    std::sort(pairs.begin() + first, pairs.end(), [](const Pair& a, const Pair& b) {
      return a.from == b.from ? a.transfer > b.transfer : a.from.index < b.from.index;
    });
    pairs.erase(std::unique(pairs.begin() + first, pairs.end(),
                            [](const Pair& a, const Pair& b) { return a.from == b.from; }),
                pairs.end());
  }
  return pairs;
}

#ifdef TUTTI_HAVE_CLP

constexpr double kThreshold = 0.1;

// CLP, opened when it is first asked. It is not linked: it brings OpenBLAS along, which starts
// threads as it is loaded and, where memory is scarce, never comes to an end with that.
struct Clp {
  decltype(&Clp_newModel) new_model = nullptr;
  decltype(&Clp_deleteModel) delete_model = nullptr;
  decltype(&Clp_loadProblem) load_problem = nullptr;
  decltype(&Clp_setLogLevel) set_log_level = nullptr;
  decltype(&Clp_setMaximumIterations) set_maximum_iterations = nullptr;
  decltype(&Clp_primal) primal = nullptr;
  decltype(&Clp_status) status = nullptr;
  decltype(&Clp_primalColumnSolution) primal_column_solution = nullptr;

  // None if it cannot be opened here.
  static const Clp* open() {
    static const std::optional<Clp> loaded = load();
    return loaded ? &*loaded : nullptr;
  }

 private:
  static std::optional<Clp> load() {
    if (!require_space_for_openblas()) return std::nullopt;
    void* library = dlopen("libClp.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) library = dlopen("libClp.so", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return std::nullopt;
    Clp clp;
    const auto find = [&](const char* name, auto& function) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    const bool whole =
        find("Clp_newModel", clp.new_model) && find("Clp_deleteModel", clp.delete_model) &&
        find("Clp_loadProblem", clp.load_problem) && find("Clp_setLogLevel", clp.set_log_level) &&
        find("Clp_setMaximumIterations", clp.set_maximum_iterations) &&
        find("Clp_primal", clp.primal) && find("Clp_status", clp.status) &&
        find("Clp_primalColumnSolution", clp.primal_column_solution);
    if (!whole) return std::nullopt;
    return clp;
  }
};

// Columns: x of each pair, start of each op, the makespan w. Times are shares of the longest path
// with all transfers charged, which bounds them all.
class Program {
 public:
  Program(const Clp& clp, const Problem& problem, const std::vector<Pair>& pairs)
      : clp_(clp),
        problem_(problem),
        pairs_(pairs),
        ops_(problem.graph.size()),
        columns_(static_cast<size_t>(makespan()) + 1) {
    for (const double way : upward_ranks(problem, EdgeWeight::distinct_pairs)) {
      horizon_ = std::max(horizon_, way);
    }
    add_times();
    add_choices();
  }

  // None if the solver did not come to an end.
  std::optional<std::vector<OpId>> solve() {
    load();
    clp_.set_log_level(model_.get(), 0);
    // In steps, not in time: the same problem must end in the same way on any day.
    clp_.set_maximum_iterations(model_.get(), 100'000);
    // Clp_initialPrimalSolve would take SIGINT for itself while it works.
    clp_.primal(model_.get(), 0);
    if (clp_.status(model_.get()) != 0) return std::nullopt;
    return rounded(clp_.primal_column_solution(model_.get()));
  }

 private:
  int start(OpId op) const { return static_cast<int>(pairs_.size()) + op.index; }
  int makespan() const { return static_cast<int>(pairs_.size()) + ops_; }
  double run_time(OpId op) const { return problem_.costs.mean_run_time_ns(op) / horizon_; }
  double transfer(size_t pair) const { return pairs_[pair].transfer / horizon_; }

  // A row is a sum that is at least `least`; terms go to their columns.
  int add_row(double least) {
    least_.push_back(least);
    return static_cast<int>(least_.size()) - 1;
  }
  void add_term(int row, int column, double coefficient) {
    columns_[static_cast<size_t>(column)].emplace_back(row, coefficient);
  }

  void add_times() {
    for (size_t i = 0; i < pairs_.size(); ++i) {
      const int row = add_row(run_time(pairs_[i].from));
      add_term(row, start(pairs_[i].to), 1);
      add_term(row, start(pairs_[i].from), -1);
      add_term(row, static_cast<int>(i), -transfer(i));
    }
    for (const OpId op : problem_.graph.ops()) {
      const int row = add_row(run_time(op));
      add_term(row, makespan(), 1);
      add_term(row, start(op), -1);
    }
  }

  void add_choices() {
    std::vector<std::vector<int>> out(static_cast<size_t>(ops_));
    std::vector<std::vector<int>> in(static_cast<size_t>(ops_));
    for (size_t i = 0; i < pairs_.size(); ++i) {
      out[static_cast<size_t>(pairs_[i].from.index)].push_back(static_cast<int>(i));
      in[static_cast<size_t>(pairs_[i].to.index)].push_back(static_cast<int>(i));
    }
    for (const auto* side : {&out, &in}) {
      for (const std::vector<int>& choices : *side) {
        if (choices.size() < 2) continue;
        const int row = add_row(static_cast<double>(choices.size()) - 1);
        for (const int pair : choices) add_term(row, pair, 1);
      }
    }
  }

  void load() {
    std::vector<CoinBigIndex> begin = {0};
    std::vector<int> index;
    std::vector<double> coefficients;
    for (const auto& column : columns_) {
      for (const auto& [row, coefficient] : column) {
        index.push_back(row);
        coefficients.push_back(coefficient);
      }
      begin.push_back(static_cast<CoinBigIndex>(index.size()));
    }
    const std::vector<double> lower(columns_.size(), 0);
    std::vector<double> upper(columns_.size(), 2);  // no time passes the horizon
    std::vector<double> objective(columns_.size(), 0);
    std::fill_n(upper.begin(), pairs_.size(), 1.0);
    objective.back() = 1;
    double sum = 0;
    for (size_t i = 0; i < pairs_.size(); ++i) sum += transfer(i);
    for (size_t i = 0; i < pairs_.size(); ++i)
      objective[i] = sum > 0 ? kTie * transfer(i) / sum : 0;
    const std::vector<double> most(least_.size(), 1e30);
    clp_.load_problem(model_.get(), static_cast<int>(columns_.size()),
                      static_cast<int>(least_.size()), begin.data(), index.data(),
                      coefficients.data(), lower.data(), upper.data(), objective.data(),
                      least_.data(), most.data());
  }

  std::vector<OpId> rounded(const double* solution) const {
    std::vector<OpId> favourite(static_cast<size_t>(ops_));
    for (size_t i = 0; i < pairs_.size(); ++i) {
      if (solution[i] < kThreshold)
        favourite[static_cast<size_t>(pairs_[i].from.index)] = pairs_[i].to;
    }
    return favourite;
  }

  static constexpr double kTie = 1e-4;

  struct Delete {
    const Clp* clp;
    void operator()(Clp_Simplex* model) const { clp->delete_model(model); }
  };

  const Clp& clp_;
  const Problem& problem_;
  const std::vector<Pair>& pairs_;
  int ops_;
  double horizon_ = 1;
  std::vector<std::vector<std::pair<int, double>>> columns_;
  std::vector<double> least_;  // by row
  std::unique_ptr<Clp_Simplex, Delete> model_{clp_.new_model(), Delete{&clp_}};
};

std::optional<std::vector<OpId>> by_program(const Problem& problem,
                                            const std::vector<Pair>& pairs) {
  const Clp* const clp = Clp::open();
  if (clp == nullptr) return std::nullopt;
  return Program(*clp, problem, pairs).solve();
}
constexpr const char* kNoAnswer =
    "CLP, which solves the linear program, cannot be opened or did not end";

#else

std::optional<std::vector<OpId>> by_program(const Problem& /*problem*/,
                                            const std::vector<Pair>& /*pairs*/) {
  return std::nullopt;
}
constexpr const char* kNoAnswer = "this build has no CLP for the linear program";

#endif

std::vector<OpId> greedily(const Problem& problem, const std::vector<Pair>& pairs) {
  const std::vector<double> up = upward_ranks(problem, EdgeWeight::distinct_pairs);
  const std::vector<double> down = downward_ranks(problem, EdgeWeight::distinct_pairs);
  struct Candidate {
    double way;  // from the start of the graph to its end
    const Pair* pair;
  };
  std::vector<Candidate> candidates;
  candidates.reserve(pairs.size());
  for (const Pair& pair : pairs) {
    candidates.push_back({down[pair.from.index] + problem.costs.mean_run_time_ns(pair.from) +
                              pair.transfer + up[pair.to.index],
                          &pair});
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
    return std::pair(a.way, a.pair->transfer) > std::pair(b.way, b.pair->transfer);
  });
  std::vector<OpId> favourite(static_cast<size_t>(problem.graph.size()));
  std::vector<bool> follows(static_cast<size_t>(problem.graph.size()), false);
  for (const auto& [way, pair] : candidates) {
    if (favourite[static_cast<size_t>(pair->from.index)].valid()) continue;
    if (follows[static_cast<size_t>(pair->to.index)]) continue;
    favourite[static_cast<size_t>(pair->from.index)] = pair->to;
    follows[static_cast<size_t>(pair->to.index)] = true;
  }
  return favourite;
}

}  // namespace

std::vector<OpId> greedy_favourites(const Problem& problem) {
  return greedily(problem, pairs_of(problem));
}

Favourites favourite_children(const Problem& problem, const Stop& stop) {
  const std::vector<Pair> pairs = pairs_of(problem);
  if (pairs.size() > kMostProgramEdges) {
    return {greedily(problem, pairs),
            fmt::format("favourites chosen greedily: {} edges are more than {}", pairs.size(),
                        kMostProgramEdges)};
  }
  if (stop.comes_within(std::chrono::milliseconds(500))) {
    return {greedily(problem, pairs), "favourites chosen greedily: time is short"};
  }
  if (auto favourites = by_program(problem, pairs)) {
    return {std::move(*favourites), "favourites by linear program"};
  }
  return {greedily(problem, pairs), fmt::format("favourites chosen greedily: {}", kNoAnswer)};
}

}  // namespace tutti
