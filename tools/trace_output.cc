#include "tools/trace_output.h"

#include <fmt/format.h>

#include "tutti/base/file/output.h"
#include "tutti/trace/file.h"

namespace tutti {

Result<void> write_trace_to(const std::string& path, const Problem& problem, const Trace& trace) {
  Result<Output> output = Output::open(path);
  if (!output) return output.error();
  write_trace(problem, trace, *output);
  return output->commit();
}

Error with_partial_trace(Error error, const std::string& path, const Problem& problem,
                         const Trace& partial) {
  if (path.empty() || path == "-" || partial.ops.empty()) return error;
  if (!write_trace_to(path, problem, partial)) return error;
  error.message += fmt::format("; what had run until then is in {}", path);
  return error;
}

}  // namespace tutti
