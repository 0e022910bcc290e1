#include "tutti/calibrate/knowledge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tutti/calibrate/experiment.h"
#include "tutti/calibrate/observe.h"
#include "tutti/machine/units.h"

namespace tutti {
namespace {

// A single run may be the one that an interrupt fell into.
constexpr int64_t kLeastRuns = 2;
// Smaller changes are followed, but are no news.
constexpr double kLeastNews = 0.05;
// Of an op's time in a plan and in a probe.
constexpr double kMostRatio = 8;

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

MeasuredPoint point_of(const OpWork& work, const Posterior& posterior) {
  const Posterior::Estimate estimate = posterior.estimate();
  return {.work = work,
          .time_ns = std::clamp(estimate.mean_ns, 1e-3, static_cast<double>(kLongestTimeNs)),
          .spread = std::min(estimate.spread, 10.0),
          .count = static_cast<double>(posterior.runs_kept())};
}

Stretch stretch_of(const Scales& scales, const std::string& kind, const std::string& device_kind) {
  const auto found = scales.kinds.find({kind, device_kind});
  return found == scales.kinds.end() ? Stretch{} : found->second;
}

NoiseSpec log_normal(double spread) {
  if (spread <= 0) return {};
  return {.model = NoiseSpec::Model::log_normal, .spread = std::min(spread, 10.0)};
}

}  // namespace

double Scales::of_device(const std::string& device_kind) const {
  const auto found = devices.find(device_kind);
  return found == devices.end() ? 1 : found->second;
}

double Scales::in_plan(const std::string& kind, const std::string& device_kind,
                       double probe_ns) const {
  const Stretch stretch = stretch_of(*this, kind, device_kind);
  const double ns = (probe_ns * stretch.factor + stretch.extra_ns) * of_device(device_kind);
  return std::clamp(ns, probe_ns / kMostRatio, probe_ns * kMostRatio);
}

double Scales::in_probe(const std::string& kind, const std::string& device_kind,
                        double plan_ns) const {
  const Stretch stretch = stretch_of(*this, kind, device_kind);
  const double ns = (plan_ns / of_device(device_kind) - stretch.extra_ns) / stretch.factor;
  return std::clamp(ns, plan_ns / kMostRatio, plan_ns * kMostRatio);
}

std::string to_text(const Drift& drift) {
  const bool slower = drift.ratio >= 1;
  return fmt::format(
      "{} got {:.3g} times {} in run {}{}",
      drift.kind.empty() ? "the hop over " + drift.where : drift.kind + " on " + drift.where,
      slower ? drift.ratio : 1 / drift.ratio, slower ? "slower" : "quicker", drift.run,
      drift.when.empty() ? "" : " (" + drift.when + ")");
}

void Knowledge::add(const CellKey& key, const std::vector<double>& ns, const std::string& when) {
  auto cell = cells_.find(key);
  if (cell == cells_.end()) {
    if (cells_.size() >= kMostCells) return;
    cell = cells_.emplace(key, Posterior{}).first;
  }
  const std::optional<Change> change = cell->second.add(ns);
  if (!change || std::abs(std::log(change->ratio)) < kLeastNews) return;
  const CellKey& about = cell->first;
  const auto same = std::find_if(drifts_.begin(), drifts_.end(), [&](const Drift& drift) {
    return drift.run == runs_ && drift.kind == about.kind && drift.where == about.where;
  });
  if (same == drifts_.end()) {
    drifts_.push_back({.kind = about.kind,
                       .where = about.where,
                       .ratio = change->ratio,
                       .run = runs_,
                       .when = when});
    if (drifts_.size() > kMostDrifts) drifts_.erase(drifts_.begin());
    return;
  }
  same->ratio =
      std::exp((std::log(same->ratio) * same->cells + std::log(change->ratio)) / (same->cells + 1));
  ++same->cells;
}

void Knowledge::learn(const Problem& problem, const Trace& trace, const std::string& when) {
  ++runs_;
  const Observed observed = observe(problem, trace);
  std::map<CellKey, std::vector<double>> found;
  const bool probe = is_probe(problem.graph);
  for (const ObservedOp& op : observed.ops) {
    const CellKey key{.kind = std::string(problem.graph.op_kind_name(op.op)),
                      .where = problem.machine.device(op.device).kind,
                      .work = work_of(problem.graph, op.op)};
    found[key].push_back(probe ? op.ns : scales_.in_probe(key.kind, key.where, op.ns));
  }
  const bool has_hops = probe || (scales_.transfers == 1 && scales_.latency == 1);
  for (const ObservedHop& hop : observed.hops) {
    if (!has_hops) break;
    found[{.kind = "",
           .where = hop_name(problem.machine, *hop.hop),
           .work = {.read_bytes = static_cast<double>(hop.bytes)}}]
        .push_back(hop.ns);
  }
  for (const auto& [key, ns] : found) add(key, ns, when);
}

void Knowledge::note_graph(const Graph& graph) {
  const auto place = std::lower_bound(graphs_.begin(), graphs_.end(), graph.fingerprint());
  if (place == graphs_.end() || *place != graph.fingerprint()) {
    graphs_.insert(place, graph.fingerprint());
  }
}

std::vector<MeasuredPoint> Knowledge::points(const std::string& kind,
                                             const std::string& where) const {
  std::vector<const std::pair<const CellKey, Posterior>*> chosen;
  int64_t most = 0;
  const auto begin = cells_.lower_bound({.kind = kind, .where = where, .work = {}});
  for (auto cell = begin;
       cell != cells_.end() && cell->first.kind == kind && cell->first.where == where; ++cell) {
    chosen.push_back(&*cell);
    most = std::max(most, cell->second.runs_kept());
  }
  const int64_t least = std::min(most, kLeastRuns);
  std::erase_if(chosen, [&](const auto* cell) { return cell->second.runs_kept() < least; });
  // Where there are too many, those that were seen most often.
  std::stable_sort(chosen.begin(), chosen.end(), [](const auto* a, const auto* b) {
    return a->second.runs() > b->second.runs();
  });
  chosen.resize(std::min(chosen.size(), kMostPoints));
  std::sort(chosen.begin(), chosen.end(),
            [](const auto* a, const auto* b) { return a->first < b->first; });
  std::vector<MeasuredPoint> points;
  points.reserve(chosen.size());
  for (const auto* cell : chosen) points.push_back(point_of(cell->first.work, cell->second));
  return points;
}

CostSpec Knowledge::costs(const Machine& machine) const {
  CostSpec spec;
  std::set<std::pair<std::string, std::string>> kinds;
  std::vector<double> run_spreads;
  std::vector<double> hop_spreads;
  for (const auto& [key, posterior] : cells_) {
    (key.kind.empty() ? hop_spreads : run_spreads).push_back(posterior.estimate().spread);
    if (!key.kind.empty()) kinds.emplace(key.kind, key.where);
  }
  for (const auto& [kind, where] : kinds) {
    std::map<std::string, std::vector<MeasuredPoint>> by_variant;
    for (MeasuredPoint& point : points(kind, where)) {
      point.time_ns = std::clamp(scales_.in_plan(kind, where, point.time_ns), 1e-3,
                                 static_cast<double>(kLongestTimeNs));
      by_variant[point.work.variant].push_back(std::move(point));
    }
    for (auto& [variant, some] : by_variant) {
      spec.run_times.push_back({.kind = kind, .device_kind = where, .points = std::move(some)});
    }
  }
  spec.run_time_noise = log_normal(median_of(std::move(run_spreads)));
  spec.transfer_noise = log_normal(median_of(std::move(hop_spreads)));
  const std::string units = units_text(machine);
  spec.calibration = {
      .machine = units.empty() ? machine.name() : machine.name() + " (" + units + ")",
      .machine_fingerprint = machine.fingerprint(),
      .graphs = graphs_};
  for (const Drift& drift : drifts_) spec.calibration->drift.push_back(to_text(drift));
  return spec;
}

Knowledge Knowledge::from(State state) {
  Knowledge knowledge;
  knowledge.cells_ = std::move(state.cells);
  knowledge.drifts_ = std::move(state.drifts);
  knowledge.graphs_ = std::move(state.graphs);
  knowledge.runs_ = state.runs;
  knowledge.scales_ = std::move(state.scales);
  return knowledge;
}

}  // namespace tutti
