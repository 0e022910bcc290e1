#include "tutti/serve/submission.h"

#include <fmt/format.h>

#include "tutti/base/file/document.h"
#include "tutti/base/file/fields.h"
#include "tutti/graph/file.h"

namespace tutti {
namespace {

Error neither() {
  return invalid_input(
      "job: it is neither a graph, which begins with {\"format\": \"tutti-graph\", nor a text such "
      "as {\"make\": \"cholesky --tiles 4\"}");
}

}  // namespace

Result<Graph> read_submission(const std::string& content, const MakeGraph& make, int64_t most_ops) {
  Source source = Source::from_text("job", content);
  if (looks_like_graph_file(source.peek())) return read_graph(source);
  constexpr size_t kMostWords = 4096;
  if (content.size() > kMostWords) return neither();
  const Result<Document> document = read_json(source);
  if (!document) return document.error();
  if (document->kind != Document::Kind::object || document->find("make") == nullptr) {
    return neither();
  }
  Fields fields(*document, "job", "job");
  const std::string words = fields.text("make");
  if (const Result<void> done = fields.done(); !done) return done.error();
  return make(words, most_ops);
}

}  // namespace tutti
