// A Shared<T> is an immutable value with several owners. Copies are cheap and refer to the same
// value, which lives as long as any of them. Any number of threads may read it.

#ifndef TUTTI_BASE_SHARED_H_
#define TUTTI_BASE_SHARED_H_

#include <memory>
#include <utility>

namespace tutti {

template <class T>
class Shared {
 public:
  // Moves the value in. To share a copy, say so: Shared<T>(T(value)).
  Shared(T&& value)  // NOLINT: implicit
      : value_(std::make_shared<const T>(std::move(value))) {}

  // Refers to a value that outlives all copies, without owning it.
  static Shared borrowed(const T& value) { return Shared(&value); }

  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }

 private:
  explicit Shared(const T* value) : value_(std::shared_ptr<void>(), value) {}

  std::shared_ptr<const T> value_;
};

}  // namespace tutti

#endif  // TUTTI_BASE_SHARED_H_
