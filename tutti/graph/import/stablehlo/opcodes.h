// What ops of the stablehlo, mhlo and chlo dialects are called in HLO, and their attributes in
// HLO's spelling.

#ifndef TUTTI_GRAPH_IMPORT_STABLEHLO_OPCODES_H_
#define TUTTI_GRAPH_IMPORT_STABLEHLO_OPCODES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/graph/import/hlo/module.h"
#include "tutti/graph/import/stablehlo/mlir.h"

namespace tutti {

// Empty for dialects that are not known.
std::string stablehlo_opcode(std::string_view name);

// The attributes that decide flops and fusion. `operands`: the types of what it reads.
std::vector<std::pair<std::string, std::string>> stablehlo_attributes(
    const MlirOp& op, std::string_view opcode, const std::vector<const HloType*>& operands);

// The whole numbers in "[0, 1]", "array<i64: 0, 1>" or "dense<[0, 1]> : tensor<2xi64>".
std::vector<int64_t> mlir_numbers(std::string_view text);

// "{0,1}"
std::string hlo_list(const std::vector<int64_t>& numbers);

// What a constant holds, in HLO's spelling: "0" for all zeros of one value, the number if all
// elements are one, else the text as it stands.
struct MlirLiteral {
  bool splat = false;
  std::string text{};        // of a splat
  std::string_view whole{};  // of others
};
MlirLiteral read_mlir_literal(std::string_view literal);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_STABLEHLO_OPCODES_H_
