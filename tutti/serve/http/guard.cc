#include "tutti/serve/http/guard.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace tutti {
namespace {

bool same_letters(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : int{c}; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

bool is_port(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "127.0.0.1" of "127.0.0.1:7171", "::1" of "[::1]:7171"; none if it is not a host that may have a
// port, and nothing else.
std::optional<std::string> host_alone(std::string_view host) {
  const bool in_brackets = host.starts_with('[');
  const size_t end = in_brackets ? host.find(']') : std::min(host.find(':'), host.size());
  if (end == std::string_view::npos) return std::nullopt;
  const std::string name(host.substr(in_brackets ? 1 : 0, end - (in_brackets ? 1 : 0)));
  host.remove_prefix(end + (in_brackets ? 1 : 0));
  if (!host.empty() && (host[0] != ':' || !is_port(host.substr(1)))) return std::nullopt;
  in6_addr address{};
  if (in_brackets && ::inet_pton(AF_INET6, name.c_str(), &address) != 1) return std::nullopt;
  return name;
}

bool is_ip_address(const std::string& host) {
  in6_addr address{};
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

bool changes_something(const HttpHead& head) {
  return head.method != "GET" && head.method != "HEAD";
}

// Endpoints that reveal nothing.
bool is_open(const HttpHead& head) {
  return !changes_something(head) && (head.path == "/" || head.path == "/job.js" ||
                                      head.path == "/healthz" || head.path == "/readyz");
}

}  // namespace

// A name that a foreign DNS maps to this host is none that we know; an address cannot be faked so.
bool Guard::knows_name(std::string_view host) const {
  const std::optional<std::string> name = host_alone(host);
  if (!name) return false;
  if (same_letters(*name, "localhost") || is_ip_address(*name)) return true;
  return std::any_of(names_.begin(), names_.end(),
                     [&](const std::string& known) { return same_letters(*name, known); });
}

Admission Guard::admit(const HttpHead& head) const {
  const std::string* const host = head.header("host");
  if (host != nullptr && !knows_name(*host)) {
    return {.refused = refusal(
                403,
                "this server is not known by the name in the header host; its operator can add "
                "one with --name")};
  }
  const std::string* const origin = head.header("origin");
  if (origin != nullptr && changes_something(head)) {
    const bool own = host != nullptr && (same_letters(*origin, "http://" + *host) ||
                                         same_letters(*origin, "https://" + *host));
    if (!own) return {.refused = refusal(403, "a page from elsewhere may not use this server")};
  }
  const std::shared_ptr<const Tokens> tokens = tokens_->now();
  if (tokens->empty()) return {.trusted = true};
  constexpr std::string_view kScheme = "Bearer ";
  const std::string* const given = head.header("authorization");
  const bool named = given != nullptr && given->size() > kScheme.size() &&
                     same_letters(given->substr(0, kScheme.size()), kScheme);
  const std::string* const client =
      named ? tokens->client_of(std::string_view(*given).substr(kScheme.size())) : nullptr;
  if (client != nullptr) return {.trusted = true, .client = *client};
  if (is_open(head)) return {};
  HttpReply reply = refusal(401, named ? "this is not the token that the server asks for"
                                       : "the server asks for a token: Authorization: Bearer ...");
  reply.headers.emplace_back("WWW-Authenticate", "Bearer");
  return {.refused = std::move(reply)};
}

}  // namespace tutti
