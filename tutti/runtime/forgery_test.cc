// Every rule of the judge of traces against at least three forgeries of genuine runs, each refused
// by that rule. A forgery is tried on all runs that it fits, and must fit some.

#include <gtest/gtest.h>

#include <map>

#include "tutti/runtime/forgeries_testing.h"

namespace tutti {
namespace {

using namespace testing;

bool move_op(Specimen& one, const std::function<bool(const OpSpan&)>& wanted) {
  if (!has_plan(one) || one.problem().machine.size() < 2) return false;
  OpSpan* span = find_op(one, wanted);
  if (span == nullptr) return false;
  span->device = DeviceId{(span->device.index + 1) % one.problem().machine.size()};
  span->slot = 0;
  return true;
}

const std::vector<Forgery>& header_forgeries() {
  static const std::vector<Forgery> all = {
      {"identity", "another graph",
       [](Specimen& one) { return ++one.trace.graph_fingerprint, true; }},
      {"identity", "another machine",
       [](Specimen& one) { return ++one.trace.machine_fingerprint, true; }},
      {"identity", "of nothing",
       [](Specimen& one) {
         one.trace.graph_fingerprint = one.trace.machine_fingerprint = 0;
         return true;
       }},
      {"shape", "an op left out", [](Specimen& one) { return one.trace.ops.pop_back(), true; }},
      {"shape", "an op that ran twice",
       [](Specimen& one) { return one.trace.ops.push_back(one.trace.ops[0]), true; }},
      {"shape", "a slot too many",
       [](Specimen& one) {
         OpSpan& span = one.trace.ops[0];
         span.slot = one.problem().machine.device(span.device).slots;
         return true;
       }},
      {"shape", "an op that ends before it starts",
       [](Specimen& one) {
         OpSpan& span = one.trace.ops[0];
         span.finish = span.start - Duration{1};
         return true;
       }},
      {"shape", "a value that is not there",
       [](Specimen& one) {
         if (one.trace.transfers.empty()) return false;
         one.trace.transfers[0].value = ValueId{one.problem().graph.value_count()};
         return true;
       }},
      {"records", "drawn without noise",
       [](Specimen& one) {
         if (one.world->costs.has_noise()) return false;
         return one.trace.sampled = true;
       }},
      {"records", "a simulated run that was measured",
       [](Specimen& one) {
         if (is_measured(one.trace)) return false;
         one.trace.measurement = Measurement{.process = 1, .began_unix_ms = 1};
         return true;
       }},
      {"records", "values that are files, without transfers",
       [](Specimen& one) {
         if (is_of_files(one.trace)) return false;
         one.trace.runtime = runtime_from_text("local/files");
         one.trace.transfers.clear();
         one.trace.sampled = false;
         return true;
       }},
      {"records", "a run of no time that takes time",
       [](Specimen& one) {
         if (one.trace.makespan == Duration{0}) return false;
         one.trace.runtime = runtime_from_text("null");
         return true;
       }},
      {"records", "files that were sent",
       [](Specimen& one) {
         if (!is_of_files(one.trace)) return false;
         one.trace.transfers.push_back(
             {.value = ValueId{0}, .from = MemoryId{0}, .to = MemoryId{1}});
         return true;
       }},
      {"records", "a released run with transfers",
       [](Specimen& one) {
         if (one.trace.transfers.empty()) return false;
         one.trace.runtime = runtime_from_text("sim/released");
         return true;
       }},
      {"records", "a plan that was placed online",
       [](Specimen& one) {
         if (!has_plan(one)) return false;
         for (const OpSpan& span : one.trace.ops) one.trace.placed.push_back({span.op, span.start});
         return true;
       }},
      {"records", "a plan with pauses",
       [](Specimen& one) {
         if (!has_plan(one)) return false;
         one.trace.pauses.push_back({Duration{0}, one.trace.makespan});
         return true;
       }},
      {"makespan", "a nanosecond less",
       [](Specimen& one) {
         if (one.trace.makespan == Duration{0}) return false;
         return one.trace.makespan -= Duration{1}, true;
       }},
      {"makespan", "half of it",
       [](Specimen& one) {
         if (one.trace.makespan == Duration{0}) return false;
         return one.trace.makespan /= 2, true;
       }},
      {"makespan", "a nanosecond more",
       [](Specimen& one) {
         if (one.trace.makespan == Duration{0}) return false;
         return one.trace.makespan += Duration{1}, true;
       }},
  };
  return all;
}

const std::vector<Forgery>& op_forgeries() {
  static const std::vector<Forgery> all = {
      {"placement", "the first op elsewhere",
       [](Specimen& one) { return move_op(one, [](const OpSpan&) { return true; }); }},
      {"placement", "the last op to finish elsewhere",
       [](Specimen& one) {
         return move_op(one, [&](const OpSpan& span) { return span.finish == one.trace.makespan; });
       }},
      {"placement", "another plan",
       [](Specimen& one) {
         if (!has_plan(one) || one.problem().machine.size() < 2) return false;
         DeviceId& device = one.plan->placement[0];
         device = DeviceId{(device.index + 1) % one.problem().machine.size()};
         one.plan->strict_order.clear();
         return true;
       }},
      {"run times", "a nanosecond more",
       [](Specimen& one) {
         if (!has_exact_times(one)) return false;
         return one.trace.ops.back().finish += Duration{1}, true;
       }},
      {"run times", "cut to a nanosecond",
       [](Specimen& one) {
         if (!has_exact_times(one)) return false;
         OpSpan* span = find_op(one, [](const OpSpan& op) { return lasted(op) > Duration{1}; });
         if (span == nullptr) return false;
         return span->finish = span->start + Duration{1}, true;
       }},
      {"run times", "all halved",
       [](Specimen& one) {
         if (!has_exact_times(one)) return false;
         bool any = false;
         for (OpSpan& span : one.trace.ops) {
           any = any || lasted(span) > Duration{1};
           span.finish = span.start + lasted(span) / 2;
         }
         return any;
       }},
      {"run times", "beyond what noise reaches",
       [](Specimen& one) {
         if (!one.trace.sampled) return false;
         OpSpan* span = find_op(one, [](const OpSpan& op) { return lasted(op) > Duration{10}; });
         if (span == nullptr) return false;
         return span->finish += 1'000'000 * lasted(*span), true;
       }},
      {"placing", "placed after it started",
       [](Specimen& one) {
         if (one.trace.placed.empty()) return false;
         for (PlacedAt& placed : one.trace.placed) {
           const OpSpan* span = find_op(one, [&](const OpSpan& op) { return op.op == placed.op; });
           placed.time = span->start + Duration{1};
           break;
         }
         return !is_null(one.trace);
       }},
      {"placing", "placed when it finished",
       [](Specimen& one) {
         if (one.trace.placed.empty() || is_null(one.trace)) return false;
         const OpSpan* span =
             find_op(one, [](const OpSpan& op) { return lasted(op) > Duration{0}; });
         if (span == nullptr) return false;
         for (PlacedAt& placed : one.trace.placed) {
           if (placed.op == span->op) placed.time = span->finish;
         }
         return true;
       }},
      {"placing", "all placed at the end",
       [](Specimen& one) {
         if (one.trace.placed.empty() || one.trace.makespan == Duration{0}) return false;
         for (PlacedAt& placed : one.trace.placed) placed.time = one.trace.makespan;
         return true;
       }},
      {"slots", "an op that begins while the one before runs",
       [](Specimen& one) {
         const auto [before, after] = neighbours(one, Duration{2});
         if (before == nullptr) return false;
         const Duration length = lasted(*after);
         after->start = before->finish - Duration{1};
         after->finish = after->start + length;
         return true;
       }},
      {"slots", "an op that runs on into the next",
       [](Specimen& one) {
         const auto [before, after] = neighbours(one, Duration{2});
         if (before == nullptr) return false;
         before->finish = after->start + Duration{1};
         return true;
       }},
      {"slots", "two slots as one",
       [](Specimen& one) {
         for (OpSpan& a : one.trace.ops) {
           const OpSpan* b = find_op(one, [&](const OpSpan& op) {
             return op.device == a.device && op.slot != a.slot && op.start <= a.start &&
                    a.start < op.finish && lasted(a) > Duration{0};
           });
           if (b == nullptr || is_released(one.trace)) continue;
           a.slot = b->slot;
           return true;
         }
         return false;
       }},
  };
  return all;
}
const std::vector<Forgery>& operand_forgeries() {
  static const std::vector<Forgery> all = {
      {"operands", "read before it was made",
       [](Specimen& one) {
         const auto [reader, made] = reader_and_producer(one);
         return reader != nullptr && start_at(*reader, made->finish - Duration{1});
       }},
      {"operands", "read when its op began",
       [](Specimen& one) {
         const auto [reader, made] = reader_and_producer(one);
         return reader != nullptr && start_at(*reader, made->start);
       }},
      {"operands", "read where it never was",
       [](Specimen& one) {
         if (one.trace.transfers.empty()) return false;
         return one.trace.transfers.clear(), true;
       }},
      {"operands", "sent only at the end",
       [](Specimen& one) {
         if (one.trace.transfers.empty() || one.trace.makespan == Duration{0}) return false;
         for (TransferSpan& span : one.trace.transfers) {
           span.finish = one.trace.makespan + (span.finish - span.start);
           span.start = one.trace.makespan;
         }
         return true;
       }},
      {"transfers", "sent twice",
       [](Specimen& one) {
         if (one.trace.transfers.empty()) return false;
         return one.trace.transfers.push_back(one.trace.transfers[0]), true;
       }},
      {"transfers", "sent from where it is not",
       [](Specimen& one) {
         if (one.trace.transfers.empty()) return false;
         TransferSpan& span = one.trace.transfers[0];
         return span.from = span.to, true;
       }},
      {"transfers", "sent where it is not read",
       [](Specimen& one) {
         // Home again: it is read nowhere but where it was sent.
         if (one.trace.transfers.empty()) return false;
         TransferSpan span = one.trace.transfers[0];
         std::swap(span.from, span.to);
         return one.trace.transfers.push_back(span), true;
       }},
      {"transfers", "a hop that its route has not",
       [](Specimen& one) {
         TransferSpan* span = find_transfer(one, [](const TransferSpan& t) { return !t.given; });
         if (span == nullptr) return false;
         return span->hop = 7, true;
       }},
      {"transfers", "sent before it was made",
       [](Specimen& one) {
         TransferSpan* span = find_transfer(one, [&](const TransferSpan& t) {
           return t.hop == 0 && t.start > Duration{0} &&
                  one.problem().graph.producer(t.value).valid();
         });
         if (span == nullptr) return false;
         const OpSpan* made = find_op(one, [&](const OpSpan& op) {
           return op.op == one.problem().graph.producer(span->value);
         });
         if (made->finish == Duration{0}) return false;
         return span->start = made->finish - Duration{1}, true;
       }},
  };
  return all;
}
TEST(Forgeries, OfNothingAreGenuineRuns) {
  for (const Specimen& genuine : genuine_runs()) {
    const Judgement found = judge(genuine);
    EXPECT_TRUE(found.good()) << genuine.name << told(found);
  }
}

TEST(Forgeries, OfHeadersAreRefused) {
  for (const Forgery& forgery : header_forgeries()) try_forgery(forgery);
}

TEST(Forgeries, OfOpsAreRefused) {
  for (const Forgery& forgery : op_forgeries()) try_forgery(forgery);
}

TEST(Forgeries, OfOperandsAreRefused) {
  for (const Forgery& forgery : operand_forgeries()) try_forgery(forgery);
}

// The rules of worlds made for them: forgery_worlds_test.cc and forgery_streams_test.cc.
TEST(Forgeries, AreThreeForEveryRule) {
  std::map<std::string, int> count = {
      {"colocation", 3}, {"memory", 3}, {"ready order", 3}, {"streams", 5}};
  for (const auto* some : {&header_forgeries(), &op_forgeries(), &operand_forgeries(),
                           &link_forgeries(), &waiting_forgeries(), &real_forgeries()}) {
    for (const Forgery& forgery : *some) ++count[forgery.rule];
  }
  for (const auto rules : {trace_rule_table(), trace_replay_rules()}) {
    for (const Rule& rule : rules) EXPECT_GE(count[std::string(rule.name)], 3) << rule.name;
  }
}

}  // namespace
}  // namespace tutti
