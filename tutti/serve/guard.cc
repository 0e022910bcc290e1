#include "tutti/serve/guard.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "tutti/base/source.h"

namespace tutti {
namespace {

bool same_letters(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : int{c}; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

// "127.0.0.1" of "127.0.0.1:7171", "::1" of "[::1]:7171".
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

bool is_ip_address(const std::string& host) {
  in6_addr address{};
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

bool changes_something(const HttpHead& head) {
  return head.method != "GET" && head.method != "HEAD";
}

// What gives nothing away.
bool is_open(const HttpHead& head) {
  return !changes_something(head) && (head.path == "/" || head.path == "/healthz");
}

}  // namespace

bool is_same_secret(std::string_view given, std::string_view secret) {
  if (secret.empty()) return false;
  volatile unsigned char differs = given.size() != secret.size() ? 1 : 0;
  for (size_t i = 0; i < given.size(); ++i) {
    differs = static_cast<unsigned char>(
        differs | static_cast<unsigned char>(given[i] ^ secret[i % secret.size()]));
  }
  return differs == 0;
}

// A name that leads here by a foreign DNS is none that we know; an address cannot be bent.
bool Guard::knows_name(std::string_view host) const {
  const std::string_view name = without_port(host);
  if (same_letters(name, "localhost") || is_ip_address(std::string(name))) return true;
  return std::any_of(names_.begin(), names_.end(),
                     [&](const std::string& known) { return same_letters(name, known); });
}

std::optional<HttpReply> Guard::admit(const HttpHead& head) const {
  const std::string* const host = head.header("host");
  if (host != nullptr && !knows_name(*host)) {
    return refusal(403,
                   "this server is not known by the name in the header host; its operator can add "
                   "one with --name");
  }
  const std::string* const origin = head.header("origin");
  if (origin != nullptr && changes_something(head)) {
    const bool own = host != nullptr && (same_letters(*origin, "http://" + *host) ||
                                         same_letters(*origin, "https://" + *host));
    if (!own) return refusal(403, "a page from elsewhere may not use this server");
  }
  if (token_.empty() || is_open(head)) return std::nullopt;
  constexpr std::string_view kScheme = "Bearer ";
  const std::string* const given = head.header("authorization");
  const bool named = given != nullptr && given->size() > kScheme.size() &&
                     same_letters(given->substr(0, kScheme.size()), kScheme);
  if (named && is_same_secret(std::string_view(*given).substr(kScheme.size()), token_)) {
    return std::nullopt;
  }
  HttpReply reply = refusal(401, named ? "this is not the token that the server asks for"
                                       : "the server asks for a token: Authorization: Bearer ...");
  reply.headers.emplace_back("WWW-Authenticate", "Bearer");
  return reply;
}

Result<std::string> load_token(const std::string& path) {
  std::string token;
  std::string where = path;
  if (path.empty()) {
    const char* const variable = std::getenv("TUTTI_TOKEN");
    if (variable == nullptr || *variable == '\0') return std::string();
    token = variable;
    where = "TUTTI_TOKEN";
  } else {
    Result<Source> source = Source::open(path);
    if (!source) return source.error();
    constexpr int64_t kLongestFile = 4096;
    Result<std::string> text = source->read_all(kLongestFile);
    if (!text) return text.error();
    token = std::move(*text);
  }
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
  const bool plain =
      std::all_of(token.begin(), token.end(), [](char c) { return c > 0x20 && c < 0x7f; });
  if (!plain || token.size() < 16 || token.size() > 512) {
    return invalid_input(where +
                         ": a token is one line of 16 to 512 letters, digits and signs, such as "
                         "'openssl rand -hex 32' prints");
  }
  return token;
}

}  // namespace tutti
