// What the handles of the C interface (tutti/tutti_c.h) are. Not installed.

#ifndef TUTTI_DOOR_C_HANDLES_H_
#define TUTTI_DOOR_C_HANDLES_H_

#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tutti/base/shared.h"
#include "tutti/plan/bound.h"
#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"
#include "tutti/trace/trace.h"
#include "tutti/tutti_c.h"

namespace tutti::door {

// A problem, kept alive by all that is about it.
struct ProblemData {
  explicit ProblemData(Problem its) : problem(std::move(its)) {}

  Problem problem;
  std::string warnings{};

  Duration lower_bound() const;
  // Ended by a zero; the names of a graph are one text without any.
  const char* op_name(OpId op) const;

 private:
  mutable std::once_flag bound_once_;
  mutable Duration bound_{0};
  mutable std::once_flag names_once_;
  mutable std::vector<std::string> names_;
};

// Writes the error, unless there is no place for it, and returns its code.
int tell(tutti_error* error, const Error& what);
// The same with success.
int clear(tutti_error* error);

// What body returns; `failed_value` if it throws, which only a lack of memory should.
template <class T, class Body>
T guarded(tutti_error* error, T failed_value, Body&& body) noexcept {
  try {
    clear(error);
    return body();
  } catch (const std::exception& thrown) {
    tell(error, failed(thrown.what()));
  } catch (...) {
    tell(error, failed("an exception of unknown type"));
  }
  return failed_value;
}

// Ok if no pointer is null.
template <class... Pointers>
Result<void> require(const char* function, Pointers... pointers) {
  if (((pointers != nullptr) && ...)) return {};
  return invalid_input(std::string(function) + " was given NULL for something that it needs");
}

inline std::string text_or(const char* text, const char* otherwise) {
  return text == nullptr ? otherwise : text;
}

// The options of a caller, whose struct may be an older and shorter one; without any, zeros.
template <class Options>
Result<Options> options_of(const Options* given) {
  Options options{};
  options.size = sizeof(Options);
  if (given == nullptr) return options;
  if (given->size < sizeof(size_t) || given->size > sizeof(Options)) {
    return invalid_input(
        "the size in a struct of options is not the size of that struct; set it with TUTTI_INIT");
  }
  const size_t size = given->size;
  __builtin_memcpy(&options, given, size);
  return options;
}

// A plan that the judge has accepted, with its makespan; simulated with mean durations if none is
// given. Fails (invalid_input) if it breaks a rule, and as the simulator does.
Result<tutti_plan*> plan_handle(std::shared_ptr<const ProblemData> data, Plan plan,
                                std::optional<Duration> makespan = {});
tutti_run* run_handle(std::shared_ptr<const ProblemData> data, Trace trace);

}  // namespace tutti::door

struct tutti_graph {
  tutti::Shared<tutti::Graph> graph;
  std::string warnings{};
};

struct tutti_machine {
  tutti::Shared<tutti::Machine> machine;
};

struct tutti_problem {
  std::shared_ptr<const tutti::door::ProblemData> data;
};

struct tutti_plan {
  std::shared_ptr<const tutti::door::ProblemData> data;
  tutti::Plan plan;
  tutti::Duration makespan{0};
  std::vector<int32_t> devices{};
  mutable std::once_flag text_once{};
  mutable std::string text{};
};

#endif  // TUTTI_DOOR_C_HANDLES_H_
