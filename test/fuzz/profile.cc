#include "tutti/costs/profile.h"

#include "test/fuzz/harness.h"
#include "test/fuzz/promises.h"
#include "test/fuzz/world.h"
#include "tutti/costs/file.h"

namespace tutti::fuzz {

bool fuzz_profile(const uint8_t* data, size_t size) {
  Source source = source_of(data, size);
  const Result<Profile> profile = read_profile(source, "cpu");
  if (!profile) {
    expect_refusal(profile.error());
    return false;
  }
  TUTTI_CHECK(!profile->ops.empty());
  const Graph& graph = fixed_problem().graph;
  const ProfileMatch match = match_profile(*profile, graph);
  TUTTI_CHECK(match.ops + static_cast<int32_t>(match.without.size()) == graph.size());
  // What a profile says can be written as costs and read again.
  CostSpec spec;
  spec.op_times = profile->ops;
  Source written = Source::from_text("costs.json", costs_to_json(spec));
  const Result<CostSpec> again = read_costs(written);
  TUTTI_CHECK(again && again->op_times.size() == profile->ops.size());
  const Result<Costs> costs = Costs::build(graph, fixed_problem().machine, *again);
  if (!costs) expect_refusal_of_problem(costs.error());
  return true;
}

}  // namespace tutti::fuzz
