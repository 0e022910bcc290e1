#include "tutti/trace/trace.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>

namespace tutti {

Measurement measured_now() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  const int64_t ms = std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
  // A clock before 1970 is wrong; the trace must be readable all the same.
  return {.process = static_cast<int64_t>(getpid()), .began_unix_ms = std::max<int64_t>(ms, 0)};
}

namespace {

constexpr std::string_view kBarriers = "/bulk_synchronous";
constexpr std::string_view kScheduler = "starpu/";

// Movement is part of the text of a local runtime alone: StarPU's is always direct.
std::string movement_text(const RuntimeInfo& runtime) {
  if (runtime.movement == Movement::hops || runtime.name == "starpu") return {};
  return std::string("/") + kMovementWords[static_cast<size_t>(runtime.movement)];
}

// Without barriers.
RuntimeInfo runtime_from_base(std::string_view text) {
  if (text == "sim/physical") return {.name = "sim", .model = "physical"};
  if (text == "sim/released") return {.name = "sim", .model = "released"};
  if (text == "local/direct") return {.name = "local", .movement = Movement::direct};
  if (text == "local/files") return {.name = "local", .movement = Movement::files};
  if (text == "starpu") return {.name = "starpu", .movement = Movement::direct};
  if (text.starts_with(kScheduler) && text.size() > kScheduler.size()) {
    return {.name = "starpu",
            .scheduler = std::string(text.substr(kScheduler.size())),
            .movement = Movement::direct};
  }
  return {.name = std::string(text)};
}

}  // namespace

std::string to_text(const RuntimeInfo& runtime) {
  std::string text = runtime.name;
  if (!runtime.model.empty()) text += "/" + runtime.model;
  if (!runtime.scheduler.empty()) text += "/" + runtime.scheduler;
  text += movement_text(runtime);
  if (runtime.barriers) text += kBarriers;
  return text;
}

RuntimeInfo runtime_from_text(std::string_view text) {
  const bool barriers = text.ends_with(kBarriers);
  if (barriers) text.remove_suffix(kBarriers.size());
  RuntimeInfo runtime = runtime_from_base(text);
  runtime.barriers = barriers;
  return runtime;
}

bool is_null(const Trace& trace) {
  return trace.runtime == RuntimeInfo{.name = "null"};
}

bool is_physical(const Trace& trace) {
  return trace.runtime == RuntimeInfo{.name = "sim", .model = "physical"};
}

bool is_released(const Trace& trace) {
  return trace.runtime == RuntimeInfo{.name = "sim", .model = "released"};
}

bool is_measured(const Trace& trace) {
  const RuntimeInfo& runtime = trace.runtime;
  if (!runtime.model.empty()) return false;
  if (runtime.name == "local") return runtime.scheduler.empty();
  return runtime.name == "starpu" && runtime.movement == Movement::direct && !runtime.barriers;
}

bool is_direct(const Trace& trace) {
  return is_measured(trace) && trace.runtime.movement == Movement::direct;
}

bool is_of_files(const Trace& trace) {
  return is_measured(trace) && trace.runtime.movement == Movement::files;
}

bool is_of_known_runtime(const Trace& trace) {
  return is_measured(trace) || is_null(trace) || is_physical(trace) || is_released(trace);
}

}  // namespace tutti
