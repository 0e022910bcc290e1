// The harnesses of everything that gives a graph.

#include "test/fuzz/harness.h"
#include "test/fuzz/promises.h"
#include "tutti/graph/file.h"
#include "tutti/graph/import/dnn_partitioning.h"
#include "tutti/graph/import/doppler.h"
#include "tutti/graph/import/dot.h"
#include "tutti/graph/import/estee.h"
#include "tutti/graph/import/hlo/hlo.h"
#include "tutti/graph/import/hoft.h"
#include "tutti/graph/import/import.h"
#include "tutti/graph/import/onnx/onnx.h"
#include "tutti/graph/import/pipedream.h"
#include "tutti/graph/import/stablehlo/stablehlo.h"
#include "tutti/graph/import/stg.h"
#include "tutti/graph/import/wfformat.h"

namespace tutti::fuzz {
namespace {

using ReadImported = Result<Imported> (*)(Source& source, const ImportOptions& options);

bool take(const Result<Imported>& imported, size_t size) {
  if (!imported) {
    expect_refusal(imported.error());
    return false;
  }
  for (const std::string& warning : imported->warnings) expect_sentence(warning);
  if (!imported->host_of_op.empty()) {
    TUTTI_CHECK(imported->host_of_op.size() == static_cast<size_t>(imported->graph.size()));
  }
  if (size <= kSmallText) expect_round_trip(imported->graph);
  return true;
}

bool try_importer(ReadImported read, const uint8_t* data, size_t size) {
  Source scaled = source_of(data, size);
  static_cast<void>(take(read(scaled, {.scale_by_machine_speed = true, .fuse = false}), size));
  Source source = source_of(data, size);
  return take(read(source, {}), size);
}

}  // namespace

bool fuzz_graph(const uint8_t* data, size_t size) {
  Source source = source_of(data, size);
  const Result<Graph> graph = read_graph(source);
  if (!graph) {
    expect_refusal(graph.error());
    return false;
  }
  if (size <= kSmallText) expect_round_trip(*graph);
  return true;
}

bool fuzz_doppler(const uint8_t* data, size_t size) {
  return try_importer(read_doppler, data, size);
}

bool fuzz_stg(const uint8_t* data, size_t size) {
  return try_importer(read_stg, data, size);
}

bool fuzz_wfformat(const uint8_t* data, size_t size) {
  return try_importer(read_wfformat, data, size);
}

bool fuzz_dot(const uint8_t* data, size_t size) {
  return try_importer(read_dot, data, size);
}

bool fuzz_hoft(const uint8_t* data, size_t size) {
  return try_importer(read_hoft, data, size);
}

bool fuzz_dnn_partitioning(const uint8_t* data, size_t size) {
  return try_importer(read_dnn_partitioning, data, size);
}

bool fuzz_estee(const uint8_t* data, size_t size) {
  return try_importer(read_estee, data, size);
}

bool fuzz_pipedream(const uint8_t* data, size_t size) {
  return try_importer(read_pipedream, data, size);
}

bool fuzz_hlo(const uint8_t* data, size_t size) {
  return try_importer(read_hlo, data, size);
}

bool fuzz_stablehlo(const uint8_t* data, size_t size) {
  return try_importer(read_stablehlo, data, size);
}

bool fuzz_onnx(const uint8_t* data, size_t size) {
  Source sized = source_of(data, size);
  static_cast<void>(take(read_onnx(sized, {.dims = {{"seq", 16}}}), size));
  return try_importer(read_onnx, data, size);
}

bool fuzz_import(const uint8_t* data, size_t size) {
  Source source = source_of(data, size);
  return take(load_graph(source), size);
}

}  // namespace tutti::fuzz
