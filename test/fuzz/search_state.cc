#include "test/fuzz/harness.h"
#include "test/fuzz/promises.h"
#include "test/fuzz/world.h"
#include "tutti/search/state_file.h"

namespace tutti::fuzz {

// What is taken can be written and read again.
bool fuzz_search_state(const uint8_t* data, size_t size) {
  const Problem& problem = fixed_problem();
  const StateOwner owner = owner_of(problem, {}, 1, {});
  Source source = source_of(data, size);
  const Result<IslandsState> state = read_state(source, problem, owner);
  if (!state) {
    expect_refusal(state.error());
    return false;
  }
  Source written = Source::from_text("written", state_to_json(*state, owner));
  TUTTI_CHECK(read_state(written, problem, owner).has_value());
  return true;
}

}  // namespace tutti::fuzz
