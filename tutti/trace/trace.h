// A Trace is what happened in one run, real or simulated: spans of time on lanes. A lane is one
// slot of a device, or one channel of a link.
//
// It is plain data; trace/check.h judges it, trace/stats.h measures it, trace/file.h writes it as
// a Chrome trace. docs/formats/trace.md.

#ifndef TUTTI_TRACE_TRACE_H_
#define TUTTI_TRACE_TRACE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/base/id.h"
#include "tutti/base/time.h"
#include "tutti/machine/machine.h"
#include "tutti/trace/ready_order.h"

namespace tutti {

struct OpSpan {
  OpId op;
  DeviceId device;
  int slot = 0;
  Duration start{0};
  Duration finish{0};
};

// One hop of one transfer. A transfer whose time was given with the graph has a single hop that
// holds no channel (`given`).
struct TransferSpan {
  ValueId value;
  MemoryId from;  // ends of the whole transfer
  MemoryId to;
  int hop = 0;  // index into the route's hops
  bool given = false;
  Duration start{0};  // when its channels were taken
  Duration finish{0};
};

// When an online policy placed an op. Plans place every op at time 0 and record nothing.
struct PlacedAt {
  OpId op;
  Duration time{0};
};

// How long an online policy let ready ops wait by choice: excused by the work-conservation rule.
struct Pause {
  Duration start{0};
  Duration finish{0};
};

// That a run was measured, and not simulated: by which process and when. Real runs write it, others
// do not.
struct Measurement {
  int64_t process = 0;
  int64_t began_unix_ms = 0;

  friend bool operator==(const Measurement&, const Measurement&) = default;
};

struct Trace {
  // "null", "sim/released", "sim/physical", "local", "local/direct", "local/files", each of these
  // three with "/bulk_synchronous" if there were barriers, "starpu", "starpu/dmda", ... What is
  // none of these is judged as "sim/physical", the strictest.
  std::string runtime{};
  uint64_t graph_fingerprint = 0;
  uint64_t machine_fingerprint = 0;
  uint64_t seed = 0;
  bool sampled = false;               // durations were drawn, not means
  std::optional<ReadyOrder> order{};  // none: not recorded
  std::optional<Measurement> measurement{};
  Duration makespan{0};
  std::vector<OpSpan> ops;
  std::vector<TransferSpan> transfers;
  std::vector<PlacedAt> placed;
  std::vector<Pause> pauses;
};

// True if all devices waited for each other after each level of the graph.
inline bool is_bulk_synchronous(const Trace& trace) {
  return trace.runtime.ends_with("/bulk_synchronous");
}

// Without what says that there were barriers.
inline std::string_view runtime_family(const Trace& trace) {
  std::string_view name = trace.runtime;
  if (is_bulk_synchronous(trace) && name.starts_with("local")) {
    name.remove_suffix(std::string_view("/bulk_synchronous").size());
  }
  return name;
}

// True if the trace is of the released model, which has no memory and records no transfers.
inline bool is_released(const Trace& trace) {
  return trace.runtime == "sim/released";
}

// True if it is of real devices, between which values went from end to end and not hop by hop.
inline bool is_direct(const Trace& trace) {
  const std::string_view name = runtime_family(trace);
  return name == "local/direct" || name == "starpu" || name.starts_with("starpu/");
}

// True if it is of real devices that all see the same files: values are these, are in no memory and
// are not sent.
inline bool is_of_files(const Trace& trace) {
  return runtime_family(trace) == "local/files";
}

// True if the trace is of real devices.
inline bool is_measured(const Trace& trace) {
  return runtime_family(trace) == "local" || is_direct(trace) || is_of_files(trace);
}

// True if some runtime of tutti bears that name.
inline bool is_of_known_runtime(const Trace& trace) {
  return is_measured(trace) || is_released(trace) || trace.runtime == "sim/physical" ||
         trace.runtime == "null";
}

}  // namespace tutti

#endif  // TUTTI_TRACE_TRACE_H_
