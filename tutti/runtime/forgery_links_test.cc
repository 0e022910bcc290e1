// Forgeries of links, waits, real runs and draws.

#include <gtest/gtest.h>

#include "tutti/runtime/forgeries_testing.h"
#include "tutti/trace/channels.h"
#include "tutti/trace/presence.h"

namespace tutti {
namespace testing {
namespace {

// A hop that no other can slow down and that takes some time.
TransferSpan* lone_hop(Specimen& one) {
  if (!is_simulated(one) || one.world->costs.has_noise()) return nullptr;
  return find_transfer(one, [&](const TransferSpan& span) {
    const Hop* hop = hop_of(one.problem().machine, span);
    return hop != nullptr && hop->shared.empty() && span.finish - span.start > Duration{1};
  });
}

// Two hops over one shared channel that moved together for a while, with bytes to move.
std::pair<TransferSpan*, TransferSpan*> meeting_hops(Specimen& one) {
  if (!is_simulated(one) || one.world->costs.has_noise()) return {};
  const auto shared = [&](const TransferSpan& span) -> const Hop* {
    const Hop* hop = hop_of(one.problem().machine, span);
    const bool slow = hop != nullptr && hop->ns_per_byte > 0 && !hop->shared.empty() &&
                      one.problem().graph.bytes(span.value) > 50;
    return slow ? hop : nullptr;
  };
  for (TransferSpan& a : one.trace.transfers) {
    if (shared(a) == nullptr) continue;
    for (TransferSpan& b : one.trace.transfers) {
      if (&a == &b || shared(b) == nullptr || shared(a)->shared != shared(b)->shared) continue;
      // Half the time of the shorter they shared the channel.
      const Duration together = std::min(a.finish, b.finish) - std::max(a.start, b.start);
      const Duration shorter = std::min(a.finish - a.start, b.finish - b.start);
      if (2 * together > shorter && shorter > Duration{60}) return {&a, &b};
    }
  }
  return {};
}

bool carry_too_much(Specimen& one, Duration::rep divisor) {
  // All that went over the channel in a fraction of the time.
  const auto [a, b] = meeting_hops(one);
  if (a == nullptr) return false;
  const auto* hop = hop_of(one.problem().machine, *a);
  const Channel& channel = one.problem().machine.channel(hop->shared.front());
  if (channel.bytes_per_s <= 0) return false;
  const Duration start = std::min(a->start, b->start);
  for (TransferSpan& span : one.trace.transfers) {
    const Hop* other = hop_of(one.problem().machine, span);
    if (other == nullptr || other->shared != hop->shared) continue;
    span.finish = start + (span.finish - span.start) / divisor;
    span.start = start;
  }
  // Certain only if the bytes of the two do not fit the time that is left for all.
  double bytes = 0;
  Duration longest{0};
  for (const TransferSpan& span : one.trace.transfers) {
    const Hop* other = hop_of(one.problem().machine, span);
    if (other == nullptr || other->shared != hop->shared) continue;
    bytes += static_cast<double>(one.problem().graph.bytes(span.value));
    longest = std::max(longest, span.finish - span.start);
  }
  const double room = channel.bytes_per_s * 1e-9 * static_cast<double>(longest.count());
  return bytes > 2 * room + 1000 * channel.bytes_per_s * 1e-9;
}

}  // namespace

const std::vector<Forgery>& link_forgeries() {
  static const std::vector<Forgery> all = {
      {"transfer times", "a nanosecond early",
       [](Specimen& one) {
         TransferSpan* span = lone_hop(one);
         return span != nullptr && (span->finish -= Duration{1}, true);
       }},
      {"transfer times", "a nanosecond late",
       [](Specimen& one) {
         TransferSpan* span = lone_hop(one);
         return span != nullptr && (span->finish += Duration{1}, true);
       }},
      {"transfer times", "at once",
       [](Specimen& one) {
         TransferSpan* span = lone_hop(one);
         return span != nullptr && (span->finish = span->start, true);
       }},
      {"channels", "all at the same time",
       [](Specimen& one) {
         if (!is_simulated(one)) return false;
         for (int32_t i = 0; i < one.problem().machine.channel_count(); ++i) {
           const Channel& channel = one.problem().machine.channel(ChannelId{i});
           if (channel.sharing != Sharing::exclusive) continue;
           int together = 0;
           for (TransferSpan& span : one.trace.transfers) {
             const Hop* hop = hop_of(one.problem().machine, span);
             if (hop == nullptr || span.start == span.finish) continue;
             if (std::find(hop->channels.begin(), hop->channels.end(), ChannelId{i}) ==
                 hop->channels.end()) {
               continue;
             }
             span.finish = one.trace.makespan + (span.finish - span.start);
             span.start = one.trace.makespan;
             ++together;
           }
           if (together > channel.capacity) return true;
         }
         return false;
       }},
      {"channels", "a hop that holds its channels to the end",
       [](Specimen& one) {
         if (!is_simulated(one)) return false;
         for (TransferSpan& span : one.trace.transfers) {
           const Hop* hop = hop_of(one.problem().machine, span);
           if (hop == nullptr || span.start == span.finish) continue;
           for (const ChannelId id : hop->channels) {
             const Channel& channel = one.problem().machine.channel(id);
             if (channel.sharing != Sharing::exclusive || channel.capacity != 1) continue;
             const TransferSpan* later = find_transfer(one, [&](const TransferSpan& other) {
               const Hop* way = hop_of(one.problem().machine, other);
               return way != nullptr && other.start >= span.finish && other.finish > other.start &&
                      std::find(way->channels.begin(), way->channels.end(), id) !=
                          way->channels.end();
             });
             if (later == nullptr) continue;
             return span.finish = later->finish, true;
           }
         }
         return false;
       }},
      {"channels", "a hop that does not wait for the one before",
       [](Specimen& one) {
         if (!is_simulated(one)) return false;
         for (TransferSpan& span : one.trace.transfers) {
           const Hop* hop = hop_of(one.problem().machine, span);
           if (hop == nullptr || span.start == span.finish) continue;
           for (const ChannelId id : hop->channels) {
             const Channel& channel = one.problem().machine.channel(id);
             if (channel.sharing != Sharing::exclusive || channel.capacity != 1) continue;
             const TransferSpan* earlier = find_transfer(one, [&](const TransferSpan& other) {
               const Hop* way = hop_of(one.problem().machine, other);
               return way != nullptr && other.finish == span.start && other.finish > other.start &&
                      std::find(way->channels.begin(), way->channels.end(), id) !=
                          way->channels.end();
             });
             if (earlier == nullptr) continue;
             const Duration by = span.start - earlier->start;
             span.start -= by;
             span.finish -= by;
             return true;
           }
         }
         return false;
       }},
      {"bandwidth", "all at once, in half the time",
       [](Specimen& one) { return carry_too_much(one, 2); }},
      {"bandwidth", "all at once, in a fourth of the time",
       [](Specimen& one) { return carry_too_much(one, 4); }},
      {"bandwidth", "all at once", [](Specimen& one) { return carry_too_much(one, 1); }},
      {"shares", "done in half the time",
       [](Specimen& one) {
         const auto [a, b] = meeting_hops(one);
         if (a == nullptr) return false;
         return a->finish -= (a->finish - a->start) / 2, true;
       }},
      {"shares", "done in twice the time",
       [](Specimen& one) {
         const auto [a, b] = meeting_hops(one);
         if (a == nullptr) return false;
         return a->finish += a->finish - a->start, true;
       }},
      {"shares", "one that gives way to the other",
       [](Specimen& one) {
         const auto [a, b] = meeting_hops(one);
         if (a == nullptr) return false;
         const Duration by = (a->finish - a->start) / 4;
         a->finish -= by;
         b->finish += by;
         return true;
       }},
  };
  return all;
}

namespace {

// Later by `by` from the start of some hop or op on. What let it start had happened just then.
bool put_off_hop(Specimen& one, Duration by) {
  if (!is_simulated(one)) return false;
  const Presence presence(one.problem(), one.trace, {});
  const TransferSpan* span = find_transfer(one, [&](const TransferSpan& t) {
    const OpId producer = one.problem().graph.producer(t.value);
    if (t.hop != 0 || !producer.valid()) return false;
    // What was put off with it would excuse it.
    const bool made_before = presence.span(producer)->start < t.start;
    return made_before && presence.arrival(t.value, t.from) == t.start &&
           !one.problem().has_memory_limits() && one.trace.placed.empty();
  });
  if (span == nullptr) return false;
  put_off(one, span->start, by);
  return true;
}

bool put_off_op(Specimen& one, Duration by) {
  if (!has_exact_times(one) || one.problem().has_memory_limits()) return false;
  if (!one.trace.placed.empty()) return false;
  const Presence presence(one.problem(), one.trace, {.released = is_released(one.trace)});
  // It started as soon as it could, and all that let it start had happened by then.
  const OpSpan* span = find_op(one, [&](const OpSpan& op) {
    return op.start > Duration{0} && presence.ready(op.op) == op.start && lasted(op) > Duration{0};
  });
  if (span == nullptr || (has_plan(one) && !one.plan->strict_order.empty())) return false;
  const OpId op = span->op;
  const Duration start = span->start;
  // Only what starts later than it: its operands come when they came.
  put_off(one, start + Duration{1}, by);
  OpSpan* moved = find_op(one, [&](const OpSpan& other) { return other.op == op; });
  moved->start += by;
  moved->finish += by;
  end_with_last(one);
  return true;
}

}  // namespace

const std::vector<Forgery>& waiting_forgeries() {
  static const std::vector<Forgery> all = {
      {"waiting hops", "a nanosecond idle",
       [](Specimen& one) { return put_off_hop(one, Duration{1}); }},
      {"waiting hops", "a microsecond idle",
       [](Specimen& one) { return put_off_hop(one, Duration{1000}); }},
      {"waiting hops", "idle for as long as the run",
       [](Specimen& one) { return put_off_hop(one, one.trace.makespan); }},
      {"waiting ops", "a nanosecond idle",
       [](Specimen& one) { return put_off_op(one, Duration{1}); }},
      {"waiting ops", "a microsecond idle",
       [](Specimen& one) { return put_off_op(one, Duration{1000}); }},
      {"waiting ops", "idle for as long as the run",
       [](Specimen& one) { return put_off_op(one, one.trace.makespan); }},
      {"strict order", "two ops of the order changed",
       [](Specimen& one) {
         if (!has_plan(one) || one.trace.makespan == Duration{0}) return false;
         const auto [before, after] = neighbours(one, Duration{1});
         if (before == nullptr || before->start == after->start) return false;
         const auto device = static_cast<size_t>(before->device.index);
         if (one.plan->strict_order.empty()) return false;
         auto& order = one.plan->strict_order[device];
         std::iter_swap(std::find(order.begin(), order.end(), before->op),
                        std::find(order.begin(), order.end(), after->op));
         return true;
       }},
      {"strict order", "backwards",
       [](Specimen& one) {
         if (!has_plan(one) || one.plan->strict_order.empty()) return false;
         const auto [before, after] = neighbours(one, Duration{1});
         if (before == nullptr || before->start == after->start) return false;
         for (auto& order : one.plan->strict_order) std::reverse(order.begin(), order.end());
         return true;
       }},
      {"strict order", "two ops that changed places",
       [](Specimen& one) {
         if (!has_plan(one) || one.plan->strict_order.empty()) return false;
         const auto [before, after] = neighbours(one, Duration{1});
         if (before == nullptr || before->start == after->start) return false;
         std::swap(before->op, after->op);
         return true;
       }},
      {"unplaced ops", "a wait without a pause",
       [](Specimen& one) {
         if (!is_simulated(one) || one.trace.pauses.empty()) return false;
         const Pause longest = *std::max_element(one.trace.pauses.begin(), one.trace.pauses.end(),
                                                 [](const Pause& a, const Pause& b) {
                                                   return a.finish - a.start < b.finish - b.start;
                                                 });
         one.trace.pauses.clear();
         // Certain if nothing ran or was placed meanwhile, though something was left to do.
         const bool idle =
             std::none_of(one.trace.ops.begin(), one.trace.ops.end(), [&](const OpSpan& span) {
               return span.start < longest.finish && longest.start < span.finish;
             });
         return idle && longest.finish > longest.start;
       }},
      {"unplaced ops", "the first ops placed later",
       [](Specimen& one) {
         if (!is_simulated(one) || one.trace.placed.empty() || one.trace.makespan == Duration{0}) {
           return false;
         }
         one.trace.pauses.clear();
         put_off(one, Duration{0}, Duration{50});
         return true;
       }},
      {"unplaced ops", "the first ops placed much later",
       [](Specimen& one) {
         if (!is_simulated(one) || one.trace.placed.empty() || one.trace.makespan == Duration{0}) {
           return false;
         }
         one.trace.pauses.clear();
         put_off(one, Duration{0}, one.trace.makespan);
         return true;
       }},
  };
  return all;
}

namespace {

bool is_costly(const Specimen& one) {
  return is_measured(one.trace) && !is_of_files(one.trace) && has_plan(one);
}

}  // namespace

const std::vector<Forgery>& real_forgeries() {
  static const std::vector<Forgery> all = {
      {"speed", "all ops cut to a nanosecond",
       [](Specimen& one) {
         if (!is_costly(one)) return false;
         for (OpSpan& span : one.trace.ops) span.finish = span.start + Duration{1};
         end_with_last(one);
         return true;
       }},
      {"speed", "one op cut to a nanosecond",
       [](Specimen& one) {
         if (!is_costly(one)) return false;
         OpSpan& span = one.trace.ops[one.trace.ops.size() / 2];
         span.finish = span.start + Duration{1};
         end_with_last(one);
         return true;
       }},
      {"speed", "all times in a hundred-thousandth",
       [](Specimen& one) {
         if (!is_costly(one)) return false;
         for (OpSpan& span : one.trace.ops)
           span = {span.op, span.device, span.slot, span.start / 100000, span.finish / 100000};
         for (TransferSpan& span : one.trace.transfers) {
           span.start /= 100000;
           span.finish /= 100000;
         }
         end_with_last(one);
         return true;
       }},
      {"speed", "a transfer at once",
       [](Specimen& one) {
         if (!is_costly(one) || one.trace.transfers.empty()) return false;
         one.trace.transfers[0].finish = one.trace.transfers[0].start;
         return true;
       }},
      {"speed", "a simulated run as a real one, cut to nanoseconds",
       [](Specimen& one) {
         if (!is_simulated(one) || !has_plan(one) || one.trace.sampled) return false;
         if (one.problem().costs.least_run_time(OpId{0}) < Duration{10'000}) return false;
         one.trace.runtime = runtime_from_text("local");
         one.trace.measurement = Measurement{.process = 7, .began_unix_ms = 1'700'000'000'000};
         for (OpSpan& span : one.trace.ops) span.finish = span.start + Duration{1};
         end_with_last(one);
         return true;
       }},
      {"barriers", "an op that starts with the level before",
       [](Specimen& one) {
         if (!one.trace.runtime.barriers) return false;
         const auto [reader, made] = reader_and_producer(one);
         return reader != nullptr && start_at(*reader, made->start);
       }},
      {"barriers", "the last op first",
       [](Specimen& one) {
         if (!one.trace.runtime.barriers) return false;
         OpSpan* last =
             find_op(one, [&](const OpSpan& span) { return span.finish == one.trace.makespan; });
         start_at(*last, Duration{0});
         end_with_last(one);
         return true;
       }},
      {"barriers", "barriers that were not there",
       [](Specimen& one) {
         if (to_text(one.trace.runtime) != "local") return false;
         // Some op of a layer that the graph makes one level started before another of the layer
         // before it had finished; make sure of it.
         OpSpan* last =
             find_op(one, [&](const OpSpan& span) { return span.finish == one.trace.makespan; });
         OpSpan* first = find_op(one, [](const OpSpan& span) { return span.op == OpId{0}; });
         first->finish = std::max(first->finish, last->start + Duration{1});
         one.trace.runtime = runtime_from_text("local/bulk_synchronous");
         end_with_last(one);
         return true;
       }},
      {"replay", "other draws",
       [](Specimen& one) {
         if (!one.trace.sampled || !has_plan(one)) return false;
         return ++one.trace.seed, true;
       }},
      {"replay", "two slots changed",
       [](Specimen& one) {
         if (!is_simulated(one) || !has_plan(one)) return false;
         for (OpSpan& a : one.trace.ops) {
           OpSpan* b = find_op(one, [&](const OpSpan& op) {
             return op.device == a.device && op.slot != a.slot && op.start == a.start &&
                    op.finish == a.finish && lasted(op) > Duration{0};
           });
           if (b == nullptr) continue;
           std::swap(a.slot, b->slot);
           return true;
         }
         return false;
       }},
      {"replay", "the slots of a device the other way round",
       [](Specimen& one) {
         if (!is_simulated(one) || !has_plan(one)) return false;
         bool any = false;
         for (OpSpan& span : one.trace.ops) {
           const int slots = one.problem().machine.device(span.device).slots;
           span.slot = slots - 1 - span.slot;
           any = any || slots > 1;
         }
         return any;
       }},
  };
  return all;
}

TEST(Forgeries, OfLinksAreRefused) {
  for (const Forgery& forgery : link_forgeries()) try_forgery(forgery);
}

TEST(Forgeries, OfWaitsAreRefused) {
  for (const Forgery& forgery : waiting_forgeries()) try_forgery(forgery);
}

TEST(Forgeries, OfRealRunsAndDrawsAreRefused) {
  for (const Forgery& forgery : real_forgeries()) try_forgery(forgery);
}

}  // namespace testing
}  // namespace tutti
