// What the clients of a server share: tutti submit, status, cancel, drain.

#ifndef TUTTI_TOOLS_SERVER_SERVER_OPTIONS_H_
#define TUTTI_TOOLS_SERVER_SERVER_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <string>

#include "tutti/base/file/document.h"
#include "tutti/base/result.h"
#include "tutti/serve/http/client.h"

namespace tutti {

inline constexpr const char* kDefaultListen = "127.0.0.1:7171";

struct ServerOptions {
  std::string server;
  std::string token_file;
  std::string ca;
  bool json = false;

  void add_to(CLI::App& command);
  Result<HttpClient> connect() const;
};

// A good answer of the server.
struct Answer {
  std::string body;
  Document document;
};

// Fails with the server's own sentence: (invalid_input) if the request was wrong, (failed) if the
// server cannot do it now.
Result<Answer> ask(HttpClient& client, const std::string& method, const std::string& target,
                   const std::string& content = "");

// The same. While the server answers that it has no room now (429), it is asked again after the
// time that it names, for so many seconds; says so on standard error.
Result<Answer> ask_again(HttpClient& client, const std::string& method, const std::string& target,
                         const std::string& content, double seconds);

// A job in one line.
std::string job_line(const Document& job);

// Asks until the job is over, without a limit of time.
Result<Answer> wait_for_job(HttpClient& client, const std::string& id);

// 0 for a job that is done, 1 for one that failed or was cancelled.
int exit_code_of(const Document& job);

// The text of an entry, or the number as text; empty if there is none.
std::string entry_text(const Document& object, std::string_view key);

}  // namespace tutti

#endif  // TUTTI_TOOLS_SERVER_SERVER_OPTIONS_H_
