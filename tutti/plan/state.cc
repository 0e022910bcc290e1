#include "tutti/plan/state.h"

#include <algorithm>

namespace tutti {

Duration State::arrival(OpId op, DeviceId device) const {
  const Problem& p = problem();
  Duration latest = now();
  for (const EdgeId edge : p.graph.edges(op)) {
    const OpId producer = p.graph.edge_from(edge);
    if (producer.valid()) {
      latest = std::max(
          latest, finish(producer) + p.costs.transfer_time(edge, placement(producer), device));
      continue;
    }
    const ValueId value = p.graph.edge_value(edge);
    const MemoryId home = p.home(value);
    if (home.valid()) {
      latest = std::max(latest, p.costs.transfer_time(value, home, p.machine.memory_of(device)));
    }
  }
  return latest;
}

}  // namespace tutti
