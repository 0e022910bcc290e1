#include "test/fuzz/promises.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "tutti/base/file/document.h"
#include "tutti/base/file/output.h"
#include "tutti/graph/file.h"

namespace tutti::fuzz {

Source source_of(const uint8_t* data, size_t size) {
  return Source::from_text("input", std::string(reinterpret_cast<const char*>(data), size));
}

void expect_sentence(std::string_view sentence) {
  TUTTI_CHECK(!sentence.empty());
  TUTTI_CHECK(sentence.find_first_of("\n\r") == std::string_view::npos);
  TUTTI_CHECK(sentence.find('\0') == std::string_view::npos);
  TUTTI_CHECK(is_utf8(sentence));
}

void expect_refusal(const Error& error) {
  TUTTI_CHECK(error.kind == Error::Kind::invalid_input);
  TUTTI_CHECK(error.message.starts_with("input:"));
  expect_sentence(error.message);
}

void expect_refusal_of_problem(const Error& error) {
  TUTTI_CHECK(error.kind == Error::Kind::invalid_input || error.kind == Error::Kind::infeasible);
  expect_sentence(error.message);
}

void expect_round_trip(const Graph& graph) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("tutti_fuzz." + std::to_string(::getpid()));
  Result<Output> output = Output::open(path);
  TUTTI_CHECK(output.has_value());
  write_graph(graph, *output);
  TUTTI_CHECK(output->commit().has_value());
  Result<Source> source = Source::open(path);
  TUTTI_CHECK(source.has_value());
  const Result<Graph> again = read_graph(*source);
  std::remove(path.c_str());
  if (!again) std::fprintf(stderr, "written graph refused: %s\n", again.error().message.c_str());
  TUTTI_CHECK(again.has_value());
  TUTTI_CHECK(again->name() == graph.name());
  TUTTI_CHECK(again->fingerprint() == graph.fingerprint());
  TUTTI_CHECK(again->commands_fingerprint() == graph.commands_fingerprint());
}

}  // namespace tutti::fuzz
