// Random forgeries: one field of a run, or one place of its file, is changed. Each is refused, or
// what is left says the same as before.

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <tuple>

#include "tutti/base/fingerprint.h"
#include "tutti/runtime/forgery_testing.h"
#include "tutti/trace/file.h"
#include "tutti/trace/file/digest.h"

namespace tutti {
namespace {

uint64_t digest_of(const Trace& trace) {
  return trace_digest(trace, {}, kTraceVersion);
}

using testing::Specimen;

// ---- Runs: whoever forges one makes its digest anew, so that only rules can tell.

Duration other_time(Rng& rng, Duration time, Duration makespan) {
  const auto length = static_cast<uint64_t>(std::max<int64_t>(makespan.count(), 1));
  switch (rng.below(4)) {
    case 0:
      return time + Duration{1};
    case 1:
      return std::max(time - Duration{1}, Duration{0});
    case 2:
      return Duration(static_cast<int64_t>(rng.below(2 * length)));
    default:
      return time / 2;
  }
}

void change_header(Trace& trace, Rng& rng) {
  static const char* const kRuntimes[] = {"null",         "sim/released", "sim/physical", "local",
                                          "local/direct", "local/files",  "starpu/dmda",  "other"};
  switch (rng.below(6)) {
    case 0:
      trace.seed += 1 + rng.below(3);
      break;
    case 1:
      trace.sampled = !trace.sampled;
      break;
    case 2:
      trace.order = static_cast<ReadyOrder>(rng.below(4));
      break;
    case 3:
      trace.makespan = other_time(rng, trace.makespan, trace.makespan);
      break;
    case 4:
      trace.graph_fingerprint ^= uint64_t{1} << rng.below(64);
      break;
    default:
      trace.runtime = runtime_from_text(kRuntimes[rng.below(8)]);
  }
}

void change_op(const Problem& problem, Trace& trace, Rng& rng) {
  OpSpan& span = trace.ops[rng.below(trace.ops.size())];
  switch (rng.below(5)) {
    case 0:
      span.op = OpId{static_cast<int32_t>(rng.below(static_cast<uint64_t>(problem.graph.size())))};
      break;
    case 1:
      span.device =
          DeviceId{static_cast<int32_t>(rng.below(static_cast<uint64_t>(problem.machine.size())))};
      break;
    case 2:
      span.slot = static_cast<int>(rng.below(3));
      break;
    case 3:
      span.start = other_time(rng, span.start, trace.makespan);
      break;
    default:
      span.finish = other_time(rng, span.finish, trace.makespan);
  }
}

void change_transfer(const Problem& problem, Trace& trace, Rng& rng) {
  TransferSpan& span = trace.transfers[rng.below(trace.transfers.size())];
  const auto memories = static_cast<uint64_t>(problem.machine.memory_count());
  switch (rng.below(7)) {
    case 0:
      span.value = ValueId{
          static_cast<int32_t>(rng.below(static_cast<uint64_t>(problem.graph.value_count())))};
      break;
    case 1:
      span.from = MemoryId{static_cast<int32_t>(rng.below(memories))};
      break;
    case 2:
      span.to = MemoryId{static_cast<int32_t>(rng.below(memories))};
      break;
    case 3:
      span.hop = static_cast<int>(rng.below(3));
      break;
    case 4:
      span.given = !span.given;
      break;
    case 5:
      span.start = other_time(rng, span.start, trace.makespan);
      break;
    default:
      span.finish = other_time(rng, span.finish, trace.makespan);
  }
}

void change(const Problem& problem, Trace& trace, Rng& rng) {
  const uint64_t what = rng.below(10);
  if (what < 2) {
    change_header(trace, rng);
  } else if (what < 6 || trace.transfers.empty()) {
    change_op(problem, trace, rng);
  } else {
    change_transfer(problem, trace, rng);
  }
}

// What happened, in whatever order it is told and whatever the header says of it.
auto spans_of(const Trace& trace) {
  std::vector<std::tuple<OpId, DeviceId, int, Duration, Duration>> ops;
  for (const OpSpan& span : trace.ops) {
    ops.emplace_back(span.op, span.device, span.slot, span.start, span.finish);
  }
  std::sort(ops.begin(), ops.end());
  std::vector<std::tuple<ValueId, MemoryId, MemoryId, int, bool, Duration, Duration>> transfers;
  for (const TransferSpan& span : trace.transfers) {
    transfers.emplace_back(span.value, span.from, span.to, span.hop, span.given, span.start,
                           span.finish);
  }
  std::sort(transfers.begin(), transfers.end());
  return std::tuple(ops, transfers, trace.makespan);
}

TEST(RandomForgeries, OfSimulatedPlansAreRefusedOrSayTheSame) {
  std::map<std::string, int> refused_by;
  int refused = 0;
  int harmless = 0;
  int tried = 0;
  for (uint64_t i = 0; i < 2000; ++i) {
    Rng rng = Rng(77).split(i);
    const auto& runs = testing::genuine_runs();
    const Specimen& genuine = runs[rng.below(runs.size())];
    if (!genuine.plan || is_measured(genuine.trace)) continue;
    Specimen forged = genuine;
    change(forged.problem(), forged.trace, rng);
    if (digest_of(forged.trace) == digest_of(genuine.trace)) continue;  // nothing was changed
    ++tried;
    const Judgement found = testing::judge(forged);
    if (!found.good()) {
      ++refused;
      ++refused_by[found.faults[0].rule];
      continue;
    }
    ++harmless;
    EXPECT_EQ(spans_of(forged.trace), spans_of(genuine.trace))
        << genuine.name << ", mutation " << i << ", as " << to_text(forged.trace.runtime);
  }
  EXPECT_GT(tried, 500);
  EXPECT_EQ(refused + harmless, tried);
  EXPECT_GT(refused, 8 * harmless);  // seeds and orders that change nothing are few
  EXPECT_GE(refused_by.size(), 8u);  // by many rules, not by one
  RecordProperty("tried", tried);
  RecordProperty("harmless", harmless);
}

// What a header says of a real run cannot be held against the clock; where ops ran and values went
// can.
TEST(RandomForgeries, OfWhereRealRunsWentAreRefusedOrSayTheSame) {
  int tried = 0;
  for (uint64_t i = 0; i < 3000; ++i) {
    Rng rng = Rng(78).split(i);
    const auto& runs = testing::genuine_runs();
    const Specimen& genuine = runs[rng.below(runs.size())];
    if (!is_measured(genuine.trace) || is_of_files(genuine.trace)) continue;
    Specimen forged = genuine;
    OpSpan& span = forged.trace.ops[rng.below(forged.trace.ops.size())];
    TransferSpan& sent = forged.trace.transfers[rng.below(forged.trace.transfers.size())];
    switch (rng.below(5)) {
      case 0:
        span.device = DeviceId{(span.device.index + 1) % forged.problem().machine.size()};
        break;
      case 1:
        span.op = OpId{(span.op.index + 1) % forged.problem().graph.size()};
        break;
      case 2:
        std::swap(sent.from, sent.to);
        break;
      case 3:
        sent.value = ValueId{(sent.value.index + 1) % forged.problem().graph.value_count()};
        break;
      default:
        forged.trace.makespan = other_time(rng, forged.trace.makespan, forged.trace.makespan);
    }
    if (digest_of(forged.trace) == digest_of(genuine.trace)) continue;
    ++tried;
    EXPECT_FALSE(testing::judge(forged).good()) << genuine.name << ", mutation " << i;
  }
  EXPECT_GT(tried, 150);
}

// ---- Files: whoever forges one does not know of the digest.

std::string text_of(const Specimen& one) {
  const std::string path = ::testing::TempDir() + "forgery_mutations.json";
  Result<Output> output = Output::open(path);
  EXPECT_TRUE(output) << output.error().message;
  write_trace(one.problem(), one.trace, *output);
  EXPECT_TRUE(output->commit());
  std::string text = Source::open(path).value().read_all().value();
  std::remove(path.c_str());
  return text;
}

// Changes a digit, or puts one quoted text in the place of another.
std::string mutated(std::string text, Rng& rng) {
  const auto at = [&](const auto& wanted) {
    for (size_t i = rng.below(text.size());; i = (i + 1) % text.size()) {
      if (wanted(text[i])) return i;
    }
  };
  if (rng.below(3) != 0) {
    const size_t digit = at([](char c) { return c >= '0' && c <= '9'; });
    text[digit] =
        static_cast<char>('0' + (text[digit] - '0' + 1 + static_cast<int>(rng.below(9))) % 10);
    return text;
  }
  const auto quoted = [&] {
    const size_t colon = text.find(":\"", rng.below(text.size()));
    if (colon == std::string::npos) return std::string::npos;
    return colon + 2;
  };
  const size_t from = quoted();
  const size_t to = quoted();
  if (from == std::string::npos || to == std::string::npos) return text;
  const std::string word = text.substr(from, text.find('"', from) - from);
  return text.replace(to, text.find('"', to) - to, word);
}

TEST(RandomForgeries, OfFilesAreRefusedOrSayTheSame) {
  const auto& runs = testing::genuine_runs();
  int refused = 0;
  int harmless = 0;
  for (uint64_t i = 0; i < 40; ++i) {
    Rng rng = Rng(79).split(i);
    const Specimen& genuine = runs[(i * 7) % runs.size()];
    const std::string text = text_of(genuine);
    for (int k = 0; k < 40; ++k) {
      const std::string forged = mutated(text, rng);
      if (forged == text) continue;
      Source source = Source::from_text("trace.json", forged);
      const Result<Trace> read = read_trace(source, genuine.problem());
      if (!read) {
        ++refused;
        continue;
      }
      ++harmless;
      EXPECT_EQ(digest_of(*read), digest_of(genuine.trace)) << genuine.name;
    }
  }
  EXPECT_GT(refused, 500);
  EXPECT_GT(refused, 3 * harmless);
  RecordProperty("refused", refused);
  RecordProperty("harmless", harmless);
}

}  // namespace
}  // namespace tutti
