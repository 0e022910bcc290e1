// The run time of ops that come without one: from the cost table where it has a row for the op's
// kind (a constant, a table by size, or measured points, which are a Surface), else from the
// roofline of the device (Williams, Waterman, Patterson; CACM 2009):
//
//   overhead + max(flops / peak flop rate, bytes touched / peak byte rate) / efficiency

#ifndef TUTTI_COSTS_ROOFLINE_H_
#define TUTTI_COSTS_ROOFLINE_H_

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "tutti/costs/costs.h"
#include "tutti/costs/surface.h"

namespace tutti {

// The costs of every op kind on one device.
class KindCosts {
 public:
  // Keeps references to all three.
  KindCosts(const Graph& graph, const Device& device, const CostSpec& spec);

  struct Cost {
    Duration run_time;
    std::optional<double> spread{};  // of measured points
    // False: the overhead alone, or bytes alone in a graph that states no flops of any op. That is
    // no estimate if a time is known from elsewhere.
    bool knows_work = true;
  };
  // kNever where neither table nor rates say anything. For one thread: what points say of a work is
  // kept for the next op like it.
  Cost cost(OpId op);

 private:
  struct Row {
    const CostSpec::RunTime* table = nullptr;
    std::unique_ptr<Surface> surface{};
    std::map<OpWork, Surface::Estimate> known{};
    double efficiency = 1;
    double overhead_ns = 0;
  };

  // Bytes read and written.
  double touched_bytes(OpId op) const;
  double peak_flops_per_s(OpId op) const;

  const Graph& graph_;
  const Device& device_;
  std::vector<Row> rows_;  // by op kind
  bool graph_states_flops_ = false;
};

// The table's time for a size: see CostSpec::RunTime.
double interpolate_ns(const CostSpec::RunTime& row, double size);

}  // namespace tutti

#endif  // TUTTI_COSTS_ROOFLINE_H_
