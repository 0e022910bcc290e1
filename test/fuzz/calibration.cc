#include "test/fuzz/harness.h"
#include "test/fuzz/promises.h"
#include "test/fuzz/world.h"
#include "tutti/calibrate/state_file.h"
#include "tutti/costs/file.h"

namespace tutti::fuzz {

// What is taken can be written and read again, and turns into costs that can be read.
bool fuzz_calibration(const uint8_t* data, size_t size) {
  Source source = source_of(data, size);
  const Result<CalibrationState> state = read_calibration(source);
  if (!state) {
    expect_refusal(state.error());
    return false;
  }
  const std::string text = calibration_to_json(*state);
  Source written = Source::from_text("written", text);
  const Result<CalibrationState> again = read_calibration(written);
  TUTTI_CHECK(again.has_value());
  TUTTI_CHECK(calibration_to_json(*again) == text);
  const Machine& machine = fixed_problem().machine;
  Source costs = Source::from_text("costs", costs_to_json(state->knowledge.costs(machine)));
  const Result<CostSpec> spec = read_costs(costs);
  TUTTI_CHECK(spec.has_value());
  TUTTI_CHECK(Machine::build(state->knowledge.machine(machine)).has_value());
  return true;
}

}  // namespace tutti::fuzz
