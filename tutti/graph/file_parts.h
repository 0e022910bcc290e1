// The parts that ops and inputs of a graph file are made of, each read from the Fields of its op or
// input. Mistakes are noted there. For graph/file.cc only.

#ifndef TUTTI_GRAPH_FILE_PARTS_H_
#define TUTTI_GRAPH_FILE_PARTS_H_

#include <optional>
#include <string>
#include <vector>

#include "tutti/base/file/fields.h"
#include "tutti/graph/graph.h"

namespace tutti {

// "name", "bytes", "shape" and "dtype".
ValueSpec value_from(Fields& fields);

Residence residence_from(Fields& fields);

std::vector<GivenTime> run_times_from(Fields& fields);

// One list for each operand, empty where the file says null; no lists if the file gives no times.
std::vector<std::vector<GivenTransfer>> transfers_from(Fields& fields, size_t operand_count);

// "command"; none if the op has none.
std::optional<Command> command_from(Fields& fields, const std::string& file);

}  // namespace tutti

#endif  // TUTTI_GRAPH_FILE_PARTS_H_
