#include "tutti/search/exact/all_schedules.h"

#include <fmt/format.h>

#include "tutti/search/exact/free_of_contention.h"

#ifdef TUTTI_HAVE_CBC

#include <coin/Cbc_C_Interface.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "tutti/search/exact/in_child.h"
#include "tutti/search/progress.h"

namespace tutti {
namespace {

// One row of the program: the sum of coefficient x column is at least `least`.
struct Row {
  std::vector<std::pair<int, double>> terms;
  double least;
};

// Columns: x(op, device) is 1 if the op runs there; start(op); before(pair) is 1 if the first of
// two unrelated ops goes first where they share a device; the makespan comes last. Times are scaled
// to shares of a horizon, which no good schedule exceeds.
class Program {
 public:
  explicit Program(const Problem& problem)
      : problem_(problem), graph_(problem.graph), devices_(problem.machine.size()) {
    for (const OpId op : graph_.ops()) horizon_ += longest(op);
    for (const OpId op : graph_.ops()) {
      for (const EdgeId edge : graph_.edges(op)) horizon_ += dearest(edge);
    }
    horizon_ = std::max(horizon_, 1.0);
    find_related();
    for (int32_t a = 0; a < graph_.size(); ++a) {
      for (int32_t b = a + 1; b < graph_.size(); ++b) {
        if (!related(a, b) && !related(b, a)) pairs_.emplace_back(a, b);
      }
    }
    add_rows();
  }

  Result<ExactPlan> solve(const Budget& budget) {
    const int columns = makespan_column() + 1;
    std::vector<double> lower(static_cast<size_t>(columns), 0);
    std::vector<double> upper(static_cast<size_t>(columns), kScale);
    std::vector<double> objective(static_cast<size_t>(columns), 0);
    objective.back() = 1;
    for (const OpId op : graph_.ops()) {
      for (const DeviceId device : problem_.machine.devices()) {
        upper[static_cast<size_t>(x(op, device))] = problem_.allows(op, device) ? 1 : 0;
      }
    }
    for (size_t i = 0; i < pairs_.size(); ++i) upper[static_cast<size_t>(before(i))] = 1;
    load(columns, lower, upper, objective);
    const Stop stop = Progress(budget).until(1);
    if (budget.wall_clock) {  // it ends a little later than it is told
      const std::string seconds = fmt::format("{}", 0.8 * budget.wall_clock->count() / 1000.0);
      Cbc_setParameter(model_.get(), "timeMode", "elapsed");
      Cbc_setParameter(model_.get(), "seconds", seconds.c_str());
    }
    Cbc_setParameter(model_.get(), "log", "0");
    Cbc_setParameter(model_.get(), "ratioGap", "0");
    Cbc_setParameter(model_.get(), "allowableGap", "0");
    const auto solved = run_in_child([&] { return solve_for(columns); }, stop);
    if (!solved || solved->size() != kAnswers + static_cast<size_t>(columns)) {
      return failed("the solver was stopped before it was done; let it run longer");
    }
    if ((*solved)[0] != 0) return infeasible("no schedule obeys the constraints");
    if ((*solved)[1] > 2 * kScale) {
      return failed("the budget ended before the first schedule was found; allow more");
    }
    ExactPlan exact = schedule(solved->data() + kAnswers);
    exact.proven = (*solved)[2] != 0;
    return exact;
  }

 private:
  static constexpr double kScale = 1e4;
  static constexpr size_t kAnswers = 3;

  // Whether it is infeasible, the objective, whether it is optimal, and the columns.
  std::vector<double> solve_for(int columns) {
    Cbc_solve(model_.get());
    std::vector<double> numbers = {static_cast<double>(Cbc_isProvenInfeasible(model_.get())),
                                   Cbc_getObjValue(model_.get()),
                                   static_cast<double>(Cbc_isProvenOptimal(model_.get()))};
    const double* solution = Cbc_getColSolution(model_.get());
    numbers.insert(numbers.end(), solution, solution + columns);
    return numbers;
  }

  int x(OpId op, DeviceId device) const { return op.index * devices_ + device.index; }
  int start(OpId op) const { return graph_.size() * devices_ + op.index; }
  int before(size_t pair) const { return graph_.size() * (devices_ + 1) + static_cast<int>(pair); }
  int makespan_column() const {
    return graph_.size() * (devices_ + 1) + static_cast<int>(pairs_.size());
  }
  double scaled(Duration time) const {
    return kScale * static_cast<double>(time.count()) / horizon_;
  }

  double longest(OpId op) const {
    Duration most{0};
    for (const DeviceId device : problem_.devices_for(op)) {
      most = std::max(most, problem_.costs.run_time(op, device));
    }
    return static_cast<double>(most.count());
  }

  Duration transfer(EdgeId edge, DeviceId from, DeviceId to) const {
    return problem_.costs.transfer_time(edge, from, to);
  }

  double dearest(EdgeId edge) const {
    Duration most{0};
    for (const DeviceId to : problem_.devices_for(graph_.edge_to(edge))) {
      const OpId producer = graph_.edge_from(edge);
      if (!producer.valid()) {
        most = std::max(most, input_arrival(problem_, graph_.edge_value(edge), to));
        continue;
      }
      for (const DeviceId from : problem_.devices_for(producer)) {
        most = std::max(most, transfer(edge, from, to));
      }
    }
    return static_cast<double>(most.count());
  }

  bool related(int32_t a, int32_t b) const {
    return after_[static_cast<size_t>(a) * static_cast<size_t>(graph_.size()) +
                  static_cast<size_t>(b)];
  }

  // after_(a, b): b depends on a.
  void find_related() {
    const auto count = static_cast<size_t>(graph_.size());
    after_.assign(count * count, false);
    const auto order = graph_.topological_order();
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      for (const ValueId value : graph_.outputs(*it)) {
        for (const EdgeId edge : graph_.consumers(value)) {
          const auto from = static_cast<size_t>(it->index);
          const auto to = static_cast<size_t>(graph_.edge_to(edge).index);
          after_[from * count + to] = true;
          for (size_t i = 0; i < count; ++i) {
            if (after_[to * count + i]) after_[from * count + i] = true;
          }
        }
      }
    }
  }

  // finish(op) = start(op) + sum over devices of run time x x(op, device), as terms with a sign.
  void add_finish(OpId op, double sign, Row& row) const {
    row.terms.emplace_back(start(op), sign);
    for (const DeviceId device : problem_.devices_for(op)) {
      row.terms.emplace_back(x(op, device), sign * scaled(problem_.costs.run_time(op, device)));
    }
  }

  void add_rows() {
    for (const OpId op : graph_.ops()) {
      Row once{.terms = {}, .least = 1};
      Row at_most{.terms = {}, .least = -1};
      for (const DeviceId device : problem_.devices_for(op)) {
        once.terms.emplace_back(x(op, device), 1);
        at_most.terms.emplace_back(x(op, device), -1);
      }
      rows_.push_back(once);
      rows_.push_back(at_most);
      Row last{.terms = {{makespan_column(), 1}}, .least = 0};
      add_finish(op, -1, last);
      rows_.push_back(last);
      for (const EdgeId edge : graph_.edges(op)) add_edge(edge);
    }
    for (size_t i = 0; i < pairs_.size(); ++i) add_pair(i);
    add_colocation();
  }

  // The reader starts once the producer has ended and, if they are apart, the value has moved.
  void add_edge(EdgeId edge) {
    const OpId reader = graph_.edge_to(edge);
    const OpId producer = graph_.edge_from(edge);
    for (const DeviceId to : problem_.devices_for(reader)) {
      if (!producer.valid()) {
        const double arrival = scaled(input_arrival(problem_, graph_.edge_value(edge), to));
        if (arrival > 0) {
          rows_.push_back({.terms = {{start(reader), 1}, {x(reader, to), -arrival}}, .least = 0});
        }
        continue;
      }
      for (const DeviceId from : problem_.devices_for(producer)) {
        const double apart = scaled(transfer(edge, from, to));
        Row row{.terms = {{start(reader), 1}}, .least = -apart};
        add_finish(producer, -1, row);
        row.terms.emplace_back(x(producer, from), -apart);
        row.terms.emplace_back(x(reader, to), -apart);
        merge(row);
        rows_.push_back(row);
      }
    }
  }

  // Two ops on one device: one after the other.
  void add_pair(size_t pair) {
    const OpId a{pairs_[pair].first};
    const OpId b{pairs_[pair].second};
    for (const DeviceId device : problem_.machine.devices()) {
      if (!problem_.allows(a, device) || !problem_.allows(b, device)) continue;
      const double far = kScale;
      // start(b) >= finish(a) - far x (3 - x(a) - x(b) - before), and the other way round.
      Row first{.terms = {{start(b), 1}}, .least = -3 * far};
      add_finish(a, -1, first);
      first.terms.insert(first.terms.end(),
                         {{x(a, device), -far}, {x(b, device), -far}, {before(pair), -far}});
      merge(first);
      rows_.push_back(first);
      Row second{.terms = {{start(a), 1}}, .least = -2 * far};
      add_finish(b, -1, second);
      second.terms.insert(second.terms.end(),
                          {{x(a, device), -far}, {x(b, device), -far}, {before(pair), far}});
      merge(second);
      rows_.push_back(second);
    }
  }

  void add_colocation() {
    for (int group = 0; group < problem_.colocation_group_count(); ++group) {
      const auto members = problem_.members(group);
      for (size_t i = 1; i < members.size(); ++i) {
        for (const DeviceId device : problem_.machine.devices()) {
          rows_.push_back(
              {.terms = {{x(members[i], device), 1}, {x(members[0], device), -1}}, .least = 0});
        }
      }
    }
  }

  // CBC wants each column once in a row.
  static void merge(Row& row) {
    std::sort(row.terms.begin(), row.terms.end());
    std::vector<std::pair<int, double>> merged;
    for (const auto& [column, coefficient] : row.terms) {
      if (!merged.empty() && merged.back().first == column) {
        merged.back().second += coefficient;
      } else {
        merged.emplace_back(column, coefficient);
      }
    }
    row.terms = std::move(merged);
  }

  void load(int columns, const std::vector<double>& lower, const std::vector<double>& upper,
            const std::vector<double>& objective) {
    std::vector<std::vector<std::pair<int, double>>> by_column(static_cast<size_t>(columns));
    std::vector<double> least;
    for (const Row& row : rows_) {
      for (const auto& [column, coefficient] : row.terms) {
        by_column[static_cast<size_t>(column)].emplace_back(static_cast<int>(least.size()),
                                                            coefficient);
      }
      least.push_back(row.least);
    }
    const std::vector<double> most(least.size(), 1e30);
    std::vector<CoinBigIndex> begin = {0};
    std::vector<int> index;
    std::vector<double> coefficients;
    for (const auto& entries : by_column) {
      for (const auto& [row, coefficient] : entries) {
        index.push_back(row);
        coefficients.push_back(coefficient);
      }
      begin.push_back(static_cast<CoinBigIndex>(index.size()));
    }
    Cbc_loadProblem(model_.get(), columns, static_cast<int>(least.size()), begin.data(),
                    index.data(), coefficients.data(), lower.data(), upper.data(), objective.data(),
                    least.data(), most.data());
    for (const OpId op : graph_.ops()) {
      for (const DeviceId device : problem_.machine.devices()) {
        Cbc_setInteger(model_.get(), x(op, device));
      }
    }
    for (size_t i = 0; i < pairs_.size(); ++i) Cbc_setInteger(model_.get(), before(i));
  }

  // The solver's times carry rounding; the order on each device does not. Every op starts as soon
  // as that order and its operands allow.
  ExactPlan schedule(const double* solution) const {
    ExactPlan exact;
    Plan& plan = exact.plan;
    const auto ops = static_cast<size_t>(graph_.size());
    plan.placement.resize(ops);
    plan.start.resize(ops);
    plan.finish.resize(ops);
    plan.strict_order.resize(static_cast<size_t>(devices_));
    std::vector<OpId> order(graph_.topological_order().begin(), graph_.topological_order().end());
    // Rounded, so that ops that start together stay in topological order, producers first.
    const auto rounded = [&](OpId op) { return std::llround(1e4 * solution[start(op)]); };
    std::stable_sort(order.begin(), order.end(),
                     [&](OpId a, OpId b) { return rounded(a) < rounded(b); });
    std::vector<Duration> free(static_cast<size_t>(devices_), Duration{0});
    exact.makespan = Duration{0};
    for (const OpId op : order) {
      DeviceId device{0};
      for (const DeviceId candidate : problem_.devices_for(op)) {
        if (solution[x(op, candidate)] > 0.5) device = candidate;
      }
      plan.placement[op.index] = device;
      Duration begin = free[static_cast<size_t>(device.index)];
      for (const EdgeId edge : graph_.edges(op)) {
        const OpId producer = graph_.edge_from(edge);
        begin = std::max(begin, producer.valid()
                                    ? plan.finish[producer.index] +
                                          transfer(edge, plan.placement[producer.index], device)
                                    : input_arrival(problem_, graph_.edge_value(edge), device));
      }
      plan.start[op.index] = begin;
      plan.finish[op.index] = begin + problem_.costs.run_time(op, device);
      free[static_cast<size_t>(device.index)] = plan.finish[op.index];
      plan.strict_order[static_cast<size_t>(device.index)].push_back(op);
      exact.makespan = std::max(exact.makespan, plan.finish[op.index]);
    }
    for (const Duration begin : plan.start) plan.priority.push_back(begin.count());
    plan.planned_makespan = exact.makespan;
    return exact;
  }

  struct Delete {
    void operator()(Cbc_Model* model) const { Cbc_deleteModel(model); }
  };

  const Problem& problem_;
  const Graph& graph_;
  int devices_;
  double horizon_ = 0;
  std::vector<bool> after_;
  std::vector<std::pair<int32_t, int32_t>> pairs_;
  std::vector<Row> rows_;
  std::unique_ptr<Cbc_Model, Delete> model_{Cbc_newModel()};
};

}  // namespace

Result<ExactPlan> best_schedule(const Problem& problem, const Budget& budget) {
  const Result<void> fit = require_no_contention(problem);
  if (!fit) return fit.error();
  constexpr int32_t kMostOps = 200;
  if (problem.graph.size() > kMostOps) {
    return invalid_input(
        fmt::format("the exact method takes up to {} ops and this graph has {}; use auto", kMostOps,
                    problem.graph.size()));
  }
  for (const DeviceId device : problem.machine.devices()) {
    if (problem.machine.device(device).slots == 1) continue;
    return invalid_input(fmt::format("the exact method needs devices of one slot, and '{}' has {}",
                                     problem.machine.device(device).name,
                                     problem.machine.device(device).slots));
  }
  if (budget.stop.now()) return failed("it was interrupted; let it run longer");
  return Program(problem).solve(budget);
}

}  // namespace tutti

#else

namespace tutti {

Result<ExactPlan> best_schedule(const Problem& /*problem*/, const Budget& /*budget*/) {
  return failed("this build has no CBC; install coinor-libcbc-dev and build again");
}

}  // namespace tutti

#endif
