#include "tutti/graph/import/dot.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tutti/graph/builder.h"
#include "tutti/graph/import/dot_tokens.h"
#include "tutti/graph/import/incoming.h"
#include "tutti/graph/import/text.h"
#include "tutti/graph/limits.h"
#include "tutti/graph/name_table.h"

namespace tutti {
namespace {

struct DotNode {
  double flops = 0;
  int32_t kind = 0;  // in the table of kinds
};

// What a DOT file says, before it is a graph.
struct Sketch {
  NameTable names;  // of nodes
  NameTable kinds;
  std::vector<DotNode> nodes;
  // By edge.
  std::vector<int32_t> from;
  std::vector<int32_t> to;
  std::vector<int64_t> bytes;
};

class DotReader {
 public:
  explicit DotReader(Source& source) : file_(source.name()), tokens_(source) {
    sketch_.kinds.add("op");
  }

  // digraph [name] { statements }
  Result<Sketch> read() {
    advance();
    if (token_.is_keyword("strict")) advance();
    if (token_.is_keyword("graph")) return refuse("an undirected graph has no order; use digraph");
    if (!token_.is_keyword("digraph")) return refuse("expected digraph");
    advance();
    if (token_.kind == DotToken::Kind::word) advance();  // makers give all graphs the same name
    if (!token_.is_mark('{')) return refuse("expected '{'");
    advance();
    while (!error_ && !token_.is_mark('}')) {
      if (token_.kind == DotToken::Kind::end) return refuse("the graph has no closing '}'");
      read_statement();
    }
    advance();
    if (!error_ && token_.kind != DotToken::Kind::end) {
      return refuse("the file goes on behind the graph; give each graph its own file");
    }
    if (error_) return *error_;
    return std::move(sketch_);
  }

 private:
  using Attributes = std::vector<std::pair<std::string, DotToken>>;

  void advance() {
    if (error_) return;
    Result<DotToken> next = tokens_.next();
    if (next) {
      token_ = std::move(*next);
    } else {
      error_ = next.error();
      token_ = {};
    }
  }

  std::string take_text() {
    std::string text = std::move(token_.text);
    advance();
    return text;
  }

  // Notes the first error and hands it back; what is read afterwards is not used.
  Error refuse(const std::string& sentence) { return refuse_at(token_.line, sentence); }
  Error refuse_at(int line, const std::string& sentence) {
    if (!error_) error_ = error_at(file_, line, sentence);
    return *error_;
  }

  void read_statement() {
    if (token_.is_mark(';')) return advance();
    if (token_.is_keyword("subgraph") || token_.is_mark('{')) {
      refuse("subgraphs are not read; list the nodes and edges of the graph itself");
      return;
    }
    if (token_.is_keyword("graph") || token_.is_keyword("node") || token_.is_keyword("edge")) {
      advance();
      read_attributes();
      return;
    }
    if (token_.kind != DotToken::Kind::word) {
      refuse(fmt::format("expected a node, not '{}'", shown(token_.text)));
      return;
    }
    read_nodes();
  }

  // a [...]   or   a -> b -> c [...]   or   name = text
  void read_nodes() {
    const int line = token_.line;
    const std::string first = take_text();
    if (token_.is_mark('=')) {
      advance();
      if (token_.kind != DotToken::Kind::word) refuse("expected a text behind '='");
      return advance();
    }
    std::vector<int32_t> chain = {node_of(first)};
    skip_port();
    while (!error_ && token_.kind == DotToken::Kind::arrow) {
      advance();
      if (token_.kind != DotToken::Kind::word) {
        refuse("expected a node behind '->'");
        return;
      }
      chain.push_back(node_of(take_text()));
      skip_port();
    }
    if (token_.kind == DotToken::Kind::dashes) {
      refuse("'--' has no direction; use '->'");
      return;
    }
    const Attributes attributes = read_attributes();
    if (error_) return;
    if (chain.size() == 1) {
      describe_node(chain[0], attributes);
    } else {
      add_edges(chain, attributes);
    }
    if (sketch_.from.size() > static_cast<size_t>(INT32_MAX)) refuse_at(line, "too many edges");
  }

  void skip_port() {
    while (!error_ && token_.is_mark(':')) {
      advance();
      if (token_.kind != DotToken::Kind::word) refuse("expected a port behind ':'");
      advance();
    }
  }

  // Any number of [key=text, key=text; ...].
  Attributes read_attributes() {
    Attributes attributes;
    while (!error_ && token_.is_mark('[')) {
      advance();
      while (!error_ && !token_.is_mark(']')) {
        if (token_.is_mark(',') || token_.is_mark(';')) {
          advance();
          continue;
        }
        if (token_.kind != DotToken::Kind::word) {
          refuse("expected an attribute or ']'");
          break;
        }
        std::string key = take_text();
        if (!token_.is_mark('=')) {
          refuse(fmt::format("expected '=' behind attribute '{}'", shown(key)));
          break;
        }
        advance();
        if (token_.kind != DotToken::Kind::word) refuse("expected a text behind '='");
        attributes.emplace_back(std::move(key), token_);
        advance();
      }
      advance();
    }
    return attributes;
  }

  int32_t node_of(const std::string& name) {
    if (name.empty()) refuse("a node has an empty name; name it");
    const int32_t node = sketch_.names.add(name);
    if (static_cast<size_t>(node) == sketch_.nodes.size()) sketch_.nodes.emplace_back();
    return node;
  }

  void describe_node(int32_t node, const Attributes& attributes) {
    for (const auto& [key, token] : attributes) {
      if (key == "size")
        sketch_.nodes[node].flops = number(token, "the size of a node", kMostFlops);
      if (key == "kernel") sketch_.nodes[node].kind = sketch_.kinds.add(token.text);
    }
  }

  void add_edges(const std::vector<int32_t>& chain, const Attributes& attributes) {
    double bytes = 0;
    for (const auto& [key, token] : attributes) {
      if (key == "size") {
        bytes = number(token, "the size of an edge", static_cast<double>(kMostBytes));
      }
    }
    for (size_t i = 0; i + 1 < chain.size(); ++i) {
      sketch_.from.push_back(chain[i]);
      sketch_.to.push_back(chain[i + 1]);
      sketch_.bytes.push_back(bytes < 1 ? 0 : std::llround(bytes));
    }
  }

  double number(const DotToken& token, const char* what, double most) {
    const Result<double> real = read_real(token.text, what, most);
    if (!real) refuse_at(token.line, real.error().message);
    return real ? *real : 0;
  }

  std::string file_;
  DotTokens tokens_;
  DotToken token_;
  std::optional<Error> error_;
  Sketch sketch_;
};

// The outputs of "a" are called "a:0", "a:1", ... unless a node has that name: a file of ours has
// each name once.
void name_outputs(const NameTable& names, int32_t op, std::vector<ValueSpec>& outputs) {
  for (size_t i = 0; outputs.size() > 1 && i < outputs.size(); ++i) {
    std::string name = fmt::format("{}:{}", names.name(op), i);
    if (!names.find(name)) continue;
    while (names.find(name)) name += '+';
    outputs[i].name = name;
  }
}

Result<Graph> build(const Sketch& sketch, const std::string& name) {
  const auto ops = static_cast<int32_t>(sketch.nodes.size());
  // One value for each size that leaves an op; one of no bytes where nothing leaves.
  std::vector<std::vector<ValueSpec>> outputs(static_cast<size_t>(ops));
  std::map<std::pair<int32_t, int64_t>, int32_t> output_of;
  for (size_t edge = 0; edge < sketch.from.size(); ++edge) {
    std::vector<ValueSpec>& made = outputs[sketch.from[edge]];
    const auto [entry, added] = output_of.try_emplace(
        std::pair(sketch.from[edge], sketch.bytes[edge]), static_cast<int32_t>(made.size()));
    if (added) made.push_back({.bytes = sketch.bytes[edge]});
  }
  // Values are numbered op by op, so that an op can read one that is yet to be added.
  std::vector<int32_t> first_value(static_cast<size_t>(ops) + 1, 0);
  for (int32_t op = 0; op < ops; ++op) {
    if (outputs[op].empty()) outputs[op].emplace_back();
    name_outputs(sketch.names, op, outputs[op]);
    first_value[op + 1] = first_value[op] + static_cast<int32_t>(outputs[op].size());
  }
  GraphBuilder builder(name);
  const Incoming incoming(sketch.to, ops);
  std::vector<ValueId> operands;
  for (int32_t op = 0; op < ops && !builder.too_large(); ++op) {
    operands.clear();
    for (const size_t edge : incoming.of(op)) {
      const int32_t from = sketch.from[edge];
      operands.push_back(
          ValueId{first_value[from] + output_of.at(std::pair(from, sketch.bytes[edge]))});
    }
    builder.add_op({.name = sketch.names.name(op),
                    .kind = sketch.kinds.name(sketch.nodes[op].kind),
                    .operands = operands,
                    .outputs = outputs[op],
                    .flops = sketch.nodes[op].flops});
  }
  return std::move(builder).build();
}

}  // namespace

bool looks_like_dot(std::string_view start) {
  Source source = Source::from_text("", std::string(start));
  DotTokens tokens(source);
  const Result<DotToken> first = tokens.next();
  if (!first) return false;
  if (first->is_keyword("strict")) return true;
  if (!first->is_keyword("digraph") && !first->is_keyword("graph")) return false;
  const Result<DotToken> second = tokens.next();  // not the comma of a table's header
  return second && (second->kind == DotToken::Kind::word || second->is_mark('{'));
}

Result<Imported> read_dot(Source& source, const ImportOptions& /*options*/) {
  const Result<Sketch> sketch = DotReader(source).read();
  if (!sketch) return sketch.error();
  return imported_from(build(*sketch, graph_name_of(source)), source);
}

}  // namespace tutti
