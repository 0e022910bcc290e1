// A Document is what a JSON or TOML text says, with the line each part stands on.
//
// Both notations give the same tree, so that each of our files has one reader: every TOML file may
// also be written as the same structure in JSON, which is all that a build without toml++ reads.
// Readers go through Fields (fields.h), which checks types, ranges and unknown keys.

#ifndef TUTTI_BASE_FILE_DOCUMENT_H_
#define TUTTI_BASE_FILE_DOCUMENT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/base/file/source.h"
#include "tutti/base/result.h"

namespace tutti {

struct Document {
  enum class Kind { null, boolean, integer, number, text, array, object };

  Kind kind = Kind::null;
  int line = 0;
  bool boolean = false;
  int64_t integer = 0;              // kind integer
  double number = 0;                // kinds integer and number
  std::string text{};               // kind text
  std::vector<Document> items{};    // kinds array and object
  std::vector<std::string> keys{};  // kind object: keys[i] names items[i]; no key twice

  // The item of that name, or nullptr.
  const Document* find(std::string_view key) const;
};

const char* to_text(Document::Kind kind);

// No file of ours is nested deeper; hostile ones may be.
inline constexpr int kDeepestNesting = 64;

// Fails with file and line on anything that is not one well-formed UTF-8 JSON text, on a key that
// stands twice in one object, and on nesting beyond kDeepestNesting.
Result<Document> read_json(Source& source);

// As read_json, but each item of a top-level array named by a key in `streamed` is handed to
// `take` as soon as it is read and then forgotten; the array itself comes back empty. Reading
// stops at the first error that `take` returns.
using TakeItem = std::function<Result<void>(std::string_view key, Document&& item)>;
Result<Document> read_json_streamed(Source& source, const std::vector<std::string>& streamed,
                                    const TakeItem& take);

// True if this build has toml++.
bool can_read_toml();

// Reads TOML, or JSON when the first character is '{'. Fails like read_json.
Result<Document> read_document(Source& source);

}  // namespace tutti

#endif  // TUTTI_BASE_FILE_DOCUMENT_H_
