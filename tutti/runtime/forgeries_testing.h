// Forgeries of genuine runs, and what helps to make them.

#ifndef TUTTI_RUNTIME_FORGERIES_TESTING_H_
#define TUTTI_RUNTIME_FORGERIES_TESTING_H_

#include <functional>
#include <utility>
#include <vector>

#include "tutti/runtime/forgery_testing.h"

namespace tutti::testing {

// Changes the run so that the rule is certainly broken; false if it does not fit this one.
using Forge = std::function<bool(Specimen&)>;

struct Forgery {
  const char* rule;
  const char* what;
  Forge forge;
};

inline bool is_simulated(const Specimen& one) {
  return is_physical(one.trace);
}

inline bool has_plan(const Specimen& one) {
  return one.plan.has_value();
}

// True if ops of the run take the time they cost, and nothing is drawn.
inline bool has_exact_times(const Specimen& one) {
  return (is_simulated(one) || is_released(one.trace)) && !one.trace.sampled;
}

// The first op that answers; null if none does.
inline OpSpan* find_op(Specimen& one, const std::function<bool(const OpSpan&)>& wanted) {
  const auto found = std::find_if(one.trace.ops.begin(), one.trace.ops.end(), wanted);
  return found == one.trace.ops.end() ? nullptr : &*found;
}

inline TransferSpan* find_transfer(Specimen& one,
                                   const std::function<bool(const TransferSpan&)>& wanted) {
  auto& transfers = one.trace.transfers;
  const auto found = std::find_if(transfers.begin(), transfers.end(), wanted);
  return found == transfers.end() ? nullptr : &*found;
}

inline Duration lasted(const OpSpan& span) {
  return span.finish - span.start;
}

inline void end_with_last(Specimen& one) {
  one.trace.makespan = Duration{0};
  for (const OpSpan& span : one.trace.ops) {
    one.trace.makespan = std::max(one.trace.makespan, span.finish);
  }
}

// Everything that starts at `from` or later comes later.
inline void put_off(Specimen& one, Duration from, Duration by) {
  const auto late = [&](auto& span) {
    if (span.start < from) return;
    span.start += by;
    span.finish += by;
  };
  for (OpSpan& span : one.trace.ops) late(span);
  for (TransferSpan& span : one.trace.transfers) late(span);
  for (PlacedAt& placed : one.trace.placed) {
    if (placed.time >= from) placed.time += by;
  }
  end_with_last(one);
}

// Two ops of one device that follow each other in one slot.
inline std::pair<OpSpan*, OpSpan*> neighbours(Specimen& one, Duration least) {
  for (OpSpan& a : one.trace.ops) {
    for (OpSpan& b : one.trace.ops) {
      if (a.op == b.op || a.device != b.device || a.slot != b.slot) continue;
      if (a.finish <= b.start && lasted(a) >= least && lasted(b) >= least) return {&a, &b};
    }
  }
  return {nullptr, nullptr};
}
// Some op whose operand another op made, and that one.
inline std::pair<OpSpan*, const OpSpan*> reader_and_producer(Specimen& one) {
  const Graph& graph = one.problem().graph;
  for (const OpId op : graph.ops()) {
    for (const EdgeId edge : graph.edges(op)) {
      const OpId producer = graph.edge_from(edge);
      if (!producer.valid()) continue;
      OpSpan* reader = find_op(one, [&](const OpSpan& span) { return span.op == op; });
      const OpSpan* made = find_op(one, [&](const OpSpan& span) { return span.op == producer; });
      if (lasted(*made) > Duration{1}) return {reader, made};
    }
  }
  return {nullptr, nullptr};
}

inline bool start_at(OpSpan& span, Duration start) {
  span.finish += start - span.start;
  span.start = start;
  return true;
}
// Tries one forgery on all genuine runs.
inline void try_forgery(const Forgery& forgery) {
  int fitted = 0;
  for (const Specimen& genuine : genuine_runs()) {
    Specimen forged = genuine;
    if (!forgery.forge(forged)) continue;
    ++fitted;
    const Judgement found = judge(forged);
    EXPECT_TRUE(breaks(found, forgery.rule))
        << forgery.rule << ": " << forgery.what << ", on " << genuine.name << " ("
        << to_text(genuine.trace.runtime) << ")" << told(found);
  }
  EXPECT_GT(fitted, 0) << forgery.rule << ": " << forgery.what << " fits no run";
}
// Of links, waits and real runs: forgery_links_test.cc.
const std::vector<Forgery>& link_forgeries();
const std::vector<Forgery>& waiting_forgeries();
const std::vector<Forgery>& real_forgeries();

}  // namespace tutti::testing

#endif  // TUTTI_RUNTIME_FORGERIES_TESTING_H_
