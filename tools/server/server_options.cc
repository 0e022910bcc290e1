#include "tools/server/server_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "tutti/base/file/source.h"
#include "tutti/base/time.h"
#include "tutti/serve/http/tokens.h"

namespace tutti {
namespace {

Result<Answer> answer_of(HttpReply reply) {
  Source source = Source::from_text("the server's answer", reply.body);
  Result<Document> read = read_json(source);
  if (reply.status >= 200 && reply.status < 300) {
    if (!read) return read.error();
    return Answer{std::move(reply.body), std::move(*read)};
  }
  const std::string sentence =
      read && read->find("error") != nullptr
          ? read->find("error")->text
          : fmt::format("the server answered {} and gave no reason", reply.status);
  const bool ours = reply.status >= 400 && reply.status < 500 && reply.status != 429;
  return ours ? invalid_input(sentence) : failed(sentence);
}

// Seconds after which the server wants to be asked again.
double retry_after(const HttpReply& reply) {
  for (const auto& [name, value] : reply.headers) {
    if (name == "retry-after") return std::clamp(std::atof(value.c_str()), 0.1, 60.0);
  }
  return 1;
}

}  // namespace

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
  return answer_of(std::move(*reply));
}

Result<Answer> ask_again(HttpClient& client, const std::string& method, const std::string& target,
                         const std::string& content, double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (bool told = false;;) {
    Result<HttpReply> reply = client.ask(method, target, content);
    if (!reply) return reply.error();
    const std::chrono::duration<double> pause(retry_after(*reply));
    const bool later = reply->status == 429;
    if (!later || std::chrono::steady_clock::now() + pause > end) {
      return answer_of(std::move(*reply));
    }
    if (!told) {
      const Result<Answer> answer = answer_of(std::move(*reply));
      fmt::print(stderr, "tutti: {}; asking again for up to {:.0f} s\n", answer.error().message,
                 seconds);
    }
    told = true;
    std::this_thread::sleep_for(pause);
  }
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
  if (whole("deadline_unix_ms") > 0 && job.find("ended_unix_ms") == nullptr) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const int64_t now_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
    line += fmt::format(", deadline in {:.1f} s",
                        static_cast<double>(whole("deadline_unix_ms") - now_ms) / 1000);
  }
  line += ")";
  if (job.find("waits") != nullptr) line += ": " + entry_text(job, "waits");
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
