// Tokens identify clients. Each client has one, with a name that the operator chose:
//
//   # name  token
//   alice   5f2c...
//   night   a91b...
//
// A file with nothing but one token is that of the client "default".

#ifndef TUTTI_SERVE_HTTP_TOKENS_H_
#define TUTTI_SERVE_HTTP_TOKENS_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/base/mutex.h"
#include "tutti/base/result.h"

namespace tutti {

inline constexpr const char* kDefaultClient = "default";

class Tokens {
 public:
  // No tokens: none is needed.
  Tokens() = default;
  // Fails (invalid_input) with `where` and the line if it is no such file, if a name or a token
  // stands there twice, or if a token has not 16 to 512 letters, digits and signs.
  static Result<Tokens> parse(std::string_view text, const std::string& where);
  // Of the client "default"; an empty text is none.
  static Tokens single(std::string token);

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  // The client it belongs to; null: none. Takes the same time for every wrong token.
  const std::string* client_of(std::string_view given) const;
  // The token alone, if there is only one.
  const std::string* only() const { return size() == 1 ? &entries_[0].token : nullptr; }

 private:
  struct Entry {
    std::string client;
    std::string token;
  };
  std::vector<Entry> entries_;
};

// Those that hold now. Any thread may ask, and another replace them.
class TokenStore {
 public:
  explicit TokenStore(Tokens tokens) : tokens_(std::make_shared<const Tokens>(std::move(tokens))) {}
  std::shared_ptr<const Tokens> now() const;
  void replace(Tokens tokens);

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const Tokens> tokens_ GUARDED_BY(mutex_);
};

// 1 to 64 letters, digits, '.', '_' and '-'.
bool is_client_name(std::string_view name);

// Compares in a time that depends on the length of `given` alone.
bool is_same_secret(std::string_view given, std::string_view secret);

// A server's: those in a file, or in the environment variable TUTTI_TOKEN if `path` is empty; none
// if neither is there. Fails (invalid_input) as parse() does, and if the file holds none.
Result<Tokens> load_tokens(const std::string& path);
// A client's own: the only one there; empty if there is none.
Result<std::string> load_token(const std::string& path);

}  // namespace tutti

#endif  // TUTTI_SERVE_HTTP_TOKENS_H_
