// What every reader promises, as checks that stop the program.

#ifndef TUTTI_TEST_FUZZ_PROMISES_H_
#define TUTTI_TEST_FUZZ_PROMISES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tutti/base/file/source.h"
#include "tutti/base/result.h"
#include "tutti/graph/graph.h"

namespace tutti::fuzz {

// Larger texts are read but not written back, so that a fuzzer stays quick.
inline constexpr size_t kSmallText = 4096;

Source source_of(const uint8_t* data, size_t size);

// One line of UTF-8 that says something.
void expect_sentence(std::string_view sentence);

// A refusal of a text: invalid input, and a sentence.
void expect_refusal(const Error& error);

// A refusal of a problem, whose parts are each well-formed: invalid input or infeasible.
void expect_refusal_of_problem(const Error& error);

// The graph can be written, and is read back with the same name and fingerprints.
void expect_round_trip(const Graph& graph);

}  // namespace tutti::fuzz

#endif  // TUTTI_TEST_FUZZ_PROMISES_H_
