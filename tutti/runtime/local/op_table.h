// What code runs an op: a function for each pair of op kind and device kind. The table of a program
// starts with tutti's own kernels; one call adds a user's own.

#ifndef TUTTI_RUNTIME_LOCAL_OP_TABLE_H_
#define TUTTI_RUNTIME_LOCAL_OP_TABLE_H_

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/graph/graph.h"
#include "tutti/graph/kind/kind.h"
#include "tutti/kernels/block.h"

namespace tutti {

// One op, or one part of it, at the moment it runs.
struct OpCall {
  std::string_view op;        // its name
  std::string_view device{};  // on which it runs, by name
  const Attributes& attributes;
  std::span<const ConstBlock> operands;
  std::span<const Block> outputs;
  Part part{};  // on a CPU: the share of this thread
  // On a GPU: the CudaLane (tutti/kernels/cuda/lane.h) on whose stream it must launch its work and
  // need not wait for it. Null on a CPU.
  void* lane = nullptr;
};

// Called by several threads at once, for different ops or parts. An error ends the run.
using OpCode = std::function<Result<void>(const OpCall& call)>;

class OpTable {
 public:
  enum class Split : uint8_t { parts, none };
  struct Entry {
    OpCode code;
    Split split = Split::none;  // whether it may be called in parts, by several threads
    // Of numbers, that it computes with; empty: any. Whole numbers and values that state no dtype
    // are its own to check.
    std::vector<DType> dtypes{};
  };

  // Every kind of tutti/kernels, on "cpu", and on "gpu" where this program has CUDA kernels.
  static OpTable standard();

  // Replaces what was there for that pair. An op with values of other dtypes is refused before a
  // run begins.
  void add(std::string kind, std::string device_kind, OpCode code, Split split = Split::none,
           std::vector<DType> dtypes = {});

  // The code for a kind of op on a kind of device; null if there is none. A device of kind
  // "gpu-64" is served by code for "gpu" where there is none for "gpu-64".
  const Entry* find(std::string_view kind, std::string_view device_kind) const;

 private:
  std::map<std::pair<std::string, std::string>, Entry, std::less<>> entries_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_OP_TABLE_H_
