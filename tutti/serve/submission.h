// What a client sends as a job: a graph in our own format (docs/formats/graph.md), or the words of
// `tutti graph make` that make one:
//
//   {"make": "cholesky --tiles 4 --tile-size 64"}
//
// Other formats are converted by the client: a server reads as few as it can.

#ifndef TUTTI_SERVE_SUBMISSION_H_
#define TUTTI_SERVE_SUBMISSION_H_

#include <functional>
#include <string>

#include "tutti/graph/graph.h"

namespace tutti {

// Makes the graph of those words, with at most so many ops. Called by several threads at once.
using MakeGraph = std::function<Result<Graph>(const std::string& words, int64_t most_ops)>;

// The same graph for the same content, every time. Fails (invalid_input) with a sentence.
Result<Graph> read_submission(const std::string& content, const MakeGraph& make, int64_t most_ops);

}  // namespace tutti

#endif  // TUTTI_SERVE_SUBMISSION_H_
