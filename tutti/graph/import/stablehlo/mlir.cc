#include "tutti/graph/import/stablehlo/mlir.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "tutti/graph/import/stablehlo/cursor.h"
#include "tutti/graph/import/text.h"

namespace tutti {
namespace {

constexpr int kDeepestRegion = 64;
constexpr int32_t kMostResults = 1 << 20;

std::string_view full_name(std::string_view name) {
  if (name == "return") return "func.return";
  if (name == "call") return "func.call";
  if (name == "module") return "builtin.module";
  if (name == "func") return "func.func";
  if (name == "constant") return "arith.constant";
  return name;
}

class MlirReader {
 public:
  explicit MlirReader(std::string_view text) : cursor_(text) {}

  size_t at() const { return cursor_.at(); }

  Result<MlirModule> read() {
    if (const auto read = read_top(0); !read) return read.error();
    return std::move(module_);
  }

 private:
  // Functions and modules, up to the end of the text or the bracket that closes the module.
  Result<void> read_top(int depth) {
    if (depth > kDeepestRegion) return invalid_input("modules are nested deeper than 64");
    for (;;) {
      cursor_.skip();
      if (cursor_.at_end() || cursor_.looking_at("{-#")) {  // the resources behind all ops
        cursor_.go_to_end();
        if (depth > 0) return invalid_input("a module is not closed");
        return {};
      }
      if (depth > 0 && cursor_.take('}')) return {};
      if (cursor_.peek() == '#' || cursor_.peek() == '!') {
        if (const auto passed = pass_alias(); !passed) return passed;
        continue;
      }
      if (const auto read = read_top_op(depth); !read) return read;
    }
  }

  // #loc3 = loc("f.py":1:2)
  Result<void> pass_alias() {
    cursor_.advance(1);
    cursor_.word();
    if (!cursor_.take('=')) return invalid_input("an alias is '#name = value'");
    while (!cursor_.at_end() && cursor_.peek() != '\n') {
      if (const auto passed = pass_one(); !passed) return passed;
    }
    return {};
  }

  // One character, or what a bracket or quotation mark encloses.
  Result<void> pass_one() {
    const char c = cursor_.peek();
    if (c == '"') {
      const auto text = cursor_.quoted();
      return text ? Result<void>() : text.error();
    }
    if (c == '(' || c == '[' || c == '{' || c == '<') {
      const auto text = cursor_.balanced();
      return text ? Result<void>() : text.error();
    }
    cursor_.advance(cursor_.looking_at("->") ? 2 : 1);
    return {};
  }

  Result<void> read_top_op(int depth) {
    const size_t at = cursor_.at();
    const bool generic = cursor_.peek() == '"';
    const std::string_view name = generic ? std::string_view() : full_name(cursor_.word());
    if (name == "builtin.module") {
      cursor_.skip();
      if (cursor_.peek() == '@') {
        const auto symbol = read_symbol();
        if (!symbol) return symbol.error();
        if (module_.name.empty()) module_.name = *symbol;
      }
      if (const auto passed = pass_attributes_clause(); !passed) return passed;
      if (!cursor_.take('{')) return invalid_input("a module needs its ops in '{...}'");
      if (const auto read = read_top(depth + 1); !read) return read;
      return pass_location();
    }
    if (name == "func.func") return read_function(at);
    cursor_.go_to(at);
    Result<MlirOp> op = read_op(0);
    if (!op) return op.error();
    return take_generic(std::move(*op));
  }

  // "builtin.module"() ({...}) and "func.func"() <{sym_name = "main"}> ({...}); all else that
  // stands here declares what graphs do not have.
  Result<void> take_generic(MlirOp op) {
    if (op.name == "builtin.module") {
      if (module_.name.empty()) module_.name = unquoted(op.attribute("sym_name"));
      for (MlirRegion& region : op.regions) {
        for (MlirOp& inner : region.ops) {
          if (const auto taken = take_generic(std::move(inner)); !taken) return taken;
        }
      }
    }
    if (op.name != "func.func") return {};
    if (op.attribute("sym_name").empty() && op.symbol.empty()) {
      return invalid_input("a function needs its name");
    }
    MlirFunction function{.name = unquoted(op.attribute("sym_name")),
                          .at = op.at,
                          .is_private = op.attribute("sym_visibility") == "\"private\""};
    if (!op.symbol.empty()) function.name = op.symbol;
    if (!op.regions.empty() && !op.regions[0].ops.empty()) {
      function.has_body = true;
      function.body = std::move(op.regions[0]);
    }
    module_.functions.push_back(std::move(function));
    return {};
  }

  // "attributes {...}", if it stands here.
  Result<void> pass_attributes_clause() {
    cursor_.skip();
    if (!cursor_.looking_at("attributes")) return {};
    cursor_.word();
    cursor_.skip();
    if (cursor_.peek() != '{') return invalid_input("'attributes' needs a '{'");
    if (const auto passed = cursor_.balanced(); !passed) return passed.error();
    return {};
  }

  Result<std::string_view> read_symbol() {
    cursor_.advance(1);
    return cursor_.peek() == '"' ? cursor_.quoted() : Result<std::string_view>(cursor_.word());
  }

  // public @main(%arg0: tensor<4xf32> {jax.x = 1}) -> (tensor<4xf32> {...}) attributes {...} {...}
  Result<void> read_function(size_t at) {
    MlirFunction function{.at = at};
    cursor_.skip();
    while (!cursor_.at_end() && cursor_.peek() != '@') {
      const std::string_view word = cursor_.word();
      if (word.empty()) return invalid_input("a function needs its name, such as @main");
      function.is_private = function.is_private || word == "private";
      cursor_.skip();
    }
    if (cursor_.at_end()) return invalid_input("a function needs its name, such as @main");
    const auto symbol = read_symbol();
    if (!symbol) return symbol.error();
    function.name = *symbol;
    if (!cursor_.take('(')) return invalid_input("a function needs its arguments in brackets");
    if (const auto read = read_arguments(function.body.arguments); !read) return read;
    cursor_.skip();
    if (cursor_.looking_at("->")) {
      cursor_.advance(2);
      std::vector<HloType> types;
      if (const auto read = read_types(types); !read) return read;
    }
    if (const auto passed = pass_attributes_clause(); !passed) return passed;
    if (cursor_.take('{')) {
      function.has_body = true;
      if (const auto read = read_region(function.body, 0); !read) return read;
    }
    module_.functions.push_back(std::move(function));
    return pass_location();
  }

  // Behind "(": "%a: tensor<f32> {...} loc(...), ...)". A declaration has types alone.
  Result<void> read_arguments(std::vector<MlirArgument>& arguments) {
    while (!cursor_.take(')')) {
      MlirArgument argument;
      if (cursor_.take('%')) {
        argument.name = cursor_.word();
        if (!cursor_.take(':')) return invalid_input("an argument is '%name: type'");
      }
      auto type = cursor_.type();
      if (!type) return type.error();
      argument.type = std::move(*type);
      arguments.push_back(std::move(argument));
      if (const auto passed = pass_attributes(); !passed) return passed;
      if (!cursor_.take(',') && cursor_.peek() != ')') {
        return invalid_input("the arguments are not closed");
      }
    }
    return {};
  }

  // A dictionary and a location behind a type.
  Result<void> pass_attributes() {
    cursor_.skip();
    if (cursor_.peek() == '{') {
      if (const auto passed = cursor_.balanced(); !passed) return passed.error();
    }
    return pass_location();
  }

  Result<void> pass_location() {
    cursor_.skip();
    if (!cursor_.looking_at("loc(")) return {};
    cursor_.advance(3);
    const auto passed = cursor_.balanced();
    return passed ? Result<void>() : passed.error();
  }

  // A type, or several in brackets or behind one another, each perhaps with attributes.
  Result<void> read_types(std::vector<HloType>& types) {
    const bool enclosed = cursor_.take('(');
    if (enclosed && cursor_.take(')')) return {};
    for (;;) {
      auto type = cursor_.type();
      if (!type) return type.error();
      types.push_back(std::move(*type));
      if (enclosed) {
        if (const auto passed = pass_attributes(); !passed) return passed;
      }
      if (cursor_.take(',')) continue;
      if (!enclosed || cursor_.take(')')) return {};
      return invalid_input("the types are not closed");
    }
  }

  // Behind "{", up to the "}" that closes it.
  Result<void> read_region(MlirRegion& region, int depth) {
    if (depth == kDeepestRegion) return invalid_input("ops are nested deeper than 64");
    bool labelled = false;
    for (;;) {
      cursor_.skip();
      if (cursor_.at_end()) return invalid_input("a '{' is not closed");
      if (cursor_.take('}')) return {};
      if (cursor_.take('^')) {
        cursor_.word();
        if (labelled || !region.ops.empty()) {
          return invalid_input("a function of several blocks is not read");
        }
        labelled = true;
        if (cursor_.take('(')) {
          if (const auto read = read_arguments(region.arguments); !read) return read;
        }
        if (!cursor_.take(':')) return invalid_input("a label ends with ':'");
        continue;
      }
      Result<MlirOp> op = read_op(depth);
      if (!op) return op.error();
      region.ops.push_back(std::move(*op));
    }
  }

  // Whether an op begins here, at the start of a line.
  bool begins_op() {
    const size_t begin = cursor_.at();
    bool begins = false;
    if (cursor_.peek() == '%') {
      if (begin < no_results_until_) return false;
      const auto blank = [&] {
        while (cursor_.peek() == ' ' || cursor_.peek() == '\t') cursor_.advance(1);
      };
      do {
        blank();
        if (cursor_.peek() != '%') break;
        cursor_.advance(1);
        cursor_.word();
        if (cursor_.peek() == ':') {
          cursor_.advance(1);
          cursor_.word();
        }
        blank();
        begins = cursor_.peek() == '=';
        if (cursor_.peek() != ',') break;
        cursor_.advance(1);
      } while (true);
      if (!begins) no_results_until_ = cursor_.at();
    } else if (cursor_.peek() == '"') {
      begins = true;
    } else {
      const std::string_view word = cursor_.word();
      while (cursor_.peek() == ' ') cursor_.advance(1);
      begins = cursor_.peek() != '=' &&
               (word == "return" || word == "call" || word.find('.') != std::string_view::npos);
    }
    cursor_.go_to(begin);
    return begins;
  }

  Result<MlirOp> read_op(int depth) {
    MlirOp op{.at = cursor_.at()};
    if (cursor_.peek() == '%') {
      if (const auto read = read_results(op); !read) return read.error();
    }
    cursor_.skip();
    if (cursor_.peek() == '"') {
      const auto name = cursor_.quoted();
      if (!name) return name.error();
      op.name = *name;
    } else {
      op.name = full_name(cursor_.word());
    }
    if (op.name.empty()) return invalid_input("an op is '%result = dialect.op ...'");
    if (const auto read = read_rest(op, depth); !read) return read.error();
    if (const auto fits = fit_types(op); !fits) {
      cursor_.go_to(op.at);  // the text was read up to the next op
      return fits.error();
    }
    return op;
  }

  // %a, %b:2 =
  Result<void> read_results(MlirOp& op) {
    while (cursor_.take('%')) {
      const std::string_view name = cursor_.word();
      int32_t count = 1;
      if (cursor_.peek() == ':') {
        cursor_.advance(1);
        const auto number = read_whole(cursor_.word(), "the number of results", kMostResults);
        if (!number) return number.error();
        count = static_cast<int32_t>(*number);
      }
      op.results.emplace_back(name, count);
      if (!cursor_.take(',')) break;
    }
    if (!cursor_.take('=')) return invalid_input("'=' is missing behind the results of an op");
    return {};
  }

  // What follows the name, in whatever order a dialect prints it.
  Result<void> read_rest(MlirOp& op, int depth) {
    int brackets = 0;  // open '(' of operands
    bool initial = false;
    bool typed = false;                   // the types stand last, but for regions
    std::vector<MlirArgument> arguments;  // of the next region
    for (;;) {
      const bool new_line = cursor_.skip();
      if (cursor_.at_end()) break;
      const char c = cursor_.peek();
      if (brackets == 0 &&
          (c == '}' || c == ')' || c == '^' || ((new_line || typed) && begins_op()))) {
        break;
      }
      Result<void> done;
      if (c == '%') {
        done = read_reference(op, initial);
      } else if (c == '(') {
        cursor_.advance(1);
        cursor_.skip();
        if (begins_argument()) {
          done = read_arguments(arguments);
        } else {
          ++brackets;
        }
      } else if (c == ')') {
        cursor_.advance(1);
        --brackets;
        initial = false;
      } else if (c == '{') {
        done = read_braces(op, arguments, depth);
      } else if (c == '<' && cursor_.peek(1) == '{') {
        cursor_.advance(1);
        done = read_dictionary(op);
        if (done && !cursor_.take('>')) done = invalid_input("'<{...}' is not closed by '>'");
      } else if (c == '<') {
        const auto passed = cursor_.balanced();
        if (!passed) return passed.error();
        op.words.push_back(*passed);
      } else if (c == ':' && brackets == 0) {
        cursor_.advance(1);
        done = read_op_types(op);
        typed = true;
      } else if (c == '[') {
        const auto text = cursor_.balanced();
        if (!text) return text.error();
        op.attributes.emplace_back("[]", *text);
      } else if (c == '@') {
        const auto symbol = read_symbol();
        if (!symbol) return symbol.error();
        op.symbol = *symbol;
      } else if (c == '"') {
        const auto text = cursor_.quoted();
        if (!text) return text.error();
        op.words.push_back(*text);
      } else if (is_mlir_word(c) && !cursor_.looking_at("->")) {
        done = read_word(op, initial);
      } else if (c == ',' || c == '#' || c == '=' || c == '!' || c == ':' || c == '+') {
        cursor_.advance(1);
      } else if (cursor_.looking_at("->")) {
        cursor_.advance(2);
      } else {
        return invalid_input(fmt::format("'{}' is not expected in '{}'",
                                         shown(cursor_.between(at(), at() + 1)), shown(op.name)));
      }
      if (!done) return done;
    }
    if (brackets > 0) return invalid_input("the operands are not closed");
    return {};
  }

  // "%arg: type", as the arguments of a region; "%x init: ..." and "%x = ..." are operands.
  bool begins_argument() {
    const size_t begin = at();
    bool argument = false;
    if (cursor_.peek() == '%') {
      cursor_.advance(1);
      cursor_.word();
      while (cursor_.peek() == ' ') cursor_.advance(1);
      argument = cursor_.peek() == ':';
    }
    cursor_.go_to(begin);
    return argument;
  }

  Result<void> read_reference(MlirOp& op, bool initial) {
    cursor_.advance(1);
    const size_t begin = at();
    cursor_.word();
    if (cursor_.peek() == '#') {
      cursor_.advance(1);
      cursor_.word();
    }
    const std::string_view name = cursor_.between(begin, at());
    if (name.empty()) return invalid_input("a name is missing behind '%'");
    while (cursor_.peek() == ' ') cursor_.advance(1);
    if (cursor_.peek() == '=') {
      cursor_.advance(1);
      op.bindings.push_back(name);
    } else if (initial) {
      op.initial.push_back(name);
    } else {
      op.operands.push_back(name);
    }
    return {};
  }

  // "LT", "init:", "dims = [1, 0]", "dense<...>", "loc(...)"
  Result<void> read_word(MlirOp& op, bool& initial) {
    const std::string_view word = cursor_.word();
    if (word == "loc" && cursor_.peek() == '(') {
      const auto passed = cursor_.balanced();
      return passed ? Result<void>() : passed.error();
    }
    if (cursor_.peek() == '<') {
      const size_t begin = at();
      const auto text = cursor_.balanced();
      if (!text) return text.error();
      op.literal = cursor_.between(begin - word.size(), at());
      return {};
    }
    if (word == "init" && cursor_.peek() == ':') {
      cursor_.advance(1);
      initial = true;
      return {};
    }
    while (cursor_.peek() == ' ') cursor_.advance(1);
    if (cursor_.peek() != '=') {
      op.words.push_back(word);
      return {};
    }
    cursor_.advance(1);
    const auto value = read_value(/*in_dictionary=*/false);
    if (!value) return value.error();
    op.attributes.emplace_back(word, *value);
    return {};
  }

  // Up to ',' or what ends the attribute.
  Result<std::string_view> read_value(bool in_dictionary) {
    cursor_.skip();
    const size_t begin = at();
    size_t end = begin;
    while (!cursor_.at_end()) {
      const char c = cursor_.peek();
      if (c == ',' || c == '}' || c == ')') break;
      if (!in_dictionary) {
        if (c == ':' || (c == '{' && end > begin) || (c == '(' && cursor_.peek(1) == '%')) break;
        if (cursor_.looking_at("loc(")) break;
      }
      if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || cursor_.looking_at("//")) {
        const bool new_line = cursor_.skip();
        if (new_line && !in_dictionary && begins_op()) break;
        continue;
      }
      if (const auto passed = pass_one(); !passed) return passed.error();
      end = at();
    }
    return cursor_.between(begin, end);
  }

  // At "{": key = value, key, ...}
  Result<void> read_dictionary(MlirOp& op) {
    cursor_.advance(1);
    while (!cursor_.take('}')) {
      cursor_.skip();
      std::string_view key;
      if (cursor_.peek() == '"') {
        const auto text = cursor_.quoted();
        if (!text) return text.error();
        key = *text;
      } else {
        key = cursor_.word();
      }
      if (key.empty()) return invalid_input("an attribute is 'key = value'");
      std::string_view value;
      if (cursor_.take('=')) {
        const auto read = read_value(/*in_dictionary=*/true);
        if (!read) return read.error();
        value = *read;
      }
      op.attributes.emplace_back(key, value);
      if (cursor_.take(',')) continue;
      if (cursor_.peek() != '}') return invalid_input("the attributes are not closed");
    }
    return {};
  }

  // At "{": a region if it begins with an op or a label, else a dictionary.
  Result<void> read_braces(MlirOp& op, std::vector<MlirArgument>& arguments, int depth) {
    const size_t begin = at();
    cursor_.advance(1);
    cursor_.skip();
    bool region = cursor_.peek() == '%' || cursor_.peek() == '^';
    if (cursor_.peek() == '"') {
      const auto text = cursor_.quoted();
      if (!text) return text.error();
      cursor_.skip();
      region = cursor_.peek() == '(';
    } else if (!region) {
      const std::string_view word = cursor_.word();
      cursor_.skip();
      const char next = cursor_.peek();
      region = word == "return" || word.ends_with(".return") ||
               (!word.empty() && next != '=' && next != '}' && next != ',');
    }
    cursor_.go_to(begin);
    if (!region) return read_dictionary(op);
    cursor_.advance(1);
    MlirRegion inner;
    inner.arguments = std::move(arguments);
    arguments.clear();
    if (const auto read = read_region(inner, depth + 1); !read) return read;
    op.regions.push_back(std::move(inner));
    return {};
  }

  // Behind ":": "t", "t, t", or "(t, t) -> t".
  Result<void> read_op_types(MlirOp& op) {
    op.types.clear();
    if (const auto read = read_types(op.types); !read) return read;
    cursor_.skip();
    if (!cursor_.looking_at("->")) return {};
    cursor_.advance(2);
    op.types.clear();
    return read_types(op.types);
  }

  // One type for each result. Where an op has one type for all operands and results, or, as a
  // select, that of its condition too, the last is that of the result.
  static Result<void> fit_types(MlirOp& op) {
    size_t wanted = 0;
    for (const auto& [name, count] : op.results) wanted += static_cast<size_t>(count);
    if (op.results.empty()) return {};
    if (op.types.empty() && wanted > 0) {
      return invalid_input(
          fmt::format("the op '{}' does not state the type of its result", shown(op.name)));
    }
    if (wanted == 1 && op.types.size() > 1) op.types.erase(op.types.begin(), op.types.end() - 1);
    constexpr size_t kMostOfOneType = 64;
    if (wanted > 1 && wanted <= kMostOfOneType && op.types.size() == 1) {
      op.types.resize(wanted, op.types[0]);
    }
    if (op.types.size() == wanted) return {};
    return invalid_input(fmt::format("the op '{}' has {} results and {} type{}", shown(op.name),
                                     wanted, op.types.size(), op.types.size() == 1 ? "" : "s"));
  }

  MlirCursor cursor_;
  MlirModule module_;
  size_t no_results_until_ = 0;  // names before that are no results: none has a '=' behind it
};

}  // namespace

std::string_view unquoted(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    return text.substr(1, text.size() - 2);
  }
  return text;
}

std::string_view MlirOp::attribute(std::string_view key) const {
  for (const auto& [known, value] : attributes) {
    if (known == key) return value;
  }
  return {};
}

Result<MlirModule> read_mlir(std::string_view text, MlirFault& fault) {
  MlirReader reader(text);
  Result<MlirModule> module = reader.read();
  if (!module)
    fault = {.at = std::min(reader.at(), text.size()), .message = module.error().message};
  return module;
}

}  // namespace tutti
