// A harness feeds arbitrary bytes to one reader and holds it to its promises: it returns; if it
// refuses the text, it does so as invalid input with one sentence; what it takes can be written and
// read again, built upon and judged. A harness stops the program (TUTTI_CHECK) when a promise is
// broken, which is what a fuzzer and a sanitizer look for.
//
// libFuzzer runs them (main.cc, scripts/fuzz); test/replay_test.cc replays test/corpus/<name>.

#ifndef TUTTI_TEST_FUZZ_HARNESS_H_
#define TUTTI_TEST_FUZZ_HARNESS_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace tutti::fuzz {

// Each returns true if its reader took the text.
bool fuzz_graph(const uint8_t* data, size_t size);  // our own format
bool fuzz_doppler(const uint8_t* data, size_t size);
bool fuzz_stg(const uint8_t* data, size_t size);
bool fuzz_wfformat(const uint8_t* data, size_t size);
bool fuzz_dot(const uint8_t* data, size_t size);
bool fuzz_hoft(const uint8_t* data, size_t size);
bool fuzz_dnn_partitioning(const uint8_t* data, size_t size);
bool fuzz_estee(const uint8_t* data, size_t size);
bool fuzz_pipedream(const uint8_t* data, size_t size);
bool fuzz_hlo(const uint8_t* data, size_t size);
bool fuzz_stablehlo(const uint8_t* data, size_t size);
bool fuzz_onnx(const uint8_t* data, size_t size);
bool fuzz_import(const uint8_t* data, size_t size);  // any graph, recognised by content
bool fuzz_machine(const uint8_t* data, size_t size);
bool fuzz_costs(const uint8_t* data, size_t size);
bool fuzz_profile(const uint8_t* data, size_t size);
bool fuzz_constraints(const uint8_t* data, size_t size);
bool fuzz_plan(const uint8_t* data, size_t size);  // of the world in world.h
bool fuzz_search_state(const uint8_t* data, size_t size);
bool fuzz_trace(const uint8_t* data, size_t size);  // of the world in world.h
bool fuzz_comparison(const uint8_t* data, size_t size);
bool fuzz_command_output(const uint8_t* data, size_t size);
bool fuzz_training_log(const uint8_t* data, size_t size);
bool fuzz_calibration(const uint8_t* data, size_t size);
bool fuzz_validation(const uint8_t* data, size_t size);
bool fuzz_online_validation(const uint8_t* data, size_t size);
bool fuzz_arrivals(const uint8_t* data, size_t size);
bool fuzz_command_journal(const uint8_t* data, size_t size);
bool fuzz_model(const uint8_t* data, size_t size);
bool fuzz_http_head(const uint8_t* data, size_t size);   // what a server is asked
bool fuzz_submission(const uint8_t* data, size_t size);  // a job that a server is sent
bool fuzz_journal(const uint8_t* data, size_t size);     // of a server

struct Harness {
  const char* name;
  bool (*run)(const uint8_t* data, size_t size);
};

// All of them.
std::span<const Harness> harnesses();

}  // namespace tutti::fuzz

#endif  // TUTTI_TEST_FUZZ_HARNESS_H_
