#include "tutti/graph/import/import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <utility>

#include "tutti/graph/file.h"
#include "tutti/graph/import/dnn_partitioning.h"
#include "tutti/graph/import/doppler.h"
#include "tutti/graph/import/dot.h"
#include "tutti/graph/import/estee.h"
#include "tutti/graph/import/hlo/hlo.h"
#include "tutti/graph/import/hoft.h"
#include "tutti/graph/import/onnx/onnx.h"
#include "tutti/graph/import/pipedream.h"
#include "tutti/graph/import/stablehlo/stablehlo.h"
#include "tutti/graph/import/stg.h"
#include "tutti/graph/import/wfformat.h"

namespace tutti {
namespace {

Result<Imported> read_own(Source& source, const ImportOptions& /*options*/) {
  Result<Graph> graph = read_graph(source);
  if (!graph) return graph.error();
  return Imported{.graph = std::move(*graph)};
}

struct Format {
  const char* name;
  bool (*recognise)(std::string_view start);
  Result<Imported> (*read)(Source& source, const ImportOptions& options);
};

// No text is recognised by two of them.
constexpr Format kFormats[] = {
    {"tutti-graph", looks_like_graph_file, read_own},
    {"wfformat", looks_like_wfformat, read_wfformat},
    {"hoft", looks_like_hoft, read_hoft},
    {"dnn_partitioning", looks_like_dnn_partitioning, read_dnn_partitioning},
    {"estee", looks_like_estee, read_estee},
    {"pipedream", looks_like_pipedream, read_pipedream},
    {"hlo", looks_like_hlo, read_hlo},
    {"stablehlo", looks_like_stablehlo, read_stablehlo},
    {"onnx", looks_like_onnx, read_onnx},
    {"dot", looks_like_dot, read_dot},
    {"stg", looks_like_stg, read_stg},
    {"doppler", looks_like_doppler, read_doppler},
};

}  // namespace

std::vector<std::string> graph_formats() {
  std::vector<std::string> names;
  for (const Format& format : kFormats) names.emplace_back(format.name);
  return names;
}

Result<Imported> load_graph(Source& source, const ImportOptions& options) {
  source.skip_byte_order_mark();
  const std::string_view start = source.peek();
  if (source.broken()) return failed(source.name() + ": reading failed");
  if (start.empty()) return invalid_input(source.name() + ": is empty; a graph was expected");
  for (const Format& format : kFormats) {
    if (!format.recognise(start)) continue;
    Result<Imported> imported = format.read(source, options);
    if (imported) imported->format = format.name;
    return imported;
  }
  return error_at(source.name(), 1,
                  fmt::format("not a graph that tutti knows; it reads {}, each recognised by how "
                              "the text begins",
                              fmt::join(graph_formats(), ", ")));
}

Result<Imported> load_graph(const std::string& path, const ImportOptions& options) {
  Result<Source> source = Source::open(path);
  if (!source) return source.error();
  return load_graph(*source, options);
}

}  // namespace tutti
