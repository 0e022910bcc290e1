// The names that an op can read, in one function or region of it.

#ifndef TUTTI_GRAPH_IMPORT_STABLEHLO_SCOPE_H_
#define TUTTI_GRAPH_IMPORT_STABLEHLO_SCOPE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tutti/graph/import/hlo/module_builder.h"
#include "tutti/graph/import/stablehlo/mlir.h"

namespace tutti {

// What a name of the text stands for: an instruction, or some of the elements of one.
struct MlirValue {
  std::string instruction{};
  const MlirOp* maker = nullptr;   // none for arguments
  const HloType* types = nullptr;  // of each result that the name stands for
  int32_t first = 0;               // which of the instruction's results is the first of them
  int32_t count = 1;
  bool element = false;  // the instruction is a tuple of its results
};

struct MlirScope {
  const MlirScope* parent = nullptr;  // of a region: what is around it
  HloModuleBuilder::Open open{};
  std::unordered_map<std::string_view, MlirValue> values{};
  // What was found around the region, or picked from a tuple: by name and number of the result.
  std::unordered_map<std::string, MlirValue> elements{};
  // Names of the scope around, in the order in which the region first reads them.
  std::vector<std::string_view> captures{};
  int32_t parameters = 0;
  std::unordered_map<std::string, int32_t> repeated{};  // how often a name was wanted again
};

// "3#1" as ("3", 1). A number that cannot be one is -1.
std::pair<std::string_view, int32_t> split_reference(std::string_view reference);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_STABLEHLO_SCOPE_H_
