// A WfFormat 1.5 document as plain data: names are numbers, sections are joined, nothing is built
// yet. For import/wfformat.cc.

#ifndef TUTTI_GRAPH_IMPORT_WF_WORKFLOW_H_
#define TUTTI_GRAPH_IMPORT_WF_WORKFLOW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tutti/base/file/document.h"
#include "tutti/base/result.h"
#include "tutti/graph/import/import.h"
#include "tutti/graph/name_table.h"

namespace tutti {

struct WfTask {
  std::string kind;
  int line = 0;
  std::vector<int32_t> parents;  // tasks; those that name it as their child too
  std::vector<int32_t> inputs;   // files
  std::vector<int32_t> outputs;  // files
  Duration run_time{0};
  bool has_run_time = false;  // the document gives one, which may be zero
  int64_t memory_bytes = 0;
  int host = -1;
  // The program and its arguments; none if the document has a script in its place, or nothing.
  std::vector<std::string> argv{};
};

struct WfWorkflow {
  std::string name;
  NameTable task_ids;
  std::vector<WfTask> tasks;  // numbered like task_ids
  NameTable file_ids;
  std::vector<int64_t> file_bytes;  // numbered like file_ids; -1: the document gives no size
  std::vector<WfHost> hosts;
  std::optional<Duration> makespan;
};

// Fails with file and line on missing sections, ids that stand twice or nowhere, and numbers out of
// range. Keys it does not know are passed over.
Result<WfWorkflow> workflow_from(const Document& document, const std::string& file);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_WF_WORKFLOW_H_
