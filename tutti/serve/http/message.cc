#include "tutti/serve/http/message.h"

#include <fmt/format.h>

#include <algorithm>

#include "tutti/base/file/document.h"
#include "tutti/base/file/json_writer.h"

namespace tutti {
namespace {

constexpr size_t kMostParameters = 16;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](char c) { return lower(c); });
  return result;
}

bool is_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// A letter of a method or a header's name (RFC 9110, token).
bool is_token(char c) {
  return is_alnum(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return is_token(c); });
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char small = lower(c);
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

// None on a broken escape, on control characters and on bytes that are not UTF-8.
std::optional<std::string> decoded(std::string_view text, bool plus_is_blank) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '+' && plus_is_blank) c = ' ';
    if (c == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = digit_of(text[i + 1]);
      const int low = digit_of(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return std::nullopt;
    result.push_back(c);
  }
  if (!is_utf8(result)) return std::nullopt;
  return result;
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

using Refused = std::optional<HttpReply>;

Refused read_query(std::string_view text, Pairs& query) {
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    if (part.empty()) continue;
    const size_t equals = std::min(part.find('='), part.size());
    const auto name = decoded(part.substr(0, equals), true);
    const auto value = decoded(part.substr(std::min(part.size(), equals + 1)), true);
    if (!name || !value) return refusal(400, "the query of the address is not well encoded");
    if (query.size() == kMostParameters) return refusal(400, "the query has too many parts");
    query.emplace_back(*name, *value);
  }
  return std::nullopt;
}

// "GET /v1/jobs?state=queued HTTP/1.1"
Refused read_request_line(std::string_view line, HttpHead& head) {
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) {
    return refusal(400, "this is no HTTP request");
  }
  head.method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!is_token(head.method) || !target.starts_with('/') ||
      !std::all_of(target.begin(), target.end(), [](char c) { return c > 0x20 && c < 0x7f; })) {
    return refusal(400, "this is no HTTP request for a path");
  }
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    return refusal(505, "this server speaks HTTP/1.1");
  }
  head.keep_alive = version == "HTTP/1.1";
  const size_t question = std::min(target.find('?'), target.size());
  const auto path = decoded(target.substr(0, question), false);
  if (!path) return refusal(400, "the path of the address is not well encoded");
  head.path = *path;
  return read_query(target.substr(std::min(target.size(), question + 1)), head.query);
}

Refused read_header(std::string_view line, HttpHead& head) {
  const size_t colon = std::min(line.find(':'), line.size());
  const std::string_view name = line.substr(0, colon);
  if (colon == line.size() || !is_token(name)) return refusal(400, "a header is not well formed");
  const std::string_view value = trimmed(line.substr(colon + 1));
  const auto is_text = [](char c) { return c == '\t' || (c >= 0x20 && c != 0x7f) || c < 0; };
  if (!std::all_of(value.begin(), value.end(), is_text)) {
    return refusal(400, "a header holds control characters");
  }
  if (head.headers.size() == kMostHeaders) return refusal(431, "the request has too many headers");
  head.headers.emplace_back(lower(name), value);
  return std::nullopt;
}

Refused read_length(HttpHead& head) {
  const std::string* const length = head.header("content-length");
  if (length == nullptr) return std::nullopt;
  constexpr size_t kMostDigits = 18;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (length->empty() || !std::all_of(length->begin(), length->end(), is_digit)) {
    return refusal(400, "the Content-Length is no number");
  }
  if (length->size() > kMostDigits) return refusal(413, "the body is too large");
  for (const char c : *length) head.content_length = head.content_length * 10 + (c - '0');
  return std::nullopt;
}

// What headers mean together.
Refused check_headers(HttpHead& head) {
  for (const char* once : {"host", "content-length", "authorization", "origin"}) {
    const auto count = std::count_if(head.headers.begin(), head.headers.end(),
                                     [&](const auto& pair) { return pair.first == once; });
    if (count > 1) return refusal(400, fmt::format("the header {} stands there twice", once));
  }
  if (head.header("host") == nullptr && head.keep_alive) {  // HTTP/1.0 needs none
    return refusal(400, "the header host is missing");
  }
  if (head.header("transfer-encoding") != nullptr) {
    return refusal(411, "send the body whole, with a Content-Length");
  }
  const std::string* const encoding = head.header("content-encoding");
  if (encoding != nullptr && lower(*encoding) != "identity") {
    return refusal(415, "send the body as it is, not compressed");
  }
  if (const std::string* const expect = head.header("expect")) {
    if (lower(*expect) != "100-continue")
      return refusal(417,
                     "this server cannot do what the "
                     "header expect asks for");
    head.expects_continue = true;
  }
  const std::string* const connection = head.header("connection");
  if (connection != nullptr && lower(*connection).find("close") != std::string::npos) {
    head.keep_alive = false;
  }
  return read_length(head);
}

const std::string* find_in(const Pairs& pairs, std::string_view name) {
  const auto found = std::find_if(pairs.begin(), pairs.end(),
                                  [&](const auto& pair) { return pair.first == name; });
  return found == pairs.end() ? nullptr : &found->second;
}

const char* phrase_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Bad Request";
  }
}

}  // namespace

const std::string* HttpHead::header(std::string_view lower_case_name) const {
  return find_in(headers, lower_case_name);
}

const std::string* HttpHead::parameter(std::string_view name) const {
  return find_in(query, name);
}

HttpReply refusal(int status, const std::string& sentence) {
  JsonWriter json(/*inline_depth=*/0);
  json.open_object().field("error", sentence).close_object();
  return {.status = status, .body = json.text()};
}

std::variant<HttpHead, HttpReply> read_head(std::string_view text) {
  HttpHead head;
  bool first = true;
  while (true) {
    const size_t end = text.find("\r\n");
    const std::string_view line = text.substr(0, std::min(end, text.size()));
    if (line.find('\n') != std::string_view::npos || line.find('\r') != std::string_view::npos) {
      return refusal(400, "a line of the request does not end as HTTP's do");
    }
    if (line.empty() && !first) break;
    const Refused refused = first ? read_request_line(line, head) : read_header(line, head);
    if (refused) return *refused;
    first = false;
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 2);
  }
  if (const Refused refused = check_headers(head)) return *refused;
  return head;
}

std::string to_wire(const HttpReply& reply, bool keep_alive, bool without_body) {
  const std::string length =
      reply.stream == nullptr ? fmt::format("Content-Length: {}\r\n", reply.body.size()) : "";
  std::string wire = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\n{}Cache-Control: no-store\r\n"
      "X-Content-Type-Options: nosniff\r\nConnection: {}\r\n",
      reply.status, phrase_of(reply.status), reply.type, length,
      keep_alive ? "keep-alive" : "close");
  for (const auto& [name, value] : reply.headers) wire += name + ": " + value + "\r\n";
  wire += "\r\n";
  if (!without_body) wire += reply.body;
  return wire;
}

std::string percent_encoded(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (is_alnum(c) || c == '.' || c == '_' || c == '-' || c == '~') {
      result.push_back(c);
    } else {
      result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return result;
}

}  // namespace tutti
