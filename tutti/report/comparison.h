// What `tutti compare --json` wrote, of simulated or of real runs, as the page shows it. See
// docs/formats/compare.md.

#ifndef TUTTI_REPORT_COMPARISON_H_
#define TUTTI_REPORT_COMPARISON_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/base/file/source.h"
#include "tutti/base/result.h"

namespace tutti {

struct ComparedPolicy {
  std::string policy;
  double mean_ns = 0;
  double min_ns = 0;
  double stddev_ns = 0;
  int64_t runs = 0;
  std::optional<double> planned_ns{};  // of a real run: predicted by the simulator
  double plan_seconds = 0;
  std::optional<std::string> error{};  // why it refused; the rest then says nothing
};

struct Comparison {
  std::string name;  // where it was read from
  std::string graph{};
  std::string machine{};
  std::string model{};                     // of the simulator; empty: real runs
  std::string runtime{};                   // that ran the plans for real; empty: simulated
  std::optional<double> lower_bound_ns{};  // real runs have none
  std::vector<ComparedPolicy> results{};
};

// True if a text that begins like this may be one: it is JSON, and has the keys that no other file
// of ours has.
bool looks_like_comparison(std::string_view start);

// Fails with file and line; keys that later versions may add are passed over.
Result<Comparison> read_comparison(Source& source);

}  // namespace tutti

#endif  // TUTTI_REPORT_COMPARISON_H_
