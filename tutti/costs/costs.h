// Costs say how long each op takes on each device and each value on each route, and how sure we
// are. Every cost is a distribution: a mean, and Noise around it.
//
// A run time is, in this order: measured for the very op, given with it, in the cost table (kind x
// device kind: constant, by size, or measured points), or the roofline of flops and bytes against
// the device's rates. A device for which none of these exists cannot run the op; and where a time
// is known for some kind of device, the roofline of an op that states no work is none for the
// others (coverage.h).
//
// Costs are worked out once for a graph and a machine and are immutable after that.

#ifndef TUTTI_COSTS_COSTS_H_
#define TUTTI_COSTS_COSTS_H_

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tutti/base/result.h"
#include "tutti/base/time.h"
#include "tutti/costs/noise.h"
#include "tutti/costs/surface.h"
#include "tutti/graph/graph.h"
#include "tutti/machine/machine.h"

namespace tutti {

// What a costs file says. See docs/formats/costs.md.
struct CostSpec {
  struct RunTime {
    std::string kind;         // of op
    std::string device_kind;  // empty: every kind of device
    // (size, time) by ascending size; one pair of size 0 is a constant. Between sizes the time is
    // interpolated, beyond the ends it is scaled in proportion to size.
    std::vector<std::pair<double, double>> time_ns_by_size{};
    // Or what was measured, and how it spreads; see surface.h. Of all rows with points for one kind
    // and device kind together at most kMostPoints.
    std::vector<MeasuredPoint> points{};
    int line = 0;  // of its file
  };
  // What was measured of one op, by its name in the graph; goes before all else.
  struct OpTime {
    std::string op;
    std::string device_kind;  // empty: every kind of device
    double time_ns = 0;
    double spread = 0;  // standard deviation of one run over the mean
    int line = 0;       // of its file
  };
  struct Efficiency {
    std::string kind;
    std::string device_kind;
    double efficiency = 1;  // share of the peak rates that this kind of op reaches
    std::optional<double> launch_overhead_ns{};
    int line = 0;  // of its file
  };
  // What a running op draws on resources that others share, at full speed; see
  // plan/world/cluster.h.
  struct Demand {
    std::string kind;         // of op
    std::string device_kind;  // empty: every kind of device
    double share = 1;         // of its core, or of its accelerator
    double cache_bytes_per_s = 0;
    double memory_bytes_per_s = 0;     // of the memory that the device works on
    double host_read_bytes_per_s = 0;  // of an accelerator, over its route from the host's memory
    double host_write_bytes_per_s = 0;
    double proxy = 0;  // share of a core of the device's proxy
  };
  struct KindNoise {
    std::string kind;
    NoiseSpec noise;
  };

  // Where measured points come from.
  struct Calibration {
    std::string machine{};
    uint64_t machine_fingerprint = 0;
    std::vector<uint64_t> graphs{};    // fingerprints of those that were run to measure
    std::vector<std::string> drift{};  // what changed while it was measured, a sentence each
  };
  // How well the simulator predicted real runs with these costs, on graphs that they were not
  // measured on. Of several graphs: means.
  struct Validation {
    int graphs = 0;
    int plans = 0;
    double rank_correlation = 0;  // Spearman's, of simulated and real makespans
    double rank_correlation_better_half = 0;
    double mean_error = 0;   // |simulated - real| / real
    double top1_regret = 0;  // of the plan that the simulator liked best, over the really best
  };

  std::vector<OpTime> op_times{};
  std::vector<RunTime> run_times;
  std::vector<Efficiency> efficiencies;
  std::vector<Demand> demands{};
  NoiseSpec run_time_noise;
  NoiseSpec transfer_noise;
  std::vector<KindNoise> kind_noise;
  bool ignore_given_times = false;
  bool ignore_spreads = false;  // of measured points; all run times then have the noise above
  std::optional<Calibration> calibration{};
  std::optional<Validation> validation{};
};

class Costs {
 public:
  // Keeps references to both. Fails (infeasible) if some op has no cost on any device, naming it
  // and the kinds of devices, and (invalid_input) if all times together could overflow.
  static Result<Costs> build(const Graph& graph, const Machine& machine, const CostSpec& spec = {});

  // The costs of a graph whose ops each stand for several of this one's, one after another; into
  // says for each of these which. Run times add up, on the devices that can run them all. Op kinds
  // of that graph must be kinds of this one, and keep their noise. Fails as build does.
  Result<Costs> gathered(const Graph& graph, std::span<const int32_t> into) const;

  // kNever if the device cannot run the op.
  Duration run_time(OpId op, DeviceId device) const {
    return run_times_[static_cast<size_t>(op.index) * classes_ + device_class_[device.index]];
  }
  bool can_run(OpId op, DeviceId device) const { return run_time(op, device) < kNever; }
  // Devices with the same class have the same run time for every op.
  int device_class(DeviceId device) const { return device_class_[device.index]; }
  int device_class_count() const { return static_cast<int>(classes_); }

  // Over the devices that can run it.
  double mean_run_time_ns(OpId op) const;
  Duration least_run_time(OpId op) const;

  // The time to move the edge's value from one device's memory to another's with nothing else on
  // the way: given with the edge, or the route's. Zero within one memory when none is given.
  Duration transfer_time(EdgeId edge, DeviceId from, DeviceId to) const;
  // The same for a value that starts in a memory, as graph inputs do. Never given.
  Duration transfer_time(ValueId value, MemoryId from, MemoryId to) const {
    return route_time(from, to, graph_->bytes(value));
  }
  // The given time of that edge between those devices, if there is one. Such a transfer takes just
  // that long and meets no other: a measured time already holds what it met.
  std::optional<Duration> given_transfer(EdgeId edge, DeviceId from, DeviceId to) const {
    return given_between(edge, device_kind_[from.index], device_kind_[to.index]);
  }
  bool has_given_transfers() const { return !given_.empty(); }
  // True if no transfer depends on which pair of different devices it is between. (False may also
  // mean that this was not seen.)
  bool transfers_are_uniform() const {
    return !some_share_memory_ &&
           (kind_pairs_.empty() || (kind_pairs_.size() == 1 && kind_pairs_[0].routes.size() == 1));
  }
  // One hop, alone: latency and bytes over the slowest channel, rounded up.
  static Duration hop_time(const Hop& hop, int64_t bytes);

  // Over all ordered pairs of devices, a device with itself counting 0 (Topcuoglu et al. 2002).
  double mean_transfer_time_ns(EdgeId edge) const;
  // Over all pairs of different devices: no transfer of that edge is quicker.
  Duration least_transfer_time(EdgeId edge) const;

  // Measured points have a spread of their own; all other run times have the kind's.
  const Noise& run_time_noise(OpId op, DeviceId device) const {
    return noise_of(op, device_class(device));
  }
  // The spread of the op's noise; where devices differ, the mean over those that can run it.
  double mean_spread(OpId op) const;
  const Noise& transfer_noise() const { return noises_[0]; }
  bool has_noise() const { return has_noise_; }

  uint64_t fingerprint() const { return fingerprint_; }
  const Graph& graph() const { return *graph_; }
  const Machine& machine() const { return *machine_; }

 private:
  friend class CostsBuilder;

  const Noise& noise_of(OpId op, int device_class) const {
    const int own = own_noise_.empty()
                        ? -1
                        : own_noise_[static_cast<size_t>(op.index) * classes_ + device_class];
    return noises_[static_cast<size_t>(own < 0 ? kind_noise_[graph_->op_kind(op).index] : own)];
  }
  Duration route_time(MemoryId from, MemoryId to, int64_t bytes) const;
  std::optional<Duration> given_between(EdgeId edge, int from_kind, int to_kind) const;

  const Graph* graph_ = nullptr;
  const Machine* machine_ = nullptr;
  size_t classes_ = 1;
  std::vector<int> device_class_;
  std::vector<Duration> run_times_;  // [op][class]
  // Given transfers: for each pair of device kinds, the columns to look in, most specific first.
  std::vector<int> device_kind_;  // of device; the kind's number in this machine
  int kinds_ = 0;
  std::vector<std::vector<const std::vector<Duration>*>> given_;  // [from kind][to kind]
  // The ordered pairs of devices with different memories, gathered by kinds: how many there are,
  // what an ungiven transfer takes on average, and the routes that differ from each other.
  struct KindPair {
    int from_kind;
    int to_kind;
    double count = 0;
    double mean_latency_ns = 0;
    double mean_ns_per_byte = 0;
    std::vector<const Route*> routes{};
  };
  std::vector<KindPair> kind_pairs_;
  bool some_share_memory_ = false;  // some two devices exchange values at no cost
  std::vector<Noise> noises_;
  std::vector<int> kind_noise_;
  std::vector<int16_t> own_noise_;  // [op][class]; -1: as the kind has it; empty: all as the kind
  bool has_noise_ = false;
  uint64_t fingerprint_ = 0;
};

}  // namespace tutti

#endif  // TUTTI_COSTS_COSTS_H_
