// tutti submit: hand a job to a server.

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include "tools/commands.h"
#include "tools/import_flags.h"
#include "tools/inputs.h"
#include "tools/server/server_options.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/base/file/output.h"
#include "tutti/graph/file.h"
#include "tutti/serve/journal/job.h"

namespace tutti {
namespace {

struct SubmitArguments {
  std::string graph;
  std::string make;
  ImportFlags import_flags;
  std::optional<std::string> id;
  int32_t priority = 0;
  double deadline_s = 0;
  double retry_s = 60;
  bool wait = false;
  ServerOptions server;
};

Result<std::string> text_of(const std::string& path) {
  Result<Source> source = Source::open(path);
  if (!source) return source.error();
  return source->read_all();
}

// The graph in our own format, whatever it was in: a server reads no other.
Result<std::string> as_own_format(const Graph& graph) {
  std::error_code error;
  const auto folder = std::filesystem::temp_directory_path(error);
  if (error) return failed("there is no folder for temporary files: " + error.message());
  const std::string path = (folder / fmt::format("tutti_submit_{}.json", ::getpid())).string();
  Result<Output> output = Output::open(path);
  if (!output) return output.error();
  write_graph(graph, *output);
  if (const Result<void> written = output->commit(); !written) return written.error();
  Result<std::string> text = text_of(path);
  std::filesystem::remove(path, error);
  return text;
}

Result<std::string> content_of(const SubmitArguments& arguments) {
  if (!arguments.make.empty()) {
    JsonWriter json(/*inline_depth=*/0);
    json.open_object().field("make", arguments.make).close_object();
    return json.text();
  }
  const Result<Imported> imported = arguments.import_flags.load(arguments.graph);
  if (!imported) return imported.error();
  return as_own_format(imported->graph);
}

int run_submit(const SubmitArguments& arguments) {
  if (arguments.graph.empty() == arguments.make.empty()) {
    return report(
        invalid_input("name a graph file, or give --make the arguments of tutti graph make"));
  }
  if (arguments.id) {
    if (const Result<void> good = check_job_id(*arguments.id); !good) return report(good.error());
  }
  // CLI::Range takes what is no number.
  if (std::isnan(arguments.deadline_s) || std::isnan(arguments.retry_s)) {
    return report(invalid_input("--deadline and --retry are numbers of seconds"));
  }
  const Result<std::string> content = content_of(arguments);
  if (!content) return report(content.error());
  Result<HttpClient> client = arguments.server.connect();
  if (!client) return report(client.error());
  std::string target = fmt::format("/v1/jobs?priority={}", arguments.priority);
  if (arguments.id) target += "&id=" + percent_encoded(*arguments.id);
  if (arguments.deadline_s > 0) {
    target += fmt::format("&deadline_ms={}",
                          std::max<int64_t>(1, std::llround(arguments.deadline_s * 1000)));
  }
  // Without an id, a submission whose answer is lost would be another job.
  Result<Answer> job = ask_again(*client, "POST", target, *content, arguments.retry_s);
  if (job && arguments.wait) job = wait_for_job(*client, entry_text(job->document, "id"));
  if (!job) return report(job.error());
  fmt::print("{}", arguments.server.json ? job->body : job_line(job->document) + "\n");
  return exit_code_of(job->document);
}

}  // namespace

void add_submit_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("submit", "Hand a job to tutti serve");
  command->footer(
      "Example: tutti submit graph.json --id night-1 --wait\n"
      "         tutti submit --make 'cholesky --tiles 4 --tile-size 64'");
  auto arguments = std::make_shared<SubmitArguments>();
  command->add_option("graph", arguments->graph,
                      "Graph file, in any format tutti reads; - is standard input");
  command->add_option(
      "--make", arguments->make,
      "Instead of a file: arguments of tutti graph make, by which the server makes it");
  arguments->import_flags.add_to(*command);
  command->add_option("--id", arguments->id,
                      "A name of your own: submitting the same again gives the same job");
  command->add_option("--priority", arguments->priority, "Jobs with a higher priority start first")
      ->check(CLI::Range(-kMostPriority, kMostPriority))
      ->capture_default_str();
  command
      ->add_option("--deadline", arguments->deadline_s,
                   "Seconds from now: the job is refused if it cannot be over by then, and fails "
                   "if it is not; 0: none")
      ->check(CLI::Range(0.0, 3e7))
      ->capture_default_str();
  command
      ->add_option("--retry", arguments->retry_s,
                   "Seconds for which it is submitted again if the server has no room for it now")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  command->add_flag("--wait", arguments->wait,
                    "Return when the job is over; exit code 1 if it failed");
  arguments->server.add_to(*command);
  accept_seed(*command);
  command->callback([arguments, &exit_code] { exit_code = run_submit(*arguments); });
}

}  // namespace tutti
