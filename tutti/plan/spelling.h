// How plan and trace files spell 64-bit numbers, which JSON readers in other languages would round:
// a seed as decimal digits in a text, a fingerprint as sixteen hexadecimal digits in a text.

#ifndef TUTTI_PLAN_SPELLING_H_
#define TUTTI_PLAN_SPELLING_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "tutti/base/fields.h"

namespace tutti {

std::string seed_text(uint64_t seed);

// Both are required keys; a wrong spelling is remembered by `fields` and gives 0.
uint64_t read_seed(Fields& fields, std::string_view key);
uint64_t read_fingerprint(Fields& fields, std::string_view key);

}  // namespace tutti

#endif  // TUTTI_PLAN_SPELLING_H_
