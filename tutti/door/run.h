// Runs of plans: simulated, or on this host's cores with ops of your own.

#ifndef TUTTI_DOOR_RUN_H_
#define TUTTI_DOOR_RUN_H_

#include <tutti/door/plan.h>

#include <cstdio>
#include <functional>
#include <map>

namespace tutti {
inline namespace v0 {

// One op at the moment it runs.
class Call {
 public:
  explicit Call(const tutti_call& call) : call_(call) {}

  std::string_view op() const { return call_.op; }
  std::string_view device() const { return call_.device; }
  size_t operand_count() const { return static_cast<size_t>(call_.operand_count); }

  // The elements of an operand or an output, counted from 0. T is what the graph states.
  template <class T>
  std::span<const T> operand(size_t i) const {
    return elements<const T>(call_.operands, call_.operand_count, i);
  }
  template <class T>
  std::span<T> output(size_t i) const {
    return elements<T>(call_.outputs, call_.output_count, i);
  }

 private:
  template <class T>
  static std::span<T> elements(const tutti_block* blocks, int32_t count, size_t i) {
    if (i >= static_cast<size_t>(count)) {
      throw Error(TUTTI_INVALID_INPUT, "the op has no operand or output of that number");
    }
    size_t size = 1;
    for (int32_t d = 0; d < blocks[i].rank; ++d) size *= static_cast<size_t>(blocks[i].shape[d]);
    if (blocks[i].data == nullptr) return {};  // a value of no bytes
    return {static_cast<T*>(blocks[i].data), size};
  }

  const tutti_call& call_;
};

// What code runs an op of a kind. An exception ends the run with its sentence. Called by several
// threads at once.
using Function = std::function<void(const Call& call)>;
using Ops = std::map<std::string, Function>;

// What happened. Keeps its problem alive. Columns by op; times in ns since the run began.
class Run {
 public:
  explicit Run(tutti_run* handle) : handle_(handle) {}

  int64_t makespan_ns() const { return tutti_run_makespan(handle()); }
  std::span<const int32_t> devices() const { return {tutti_run_op_devices(handle()), size()}; }
  std::span<const int64_t> starts() const { return {tutti_run_op_starts(handle()), size()}; }
  std::span<const int64_t> finishes() const { return {tutti_run_op_finishes(handle()), size()}; }
  // Of a real run: a value that no op reads.
  template <class T>
  std::span<const T> value(Value value) const {
    size_t bytes = 0;
    const void* const data = tutti_run_value(handle(), value.number, &bytes);
    if (data == nullptr) {
      throw Error(TUTTI_INVALID_INPUT,
                  "the run kept no such value; it keeps those that no op reads");
    }
    return {static_cast<const T*>(data), bytes / sizeof(T)};
  }
  // A Chrome trace; look at it at ui.perfetto.dev.
  std::string trace() const { return tutti_run_trace(handle()); }

  tutti_run* handle() const { return handle_.get(); }

 private:
  size_t size() const { return tutti_run_op_count(handle()); }

  internal::Owned<tutti_run, tutti_run_free> handle_;
};

inline Run simulate(const Problem& problem, const Plan& plan, uint64_t seed = 1) {
  auto options = internal::sized<tutti_simulate_options>();
  options.seed = seed;
  tutti_error error;
  return Run(
      internal::checked(tutti_simulate(problem.handle(), plan.handle(), &options, &error), error));
}

// This host's cores, bound to the devices of the problem's machine; threads and memory stay warm
// between runs. For one thread.
class Engine {
 public:
  explicit Engine(const Problem& problem, Ops ops = {})
      : ops_(std::make_unique<Ops>(std::move(ops))) {
    const internal::Owned<tutti_ops, tutti_ops_free> table(tutti_ops_new());
    if (table == nullptr) throw std::bad_alloc();
    tutti_error error;
    for (auto& [kind, function] : *ops_) {
      internal::check(tutti_ops_add(table.get(), kind.c_str(), call, &function, &error), error);
    }
    handle_.reset(
        internal::checked(tutti_engine_open(problem.handle(), table.get(), &error), error));
  }

  // What a graph input holds in the next runs; without, zeros.
  template <class T>
  void set_input(Value value, std::span<const T> elements) {
    tutti_error error;
    internal::check(tutti_engine_set_input(handle_.get(), value.number, elements.data(),
                                           elements.size_bytes(), &error),
                    error);
  }
  template <class T>
  void set_input(Value value, const std::vector<T>& elements) {
    set_input(value, std::span<const T>(elements));
  }

  Run run(const Plan& plan) {
    tutti_error error;
    return Run(internal::checked(tutti_engine_run(handle_.get(), plan.handle(), &error), error));
  }

 private:
  static int call(const tutti_call* call, void* function, char* message, size_t capacity) {
    try {
      (*static_cast<const Function*>(function))(Call(*call));
      return 0;
    } catch (const std::exception& thrown) {
      std::snprintf(message, capacity, "%s", thrown.what());
    } catch (...) {
      std::snprintf(message, capacity, "its function threw something");
    }
    return 1;
  }

  std::unique_ptr<Ops> ops_;  // at one place, which the library knows
  internal::Owned<tutti_engine, tutti_engine_free> handle_;
};

}  // namespace v0
}  // namespace tutti

#endif  // TUTTI_DOOR_RUN_H_
