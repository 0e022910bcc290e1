#include "tutti/serve/http/tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "tutti/base/file/source.h"

namespace tutti {
namespace {

constexpr const char* kTokenRule =
    "a token is one line of 16 to 512 letters, digits and signs, such as 'openssl rand -hex 32' "
    "prints";

bool is_token_text(std::string_view token) {
  return token.size() >= 16 && token.size() <= 512 &&
         std::all_of(token.begin(), token.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    const size_t end = std::min(line.find_first_of(" \t\r"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

}  // namespace

bool is_client_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

bool is_same_secret(std::string_view given, std::string_view secret) {
  if (secret.empty()) return false;
  volatile unsigned char differs = given.size() != secret.size() ? 1 : 0;
  for (size_t i = 0; i < given.size(); ++i) {
    differs = static_cast<unsigned char>(
        differs | static_cast<unsigned char>(given[i] ^ secret[i % secret.size()]));
  }
  return differs == 0;
}

Tokens Tokens::single(std::string token) {
  Tokens tokens;
  if (!token.empty()) tokens.entries_.push_back({kDefaultClient, std::move(token)});
  return tokens;
}

Result<Tokens> Tokens::parse(std::string_view text, const std::string& where) {
  Tokens tokens;
  bool bare = false;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty() || words[0].starts_with('#')) continue;
    const auto wrong = [&](const std::string& why) {
      return invalid_input(fmt::format("{}:{}: {}", where, number, why));
    };
    bare = bare || words.size() == 1;
    if (words.size() > 2 || (bare && !tokens.empty())) {
      return wrong("a line is NAME TOKEN, one for each client, or the file is one bare token");
    }
    Entry entry{std::string(words.size() == 2 ? words[0] : kDefaultClient),
                std::string(words.back())};
    if (!is_token_text(entry.token)) return wrong(kTokenRule);
    if (!is_client_name(entry.client)) {
      return wrong("a client's name is 1 to 64 letters, digits, '.', '_' and '-'");
    }
    for (const Entry& other : tokens.entries_) {
      if (other.client == entry.client) return wrong("this name stands there twice");
      if (other.token == entry.token) return wrong("this token is another client's too");
    }
    tokens.entries_.push_back(std::move(entry));
  }
  if (tokens.empty()) return invalid_input(where + ": there is no token; " + kTokenRule);
  return tokens;
}

const std::string* Tokens::client_of(std::string_view given) const {
  const std::string* found = nullptr;
  for (const Entry& entry : entries_) {
    if (is_same_secret(given, entry.token)) found = &entry.client;
  }
  return found;
}

std::shared_ptr<const Tokens> TokenStore::now() const {
  MutexLock lock(mutex_);
  return tokens_;
}

void TokenStore::replace(Tokens tokens) {
  auto fresh = std::make_shared<const Tokens>(std::move(tokens));
  MutexLock lock(mutex_);
  tokens_ = std::move(fresh);
}

Result<Tokens> load_tokens(const std::string& path) {
  if (path.empty()) {
    const char* const variable = std::getenv("TUTTI_TOKEN");
    if (variable == nullptr || *variable == '\0') return Tokens();
    return Tokens::parse(variable, "TUTTI_TOKEN");
  }
  Result<Source> source = Source::open(path);
  if (!source) return source.error();
  constexpr int64_t kLongestFile = int64_t{1} << 20;
  const Result<std::string> text = source->read_all(kLongestFile);
  if (!text) return text.error();
  return Tokens::parse(*text, path);
}

Result<std::string> load_token(const std::string& path) {
  const Result<Tokens> tokens = load_tokens(path);
  if (!tokens) return tokens.error();
  if (tokens->empty()) return std::string();
  if (const std::string* const token = tokens->only()) return *token;
  return invalid_input(fmt::format(
      "{}: holds the tokens of {} clients; name a file with your own alone", path, tokens->size()));
}

}  // namespace tutti
