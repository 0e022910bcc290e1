// A skeleton is a graph without sizes: which op reads which. The seeded families write skeletons;
// `dress` draws flops and bytes for them.

#ifndef TUTTI_GRAPH_MAKE_FAMILY_SKELETON_H_
#define TUTTI_GRAPH_MAKE_FAMILY_SKELETON_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/result.h"
#include "tutti/graph/graph.h"
#include "tutti/graph/limits.h"

namespace tutti {

// Flops and bytes of the ops of a seeded graph.
struct Weights {
  double flops = 1e9;                // of each op, give or take `spread`
  int64_t bytes = int64_t{1} << 20;  // of each value, give or take `spread`
  double spread = 0.5;               // share of the mean: uniform from 1 - spread to 1 + spread
  // If positive, bytes are scaled until the communication-to-computation ratio is this:
  //
  //   (mean over edges of bytes / bandwidth) / (mean over ops of flops / rate)
  //
  // as Topcuoglu, Hariri and Wu (TPDS 2002) define it, with one bandwidth and one rate for all.
  double ccr = 0;
  double bandwidth = 12e9;  // bytes per second: PCIe 3.0 x16, as in the preset p100-4
  double rate = 1e13;       // flops per second: one P100 in 32 bits, rounded
  uint64_t seed = 1;
  double most_made = kMostMade;  // ops and edges
};

Result<void> check(const Weights& weights);

class Skeleton {
 public:
  explicit Skeleton(std::string name) : name_(std::move(name)) {}

  // Operands are numbers of ops added before. Gives the op's own.
  int32_t add(std::string op_name, std::string kind, std::span<const int32_t> operands);
  int32_t size() const { return static_cast<int32_t>(ops_.size()); }

  // The same graph for the same skeleton and weights, everywhere. Fails if the weights are none.
  Result<Graph> dress(const Weights& weights) const;

 private:
  struct Op {
    std::string name;
    std::string kind;
    size_t operands_end;
  };
  std::span<const int32_t> operands(size_t op) const;
  // By how much all bytes are multiplied.
  double scale_of(const Weights& weights, const std::vector<double>& flops,
                  const std::vector<double>& bytes) const;

  std::string name_;
  std::vector<Op> ops_;
  std::vector<int32_t> operands_;
};

}  // namespace tutti

#endif  // TUTTI_GRAPH_MAKE_FAMILY_SKELETON_H_
