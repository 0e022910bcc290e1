// How the values of a run are laid out before it begins: which memories will have copies, and graph
// inputs where they belong.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tutti/runtime/local/run/values.h"

namespace tutti {

void Values::begin() {
  for (int32_t i = 0; i < run_.machine.memory_count(); ++i) {
    const MemoryId memory{i};
    pool(memory).begin(run_.problem->memory_limit(memory));
    Room& its = room(memory);
    const SpinHold hold(its.lock);
    its.waiting.store(0);
    its.ops.clear();
    its.transfers.clear();
  }
  {
    const SpinHold hold(log_lock_);
    log_.clear();
  }
  if (run_.options->keep_inputs) {
    kept_inputs_.belong_to(run_.graph().fingerprint());
  } else {
    kept_inputs_.give_back();
  }
  lanes_.begin([this](Copier& copier, int32_t copy) { move(copier, copy); });
}

void Values::find_kept() {
  const Graph& graph = run_.graph();
  kept_.assign(static_cast<size_t>(graph.value_count()), 0);
  for (const ValueId value : run_.options->keep) kept_[static_cast<size_t>(value.index)] = 1;
  if (!run_.options->keep.empty()) return;
  for (const ValueId value : graph.values()) {
    kept_[static_cast<size_t>(value.index)] = !is_input(value) && graph.consumers(value).empty();
  }
}

Result<void> Values::lay_out() {
  const Graph& graph = run_.graph();
  find_kept();
  const int64_t others = int64_t{graph.value_count()} * (run_.machine.memory_count() - 1);
  const auto further = static_cast<int32_t>(std::min<int64_t>(others, graph.edge_count()));
  const bool none = run_.one_memory;
  copies_.begin(graph.value_count(), none ? 0 : further);
  transfers_.resize(none ? 0 : static_cast<size_t>(further));
  for (const ValueId value : graph.values()) {
    if (Result<void> laid_out = lay_out(value); !laid_out) return laid_out;
  }
  return {};
}

int32_t Values::add_copy(ValueId value, MemoryId memory) {
  const int32_t copy = copies_.add(value, memory);
  transfer(copy) = {};
  return copy;
}

Result<void> Values::lay_out(ValueId value) {
  const Graph& graph = run_.graph();
  const MemoryId home =
      is_input(value) ? run_.problem->home(value) : run_.memory_of(graph.producer(value));
  // What is everywhere is not sent; each memory that has readers gets it at the start.
  const bool everywhere = !home.valid();
  const std::span<const EdgeId> readers = graph.consumers(value);
  Copy& first = copies_.first(value);
  first.reset(value, graph.bytes(value),
              !everywhere       ? home
              : readers.empty() ? run_.machine.host_memory()
                                : run_.memory_of(graph.edge_to(readers.front())));
  first.counted = run_.is_aside(value);  // a weight is at home though no op there reads it
  int32_t uses = 0;
  for (const EdgeId edge : readers) {
    const MemoryId memory = run_.memory_of(graph.edge_to(edge));
    if (memory == first.memory) {
      ++uses;
      first.counted = true;
      continue;
    }
    int32_t copy = copies_.find(value, memory);
    if (copy < 0) {
      copy = add_copy(value, memory);
      if (!everywhere) {
        uses += !run_.is_aside(value);
        if (Result<void> way = check_way(home, memory); !way) return way;
      }
    }
    copies_[copy].uses.fetch_add(1, std::memory_order_relaxed);
  }
  const bool weight = is_input(value) && graph.is_weight(value);
  for (int32_t copy = first.next; copy >= 0 && weight; copy = copies_[copy].next) {
    copies_[copy].uses.fetch_add(1, std::memory_order_relaxed);
  }
  if (is_kept(value.index) || (weight && uses > 0) || run_.is_aside(value)) ++uses;
  first.uses.store(uses, std::memory_order_relaxed);
  return {};
}

Result<void> Values::check_way(MemoryId from, MemoryId to) {
  const Route* route = run_.machine.route(from, to);
  const auto none = [&](MemoryId begin, MemoryId end) {
    return infeasible(fmt::format("nothing connects memory '{}' to '{}'",
                                  run_.machine.memory(begin).name, run_.machine.memory(end).name));
  };
  if (route == nullptr) return none(from, to);
  if (!run_.options->staged && lanes_.join(from, to)) return {};
  for (const Hop& hop : route->hops) {
    if (!lanes_.join(from, hop.to)) return none(from, hop.to);
    from = hop.to;
  }
  return {};
}

Result<void> Values::fill_inputs() {
  for (const ValueId value : run_.graph().values()) {
    if (!is_input(value)) continue;
    if (Result<void> filled = fill_input(value); !filled) return filled;
  }
  reserve_for_streams();
  return check_input_room();
}

// Finds a kept block for the copy, or allocates one and adds the copy to those that must be filled.
Result<void> Values::allocate_input(Copy& copy, std::vector<Copy*>& empty) {
  if (copy.counted) pool(copy.memory).take_room_anyway(copy.bytes);
  copy.address = kept_inputs_.find(copy.value, copy.memory);
  copy.lent = run_.options->keep_inputs;
  if (copy.address != nullptr) return {};
  copy.address = pool(copy.memory).allocate(copy.bytes);
  empty.push_back(&copy);
  if (copy.address == nullptr) {
    return infeasible(fmt::format(
        "graph input '{}' needs {} bytes in memory '{}', which cannot "
        "provide them; allow more memory",
        run_.graph().value_name(copy.value), copy.bytes, run_.machine.memory(copy.memory).name));
  }
  if (copy.lent) {
    kept_inputs_.keep(copy.value, copy.memory, pool(copy.memory), copy.address, copy.bytes);
  }
  return {};
}

// Puts an input where it is from the start: at home, or in every memory that has a copy.
Result<void> Values::fill_input(ValueId value) {
  const Graph& graph = run_.graph();
  const bool everywhere = !run_.problem->home(value).valid();
  const int64_t bytes = graph.bytes(value);
  Copy& first = copies_.first(value);
  if (bytes == 0 || (first.uses.load() == 0 && first.next < 0)) return {};
  std::vector<Copy*> empty;
  if (first.uses.load() > 0) {
    if (Result<void> allocated = allocate_input(first, empty); !allocated) return allocated;
  }
  const bool aside = run_.is_aside(value) && !run_.problem->cold();
  for (int32_t i = first.next; i >= 0 && (everywhere || aside); i = copies_[i].next) {
    if (aside && !run_.keeps(value, copies_[i].memory)) continue;
    copies_[i].counted = true;
    if (Result<void> allocated = allocate_input(copies_[i], empty); !allocated) return allocated;
  }
  if (empty.empty()) return {};
  // In place, if it can be.
  std::vector<std::byte> buffer;
  void* filled = empty[0] == &first ? first.address : nullptr;
  if (filled == nullptr || !pool(first.memory).store().ordinary()) {
    buffer.resize(static_cast<size_t>(bytes));
    filled = buffer.data();
  } else {
    std::memset(filled, 0, static_cast<size_t>(bytes));
  }
  if (run_.options->input) {
    run_.options->input(value, {graph.shape(value), graph.dtype(value), filled});
  }
  for (Copy* copy : empty) {
    if (copy->address == filled) continue;
    Result<void> written = pool(copy->memory).store().write(copy->address, filled, bytes);
    if (!written) return written;
  }
  return {};
}

Result<void> Values::check_input_room() const {
  for (int32_t i = 0; i < run_.machine.memory_count(); ++i) {
    const MemoryId memory{i};
    if (pool(memory).left() >= 0) continue;
    return infeasible(fmt::format(
        "the graph inputs that the ops in memory '{}' read take {} bytes more than its {}; allow "
        "more memory or spread the ops",
        run_.machine.memory(memory).name, -pool(memory).left(),
        bytes_to_text(pool(memory).limit())));
  }
  return {};
}

}  // namespace tutti
