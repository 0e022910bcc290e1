// How plan and trace files say which weights are kept: the keys "kept_weights" and
// "stream_buffer_bytes". See docs/formats/plan.md.

#ifndef TUTTI_PLAN_WEIGHTS_FILE_H_
#define TUTTI_PLAN_WEIGHTS_FILE_H_

#include <string>

#include "tutti/base/file/fields.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/plan/problem.h"
#include "tutti/plan/weights.h"

namespace tutti {

// Both keys, into the object that is open. Requires a keeping that is stated.
void write_keeping(const WeightKeeping& keeping, const Problem& problem, JsonWriter& json);

// Not stated if the object has neither key. What is wrong is remembered by `fields`.
WeightKeeping read_keeping(Fields& fields, const std::string& file, const Problem& problem);

}  // namespace tutti

#endif  // TUTTI_PLAN_WEIGHTS_FILE_H_
