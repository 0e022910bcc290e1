// What the server reads: the start of a request, the job in its body, and its own journal.

#include <string_view>
#include <variant>

#include "test/fuzz/harness.h"
#include "test/fuzz/promises.h"
#include "tutti/plan/testing.h"
#include "tutti/serve/core.h"
#include "tutti/serve/http/guard.h"
#include "tutti/serve/http/message.h"
#include "tutti/serve/journal/frames.h"
#include "tutti/serve/submission.h"

namespace tutti::fuzz {
namespace {

// Replays a journal into the core. Fails as the server would.
Result<void> replay(std::string_view bytes, Core& core) {
  const Surveyed surveyed = survey(bytes);
  if (const Result<void> whole = check_whole(surveyed, "input", "folder"); !whole) return whole;
  for (const Surveyed::Frame& frame : surveyed.frames) {
    Result<Record> record = read_record(frame.payload, surveyed.version);
    if (record && surveyed.version == kJournalVersion) {
      TUTTI_CHECK(to_bytes(*record) == frame.payload);
    }
    const Result<void> taken =
        record ? core.replay(std::move(*record)) : Result<void>(record.error());
    if (!taken) return Error{taken.error().kind, "input: a record: " + taken.error().message};
  }
  return {};
}

// The same jobs, whatever journal they come from.
void expect_same_jobs(const Core& core, const Core& again) {
  const auto jobs = core.list({}, kLongestTimeNs, 1000);
  const auto others = again.list({}, kLongestTimeNs, 1000);
  TUTTI_CHECK(jobs.size() == others.size());
  for (size_t i = 0; i < jobs.size(); ++i) {
    TUTTI_CHECK(jobs[i].id == others[i].id && jobs[i].state == others[i].state);
    TUTTI_CHECK(jobs[i].attempts == others[i].attempts);
  }
}

}  // namespace

bool fuzz_http_head(const uint8_t* data, size_t size) {
  const auto read = read_head({reinterpret_cast<const char*>(data), size});
  if (const auto* refused = std::get_if<HttpReply>(&read)) {
    TUTTI_CHECK(refused->status >= 400 && refused->status < 600);
    return false;
  }
  const auto& head = std::get<HttpHead>(read);
  TUTTI_CHECK(head.path.starts_with('/') && head.content_length >= 0);
  // Nobody comes in without the token but to see the page.
  const Admission admission = Guard("a token nobody guesses", {}).admit(head);
  TUTTI_CHECK(!admission.trusted);
  TUTTI_CHECK(admission.refused || head.path == "/" || head.path == "/healthz" ||
              head.path == "/readyz");
  return true;
}

bool fuzz_submission(const uint8_t* data, size_t size) {
  constexpr int64_t kMostOps = 100;
  const MakeGraph make = [](const std::string& words, int64_t most_ops) -> Result<Graph> {
    TUTTI_CHECK(most_ops == kMostOps);
    if (words != "two") return invalid_input("these words make no graph");
    return testing::small_graph();
  };
  const std::string content(reinterpret_cast<const char*>(data), size);
  const Result<Graph> graph = read_submission(content, make, kMostOps);
  const Result<Graph> again = read_submission(content, make, kMostOps);
  TUTTI_CHECK(graph.has_value() == again.has_value());
  if (!graph) {
    TUTTI_CHECK(graph.error().kind == Error::Kind::invalid_input);
    expect_sentence(graph.error().message);  // of the job, or of who made the graph
    return false;
  }
  // What is in the journal is read again after a restart, and must be the same job.
  TUTTI_CHECK(graph->fingerprint() == again->fingerprint());
  if (size <= kSmallText) expect_round_trip(*graph);
  return true;
}

bool fuzz_journal(const uint8_t* data, size_t size) {
  Core core({.kept_jobs = 1000});
  const Result<void> taken = replay({reinterpret_cast<const char*>(data), size}, core);
  if (!taken) {
    expect_refusal(taken.error());
    return false;
  }
  const std::string id(32, 'a');
  std::string bytes = journal_header(id, {});
  int64_t sequence = 0;
  for (const Record& record : core.snapshot()) {
    add_frame(bytes, id, ++sequence, 0, to_bytes(record));
  }
  Core again({.kept_jobs = 1000});
  TUTTI_CHECK(replay(bytes, again));
  expect_same_jobs(core, again);
  core.recovered(1);
  return true;
}

}  // namespace tutti::fuzz
