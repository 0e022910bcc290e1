#include "tools/server/server_options.h"

#include <fmt/format.h>

#include "tutti/base/file/source.h"
#include "tutti/base/time.h"
#include "tutti/serve/http/tokens.h"

namespace tutti {

void ServerOptions::add_to(CLI::App& command) {
  command
      .add_option("--server", server,
                  fmt::format("Address of the server; default: http://{}", kDefaultListen))
      ->envname("TUTTI_SERVER");
  command.add_option("--token-file", token_file,
                     "File with the server's token; default: the environment variable TUTTI_TOKEN");
  command.add_option("--ca", ca,
                     "For https://: file with the certificates of trusted authorities; "
                     "default: CURL_CA_BUNDLE, SSL_CERT_FILE, or the system's");
  command.add_flag("--json", json, "Print the server's answer as JSON");
}

Result<HttpClient> ServerOptions::connect() const {
  const Result<std::string> token = load_token(token_file);
  if (!token) return token.error();
  return HttpClient::make(server.empty() ? std::string("http://") + kDefaultListen : server, *token,
                          ca);
}

Result<Answer> ask(HttpClient& client, const std::string& method, const std::string& target,
                   const std::string& content) {
  Result<HttpReply> reply = client.ask(method, target, content);
  if (!reply) return reply.error();
  Source source = Source::from_text("the server's answer", reply->body);
  Result<Document> read = read_json(source);
  if (reply->status >= 200 && reply->status < 300) {
    if (!read) return read.error();
    return Answer{std::move(reply->body), std::move(*read)};
  }
  const std::string sentence =
      read && read->find("error") != nullptr
          ? read->find("error")->text
          : fmt::format("the server answered {} and gave no reason", reply->status);
  const bool ours = reply->status >= 400 && reply->status < 500 && reply->status != 429;
  return ours ? invalid_input(sentence) : failed(sentence);
}

std::string entry_text(const Document& object, std::string_view key) {
  const Document* const entry = object.find(key);
  if (entry == nullptr) return "";
  if (entry->kind == Document::Kind::integer) return std::to_string(entry->integer);
  return one_line(entry->text);
}

std::string job_line(const Document& job) {
  const auto whole = [&](std::string_view key) {
    const Document* const entry = job.find(key);
    return entry == nullptr ? int64_t{0} : entry->integer;
  };
  std::string line = fmt::format("{}: {}", entry_text(job, "id"), entry_text(job, "state"));
  const std::string state = entry_text(job, "state");
  if (state == "done") line += ", makespan " + to_text(Duration(whole("makespan_ns")));
  line += fmt::format(" ({}, {} ops", entry_text(job, "graph"), whole("ops"));
  if (whole("priority") != 0) line += fmt::format(", priority {}", whole("priority"));
  if (whole("attempts") > 1) line += fmt::format(", attempt {}", whole("attempts"));
  if (job.find("client") != nullptr) line += ", of " + entry_text(job, "client");
  line += ")";
  if (job.find("message") != nullptr) line += ": " + entry_text(job, "message");
  return line;
}

Result<Answer> wait_for_job(HttpClient& client, const std::string& id) {
  while (true) {
    Result<Answer> answer = ask(client, "GET", "/v1/jobs/" + percent_encoded(id) + "?wait=30");
    if (!answer) return answer;
    const std::string state = entry_text(answer->document, "state");
    if (state == "done" || state == "failed" || state == "cancelled") return answer;
  }
}

int exit_code_of(const Document& job) {
  const std::string state = entry_text(job, "state");
  return state == "failed" || state == "cancelled" ? 1 : 0;
}

}  // namespace tutti
