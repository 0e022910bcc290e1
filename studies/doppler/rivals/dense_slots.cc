#include "studies/doppler/rivals/dense_slots.h"

#include <utility>

#include "studies/doppler/nn/orthogonal.h"

namespace tutti {

Result<void> load_slots(const TensorFile& file, const std::string& path,
                        const std::vector<DenseSlot>& slots) {
  for (const DenseSlot& slot : slots) {
    auto layer = Dense::load(file, slot.name, slot.in, slot.out, slot.bias, path);
    if (!layer) return layer.error();
    *slot.layer = std::move(*layer);
  }
  return {};
}

void add_fresh_slots(const std::vector<DenseSlot>& slots, uint64_t seed, TensorFile& file) {
  uint64_t number = 0;
  for (const DenseSlot& slot : slots) {
    file.tensors[slot.name + ".weight"] = {
        .shape = {slot.out, slot.in},
        .data = orthogonal(slot.out, slot.in, Rng(seed).split(number++))};
    if (slot.bias == Dense::Bias::no) continue;
    file.tensors[slot.name + ".bias"] = {
        .shape = {slot.out}, .data = std::vector<float>(static_cast<size_t>(slot.out), 0.0F)};
  }
}

Result<void> read_shape(const TensorFile& file, const std::string& path, const std::string& network,
                        const std::vector<ShapeNumber>& numbers) {
  const auto told = file.metadata.find("network");
  if (told == file.metadata.end() || told->second != network) {
    return invalid_input(path + ": this is not a model of the network '" + network + "'");
  }
  for (const ShapeNumber& one : numbers) {
    const auto number = file.number(one.key, one.least, one.most, path);
    if (!number) return number.error();
    *one.target = *number;
  }
  return {};
}

}  // namespace tutti
