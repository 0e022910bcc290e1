// The error of the C++ interface, and what holds a handle of the C interface.

#ifndef TUTTI_DOOR_ERROR_H_
#define TUTTI_DOOR_ERROR_H_

#include <tutti/tutti_c.h>

#include <memory>
#include <stdexcept>
#include <string>

// The number keeps these types apart from those of other versions in one program.
namespace tutti {
inline namespace v0 {

// Thrown by everything here that can fail, with one sentence that says what to change.
class Error : public std::runtime_error {
 public:
  Error(int code, const char* sentence) : std::runtime_error(sentence), code_(code) {}
  explicit Error(const tutti_error& error) : Error(error.code, error.message) {}

  // TUTTI_FAILED, TUTTI_INVALID_INPUT or TUTTI_INFEASIBLE.
  int code() const { return code_; }

 private:
  int code_;
};

namespace internal {

template <auto free>
struct Freed {
  template <class T>
  void operator()(T* handle) const {
    free(handle);
  }
};

template <class T, auto free>
using Owned = std::unique_ptr<T, Freed<free>>;

// The handle, or an exception with the error.
template <class T>
T* checked(T* handle, const tutti_error& error) {
  if (handle == nullptr) throw Error(error);
  return handle;
}

inline void check(int code, const tutti_error& error) {
  if (code != TUTTI_OK) throw Error(error);
}

template <class T>
T sized() {
  T options{};
  options.size = sizeof(T);
  return options;
}

}  // namespace internal
}  // namespace v0
}  // namespace tutti

#endif  // TUTTI_DOOR_ERROR_H_
