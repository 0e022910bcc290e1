#include "tutti/belief/network.h"

#include <algorithm>
#include <cmath>

#include "tutti/base/check.h"

namespace tutti {

double natural_value(Constant::Range range, double raw) {
  switch (range) {
    case Constant::Range::any:
      break;
    case Constant::Range::positive:
      return std::exp(raw);
    case Constant::Range::share:
      return 1 / (1 + std::exp(-raw));
  }
  return raw;
}

double raw_value(Constant::Range range, double natural) {
  switch (range) {
    case Constant::Range::any:
      break;
    case Constant::Range::positive:
      return std::log(natural);
    case Constant::Range::share:
      return std::log(natural / (1 - natural));
  }
  return natural;
}

double natural_slope(Constant::Range range, double natural) {
  switch (range) {
    case Constant::Range::any:
      break;
    case Constant::Range::positive:
      return natural;
    case Constant::Range::share:
      return natural * (1 - natural);
  }
  return 1;
}

ConstantId Network::add(Constant constant) {
  constants_.push_back(std::move(constant));
  return ConstantId{static_cast<int32_t>(constants_.size()) - 1};
}

VariableId Network::add(Variable variable) {
  const VariableId id{size()};
  for (const VariableId parent : variable.parents) {
    TUTTI_CHECK(parent.valid() && parent < id);
    children_[parent.index].push_back(id);
  }
  for (const ConstantId constant : variable.constants) {
    TUTTI_CHECK(constant.valid() && static_cast<size_t>(constant.index) < constants_.size());
  }
  TUTTI_CHECK(variable.law != nullptr || (variable.parents.empty() && variable.constants.empty()));
  variables_.push_back(std::move(variable));
  children_.emplace_back();
  return id;
}

std::vector<double> Network::start() const {
  std::vector<double> raw;
  for (const Constant& constant : constants_)
    raw.push_back(raw_value(constant.range, constant.start));
  return raw;
}

std::vector<double> Network::natural(std::span<const double> raw) const {
  TUTTI_CHECK(raw.size() == constants_.size());
  std::vector<double> natural;
  for (size_t k = 0; k < raw.size(); ++k)
    natural.push_back(natural_value(constants_[k].range, raw[k]));
  return natural;
}

}  // namespace tutti
