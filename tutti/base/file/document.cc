#include "tutti/base/file/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>
#include <utility>

namespace tutti {
namespace {

// Where the parser is: the source, and the line of the last byte it took. The parser may look one
// byte ahead (after a number, it must), so the source's own line can be one too far.
struct Position {
  Source& source;
  int line = 1;
};

// Feeds a Source to the JSON parser byte by byte, so that a file of any size needs little memory.
// A byte is fetched when it is asked for and not before, or lines would be counted too early.
class SourceIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  explicit SourceIterator(Position* position) : position_(position) {}

  char operator*() const { return static_cast<char>(fetch()); }
  SourceIterator& operator++() {
    fetch();
    fetched_ = false;
    return *this;
  }
  SourceIterator operator++(int) {
    SourceIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const SourceIterator& a, const SourceIterator& b) {
    return a.at_end() == b.at_end();
  }
  friend bool operator!=(const SourceIterator& a, const SourceIterator& b) { return !(a == b); }

 private:
  bool at_end() const { return position_ == nullptr || fetch() < 0; }
  int fetch() const {
    if (!fetched_) {
      position_->line = position_->source.line();
      current_ = position_->source.get();
      fetched_ = true;
    }
    return current_;
  }

  Position* position_;  // nullptr: the end
  mutable bool fetched_ = false;
  mutable int current_ = -1;
};

// Builds the tree from the parser's events; the stack holds the containers that are still open.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  TreeBuilder(const Position& position, const std::vector<std::string>& streamed,
              const TakeItem& take)
      : position_(position), streamed_(streamed), take_(take) {}

  bool null() override { return leaf({}); }
  bool boolean(bool value) override {
    return leaf({.kind = Document::Kind::boolean, .boolean = value});
  }
  bool number_integer(number_integer_t value) override {
    return leaf(
        {.kind = Document::Kind::integer, .integer = value, .number = static_cast<double>(value)});
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= static_cast<uint64_t>(INT64_MAX)) {
      return number_integer(static_cast<int64_t>(value));
    }
    return number_float(static_cast<double>(value), {});
  }
  bool number_float(number_float_t value, const string_t& /*spelled*/) override {
    return leaf({.kind = Document::Kind::number, .number = value});
  }
  bool string(string_t& value) override {
    return leaf({.kind = Document::Kind::text, .text = std::move(value)});
  }
  bool binary(binary_t& /*value*/) override { return fail("binary data is not JSON"); }
  bool start_object(size_t /*count*/) override { return open(Document::Kind::object); }
  bool start_array(size_t /*count*/) override { return open(Document::Kind::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    Open& parent = stack_.back();
    // A linear look suffices for our small objects; large ones get a set.
    std::vector<std::string>& keys = parent.document.keys;
    bool twice = false;
    if (keys.size() < 16) {
      twice = std::find(keys.begin(), keys.end(), name) != keys.end();
    } else {
      if (parent.seen.empty()) parent.seen.insert(keys.begin(), keys.end());
      twice = !parent.seen.insert(name).second;
    }
    if (twice) return fail(fmt::format("key \"{}\" stands twice; remove one", name));
    keys.push_back(std::move(name));
    return true;
  }

  bool parse_error(size_t /*position*/, const std::string& /*last_token*/,
                   const nlohmann::json::exception& error) override {
    // The library's sentence ends in what it met and what it expected; its own prefix,
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ", repeats the position,
    // which we give in our way.
    std::string sentence = error.what();
    if (const size_t bracket = sentence.find("] "); bracket != std::string::npos) {
      sentence.erase(0, bracket + 2);
    }
    if (const size_t colon = sentence.find(": ");
        colon != std::string::npos && sentence.rfind("parse error at", 0) == 0) {
      sentence.erase(0, colon + 2);
    }
    return fail("not valid JSON: " + sentence + "; correct the file there");
  }

  Result<Document> finish() {
    if (error_) return *error_;
    return std::move(root_);
  }

 private:
  struct Open {
    Document document;
    bool streaming = false;
    std::unordered_set<std::string> seen;
  };

  bool fail(const std::string& sentence) {
    if (!error_) error_ = error_at(position_.source.name(), position_.line, sentence);
    return false;
  }

  bool open(Document::Kind kind) {
    if (static_cast<int>(stack_.size()) >= kDeepestNesting) {
      return fail(fmt::format("nested deeper than {} levels; no file of ours is", kDeepestNesting));
    }
    Open opened;
    opened.document.kind = kind;
    opened.document.line = position_.line;
    if (kind == Document::Kind::array && stack_.size() == 1 &&
        stack_[0].document.kind == Document::Kind::object) {
      const std::string& name = stack_[0].document.keys.back();
      opened.streaming = std::find(streamed_.begin(), streamed_.end(), name) != streamed_.end();
    }
    stack_.push_back(std::move(opened));
    return true;
  }

  bool close() {
    Document document = std::move(stack_.back().document);
    stack_.pop_back();
    return attach(std::move(document));
  }

  bool leaf(Document document) {
    document.line = position_.line;
    return attach(std::move(document));
  }

  bool attach(Document document) {
    if (stack_.empty()) {
      root_ = std::move(document);
      return true;
    }
    Open& parent = stack_.back();
    if (parent.streaming) {
      const Result<void> taken = take_(stack_[0].document.keys.back(), std::move(document));
      if (!taken) error_ = taken.error();
      return taken.has_value();
    }
    parent.document.items.push_back(std::move(document));
    return true;
  }

  const Position& position_;
  const std::vector<std::string>& streamed_;
  const TakeItem& take_;
  std::vector<Open> stack_;
  Document root_;
  std::optional<Error> error_;
};

}  // namespace

const Document* Document::find(std::string_view key) const {
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == key) return &items[i];
  }
  return nullptr;
}

const char* to_text(Document::Kind kind) {
  switch (kind) {
    case Document::Kind::null:
      return "null";
    case Document::Kind::boolean:
      return "a truth value";
    case Document::Kind::integer:
      return "a whole number";
    case Document::Kind::number:
      return "a number";
    case Document::Kind::text:
      return "a text";
    case Document::Kind::array:
      return "a list";
    case Document::Kind::object:
      return "a table";
  }
  return "?";
}

Result<Document> read_json_streamed(Source& source, const std::vector<std::string>& streamed,
                                    const TakeItem& take) {
  Position position{source};
  TreeBuilder builder(position, streamed, take);
  nlohmann::json::sax_parse(SourceIterator(&position), SourceIterator(nullptr), &builder);
  if (source.broken()) return failed(source.name() + ": reading failed");
  return builder.finish();
}

Result<Document> read_json(Source& source) {
  return read_json_streamed(source, {}, {});
}

}  // namespace tutti
