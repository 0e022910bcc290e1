#include "tutti/trace/file/digest.h"

#include "tutti/base/fingerprint.h"

namespace tutti {
namespace {

void add_times(Fingerprint& digest, Duration start, Duration finish) {
  digest.add(static_cast<int64_t>(start.count()));
  digest.add(static_cast<int64_t>(finish.count()));
}

void add_runtime(Fingerprint& digest, const RuntimeInfo& runtime) {
  for (const std::string* text : {&runtime.name, &runtime.model, &runtime.scheduler}) {
    digest.add(std::string_view(*text));
  }
  digest.add(static_cast<int32_t>(runtime.movement));
  digest.add(static_cast<int32_t>(runtime.barriers));
}

void add_keeping(Fingerprint& digest, const WeightKeeping& keeping) {
  for (const std::vector<ValueId>& kept : keeping.kept) {
    digest.add(static_cast<uint64_t>(kept.size()));
    for (const ValueId weight : kept) digest.add(weight.index);
  }
  for (const int64_t bytes : keeping.stream_buffer_bytes) digest.add(bytes);
}

void add_header(Fingerprint& digest, const Trace& trace, const TraceNames& names, int64_t version) {
  if (version < 3) {
    digest.add(std::string_view(to_text(trace.runtime)));
  } else {
    digest.add(names.graph);
    digest.add(names.machine);
    add_runtime(digest, trace.runtime);
  }
  digest.add(trace.graph_fingerprint);
  digest.add(trace.machine_fingerprint);
  digest.add(trace.seed);
  digest.add(static_cast<int32_t>(trace.sampled));
  digest.add(trace.order ? static_cast<int32_t>(*trace.order) : -1);
  digest.add(static_cast<int64_t>(trace.makespan.count()));
  digest.add(trace.measurement ? trace.measurement->process : int64_t{-1});
  digest.add(trace.measurement ? trace.measurement->began_unix_ms : int64_t{-1});
  if (version > 3) add_keeping(digest, trace.weights);
  for (const size_t count :
       {trace.ops.size(), trace.transfers.size(), trace.placed.size(), trace.pauses.size()}) {
    digest.add(static_cast<uint64_t>(count));
  }
}

}  // namespace

uint64_t trace_digest(const Trace& trace, const TraceNames& names, int64_t version) {
  Fingerprint digest;
  add_header(digest, trace, names, version);
  for (const OpSpan& span : trace.ops) {
    digest.add(span.op.index);
    digest.add(span.device.index);
    digest.add(static_cast<int32_t>(span.slot));
    add_times(digest, span.start, span.finish);
  }
  for (const TransferSpan& span : trace.transfers) {
    digest.add(span.value.index);
    digest.add(span.from.index);
    digest.add(span.to.index);
    digest.add(static_cast<int32_t>(span.hop));
    digest.add(static_cast<int32_t>(span.given));
    add_times(digest, span.start, span.finish);
  }
  for (const PlacedAt& placed : trace.placed) {
    digest.add(placed.op.index);
    digest.add(static_cast<int64_t>(placed.time.count()));
  }
  for (const Pause& pause : trace.pauses) add_times(digest, pause.start, pause.finish);
  return digest.value();
}

}  // namespace tutti
