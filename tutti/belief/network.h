// A Network is a Bayesian network: variables, each with parents and a law, and the constants that
// the laws share. It says nothing about machines (machine_network.h builds one from a machine) and
// holds no numbers that change: readings and constants are passed in.
//
// A variable without a law is a root, whose distribution is part of every question (sampling.h).

#ifndef TUTTI_BELIEF_NETWORK_H_
#define TUTTI_BELIEF_NETWORK_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/id.h"
#include "tutti/belief/law.h"

namespace tutti {

using VariableId = Id<struct VariableTag>;
using ConstantId = Id<struct ConstantTag>;

// A learnable number. Learning moves its raw value freely; laws see its natural one.
struct Constant {
  enum class Range : uint8_t {
    any,       // natural = raw
    positive,  // natural = exp(raw)
    share,     // natural = 1 / (1 + exp(-raw)), in (0, 1)
  };
  std::string name;
  Range range = Range::any;
  double start = 0;  // natural
};

double natural_value(Constant::Range range, double raw);
double raw_value(Constant::Range range, double natural);
// d natural / d raw, from the natural value.
double natural_slope(Constant::Range range, double natural);

struct Variable {
  std::string name;
  std::vector<VariableId> parents{};
  std::vector<ConstantId> constants{};  // as the law wants them
  std::shared_ptr<const Law> law{};     // none: a root
};

class Network {
 public:
  ConstantId add(Constant constant);
  // Requires that all parents and constants have been added: the order is a topological one.
  VariableId add(Variable variable);

  int32_t size() const { return static_cast<int32_t>(variables_.size()); }
  IdRange<VariableId> variables() const { return {0, size()}; }
  const Variable& variable(VariableId id) const { return variables_[id.index]; }
  std::span<const VariableId> children(VariableId id) const { return children_[id.index]; }

  const std::vector<Constant>& constants() const { return constants_; }
  // The raw values that belong to the starts.
  std::vector<double> start() const;
  // Requires a raw value for each constant.
  std::vector<double> natural(std::span<const double> raw) const;

 private:
  std::vector<Variable> variables_;
  std::vector<std::vector<VariableId>> children_;
  std::vector<Constant> constants_;
};

}  // namespace tutti

#endif  // TUTTI_BELIEF_NETWORK_H_
