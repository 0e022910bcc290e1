// Residuals: what ops and hops really took, compared with what they were expected to take, by kind
// and place.

#ifndef TUTTI_CALIBRATE_MEASURE_RESIDUALS_H_
#define TUTTI_CALIBRATE_MEASURE_RESIDUALS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tutti/base/file/json_writer.h"
#include "tutti/base/time.h"

namespace tutti {

// How the run times of one kind of op on one kind of device compare, or the hops over some channels
// (an empty kind): real over expected.
struct Residual {
  std::string kind;
  std::string where;
  int64_t count = 0;
  double median_ratio = 1;
  double median_error = 0;  // of |ratio - 1|
  double time_share = 0;    // of all real time in ops, or in hops
};

class Residuals {
 public:
  // Ignored where nothing was expected, or no end.
  void add(std::string kind, std::string where, double real_ns, Duration expected);
  std::vector<Residual> rows() const;

 private:
  struct Measured {
    std::vector<double> ratios;
    double ns = 0;
  };
  std::map<std::pair<std::string, std::string>, Measured> measured_;
};

// The entry "residuals" of a validation's file.
void write_residuals(const std::vector<Residual>& residuals, JsonWriter& json);

}  // namespace tutti

#endif  // TUTTI_CALIBRATE_MEASURE_RESIDUALS_H_
