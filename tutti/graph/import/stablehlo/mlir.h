// The ops of MLIR text, in the pretty form of the stablehlo, mhlo, chlo and func dialects or in the
// generic form: what reads what, with the text of attributes left as it is.
//
//   %3:2 = stablehlo.while(%i = %c, %x = %arg0) : tensor<i32>, tensor<8xf32> cond {...} do {...}
//   %4 = "stablehlo.dot_general"(%1, %2) <{dot_dimension_numbers = ...}> : (..., ...) -> ...

#ifndef TUTTI_GRAPH_IMPORT_STABLEHLO_MLIR_H_
#define TUTTI_GRAPH_IMPORT_STABLEHLO_MLIR_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/base/result.h"
#include "tutti/graph/import/hlo/module.h"

namespace tutti {

struct MlirOp;

struct MlirArgument {
  std::string_view name{};  // without '%'
  HloType type{};
};

struct MlirRegion {
  std::vector<MlirArgument> arguments{};
  std::vector<MlirOp> ops;  // without {}: clang 14 would need the whole MlirOp here
};

struct MlirOp {
  std::string_view name{};  // with its dialect: "stablehlo.add"
  size_t at = 0;            // where it begins in the text
  // Names without '%', each with the number of results that it stands for.
  std::vector<std::pair<std::string_view, int32_t>> results{};
  std::vector<HloType> types{};              // of all results
  std::vector<std::string_view> operands{};  // without '%': "3" or "3#1"
  std::vector<std::string_view> initial{};   // of a pretty reduce: behind "init:"
  std::vector<std::string_view> bindings{};  // of a pretty while: the names of its arguments
  // Of the text as it stands, dictionaries opened; "[]" for plain brackets.
  std::vector<std::pair<std::string_view, std::string_view>> attributes{};
  std::vector<std::string_view> words{};  // others: "LT", "applies", "stablehlo.add"
  std::string_view symbol{};              // without '@'
  std::string_view literal{};             // dense<...>
  std::vector<MlirRegion> regions{};

  // Empty if it is not there.
  std::string_view attribute(std::string_view key) const;
};

struct MlirFunction {
  std::string_view name{};
  size_t at = 0;
  bool is_private = false;
  bool has_body = false;
  MlirRegion body{};
};

struct MlirModule {
  std::string_view name{};
  std::vector<MlirFunction> functions{};
};

// Without the quotation marks around it, if it has them: a name that is no word, as "<lambda>".
std::string_view unquoted(std::string_view text);

// Where a text cannot be read, and why.
struct MlirFault {
  size_t at = 0;
  std::string message{};
};

// `text` must outlive the module. On failure `fault` says where.
Result<MlirModule> read_mlir(std::string_view text, MlirFault& fault);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_STABLEHLO_MLIR_H_
