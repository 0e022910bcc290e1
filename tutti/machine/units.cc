#include "tutti/machine/units.h"

#include <map>
#include <set>

namespace tutti {
namespace {

// A kind may hold a colon; units do not.
std::map<std::string, std::string> parse(std::string_view text) {
  std::map<std::string, std::string> units;
  while (!text.empty()) {
    const size_t end = text.find(", ");
    const std::string_view one = text.substr(0, end);
    if (const size_t colon = one.rfind(':'); colon != std::string_view::npos) {
      units[std::string(one.substr(0, colon))] = std::string(one.substr(colon + 1));
    }
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 2);
  }
  return units;
}

}  // namespace

std::string units_text(const Machine& machine) {
  std::map<std::string, std::set<int>> found;
  for (const DeviceId id : machine.devices()) {
    const Device& device = machine.device(id);
    if (device.units > 0) found[device.kind].insert(device.units);
  }
  std::string text;
  for (const auto& [kind, counts] : found) {
    text += (text.empty() ? "" : ", ") + kind + ":";
    for (const int count : counts) text += (text.back() == ':' ? "" : "+") + std::to_string(count);
  }
  return text;
}

std::string first_difference(std::string_view units, std::string_view others) {
  const auto theirs = parse(others);
  for (const auto& [kind, count] : parse(units)) {
    const auto other = theirs.find(kind);
    if (other != theirs.end() && other->second != count) return kind + ":" + count;
  }
  return {};
}

}  // namespace tutti
