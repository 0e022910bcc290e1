#include "tutti/belief/constants_file.h"

#include <fmt/format.h>

#include "tutti/base/check.h"

namespace tutti {
namespace {

const std::string kTensor = "belief.constants";
const std::string kNames = "belief.names";

std::string names_of(const Network& network) {
  std::string names;
  for (const Constant& constant : network.constants())
    names += (names.empty() ? "" : " ") + constant.name;
  return names;
}

}  // namespace

void store_constants(const Network& network, std::span<const double> raw, TensorFile& file) {
  TUTTI_CHECK(raw.size() == network.constants().size());
  file.tensors[kTensor] = {.shape = {static_cast<int64_t>(raw.size())},
                           .data = {raw.begin(), raw.end()}};
  file.metadata[kNames] = names_of(network);
}

Result<std::vector<double>> load_constants(const Network& network, const TensorFile& file,
                                           const std::string& name_of_file) {
  const auto names = file.metadata.find(kNames);
  if (names == file.metadata.end()) {
    return invalid_input(fmt::format("{}: holds no constants of a belief", name_of_file));
  }
  if (names->second != names_of(network)) {
    return invalid_input(fmt::format(
        "{}: the constants of this belief belong to another machine or to other counters; learn "
        "them again",
        name_of_file));
  }
  const auto tensor =
      file.find(kTensor, {static_cast<int64_t>(network.constants().size())}, name_of_file);
  if (!tensor) return tensor.error();
  return std::vector<double>((*tensor)->data.begin(), (*tensor)->data.end());
}

}  // namespace tutti
