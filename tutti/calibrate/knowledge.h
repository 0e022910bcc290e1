// Knowledge is what was learned by measuring: a posterior for each (op kind, work, device kind) and
// each (hop, bytes), learned from traces of any runtime. It gives costs for planning, and a
// machine with measured links.

#ifndef TUTTI_CALIBRATE_KNOWLEDGE_H_
#define TUTTI_CALIBRATE_KNOWLEDGE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tutti/calibrate/posterior.h"
#include "tutti/costs/costs.h"
#include "tutti/plan/problem.h"
#include "tutti/trace/trace.h"

namespace tutti {

// What one posterior is about.
struct CellKey {
  std::string kind;   // of op; empty: a hop
  std::string where;  // the device's kind; of a hop: its channels (hop_name)
  OpWork work;        // of a hop: its bytes as read_bytes

  friend auto operator<=>(const CellKey&, const CellKey&) = default;
};

// Ops of one kind got slower or quicker for good on one kind of device; or a hop did.
struct Drift {
  std::string kind;
  std::string where;
  double ratio = 1;  // the new time over the old; of several sizes the geometric mean
  int cells = 1;     // how many sizes
  int64_t run = 0;   // the run that made it certain
  std::string when;  // what learn was told
};

// What ops of one kind take on one kind of device in whole plans, against what they take in probes:
// so many times as long, and so much more.
struct Stretch {
  double factor = 1;
  double extra_ns = 0;
};

// What things take in whole plans, against what they take in probes: see tune.h.
struct Scales {
  std::map<std::pair<std::string, std::string>, Stretch> kinds{};  // of op, on a kind of device
  std::map<std::string, double> devices{};  // on top of it: all ops on that kind. Absent: 1
  double transfers = 1;                     // the bytes of each
  double latency = 1;  // of each: copies that wait for a core, or for the one before

  double of_device(const std::string& device_kind) const;
  // What an op takes in a plan, which takes so long in a probe; at most eight times as long or an
  // eighth of it. And the other way round.
  double in_plan(const std::string& kind, const std::string& device_kind, double probe_ns) const;
  double in_probe(const std::string& kind, const std::string& device_kind, double plan_ns) const;
};
// Slows down every transfer over this machine by these.
void scale_transfers(MachineSpec& spec, const Scales& scales);

class Knowledge {
 public:
  // More sizes than that are passed over, and only the latest drifts are kept.
  static constexpr size_t kMostCells = 8192;
  static constexpr size_t kMostDrifts = 64;

  // Takes in a run. What a whole graph's ops took is divided by the scales: cells are of probes,
  // which have no edges. Its transfers are passed over where they have scales. `when` is for
  // sentences about drift: a date, or the name of a file.
  void learn(const Problem& problem, const Trace& trace, const std::string& when);
  // Notes that the graph was run to measure, so that the simulator is not validated on it.
  void note_graph(const Graph& graph);

  const std::map<CellKey, Posterior>& cells() const { return cells_; }
  const std::vector<Drift>& drifts() const { return drifts_; }
  const std::vector<uint64_t>& graphs() const { return graphs_; }
  int64_t runs() const { return runs_; }
  bool empty() const { return cells_.empty(); }

  // Costs and machine are by these from now on.
  void set_scales(Scales scales) { scales_ = std::move(scales); }
  const Scales& scales() const { return scales_; }

  // Only what at least two runs have seen counts, unless a kind has nothing better. The noise of
  // run times without points, and of transfers, is the median of what was measured.
  CostSpec costs(const Machine& machine) const;

  // The machine with measured latencies and bandwidths of links, and the devices' overheads. What
  // was not measured stays as it is.
  MachineSpec machine(const Machine& machine) const;

  // For the file: see state_file.h.
  struct State {
    std::map<CellKey, Posterior> cells{};
    std::vector<Drift> drifts{};
    std::vector<uint64_t> graphs{};
    int64_t runs = 0;
    Scales scales{};
  };
  static Knowledge from(State state);

 private:
  void add(const CellKey& key, const std::vector<double>& ns, const std::string& when);
  std::vector<MeasuredPoint> points(const std::string& kind, const std::string& where) const;

  std::map<CellKey, Posterior> cells_;
  std::vector<Drift> drifts_;
  std::vector<uint64_t> graphs_;
  int64_t runs_ = 0;
  Scales scales_;
};

// "matmul on gpu got 1.4 times slower in run 17 (trace.json)"
std::string to_text(const Drift& drift);

}  // namespace tutti

#endif  // TUTTI_CALIBRATE_KNOWLEDGE_H_
