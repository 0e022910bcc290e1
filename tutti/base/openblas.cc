#include "tutti/base/openblas.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "tutti/base/parallel.h"

namespace tutti {
namespace {

// As measured with OpenBLAS 0.3.21: 40 MB of code, and for each thread a buffer of 128 MB and a
// stack. It has threads of its own, and one of ours multiplies too.
constexpr int64_t kCodeBytes = 48'000'000;
constexpr int64_t kThreadBytes = 144'000'000;

// Of this process now, as far as /proc says.
int64_t address_space() {
  long pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r"); file != nullptr) {
    if (std::fscanf(file, "%ld", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return int64_t{pages} * ::sysconf(_SC_PAGESIZE);
}

}  // namespace

Result<void> require_space_for_openblas() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  const int64_t needed = kCodeBytes + kThreadBytes * (usable_cores() + 1);
  const int64_t left = static_cast<int64_t>(limit.rlim_cur) - address_space();
  if (left >= needed) return {};
  return failed(fmt::format(
      "OpenBLAS, which multiplies matrices, needs {} MB of address space, and the limit "
      "of this process (ulimit -v) leaves {} MB; raise it",
      needed / 1'000'000, std::max<int64_t>(0, left) / 1'000'000));
}

}  // namespace tutti
