#include "tutti/trace/file/display.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "tutti/trace/channels.h"
#include "tutti/trace/file/lanes.h"

namespace tutti {
namespace {

bool is_number(const Document& part) {
  return part.kind == Document::Kind::integer || part.kind == Document::Kind::number;
}

}  // namespace

void DisplayCheck::op(const Document& shown, const OpSpan& span) {
  compare(shown, {.name = std::string(problem_.graph.op_name(span.op)),
                  .processes = {ShownAs{problem_.machine}.device(span.device)},
                  .thread = span.slot,
                  .start = span.start,
                  .finish = span.finish});
}

// A hop is shown on one of its channels; one that went directly, on none.
void DisplayCheck::transfer(const Document& shown, const TransferSpan& span) {
  const ShownAs shown_as{problem_.machine};
  std::vector<int32_t> processes = {shown_as.channel(shown_as.no_channel())};
  if (const Hop* hop = hop_of(problem_.machine, span)) {
    for (const ChannelId id : hop->channels) {
      processes.push_back(shown_as.channel(static_cast<size_t>(id.index)));
    }
  }
  compare(shown, {.name = std::string(problem_.graph.value_name(span.value)),
                  .processes = std::move(processes),
                  .thread = std::nullopt,
                  .start = span.start,
                  .finish = span.finish});
}

void DisplayCheck::placed(const Document& shown, const PlacedAt& placed) {
  compare(shown, {.name = std::string(problem_.graph.op_name(placed.op)),
                  .processes = {ShownAs{problem_.machine}.policy()},
                  .thread = std::nullopt,
                  .start = placed.time,
                  .finish = std::nullopt});
}

void DisplayCheck::pause(const Document& shown, const Pause& pause) {
  compare(shown, {.name = "pause",
                  .processes = {ShownAs{problem_.machine}.policy()},
                  .thread = std::nullopt,
                  .start = pause.start,
                  .finish = pause.finish});
}

void DisplayCheck::other(const Document& shown, std::string_view category) {
  const Document* phase = shown.find("ph");
  const bool names_a_lane = phase != nullptr && phase->kind == Document::Kind::text &&
                            phase->text == "M" && category.empty();
  if (category == "channel") {
    read_channel(shown);
  } else if (!names_a_lane || !read_lane_name(shown)) {
    ++foreign_;
  }
}

void DisplayCheck::contradict(const Document& where, const std::string& sentence) {
  if (contradiction_) return;
  contradiction_ =
      invalid_input(fmt::format("{}:{}: display: {}; viewers and the judge must be told the same",
                                file_, where.line, sentence));
}

// The entry if it is there and of that kind; numbers may be of either kind.
const Document* DisplayCheck::find(const Document& shown, std::string_view key,
                                   Document::Kind kind) {
  const Document* found = shown.find(key);
  if (found == nullptr) {
    if (!incomplete_) {
      incomplete_ = invalid_input(fmt::format(
          "{}:{}: display: an event lacks \"{}\", which viewers look at", file_, shown.line, key));
    }
    return nullptr;
  }
  const bool fits = kind == Document::Kind::number ? is_number(*found) : found->kind == kind;
  if (fits) return found;
  contradict(*found,
             fmt::format("\"{}\" is {}, which no viewer can show", key, to_text(found->kind)));
  return nullptr;
}

void DisplayCheck::compare_text(const Document& shown, std::string_view key,
                                std::string_view expected) {
  const Document* found = find(shown, key, Document::Kind::text);
  if (found == nullptr || found->text == expected) return;
  contradict(*found,
             fmt::format("\"{}\" is '{}', but \"args\" say '{}'", key, found->text, expected));
}

// Microseconds, to the nanosecond. Beyond 2^53 a reader of JSON has no more digits than a double.
void DisplayCheck::compare_time(const Document& shown, std::string_view key, Duration expected) {
  const Document* found = find(shown, key, Document::Kind::number);
  if (found == nullptr) return;
  const auto ns = static_cast<double>(expected.count());
  const double slack = 0.25 + 1e-15 * std::fabs(ns);
  if (std::fabs(found->number * 1000 - ns) <= slack) return;
  contradict(*found, fmt::format("\"{}\" is {} us, but \"args\" say {} ns", key, found->number,
                                 expected.count()));
}

void DisplayCheck::compare_lane(const Document& shown, const Expected& expected) {
  if (const Document* pid = find(shown, "pid", Document::Kind::number)) {
    const auto& all = expected.processes;
    const auto right = std::find_if(all.begin(), all.end(), [&](int32_t one) {
      return pid->number == static_cast<double>(one);
    });
    if (right != all.end()) {
      used_.insert({*right, kWholeProcess});
      if (expected.thread) used_.insert({*right, *expected.thread});
    } else {
      contradict(*pid, fmt::format("\"pid\" is {}, but by \"args\" '{}' is shown in process {}",
                                   pid->number, expected.name, all.back()));
    }
  }
  const Document* tid = find(shown, "tid", Document::Kind::number);
  if (tid == nullptr || !expected.thread) return;
  if (tid->number == static_cast<double>(*expected.thread)) return;
  contradict(*tid, fmt::format("\"tid\" is {}, but by \"args\" '{}' ran in slot {}", tid->number,
                               expected.name, *expected.thread));
}

void DisplayCheck::compare(const Document& shown, const Expected& expected) {
  compare_text(shown, "name", expected.name);
  compare_text(shown, "ph", expected.finish ? "X" : "i");
  compare_time(shown, "ts", expected.start);
  if (expected.finish) compare_time(shown, "dur", *expected.finish - expected.start);
  compare_lane(shown, expected);
}

void DisplayCheck::read_channel(const Document& shown) {
  const Document* arguments = find(shown, "args", Document::Kind::object);
  const Document* name = find(shown, "name", Document::Kind::text);
  const Document* pid = find(shown, "pid", Document::Kind::number);
  if (arguments == nullptr || name == nullptr || pid == nullptr) return;
  const Document* start = arguments->find("start_ns");
  const Document* finish = arguments->find("finish_ns");
  const auto whole = [](const Document* part) {
    return part != nullptr && part->kind == Document::Kind::integer && part->integer >= 0 &&
           Duration(part->integer) <= kNever;
  };
  if (!whole(start) || !whole(finish)) {
    return contradict(shown, "an event of a channel needs start_ns and finish_ns");
  }
  const Duration from(start->integer);
  const Duration to(finish->integer);
  compare_text(shown, "ph", "X");
  compare_time(shown, "ts", from);
  compare_time(shown, "dur", to - from);
  used_.insert({static_cast<int32_t>(pid->number), kWholeProcess});
  again_.push_back({name->text, static_cast<int32_t>(pid->number), from, to, shown.line});
}

bool DisplayCheck::read_lane_name(const Document& shown) {
  const Document* what = shown.find("name");
  const Document* pid = shown.find("pid");
  const Document* arguments = shown.find("args");
  const Document* name = arguments == nullptr ? nullptr : arguments->find("name");
  const bool readable = what != nullptr && what->kind == Document::Kind::text && pid != nullptr &&
                        pid->kind == Document::Kind::integer && name != nullptr &&
                        name->kind == Document::Kind::text && arguments->items.size() == 1;
  if (!readable || pid->integer < 1 || pid->integer > ShownAs{problem_.machine}.policy()) {
    return false;
  }
  const auto process = static_cast<int32_t>(pid->integer);
  if (what->text == "process_name") {
    read_process_name(process, *name);
    return true;
  }
  return what->text == "thread_name" && read_slot_name(process, shown.find("tid"), *name);
}

void DisplayCheck::read_process_name(int32_t process, const Document& name) {
  named_.insert({process, kWholeProcess});
  const Machine& machine = problem_.machine;
  const std::string expected = ShownAs{machine}.process_name(process);
  if (name.text == expected) return;
  const char* kind = process <= machine.size()                             ? "device "
                     : process <= machine.size() + machine.channel_count() ? "channel "
                                                                           : "";
  contradict(name, fmt::format("process {} is shown as '{}', but it is {}'{}'", process, name.text,
                               kind, expected));
}

bool DisplayCheck::read_slot_name(int32_t process, const Document* tid, const Document& name) {
  const Machine& machine = problem_.machine;
  if (process > machine.size() || tid == nullptr || tid->kind != Document::Kind::integer ||
      tid->integer < 0 || tid->integer >= machine.device(DeviceId{process - 1}).slots) {
    return false;
  }
  const auto slot = static_cast<int32_t>(tid->integer);
  named_.insert({process, slot});
  if (name.text != ShownAs::slot_name(slot)) {
    contradict(name, fmt::format("thread {} of process {} is shown as '{}', but it is '{}'", slot,
                                 process, name.text, ShownAs::slot_name(slot)));
  }
  return true;
}

int64_t DisplayCheck::unnamed_lanes() const {
  return std::count_if(used_.begin(), used_.end(),
                       [&](const Lane& lane) { return !named_.contains(lane); });
}

void DisplayCheck::check_shown_again(const Trace& trace) {
  if (again_.empty()) return;
  const ShownAs shown_as{problem_.machine};
  std::set<std::tuple<Duration, Duration, int32_t, std::string>> held;
  for (const TransferSpan& span : trace.transfers) {
    const Hop* hop = hop_of(problem_.machine, span);
    if (hop == nullptr) continue;
    for (const ChannelId id : hop->channels) {
      held.emplace(span.start, span.finish, shown_as.channel(static_cast<size_t>(id.index)),
                   problem_.graph.value_name(span.value));
    }
  }
  for (const ShownAgain& one : again_) {
    if (held.contains({one.start, one.finish, one.process, one.name})) continue;
    Document where;
    where.line = one.line;
    return contradict(where,
                      fmt::format("'{}' is shown on a channel in process {} from {} ns to "
                                  "{} ns, where no transfer holds it",
                                  one.name, one.process, one.start.count(), one.finish.count()));
  }
}

std::optional<Error> DisplayCheck::contradiction(const Trace& trace) {
  check_shown_again(trace);
  return contradiction_;
}

}  // namespace tutti
