#include "tutti/graph/import/hlo/opcodes.h"

#include <algorithm>

namespace tutti {
namespace {

constexpr std::string_view kMoves[] = {
    "after-all",
    "all-gather",
    "all-gather-done",
    "all-gather-start",
    "all-to-all",
    "bitcast",
    "bitcast-convert",
    "broadcast",
    "collective-broadcast",
    "collective-permute",
    "collective-permute-done",
    "collective-permute-start",
    "concatenate",
    "constant",
    "convert",
    "copy",
    "copy-done",
    "copy-start",
    "domain",
    "dynamic-reshape",
    "dynamic-slice",
    "dynamic-update-slice",
    "gather",
    "get-dimension-size",
    "get-tuple-element",
    "infeed",
    "iota",
    "opt-barrier",
    "optimization-barrier",
    "outfeed",
    "pad",
    "parameter",
    "partition-id",
    "recv",
    "recv-done",
    "replica-id",
    "reshape",
    "reverse",
    "rng-get-and-update-state",
    "send",
    "send-done",
    "set-dimension-size",
    "slice",
    "transpose",
    "tuple",
};

constexpr std::string_view kElementwise[] = {
    "abs",
    "add",
    "and",
    "atan2",
    "cbrt",
    "ceil",
    "clamp",
    "compare",
    "complex",
    "cosine",
    "count-leading-zeros",
    "divide",
    "erf",
    "exponential",
    "exponential-minus-one",
    "expm1",
    "floor",
    "imag",
    "is-finite",
    "log",
    "log-plus-one",
    "logistic",
    "maximum",
    "minimum",
    "multiply",
    "negate",
    "not",
    "or",
    "popcnt",
    "power",
    "real",
    "reduce-precision",
    "remainder",
    "round-nearest-afz",
    "round-nearest-even",
    "rsqrt",
    "select",
    "shift-left",
    "shift-right-arithmetic",
    "shift-right-logical",
    "sign",
    "sine",
    "sqrt",
    "stochastic-convert",
    "subtract",
    "tan",
    "tanh",
    "xor",
};

constexpr std::string_view kViews[] = {
    "reshape", "bitcast", "bitcast-convert", "after-all", "opt-barrier", "optimization-barrier",
};

constexpr std::string_view kSilent[] = {
    "tuple", "get-tuple-element", "parameter", "constant",     "while",
    "call",  "conditional",       "domain",    "partition-id", "replica-id",
};

template <size_t N>
bool among(const std::string_view (&list)[N], std::string_view opcode) {
  return std::find(list, list + N, opcode) != list + N;
}

}  // namespace

bool hlo_is_elementwise(std::string_view opcode) {
  return among(kElementwise, opcode) || opcode == "convert" || opcode == "copy";
}

bool hlo_moves_only(std::string_view opcode) {
  return among(kMoves, opcode);
}

bool hlo_is_view(std::string_view opcode) {
  return among(kViews, opcode);
}

bool hlo_launches(std::string_view opcode) {
  return !among(kSilent, opcode) && !hlo_is_view(opcode) && !opcode.ends_with("-done");
}

}  // namespace tutti
