// A Trace is what happened in one run, real or simulated: spans of time on lanes. A lane is one
// slot of a device, or one channel of a link.
//
// It is plain data; trace/check.h judges it, trace/stats.h measures it, trace/file.h writes it as
// a Chrome trace. docs/formats/trace.md.

#ifndef TUTTI_TRACE_TRACE_H_
#define TUTTI_TRACE_TRACE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/base/id.h"
#include "tutti/base/time.h"
#include "tutti/machine/machine.h"
#include "tutti/plan/weights.h"
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

// This process, and the time of day. For runtimes on real devices, when a run begins.
Measurement measured_now();

// How values came from one memory to another.
enum class Movement : uint8_t {
  hops,    // hop by hop over the channels of their routes
  direct,  // from end to end: each transfer is one span, whatever hops its route has
  files,   // not at all: values are files that all devices see, and are in no memory
};
inline constexpr std::array<const char*, 3> kMovementWords = {"hops", "direct", "files"};

// Which runtime made a trace, and how it was set.
struct RuntimeInfo {
  std::string name{};       // "null", "sim", "local" or "starpu"; others are not judged by name
  std::string model{};      // of sim: "physical" or "released"
  std::string scheduler{};  // of starpu: the scheduler of StarPU that decided; empty: tutti did
  Movement movement = Movement::hops;
  bool barriers = false;  // all devices waited for each other after each level of the graph

  friend bool operator==(const RuntimeInfo&, const RuntimeInfo&) = default;
};

// In one word for people: "sim/physical", "local/direct/bulk_synchronous", "starpu/dmda". Trace
// files up to schema_version 2 have this text, and runtime_from_text reads it. What it does not
// know becomes the name, so that to_text(runtime_from_text(text)) is always `text`.
std::string to_text(const RuntimeInfo& runtime);
RuntimeInfo runtime_from_text(std::string_view text);

struct Trace {
  RuntimeInfo runtime{};
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
  WeightKeeping weights{};  // of the plan that was run, if it states any
};

// True if some runtime of tutti can be set like this. Other traces are judged as those of the
// physical simulator, by the strictest rules; all that follow are false of them.
bool is_of_known_runtime(const Trace& trace);

// The null runtime, in which nothing takes time.
bool is_null(const Trace& trace);
bool is_physical(const Trace& trace);
// The released model, which has no memory and records no transfers.
bool is_released(const Trace& trace);
// Real devices.
bool is_measured(const Trace& trace);
// Real devices and Movement::direct, or Movement::files.
bool is_direct(const Trace& trace);
bool is_of_files(const Trace& trace);

}  // namespace tutti

#endif  // TUTTI_TRACE_TRACE_H_
