#include "tutti/graph/name_table.h"

#include <functional>

namespace tutti {
namespace {

uint32_t hash_of(std::string_view name) {
  return static_cast<uint32_t>(std::hash<std::string_view>{}(name));
}

}  // namespace

NameTable::NameTable() : begin_{0}, slots_(16) {}

std::string_view NameTable::name(int32_t number) const {
  return std::string_view(text_).substr(static_cast<size_t>(begin_[number]),
                                        static_cast<size_t>(begin_[number + 1] - begin_[number]));
}

size_t NameTable::slot_of(std::string_view wanted, uint32_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t at = hash & mask;
  while (slots_[at].number >= 0 && (slots_[at].hash != hash || name(slots_[at].number) != wanted)) {
    at = (at + 1) & mask;
  }
  return at;
}

std::optional<int32_t> NameTable::find(std::string_view wanted) const {
  const Slot& slot = slots_[slot_of(wanted, hash_of(wanted))];
  if (slot.number < 0) return std::nullopt;
  return slot.number;
}

int32_t NameTable::add(std::string_view added) {
  const uint32_t hash = hash_of(added);
  size_t at = slot_of(added, hash);
  if (slots_[at].number >= 0) return slots_[at].number;
  if (2 * (static_cast<size_t>(size()) + 1) > slots_.size()) {
    grow();
    at = slot_of(added, hash);
  }
  const int32_t number = size();
  text_ += added;
  begin_.push_back(static_cast<int64_t>(text_.size()));
  slots_[at] = {hash, number};
  return number;
}

void NameTable::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  const size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.number < 0) continue;
    size_t at = slot.hash & mask;
    while (slots_[at].number >= 0) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

}  // namespace tutti
