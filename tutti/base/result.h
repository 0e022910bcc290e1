// A Result holds a value or an Error. Its members are named as in std::expected, which gcc 12 only
// has under C++23.
//
// An Error is about the world (a wrong file, an infeasible problem) and carries one sentence that
// says what to change. Errors of ours stop the program: see check.h.

#ifndef TUTTI_BASE_RESULT_H_
#define TUTTI_BASE_RESULT_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "tutti/base/check.h"

namespace tutti {

struct Error {
  enum class Kind {
    invalid_input,  // the user's input is wrong; exit code 2
    infeasible,     // no plan can obey the problem's constraints; exit code 3
    out_of_time,    // the budget ended before there was a result; exit code 1
    failed,         // anything else, such as a full disk; exit code 1
  };
  Kind kind = Kind::failed;
  std::string message;
};

// The text as one line of UTF-8 that a terminal can show: sentences quote what stands in files, and
// those may be hostile. Control characters and bytes that are not UTF-8 become \xNN, and the middle
// of a very long text is left out.
std::string one_line(std::string text);

// True if every byte belongs to well-formed UTF-8.
bool is_utf8(std::string_view text);

inline Error invalid_input(std::string message) {
  return {Error::Kind::invalid_input, one_line(std::move(message))};
}
inline Error infeasible(std::string message) {
  return {Error::Kind::infeasible, one_line(std::move(message))};
}
inline Error failed(std::string message) {
  return {Error::Kind::failed, one_line(std::move(message))};
}

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  // Require has_value().
  T& value() & { return checked(); }
  const T& value() const& { return const_cast<Result*>(this)->checked(); }
  T&& value() && { return std::move(checked()); }
  T& operator*() & { return checked(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(checked()); }
  T* operator->() { return &checked(); }
  const T* operator->() const { return &value(); }

  // Requires !has_value().
  const Error& error() const {
    TUTTI_CHECK(!has_value());
    return *std::get_if<1>(&state_);
  }

 private:
  T& checked() {
    TUTTI_CHECK(has_value());
    return *std::get_if<0>(&state_);
  }

  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit

  bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  const Error& error() const {
    TUTTI_CHECK(!has_value());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

}  // namespace tutti

#endif  // TUTTI_BASE_RESULT_H_
