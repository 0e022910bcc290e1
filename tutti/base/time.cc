#include "tutti/base/time.h"

#include <fmt/format.h>

namespace tutti {
namespace {

struct Unit {
  double size;
  const char* name;
};

std::string in_largest_unit(double amount, const Unit* units, int count) {
  int unit = 0;
  while (unit + 1 < count && std::abs(amount) >= units[unit + 1].size) ++unit;
  if (unit == 0) return fmt::format("{:.0f} {}", amount, units[0].name);
  return fmt::format("{:.4g} {}", amount / units[unit].size, units[unit].name);
}

}  // namespace

std::string to_text(Duration time) {
  static constexpr Unit kUnits[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}, {3.6e12, "h"}};
  return in_largest_unit(static_cast<double>(time.count()), kUnits, 5);
}

std::string bytes_to_text(int64_t bytes) {
  static constexpr Unit kUnits[] = {{1, "B"},
                                    {1024.0, "KiB"},
                                    {1048576.0, "MiB"},
                                    {1073741824.0, "GiB"},
                                    {1099511627776.0, "TiB"}};
  return in_largest_unit(static_cast<double>(bytes), kUnits, 5);
}

}  // namespace tutti
