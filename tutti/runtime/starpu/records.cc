#include "tutti/runtime/starpu/records.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "tutti/trace/trace.h"

namespace tutti {
namespace {

constexpr size_t kWordsOfOp = 5;
constexpr size_t kWordsOfTransfer = 5;

// Each with both of its times. Clocks of hosts differ by a little: a message leaves when its value
// is made at the earliest, and comes when it leaves at the earliest.
void add_transfers(const Problem& problem, std::span<const RankRecords> records, Duration zero,
                   const std::vector<Duration>& made, Trace& trace) {
  std::map<std::pair<ValueId, MemoryId>, Duration> left;
  for (const RankRecords& one : records) {
    for (const TransferSpan& span : one.transfers) {
      if (span.finish == kNever) left[{span.value, span.to}] = span.start;
    }
  }
  for (const RankRecords& one : records) {
    for (TransferSpan span : one.transfers) {
      if (span.finish == kNever) continue;
      if (span.start == kNever) span.start = left.at({span.value, span.to});
      const OpId producer = problem.graph.producer(span.value);
      const Duration first = producer.valid() ? made[static_cast<size_t>(producer.index)] : zero;
      span.start = std::max(first, std::min(span.start, span.finish)) - zero;
      span.finish -= zero;
      trace.transfers.push_back(span);
    }
  }
}

}  // namespace

std::string to_bytes(const RankRecords& records) {
  std::vector<int64_t> words = {records.began.count(), static_cast<int64_t>(records.ops.size())};
  for (const OpSpan& span : records.ops) {
    for (const int64_t word :
         {int64_t{span.op.index}, int64_t{span.device.index}, int64_t{span.slot},
          int64_t{span.start.count()}, int64_t{span.finish.count()}}) {
      words.push_back(word);
    }
  }
  for (const TransferSpan& span : records.transfers) {
    for (const int64_t word :
         {int64_t{span.value.index}, int64_t{span.from.index}, int64_t{span.to.index},
          int64_t{span.start.count()}, int64_t{span.finish.count()}}) {
      words.push_back(word);
    }
  }
  return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(int64_t)};
}

RankRecords records_from(const std::string& bytes) {
  std::vector<int64_t> words(bytes.size() / sizeof(int64_t));
  if (!words.empty()) std::memcpy(words.data(), bytes.data(), words.size() * sizeof(int64_t));
  RankRecords records;
  if (words.size() < 2) return records;
  records.began = Duration(words[0]);
  const size_t transfers = 2 + static_cast<size_t>(words[1]) * kWordsOfOp;
  for (size_t i = 2; i + kWordsOfOp <= transfers; i += kWordsOfOp) {
    records.ops.push_back({.op = OpId{static_cast<int32_t>(words[i])},
                           .device = DeviceId{static_cast<int32_t>(words[i + 1])},
                           .slot = static_cast<int>(words[i + 2]),
                           .start = Duration(words[i + 3]),
                           .finish = Duration(words[i + 4])});
  }
  for (size_t i = transfers; i + kWordsOfTransfer <= words.size(); i += kWordsOfTransfer) {
    records.transfers.push_back({.value = ValueId{static_cast<int32_t>(words[i])},
                                 .from = MemoryId{static_cast<int32_t>(words[i + 1])},
                                 .to = MemoryId{static_cast<int32_t>(words[i + 2])},
                                 .start = Duration(words[i + 3]),
                                 .finish = Duration(words[i + 4])});
  }
  return records;
}

Trace to_trace(const Problem& problem, std::string scheduler,
               std::span<const RankRecords> records) {
  Trace trace;
  trace.runtime = {
      .name = "starpu", .scheduler = std::move(scheduler), .movement = Movement::direct};
  trace.measurement = measured_now();
  trace.graph_fingerprint = problem.graph.fingerprint();
  trace.machine_fingerprint = problem.machine.fingerprint();
  Duration zero = kNever;
  for (const RankRecords& one : records) zero = std::min(zero, one.began);
  std::vector<Duration> made(static_cast<size_t>(problem.graph.size()), Duration{0});
  for (const RankRecords& one : records) {
    for (OpSpan span : one.ops) {
      made[static_cast<size_t>(span.op.index)] = span.finish;
      span.start -= zero;
      span.finish -= zero;
      trace.makespan = std::max(trace.makespan, span.finish);
      trace.ops.push_back(span);
    }
  }
  add_transfers(problem, records, zero, made, trace);
  std::sort(trace.ops.begin(), trace.ops.end(),
            [](const OpSpan& a, const OpSpan& b) { return a.op < b.op; });
  std::sort(trace.transfers.begin(), trace.transfers.end(),
            [](const TransferSpan& a, const TransferSpan& b) {
              return std::pair(a.value, a.to) < std::pair(b.value, b.to);
            });
  return trace;
}

}  // namespace tutti
