#include "tutti/policy/doppler/model.h"

#include <fmt/format.h>

#include "tutti/policy/doppler/residual_net.h"

namespace tutti {
namespace {

std::vector<NetFamily>& families() {
  static std::vector<NetFamily> all = {
      {.name = "residual",
       .load = [](const TensorFile& file,
                  const std::string& path) -> Result<std::shared_ptr<const DopplerNet>> {
         Result<ResidualNet> net = ResidualNet::load(file, path);
         if (!net) return net.error();
         return {std::make_shared<const ResidualNet>(std::move(*net))};
       },
       .variants = {"one_pass", "device_columns", "start_alone"}}};
  return all;
}

Result<std::shared_ptr<const DopplerNet>> net_of(const TensorFile& file, const std::string& path,
                                                 bool borrowed) {
  if (file.metadata.contains(kAdamSteps)) {
    return invalid_input(fmt::format(
        "{}: this is a checkpoint; take the model.safetensors in the same folder", path));
  }
  const std::string name = network_named_in(file);
  for (const NetFamily& family : families()) {
    if (family.name != name) continue;
    return borrowed && family.borrow ? family.borrow(file, path) : family.load(file, path);
  }
  return unknown_network(file, path);
}

}  // namespace

const std::vector<NetFamily>& net_families() {
  return families();
}

void add_net_family(NetFamily family) {
  for (const NetFamily& known : families()) TUTTI_CHECK(known.name != family.name);
  families().push_back(std::move(family));
}

std::string network_named_in(const TensorFile& file) {
  const auto told = file.metadata.find("network");
  return told == file.metadata.end() ? "" : told->second;
}

Error unknown_network(const TensorFile& file, const std::string& path) {
  std::string names;
  for (const NetFamily& family : net_families()) {
    names += (names.empty() ? "" : ", ") + family.name;
  }
  const std::string name = network_named_in(file);
  return invalid_input(
      name.empty()
          ? fmt::format("{}: this is not a model; its metadata name no network", path)
          : fmt::format("{}: this is a model of the network '{}', and this program knows {}", path,
                        one_line(name), names));
}

Result<DopplerModel> DopplerModel::load(const TensorFile& file, const std::string& path) {
  auto net = net_of(file, path, /*borrowed=*/false);
  if (!net) return net.error();
  return DopplerModel(std::move(*net));
}

Result<DopplerModel> DopplerModel::borrow(const TensorFile& file, const std::string& path) {
  auto net = net_of(file, path, /*borrowed=*/true);
  if (!net) return net.error();
  return DopplerModel(std::move(*net));
}

}  // namespace tutti
