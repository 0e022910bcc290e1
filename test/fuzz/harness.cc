#include "test/fuzz/harness.h"

namespace tutti::fuzz {

std::span<const Harness> harnesses() {
  static constexpr Harness kAll[] = {
      {"graph", fuzz_graph},
      {"doppler", fuzz_doppler},
      {"stg", fuzz_stg},
      {"wfformat", fuzz_wfformat},
      {"dot", fuzz_dot},
      {"hoft", fuzz_hoft},
      {"dnn_partitioning", fuzz_dnn_partitioning},
      {"estee", fuzz_estee},
      {"pipedream", fuzz_pipedream},
      {"hlo", fuzz_hlo},
      {"stablehlo", fuzz_stablehlo},
      {"onnx", fuzz_onnx},
      {"import", fuzz_import},
      {"machine", fuzz_machine},
      {"costs", fuzz_costs},
      {"profile", fuzz_profile},
      {"constraints", fuzz_constraints},
      {"plan", fuzz_plan},
      {"search_state", fuzz_search_state},
      {"trace", fuzz_trace},
      {"comparison", fuzz_comparison},
      {"command_output", fuzz_command_output},
      {"arrivals", fuzz_arrivals},
      {"model", fuzz_model},
      {"training_log", fuzz_training_log},
      {"calibration", fuzz_calibration},
      {"validation", fuzz_validation},
      {"online_validation", fuzz_online_validation},
      {"http_head", fuzz_http_head},
      {"submission", fuzz_submission},
      {"journal", fuzz_journal},
      {"command_journal", fuzz_command_journal},
  };
  return kAll;
}

}  // namespace tutti::fuzz
