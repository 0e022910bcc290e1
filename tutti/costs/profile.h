// What others' profilers measured of single ops: see docs/formats/profile.md.
//
//   ONNX Runtime   a list of trace events; "conv1_kernel_time" of category "Node" is op conv1
//   Kineto         PyTorch's traces: an object with "traceEvents"; events of category "cpu_op" or
//                  "user_annotation" are ops, and kernels carry the "External id" of theirs
//   other traces   of Chrome's format: every complete event ("ph": "X") is an op
//   CSV            a header that names the columns name, time_us (or _ns, _ms, _s) and, if it is
//                  there, device_kind; then one row for each run of an op
//
// An op that ran more than once gets mean and spread.

#ifndef TUTTI_COSTS_PROFILE_H_
#define TUTTI_COSTS_PROFILE_H_

#include <string>
#include <vector>

#include "tutti/base/file/source.h"
#include "tutti/costs/costs.h"

namespace tutti {

struct Profile {
  std::string format;  // "onnxruntime", "kineto", "trace", "csv"
  // In the order in which the profile first names them.
  std::vector<CostSpec::OpTime> ops;
};

// `device_kind` is where ops ran of which the profile does not say it.
Result<Profile> read_profile(Source& source, const std::string& device_kind);

struct ProfileMatch {
  std::vector<CostSpec::OpTime> op_times;  // those of ops of the graph
  int32_t ops = 0;                         // how many ops of the graph have a time now
  std::vector<std::string> unmatched;      // names in the profile that no op has, each once
  std::vector<OpId> without;               // ops that the profile does not name
};

ProfileMatch match_profile(const Profile& profile, const Graph& graph);

}  // namespace tutti

#endif  // TUTTI_COSTS_PROFILE_H_
