#include "tutti/costs/costs.h"

#include "test/fuzz/harness.h"
#include "test/fuzz/promises.h"
#include "test/fuzz/world.h"
#include "tutti/base/file/document.h"
#include "tutti/costs/file.h"

namespace tutti::fuzz {

bool fuzz_costs(const uint8_t* data, size_t size) {
  Source source = source_of(data, size);
  const Result<CostSpec> spec = read_costs(source);
  if (!spec) {
    expect_refusal(spec.error());
    return false;
  }
  const std::string text = costs_to_json(*spec);
  Source written = Source::from_text("written", text);
  const Result<CostSpec> again = read_costs(written);
  TUTTI_CHECK(again.has_value() && costs_to_json(*again) == text);
  if (can_read_toml()) {
    Source toml = Source::from_text("written", costs_to_toml(*spec));
    const Result<CostSpec> third = read_costs(toml);
    TUTTI_CHECK(third.has_value() && costs_to_json(*third) == text);
  }
  const Graph& graph = fixed_problem().graph;
  const Machine& machine = fixed_problem().machine;
  const Result<Costs> costs = Costs::build(graph, machine, *spec);
  if (!costs) {
    expect_refusal_of_problem(costs.error());
    return true;
  }
  for (const OpId op : graph.ops()) {
    TUTTI_CHECK(costs->mean_run_time_ns(op) >= 0);
    for (const DeviceId device : machine.devices()) {
      TUTTI_CHECK(costs->run_time(op, device) >= Duration{0});
    }
  }
  return true;
}

}  // namespace tutti::fuzz
