// A world with known answers for studies/symphony/bench/belief_bench.cc: transfers that share links
// and a switch max-min fairly, in small steps of time, with capacities of our choosing; and
// counters of it that are read with errors. It shares no formula with tutti/belief.

#ifndef TUTTI_STUDIES_SYMPHONY_BENCH_BELIEF_WORLD_H_
#define TUTTI_STUDIES_SYMPHONY_BENCH_BELIEF_WORLD_H_

#include <string>
#include <vector>

#include "tutti/belief/belief.h"

namespace tutti {

struct WorldOptions {
  double link_capacity = 0.85;   // of what the machine states
  double switch_capacity = 0.7;  // likewise
  double reading_error = 0.1;    // standard deviation of one reading, as a share of the full rate
  int readings = 8;              // of each counter in one epoch
};

// One interval between two decisions.
struct Epoch {
  Observation observation;
  double switch_use = 0;  // the truth: what the switch carried, over what it could have
};

class World {
 public:
  // On the machine p100-4: four GPUs behind one bridge.
  World(const Machine& machine, const WorldOptions& options);

  // Traffic of every direction of every link, and waiting for every one of them and for the switch.
  const std::vector<Counter>& counters() const { return counters_; }
  // The places of the traffic counters of channels that lead into the switch.
  const std::vector<size_t>& into_switch() const { return into_switch_; }
  double switch_bytes_per_s() const { return switch_bytes_per_s_; }

  Epoch run(uint64_t seed) const;

 private:
  struct Wire {
    double nominal = 0;  // bytes per second
    double capacity = 0;
    int traffic_counter = -1;
    int waiting_counter = -1;
  };
  struct Flow {
    std::vector<int> wires;
    double bytes_left;
  };

  int add_wire(const Machine& machine, const std::string& channel, double nominal, double share,
               bool counts_traffic);
  // Fills in each flow's rate and each wire's load; max-min fair.
  void share(const std::vector<Flow>& flows, std::vector<double>& rates,
             std::vector<double>& loads) const;

  WorldOptions options_;
  std::vector<Wire> wires_;
  int switch_ = -1;
  int host_in_ = -1;
  std::vector<int> out_;  // of each GPU
  std::vector<int> in_;
  std::vector<Counter> counters_;
  std::vector<size_t> into_switch_;
  double switch_bytes_per_s_ = 0;
};

}  // namespace tutti

#endif  // TUTTI_STUDIES_SYMPHONY_BENCH_BELIEF_WORLD_H_
