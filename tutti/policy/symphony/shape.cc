#include "tutti/policy/symphony/shape.h"

#include <array>
#include <utility>

namespace tutti {
namespace {

constexpr std::array<std::pair<InformationLevel, const char*>, 5> kNames = {{
    {InformationLevel::nothing, "none"},
    {InformationLevel::counters, "counters"},
    {InformationLevel::topology, "counters-topology"},
    {InformationLevel::belief, "belief"},
    {InformationLevel::truth, "truth"},
}};

struct Flag {
  const char* key;
  bool SymphonyShape::*member;
};
constexpr std::array<Flag, 8> kFlags = {{
    {"topology", &SymphonyShape::topology},
    {"memory", &SymphonyShape::memory},
    {"no_op", &SymphonyShape::no_op},
    {"launched", &SymphonyShape::launched},
    {"counter_errors", &SymphonyShape::counter_errors},
    {"prior", &SymphonyShape::prior},
    {"means", &SymphonyShape::means},
    {"wide", &SymphonyShape::wide},
}};

struct Size {
  const char* key;
  int SymphonyShape::*member;
  int least;
  int most;
};
constexpr std::array<Size, 3> kSizes = {{
    {"samples", &SymphonyShape::samples, 1, 1 << 20},
    {"counters", &SymphonyShape::counters, 0, 1 << 16},
    {"devices", &SymphonyShape::devices, 0, 1 << 12},
}};

}  // namespace

const char* to_text(InformationLevel knowledge) {
  for (const auto& [value, name] : kNames) {
    if (value == knowledge) return name;
  }
  return "";
}

std::optional<InformationLevel> parse_information_level(std::string_view text) {
  for (const auto& [value, name] : kNames) {
    if (text == name) return value;
  }
  return std::nullopt;
}

void store_shape(const SymphonyShape& shape, TensorFile& file) {
  file.metadata["network"] = "symphony";
  file.metadata["knowledge"] = to_text(shape.knowledge);
  for (const Flag& flag : kFlags) file.metadata[flag.key] = shape.*flag.member ? "1" : "0";
  for (const Size& size : kSizes) file.metadata[size.key] = std::to_string(shape.*size.member);
}

Result<SymphonyShape> load_shape(const TensorFile& file, const std::string& path) {
  const auto kind = file.metadata.find("network");
  if (kind == file.metadata.end() || kind->second != "symphony") {
    return invalid_input(path + ": this is not a model of Symphony");
  }
  SymphonyShape shape;
  const auto told = file.metadata.find("knowledge");
  const auto knowledge =
      told == file.metadata.end() ? std::nullopt : parse_information_level(told->second);
  if (!knowledge) return invalid_input(path + ": the model does not say what it is told");
  shape.knowledge = *knowledge;
  for (const Flag& flag : kFlags) {
    const auto number = file.number(flag.key, 0, 1, path);
    if (!number) return number.error();
    shape.*flag.member = *number == 1;
  }
  for (const Size& size : kSizes) {
    const auto number = file.number(size.key, size.least, size.most, path);
    if (!number) return number.error();
    shape.*size.member = *number;
  }
  return shape;
}

}  // namespace tutti
