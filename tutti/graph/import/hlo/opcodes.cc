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
    "acos",
    "acosh",
    "add",
    "and",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bessel-i1e",
    "cbrt",
    "ceil",
    "clamp",
    "compare",
    "complex",
    "conj",
    "cosh",
    "cosine",
    "count-leading-zeros",
    "digamma",
    "divide",
    "erf",
    "erf-inv",
    "erfc",
    "expm1",
    "exponential",
    "exponential-minus-one",
    "floor",
    "imag",
    "is-finite",
    "is-inf",
    "is-neg-inf",
    "is-pos-inf",
    "lgamma",
    "log",
    "log-plus-one",
    "logistic",
    "maximum",
    "minimum",
    "multiply",
    "negate",
    "next-after",
    "not",
    "or",
    "polygamma",
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
    "sinh",
    "sqrt",
    "square",
    "stochastic-convert",
    "subtract",
    "tan",
    "tanh",
    "xor",
    "zeta",
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
