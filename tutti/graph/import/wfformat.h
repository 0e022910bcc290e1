// Workflow executions in WfFormat 1.5 (wfcommons.org): tasks with measured run times, files with
// sizes, and the machines they ran on.
//
// A task becomes an op and a file a value; a file that no task makes is a graph input on the host.
// A parent that hands no file to its child hands it a value of 0 bytes, "<parent>:done". Run times
// are given for every kind of device, as measured or scaled by clock speed (ImportOptions). Memory
// used becomes transient bytes. A task's program and arguments become the op's command, with its
// files as the command's; a script in the program's place does not. What was odd but harmless is
// told in warnings, one for each oddity.

#ifndef TUTTI_GRAPH_IMPORT_WFFORMAT_H_
#define TUTTI_GRAPH_IMPORT_WFFORMAT_H_

#include <string_view>

#include "tutti/graph/import/import.h"

namespace tutti {

bool looks_like_wfformat(std::string_view start);

Result<Imported> read_wfformat(Source& source, const ImportOptions& options);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_WFFORMAT_H_
