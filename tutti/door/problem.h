// Where the work runs, and both together: all that is known before a run.

#ifndef TUTTI_DOOR_PROBLEM_H_
#define TUTTI_DOOR_PROBLEM_H_

#include <tutti/door/graph.h>

#include <optional>

namespace tutti {
inline namespace v0 {

// Immutable.
class Machine {
 public:
  // A preset, a machine file, "this-host", or "this-host:4x2": its cores as four devices of two.
  explicit Machine(const std::string& name_or_path = "this-host") {
    tutti_error error;
    handle_.reset(internal::checked(tutti_machine_load(name_or_path.c_str(), &error), error));
  }
  // JSON or TOML, as in a machine file.
  static Machine parse(std::string_view text, const std::string& name = "machine") {
    tutti_error error;
    return Machine(internal::checked(
        tutti_machine_parse(text.data(), text.size(), name.c_str(), &error), error));
  }

  const tutti_machine* handle() const { return handle_.get(); }

 private:
  explicit Machine(tutti_machine* handle) : handle_(handle) {}

  internal::Owned<tutti_machine, tutti_machine_free> handle_;
};

struct ProblemOptions {
  std::string costs_file{};
  std::string constraints_file{};
  std::optional<double> noise{};  // none: as the costs say
};

// Immutable. Names of ops and devices by their numbers, which count from 0.
class Problem {
 public:
  Problem(const Graph& graph, const Machine& machine, const ProblemOptions& given = {}) {
    auto options = internal::sized<tutti_problem_options>();
    if (!given.costs_file.empty()) options.costs_file = given.costs_file.c_str();
    if (!given.constraints_file.empty()) options.constraints_file = given.constraints_file.c_str();
    options.has_noise = given.noise ? 1 : 0;
    options.noise = given.noise.value_or(0);
    tutti_error error;
    handle_.reset(internal::checked(
        tutti_problem_make(graph.handle(), machine.handle(), &options, &error), error));
  }

  int32_t op_count() const { return tutti_problem_op_count(handle()); }
  int32_t device_count() const { return tutti_problem_device_count(handle()); }
  std::string op_name(int32_t op) const { return name(tutti_problem_op_name(handle(), op)); }
  std::string device_name(int32_t device) const {
    return name(tutti_problem_device_name(handle(), device));
  }
  // No plan takes less.
  int64_t lower_bound_ns() const { return tutti_problem_lower_bound(handle()); }

  const tutti_problem* handle() const { return handle_.get(); }

 private:
  static std::string name(const char* text) {
    if (text == nullptr)
      throw Error(TUTTI_INVALID_INPUT, "there is no op or device of that number");
    return text;
  }

  internal::Owned<tutti_problem, tutti_problem_free> handle_;
};

}  // namespace v0
}  // namespace tutti

#endif  // TUTTI_DOOR_PROBLEM_H_
