#include "tutti/graph/import/import.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "test/support/shared_data.h"
#include "tutti/graph/file.h"
#include "tutti/graph/make/layered.h"

namespace tutti {
namespace {

Result<Imported> load_text(const std::string& text) {
  Source source = Source::from_text("input", text);
  return load_graph(source);
}

TEST(LoadGraph, RecognisesFormatsByContent) {
  const struct {
    const char* text;
    const char* format;
  } cases[] = {
      {"{\"format\": \"tutti-graph\", \"schema_version\": 1, \"ops\": []}", "tutti-graph"},
      {"{\"name\": \"w\", \"workflow\": {\"specification\": {\"tasks\": []}}}", "wfformat"},
      {"{\"nodes\": [{\"id\": 0, \"kernel\": \"k\", \"cpu_us\": 1, \"gpu_us\": 1}], \"edges\": []}",
       "hoft"},
      {"{\"nodes\": [{\"id\": 3, \"cpuLatency\": 1, \"fpgaLatency\": 1}], \"edges\": []}",
       "dnn_partitioning"},
      {"[{\"d\": 1, \"e_d\": 1, \"outputs\": [], \"inputs\": []}]", "estee"},
      {"node1 -- ReLU -- forward_compute_time=1, backward_compute_time=1, activation_size=1, "
       "parameter_size=0\n",
       "pipedream"},
      {"HloModule m\n\nENTRY e {\n}\n", "hlo"},
      {"// made by hand\nmodule {\n  func.func @main() {\n    return\n  }\n}\n", "stablehlo"},
      {"#loc = loc(unknown)\nfunc.func @main() {\n  return\n}\n", "stablehlo"},
      {"/* made by hand */ digraph { a }", "dot"},
      {"# comment\n 0\n 0 0 0\n 1 0 1 0\n", "stg"},
      {"2\n0,\n\n\n5,6\n", "doppler"},
      {"1\n\n\n\n5,6\n", "doppler"},
  };
  for (const auto& [text, format] : cases) {
    const Result<Imported> imported = load_text(text);
    ASSERT_TRUE(imported) << imported.error().message << "\n" << text;
    EXPECT_EQ(imported->format, format) << text;
    const Result<Imported> marked = load_text("\xef\xbb\xbf" + std::string(text));
    ASSERT_TRUE(marked) << marked.error().message << "\n" << text;
    EXPECT_EQ(marked->format, format) << text;
  }
}

TEST(LoadGraph, ListsTheFormatsForWhatItDoesNotKnow) {
  for (const char* text : {"hello", "{\"devices\": []}", "[]", "graph,machine,policy\na,b,c\n",
                           "\x7f"
                           "ELF",
                           "\xff\xfe\x00"}) {
    const Result<Imported> imported = load_text(text);
    ASSERT_FALSE(imported) << text;
    EXPECT_NE(imported.error().message.find("tutti-graph, wfformat, hoft, dnn_partitioning"),
              std::string::npos)
        << imported.error().message;
  }
  EXPECT_NE(load_text("").error().message.find("is empty"), std::string::npos);
}

TEST(LoadGraph, RefusesAbsentFilesAndFolders) {
  EXPECT_FALSE(load_graph("/no/such/file"));
  EXPECT_FALSE(load_graph(testing::TempDir()));
}

// Every real graph there is, of every format: read, written in ours, and read back the same.
TEST(LoadGraph, KeepsEveryRealGraphOverARoundTrip) {
  const std::string path = testing::TempDir() + "/tutti_import_test.json";
  int graphs = 0;
  for (const char* folder :
       {"doppler", "stg/50", "wfinstances", "dslab_dags/dags", "starpu_rl/graphs",
        "hoft_cholesky/dags_json", "dnn_partitioning/latency-inputs",
        "dnn_partitioning/throughput-inputs", "estee/json", "pipedream_profiles", "xla_hlo"}) {
    TUTTI_NEEDS_SHARED_DATA(folder);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(shared_data(folder))) {
      const std::string ending = entry.path().extension();
      const std::string stem = entry.path().stem();
      if (!entry.is_regular_file() || ending == ".xml" || ending == ".yaml") continue;
      if (stem == "SOURCE" || stem == "LICENSE") continue;
      const Result<Imported> imported = load_graph(entry.path().string());
      ASSERT_TRUE(imported) << imported.error().message;
      Result<Output> output = Output::open(path);
      ASSERT_TRUE(output);
      write_graph(imported->graph, *output);
      ASSERT_TRUE(output->commit());
      const Result<Imported> again = load_graph(path);
      ASSERT_TRUE(again) << entry.path() << ": " << again.error().message;
      EXPECT_EQ(again->graph.fingerprint(), imported->graph.fingerprint()) << entry.path();
      ++graphs;
    }
  }
  std::remove(path.c_str());
  EXPECT_GE(graphs, 100);
}

}  // namespace
}  // namespace tutti
