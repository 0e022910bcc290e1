#include "tutti/serve/clients.h"

#include <fmt/format.h>

#include <utility>

#include "tutti/base/file/document.h"
#include "tutti/base/file/fields.h"
#include "tutti/serve/http/tokens.h"

namespace tutti {
namespace {

constexpr double kMostSeconds = 1e9;

struct ClientEntry {
  std::string name{};
  ShareRule rule{};
  int64_t open_jobs = std::numeric_limits<int64_t>::max();
};

Duration seconds_of(double seconds) {
  return Duration(static_cast<int64_t>(seconds * 1e9));
}

// What is not stated is that of `usual`.
Result<ClientEntry> read_entry(const Document& document, const std::string& file, bool named,
                               const ClientEntry& usual) {
  Fields fields(document, file, named ? "client" : "default");
  ClientEntry entry = usual;
  if (named) entry.name = fields.text("name");
  if (named && fields.good() && !is_client_name(entry.name)) {
    fields.fail("a client's name is 1 to 64 letters, digits, '.', '_' and '-'");
  }
  entry.rule.weight =
      fields.number("weight", {.fallback = usual.rule.weight, .least = 1e-3, .most = 1e6});
  entry.open_jobs = fields.integer("open_jobs", {.fallback = usual.open_jobs, .least = 1});
  const bool limited = fields.entry("device_s") != nullptr || fields.entry("per_s") != nullptr;
  if (limited) {
    entry.rule.quota = seconds_of(fields.number("device_s", {.least = 1e-3, .most = kMostSeconds}));
    entry.rule.quota_window =
        seconds_of(fields.number("per_s", {.fallback = 60, .least = 1, .most = kMostSeconds}));
  }
  if (const Result<void> done = fields.done(); !done) return done.error();
  return entry;
}

}  // namespace

Result<ClientRules> read_clients(Source& source) {
  const Result<Document> document = read_document(source);
  if (!document) return document.error();
  if (document->kind != Document::Kind::object) {
    return invalid_input(source.name() + ":1: a file of clients is a table");
  }
  Fields fields(*document, source.name(), "clients");
  fields.schema_version(1);
  ClientRules rules;
  rules.shares.divided = true;
  rules.shares.window =
      seconds_of(fields.number("window_s", {.fallback = 10, .least = 0.1, .most = kMostSeconds}));
  ClientEntry usual;
  if (const Document* const one = fields.entry("default")) {
    Result<ClientEntry> read = read_entry(*one, source.name(), /*named=*/false, usual);
    if (!read) return read.error();
    usual = std::move(*read);
  }
  rules.shares.usual = usual.rule;
  rules.open_jobs.usual = usual.open_jobs;
  for (const Document& one : fields.items("client")) {
    Result<ClientEntry> read = read_entry(one, source.name(), /*named=*/true, usual);
    if (!read) return read.error();
    if (!rules.open_jobs.named.emplace(read->name, read->open_jobs).second) {
      fields.fail_at(one, fmt::format("client '{}' stands there twice", read->name));
    }
    rules.shares.named.emplace_back(std::move(read->name), read->rule);
  }
  if (const Result<void> done = fields.done(); !done) return done.error();
  return rules;
}

Result<ClientRules> load_clients(const std::string& path) {
  Result<Source> source = Source::open(path);
  if (!source) return source.error();
  return read_clients(*source);
}

}  // namespace tutti
