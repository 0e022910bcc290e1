// Plans for ONNX Runtime: the model itself, each node annotated with its device, and the session
// setting that says what the annotations mean. Versions of ONNX Runtime with annotated partitioning
// look at both; others pass over the annotations.
//
// The model is copied field by field as protocol buffers are encoded, so that nothing in it is lost
// that a version of ONNX older than the model would not know. Needs no libonnx.

#ifndef TUTTI_PLAN_EXPORT_ONNX_H_
#define TUTTI_PLAN_EXPORT_ONNX_H_

#include <string>
#include <string_view>

#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"

namespace tutti {

struct AnnotatedModel {
  std::string bytes;
  int64_t annotated = 0;  // nodes
  std::string settings;   // the value of session.layer_assignment_settings
  std::string warning;    // what ONNX Runtime cannot do of the plan; empty: nothing
};

// `model` is what the graph was read from: a node is the op that makes the value of the same name.
// Nodes that became no op (constants) get no annotation. Fails (invalid_input) if the bytes are no
// such model, or hold no node of the graph.
Result<AnnotatedModel> annotate_onnx(std::string_view model, const Plan& plan,
                                     const Problem& problem);

}  // namespace tutti

#endif  // TUTTI_PLAN_EXPORT_ONNX_H_
