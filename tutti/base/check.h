// TUTTI_CHECK stops the program when an assumption of ours is broken. It is never used for bad
// input: that is an Error value with a sentence (result.h).

#ifndef TUTTI_BASE_CHECK_H_
#define TUTTI_BASE_CHECK_H_

#include <cstdio>
#include <cstdlib>

namespace tutti::internal {

[[noreturn]] inline void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "tutti: internal error: %s does not hold (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace tutti::internal

#define TUTTI_CHECK(condition) \
  ((condition) ? void(0) : ::tutti::internal::check_failed(#condition, __FILE__, __LINE__))

#endif  // TUTTI_BASE_CHECK_H_
