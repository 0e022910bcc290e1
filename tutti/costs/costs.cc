#include "tutti/costs/costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <unordered_map>

#include "tutti/base/check.h"
#include "tutti/base/fingerprint.h"
#include "tutti/costs/coverage.h"
#include "tutti/costs/roofline.h"
#include "tutti/graph/names.h"

namespace tutti {

class CostsBuilder {
 public:
  CostsBuilder(const Graph& graph, const Machine& machine, const CostSpec& spec)
      : graph_(graph), machine_(machine), spec_(spec) {
    costs_.graph_ = &graph;
    costs_.machine_ = &machine;
  }

  Result<Costs> build() {
    group_devices();
    fill_run_times();
    gather_given_transfers();
    gather_kind_pairs();
    gather_noise();
    if (Result<void> sane = check_run_times(); !sane) return sane.error();
    if (Result<void> sane = check_bytes(); !sane) return sane.error();
    compute_fingerprint();
    return std::move(costs_);
  }

  Result<Costs> gather(const Costs& parts, std::span<const int32_t> into) {
    group_devices();
    add_up_run_times(parts, into);
    gather_given_transfers();
    gather_kind_pairs();
    keep_noise(parts, into);
    if (Result<void> sane = check_run_times(); !sane) return sane.error();
    compute_fingerprint();
    return std::move(costs_);
  }

 private:
  // Devices of one class share kind and rates, so one column of run times serves them all.
  void group_devices() {
    for (const DeviceId id : machine_.devices()) {
      const Device& device = machine_.device(id);
      size_t found = 0;
      while (found < examples_.size() && !same_class(machine_.device(examples_[found]), device)) {
        ++found;
      }
      if (found == examples_.size()) examples_.push_back(id);
      costs_.device_class_.push_back(static_cast<int>(found));
      const auto kind = std::find(kinds_.begin(), kinds_.end(), device.kind);
      costs_.device_kind_.push_back(static_cast<int>(kind - kinds_.begin()));
      if (kind == kinds_.end()) kinds_.push_back(device.kind);
    }
    costs_.classes_ = examples_.size();
    costs_.kinds_ = static_cast<int>(kinds_.size());
  }

  static bool same_class(const Device& a, const Device& b) {
    return a.kind == b.kind && a.flops_per_s == b.flops_per_s && a.bytes_per_s == b.bytes_per_s &&
           a.launch_overhead == b.launch_overhead &&
           a.flops_per_s_by_dtype == b.flops_per_s_by_dtype;
  }

  void fill_run_times() {
    costs_.run_times_.assign(static_cast<size_t>(graph_.size()) * costs_.classes_, kNever);
    for (size_t column = 0; column < costs_.classes_; ++column) {
      const Device& device = machine_.device(examples_[column]);
      KindCosts kind_costs(graph_, device, spec_);
      const auto* given = graph_.run_time_column(graph_.device_kind_index(device.kind));
      const auto* given_all = graph_.run_time_column(-1);
      if (graph_.device_kind_index(device.kind) < 0) given = nullptr;
      const std::vector<const CostSpec::OpTime*> measured = op_times_on(device.kind);
      for (const OpId op : graph_.ops()) {
        Duration time{-1};
        if (!measured.empty() && measured[op.index] != nullptr) {
          time = nanoseconds_of(measured[op.index]->time_ns);
          const double spread = measured[op.index]->spread;
          if (spread > 0 && !spec_.ignore_spreads) give_noise(op, column, spread);
        } else if (!spec_.ignore_given_times) {
          if (given != nullptr) time = (*given)[op.index];
          if (time.count() < 0 && given_all != nullptr) time = (*given_all)[op.index];
        }
        if (time.count() < 0) {
          const KindCosts::Cost cost = kind_costs.cost(op);
          time = cost.knows_work || !has_time_somewhere(op) ? cost.run_time : kNever;
          if (cost.spread && !spec_.ignore_spreads) give_noise(op, column, *cost.spread);
        }
        costs_.run_times_[static_cast<size_t>(op.index) * costs_.classes_ + column] = time;
      }
    }
  }

  // Whether a row or a given time speaks of the op, for whatever kind of device. Then it cannot be
  // had for the launch overhead alone where they do not.
  bool has_time_somewhere(OpId op) {
    if (has_time_.empty()) find_who_has_time();
    return has_time_[static_cast<size_t>(op.index)];
  }

  void find_who_has_time() {
    std::vector<bool> kind_has_row(graph_.op_kinds().size(), false);
    for (const CostSpec::RunTime& row : spec_.run_times) {
      const auto& kinds = graph_.op_kinds();
      const auto kind = std::find(kinds.begin(), kinds.end(), row.kind);
      if (kind != kinds.end()) kind_has_row[static_cast<size_t>(kind - kinds.begin())] = true;
    }
    has_time_.resize(static_cast<size_t>(graph_.size()));
    for (const OpId op : graph_.ops()) {
      has_time_[static_cast<size_t>(op.index)] =
          kind_has_row[static_cast<size_t>(graph_.op_kind(op).index)];
    }
    const auto kinds = static_cast<int>(graph_.device_kinds().size());
    for (int kind = -1; kind < kinds && !spec_.ignore_given_times; ++kind) {
      const std::vector<Duration>* column = graph_.run_time_column(kind);
      if (column == nullptr) continue;
      for (const OpId op : graph_.ops()) {
        if ((*column)[op.index].count() >= 0) has_time_[static_cast<size_t>(op.index)] = true;
      }
    }
    if (spec_.op_times.empty()) return;
    const NameIndex names(graph_);
    for (const CostSpec::OpTime& row : spec_.op_times) {
      if (const auto op = names.find(row.op)) has_time_[static_cast<size_t>(op->index)] = true;
    }
  }

  // By op, nullptr for those without one; empty if there are none at all. A row that names the
  // device's kind beats one for all kinds; among equals the last one wins.
  std::vector<const CostSpec::OpTime*> op_times_on(std::string_view device_kind) const {
    std::vector<const CostSpec::OpTime*> measured;
    if (spec_.op_times.empty()) return measured;
    const NameIndex names(graph_);
    measured.assign(static_cast<size_t>(graph_.size()), nullptr);
    for (const CostSpec::OpTime& row : spec_.op_times) {
      if (!row.device_kind.empty() && row.device_kind != device_kind) continue;
      const std::optional<OpId> op = names.find(row.op);
      if (!op) continue;  // the graph may be a part of what was measured
      const CostSpec::OpTime*& best = measured[static_cast<size_t>(op->index)];
      if (best == nullptr || !row.device_kind.empty() || best->device_kind.empty()) best = &row;
    }
    return measured;
  }

  void add_up_run_times(const Costs& parts, std::span<const int32_t> into) {
    costs_.run_times_.assign(static_cast<size_t>(graph_.size()) * costs_.classes_, Duration{0});
    for (size_t i = 0; i < parts.run_times_.size(); ++i) {
      Duration& sum =
          costs_.run_times_[static_cast<size_t>(into[i / costs_.classes_]) * costs_.classes_ +
                            i % costs_.classes_];
      const Duration part = parts.run_times_[i];
      sum = sum >= kNever || part >= kNever ? kNever : sum + part;
    }
  }

  // Log-normal noise of that spread, to two digits, so that there are only so many.
  void give_noise(OpId op, size_t column, double spread) {
    const double step = std::pow(10, std::floor(std::log10(std::clamp(spread, 1e-4, 10.0))) - 1);
    const auto units = static_cast<int64_t>(std::llround(std::clamp(spread, 0.0, 10.0) / step));
    const NoiseSpec spec{.model = NoiseSpec::Model::log_normal,
                         .spread = static_cast<double>(units) * step};
    const auto [number, is_new] =
        own_numbers_.try_emplace(spec.spread, static_cast<int16_t>(own_noises_.size()));
    if (is_new) own_noises_.emplace_back(spec);
    if (costs_.own_noise_.empty()) {
      costs_.own_noise_.assign(static_cast<size_t>(graph_.size()) * costs_.classes_, -1);
    }
    costs_.own_noise_[static_cast<size_t>(op.index) * costs_.classes_ + column] = number->second;
  }

  // Those of single ops come behind those of kinds.
  void add_own_noises() {
    const auto before = static_cast<int16_t>(costs_.noises_.size());
    for (int16_t& own : costs_.own_noise_) own = own < 0 ? own : static_cast<int16_t>(own + before);
    costs_.noises_.insert(costs_.noises_.end(), own_noises_.begin(), own_noises_.end());
  }

  void gather_given_transfers() {
    if (!graph_.has_given_transfers() || spec_.ignore_given_times) return;
    costs_.given_.resize(kinds_.size() * kinds_.size());
    for (size_t from = 0; from < kinds_.size(); ++from) {
      for (size_t to = 0; to < kinds_.size(); ++to) {
        const int from_kind = graph_.device_kind_index(kinds_[from]);
        const int to_kind = graph_.device_kind_index(kinds_[to]);
        auto& columns = costs_.given_[from * kinds_.size() + to];
        for (const auto& [a, b] : {std::pair{from_kind, to_kind}, std::pair{from_kind, -1},
                                   std::pair{-1, to_kind}, std::pair{-1, -1}}) {
          const std::vector<Duration>* column = graph_.transfer_column(a, b);
          if (column != nullptr &&
              std::find(columns.begin(), columns.end(), column) == columns.end())
            columns.push_back(column);
        }
      }
    }
  }

  static bool same_shape(const Route& a, const Route& b) {
    return std::equal(a.hops.begin(), a.hops.end(), b.hops.begin(), b.hops.end(),
                      [](const Hop& x, const Hop& y) {
                        return x.latency == y.latency && x.ns_per_byte == y.ns_per_byte;
                      });
  }

  void gather_kind_pairs() {
    for (const DeviceId from : machine_.devices()) {
      for (const DeviceId to : machine_.devices()) {
        if (from == to) continue;
        if (machine_.memory_of(from) == machine_.memory_of(to)) {
          costs_.some_share_memory_ = true;
          continue;
        }
        const int from_kind = costs_.device_kind_[from.index];
        const int to_kind = costs_.device_kind_[to.index];
        auto& pairs = costs_.kind_pairs_;
        auto pair = std::find_if(pairs.begin(), pairs.end(), [&](const Costs::KindPair& candidate) {
          return candidate.from_kind == from_kind && candidate.to_kind == to_kind;
        });
        if (pair == pairs.end()) {
          pair = pairs.insert(pairs.end(), {.from_kind = from_kind, .to_kind = to_kind});
        }
        const Route* route = machine_.route(machine_.memory_of(from), machine_.memory_of(to));
        TUTTI_CHECK(route != nullptr);
        pair->count += 1;
        for (const Hop& hop : route->hops) {
          pair->mean_latency_ns += static_cast<double>(hop.latency.count());
          pair->mean_ns_per_byte += hop.ns_per_byte;
        }
        const bool known =
            std::any_of(pair->routes.begin(), pair->routes.end(),
                        [&](const Route* other) { return same_shape(*other, *route); });
        if (!known) pair->routes.push_back(route);
      }
    }
    for (Costs::KindPair& pair : costs_.kind_pairs_) {
      pair.mean_latency_ns /= pair.count;
      pair.mean_ns_per_byte /= pair.count;
    }
  }

  void gather_noise() {
    costs_.noises_.emplace_back(spec_.transfer_noise);
    costs_.noises_.emplace_back(spec_.run_time_noise);
    costs_.kind_noise_.assign(graph_.op_kinds().size(), 1);
    for (const CostSpec::KindNoise& entry : spec_.kind_noise) {
      const auto& kinds = graph_.op_kinds();
      const auto kind = std::find(kinds.begin(), kinds.end(), entry.kind);
      if (kind == kinds.end()) continue;
      costs_.kind_noise_[static_cast<size_t>(kind - kinds.begin())] =
          static_cast<int>(costs_.noises_.size());
      costs_.noises_.emplace_back(entry.noise);
    }
    add_own_noises();
    costs_.has_noise_ = std::any_of(costs_.noises_.begin(), costs_.noises_.end(),
                                    [](const Noise& noise) { return !noise.none(); });
  }

  void keep_noise(const Costs& parts, std::span<const int32_t> into) {
    costs_.noises_ = parts.noises_;
    costs_.has_noise_ = parts.has_noise_;
    std::unordered_map<std::string_view, int> noise_of;
    for (size_t i = 0; i < parts.kind_noise_.size(); ++i) {
      noise_of.emplace(parts.graph_->op_kinds()[i], parts.kind_noise_[i]);
    }
    for (const std::string& kind : graph_.op_kinds()) {
      costs_.kind_noise_.push_back(noise_of.at(kind));
    }
    add_up_own_noise(parts, into);
    add_own_noises();
  }

  // Variances of independent parts add up.
  void add_up_own_noise(const Costs& parts, std::span<const int32_t> into) {
    if (parts.own_noise_.empty()) return;
    std::vector<double> variances(costs_.run_times_.size(), 0);
    for (size_t i = 0; i < parts.run_times_.size(); ++i) {
      if (parts.run_times_[i] >= kNever) continue;
      const OpId op{static_cast<int32_t>(i / costs_.classes_)};
      const size_t column = i % costs_.classes_;
      const double deviation = static_cast<double>(parts.run_times_[i].count()) *
                               parts.noise_of(op, static_cast<int>(column)).spec().spread;
      variances[static_cast<size_t>(into[i / costs_.classes_]) * costs_.classes_ + column] +=
          deviation * deviation;
    }
    for (size_t i = 0; i < variances.size(); ++i) {
      const Duration mean = costs_.run_times_[i];
      if (mean >= kNever || mean.count() == 0) continue;
      give_noise(OpId{static_cast<int32_t>(i / costs_.classes_)}, i % costs_.classes_,
                 std::sqrt(variances[i]) / static_cast<double>(mean.count()));
    }
  }

  bool has_no_time(OpId op) const {
    const Duration* row =
        costs_.run_times_.data() + static_cast<size_t>(op.index) * costs_.classes_;
    return std::all_of(row, row + costs_.classes_, [](Duration time) { return time >= kNever; });
  }

  Error no_time_anywhere(OpId example) const {
    std::vector<bool> lacking(graph_.op_kinds().size(), false);
    for (const OpId op : graph_.ops()) {
      if (has_no_time(op)) lacking[static_cast<size_t>(graph_.op_kind(op).index)] = true;
    }
    std::vector<std::string> names;
    for (size_t i = 0; i < lacking.size(); ++i) {
      if (lacking[i]) names.push_back(graph_.op_kinds()[i]);
    }
    return infeasible(fmt::format(
        "ops of {} {} have no run time on any device of machine '{}' ({} {}), such as op '{}': "
        "give "
        "run_time_ns in the graph, rows for their kinds in a costs file (--costs), or flops and "
        "device rates",
        names.size() == 1 ? "kind" : "kinds", first_names(names), machine_.name(),
        kinds_.size() == 1 ? "kind" : "kinds", first_names(kinds_), graph_.op_name(example)));
  }

  Result<void> check_run_times() const {
    double total = 0;
    for (const OpId op : graph_.ops()) {
      if (has_no_time(op)) return no_time_anywhere(op);
      Duration longest{-1};
      for (size_t column = 0; column < costs_.classes_; ++column) {
        const Duration time =
            costs_.run_times_[static_cast<size_t>(op.index) * costs_.classes_ + column];
        if (time < kNever) longest = std::max(longest, time);
      }
      total += static_cast<double>(longest.count());
      for (const EdgeId edge : graph_.edges(op)) total += costs_.mean_transfer_time_ns(edge);
    }
    if (total > static_cast<double>(kNever.count()) / 4) {
      return invalid_input(
          "the run times and transfers add up to more than 18 years; check the units");
    }
    return {};
  }

  // Sums of bytes are whole numbers of 64 bits.
  Result<void> check_bytes() const {
    constexpr double kMost = static_cast<double>(int64_t{1} << 62);
    double total = 0;
    for (const ValueId value : graph_.values()) total += static_cast<double>(graph_.bytes(value));
    for (const OpId op : graph_.ops()) total += static_cast<double>(graph_.transient_bytes(op));
    if (total <= kMost) return {};
    return invalid_input("the values add up to more than 2^62 bytes; check the units");
  }

  void compute_fingerprint() {
    Fingerprint print;
    for (const Duration time : costs_.run_times_) print.add(static_cast<int64_t>(time.count()));
    print.add(static_cast<int32_t>(spec_.ignore_given_times));
    for (const Noise& noise : costs_.noises_) {
      print.add(static_cast<int32_t>(noise.spec().model));
      print.add(noise.spec().spread);
      print.add(noise.spec().freedom);
    }
    for (const int16_t own : costs_.own_noise_) print.add(int32_t{own});
    costs_.fingerprint_ = print.value();
  }

  const Graph& graph_;
  const Machine& machine_;
  const CostSpec& spec_;
  Costs costs_;
  std::vector<DeviceId> examples_;  // one device of each class
  std::vector<std::string> kinds_;  // of device, in order of appearance
  std::vector<Noise> own_noises_;   // of single ops, each spread once
  std::map<double, int16_t> own_numbers_;
  std::vector<bool> has_time_;  // by op; see has_time_somewhere
};

Result<Costs> Costs::build(const Graph& graph, const Machine& machine, const CostSpec& spec) {
  return CostsBuilder(graph, machine, spec).build();
}

Result<Costs> Costs::gathered(const Graph& graph, std::span<const int32_t> into) const {
  const CostSpec nothing_else;
  return CostsBuilder(graph, *machine_, nothing_else).gather(*this, into);
}

double Costs::mean_run_time_ns(OpId op) const {
  double sum = 0;
  int count = 0;
  for (const DeviceId device : machine_->devices()) {
    const Duration time = run_time(op, device);
    if (time >= kNever) continue;
    sum += static_cast<double>(time.count());
    ++count;
  }
  return sum / count;
}

double Costs::mean_spread(OpId op) const {
  if (own_noise_.empty()) return noise_of(op, 0).spec().spread;
  double sum = 0;
  int count = 0;
  for (int column = 0; column < device_class_count(); ++column) {
    if (run_times_[static_cast<size_t>(op.index) * classes_ + column] >= kNever) continue;
    sum += noise_of(op, column).spec().spread;
    ++count;
  }
  return sum / count;
}

Duration Costs::least_run_time(OpId op) const {
  const Duration* row = run_times_.data() + static_cast<size_t>(op.index) * classes_;
  return *std::min_element(row, row + classes_);
}

Duration Costs::hop_time(const Hop& hop, int64_t bytes) {
  return hop.latency + Duration(static_cast<int64_t>(
                           std::ceil(static_cast<double>(bytes) * hop.ns_per_byte - 1e-6)));
}

Duration Costs::route_time(MemoryId from, MemoryId to, int64_t bytes) const {
  if (from == to) return Duration{0};
  const Route* route = machine_->route(from, to);
  if (route == nullptr) return kNever;
  Duration total{0};
  for (const Hop& hop : route->hops) total += hop_time(hop, bytes);
  return total;
}

std::optional<Duration> Costs::given_between(EdgeId edge, int from_kind, int to_kind) const {
  if (given_.empty()) return std::nullopt;
  for (const std::vector<Duration>* column :
       given_[static_cast<size_t>(from_kind * kinds_ + to_kind)]) {
    if ((*column)[edge.index].count() >= 0) return (*column)[edge.index];
  }
  return std::nullopt;
}

Duration Costs::transfer_time(EdgeId edge, DeviceId from, DeviceId to) const {
  if (from == to) return Duration{0};
  const MemoryId from_memory = machine_->memory_of(from);
  const MemoryId to_memory = machine_->memory_of(to);
  if (from_memory == to_memory) return Duration{0};
  if (const std::optional<Duration> given = given_transfer(edge, from, to)) return *given;
  return route_time(from_memory, to_memory, graph_->bytes(graph_->edge_value(edge)));
}

double Costs::mean_transfer_time_ns(EdgeId edge) const {
  const auto devices = static_cast<double>(machine_->size());
  const auto bytes = static_cast<double>(graph_->bytes(graph_->edge_value(edge)));
  double sum = 0;
  for (const KindPair& pair : kind_pairs_) {
    const std::optional<Duration> given = given_between(edge, pair.from_kind, pair.to_kind);
    sum += pair.count * (given ? static_cast<double>(given->count())
                               : pair.mean_latency_ns + bytes * pair.mean_ns_per_byte);
  }
  return sum / (devices * devices);
}

Duration Costs::least_transfer_time(EdgeId edge) const {
  if (kind_pairs_.empty() || some_share_memory_) return Duration{0};
  const int64_t bytes = graph_->bytes(graph_->edge_value(edge));
  Duration least = kNever;
  for (const KindPair& pair : kind_pairs_) {
    if (const std::optional<Duration> given = given_between(edge, pair.from_kind, pair.to_kind)) {
      least = std::min(least, *given);
      continue;
    }
    for (const Route* route : pair.routes) {
      Duration time{0};
      for (const Hop& hop : route->hops) time += hop_time(hop, bytes);
      least = std::min(least, time);
    }
  }
  return least;
}

}  // namespace tutti
