#include "tutti/base/fingerprint.h"

#include <fmt/format.h>

namespace tutti {

std::string fingerprint_text(uint64_t fingerprint) {
  return fmt::format("{:016x}", fingerprint);
}

}  // namespace tutti
