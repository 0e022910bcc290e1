// Fields reads the entries of one object of a Document: it checks type and range, remembers the
// first thing that is wrong, and in done() refuses keys that were never asked for.
//
//   Fields fields(document, file);
//   device.name = fields.text("name");
//   device.slots = fields.integer("slots", {.fallback = 1, .least = 1, .most = 1024});
//   if (auto done = fields.done(); !done) return done.error();
//
// After an error the getters return harmless values, so that a reader needs one check at the end.

#ifndef TUTTI_BASE_FILE_FIELDS_H_
#define TUTTI_BASE_FILE_FIELDS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/base/file/document.h"

namespace tutti {

class Fields {
 public:
  // Keeps a reference to the document. `what` names the object in sentences: "device", "op".
  Fields(const Document& document, std::string file, std::string what);

  struct Whole {
    std::optional<int64_t> fallback{};  // none: the key is required
    int64_t least = 0;
    int64_t most = std::numeric_limits<int64_t>::max();
  };
  struct Real {
    std::optional<double> fallback{};
    double least = 0;
    double most = std::numeric_limits<double>::max();
  };

  std::string text(std::string_view key);  // required, not empty
  std::string text(std::string_view key, const std::string& fallback);
  // One of `choices`, by position. The first is the fallback.
  int choice(std::string_view key, const std::vector<std::string>& choices);
  // A number that has no fraction is a whole number too: 1e9 is 1000000000.
  int64_t integer(std::string_view key, const Whole& rule);
  double number(std::string_view key, const Real& rule);
  bool boolean(std::string_view key, bool fallback);
  std::vector<std::string> texts(std::string_view key);  // absent: empty
  // 64-bit numbers, which JSON readers in other languages would round, are texts: a seed has
  // decimal digits, a fingerprint sixteen hexadecimal ones (fingerprint_text). Both are required.
  uint64_t seed(std::string_view key);
  uint64_t fingerprint(std::string_view key);
  std::vector<uint64_t> fingerprints(std::string_view key);  // absent: empty
  // The items of a list, absent: none; or the entry as it is, absent: nullptr.
  const std::vector<Document>& items(std::string_view key);
  const Document* entry(std::string_view key);

  // Checks `schema_version` against the one this build reads, or all up to the last it reads.
  void schema_version(int64_t expected) { schema_version(expected, expected); }
  void schema_version(int64_t first, int64_t last);

  // Records an error of the caller's own about this object, or about a part of it.
  void fail(const std::string& sentence);
  void fail_at(const Document& part, const std::string& sentence);
  // Takes over the error of a reader of some part.
  void fail_with(const Error& error) {
    if (!error_) error_ = error;
  }

  bool good() const { return !error_.has_value(); }
  int line() const { return document_.line; }

  // The first error, if any; also one for each key that was never asked for.
  Result<void> done();
  // As done(), for a part of another object, which takes over the error.
  void done_within(Fields& outer) {
    if (Result<void> finished = done(); !finished) outer.fail_with(finished.error());
  }
  // As done(), but accepts keys that were never asked for: a foreign format may have any.
  Result<void> done_with_foreign_keys();

  // As whole and real numbers, for parts that are not entries of an object.
  std::optional<int64_t> as_integer(const Document& part, std::string_view name, const Whole& rule);
  std::optional<double> as_number(const Document& part, std::string_view name, const Real& rule);

 private:
  const Document* ask(std::string_view key);
  const Document* require(std::string_view key, bool has_fallback);

  const Document& document_;
  std::string file_;
  std::string what_;
  std::vector<std::string> asked_;
  std::optional<Error> error_;
};

}  // namespace tutti

#endif  // TUTTI_BASE_FILE_FIELDS_H_
