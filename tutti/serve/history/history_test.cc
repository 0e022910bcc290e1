#include "tutti/serve/history/history.h"

#include <gtest/gtest.h>

#include <fstream>

#include "test/support/world.h"
#include "tutti/base/file/document.h"
#include "tutti/machine/preset.h"
#include "tutti/serve/served_testing.h"
#include "tutti/trace/check.h"
#include "tutti/trace/file.h"

namespace tutti {
namespace {

// a and b, which reads a, on one device: a waits for a decision and for the device, b for its
// operand and for memory.
RunRecord two_ops() {
  Problem problem = must(Problem::make(
      graph_from(
          R"("ops":[{"name":"a","run_time_ns":100,"outputs":[{"bytes":8}]},{"name":"b","operands":["a"],"run_time_ns":100}])"),
      must(make_preset("uniform-1"))));
  RunRecord run{.problem = std::make_shared<const Problem>(std::move(problem)),
                .completion = Duration(400)};
  run.trace.runtime = {.name = "local", .movement = Movement::direct};
  run.trace.measurement = Measurement{.process = 1, .began_unix_ms = 1};
  run.trace.graph_fingerprint = run.problem->graph.fingerprint();
  run.trace.machine_fingerprint = run.problem->machine.fingerprint();
  run.trace.makespan = Duration(400);
  run.trace.ops = {
      {.op = OpId{0}, .device = DeviceId{0}, .start = Duration(60), .finish = Duration(160)},
      {.op = OpId{1}, .device = DeviceId{0}, .start = Duration(300), .finish = Duration(400)}};
  run.trace.placed = {{OpId{0}, Duration(30)}, {OpId{1}, Duration(200)}};
  run.phases = {{.op = OpId{0},
                 .ready = Duration(0),
                 .no_room = Duration(10),
                 .placed = Duration(30),
                 .fetched = Duration(30),
                 .taken = Duration(60),
                 .started = Duration(60)},
                {.op = OpId{1},
                 .ready = Duration(160),
                 .placed = Duration(200),
                 .fetched = Duration(250),
                 .taken = Duration(250),
                 .started = Duration(300)}};
  return run;
}

EndedJob ended(int64_t number, const std::string& id, JobState state = JobState::done) {
  EndedJob job{.facts = {},
               .content = std::make_shared<const std::string>(R"({"make": "two"})"),
               .runtime = "local",
               .policy = "fifo",
               .machine = "uniform-1"};
  job.facts = {.number = number, .id = id, .graph = "two", .ops = 2, .state = state};
  job.facts.accepted_ms = 1000 + number;
  job.facts.started_ms = 1001 + number;
  job.facts.ended_ms = 1002 + number;
  if (state == JobState::done) job.run = std::make_shared<const RunRecord>(two_ops());
  return job;
}

TEST(JobWaits, SayWhatAnOpWaitedFor) {
  const std::vector<OpWait> waits = op_waits(two_ops());
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits[0].waits.deciding, Duration(20));
  EXPECT_EQ(waits[0].waits.device, Duration(10 + 30));
  EXPECT_EQ(waits[0].waits.operands, Duration(0));
  EXPECT_EQ(waits[1].waits.deciding, Duration(40));
  EXPECT_EQ(waits[1].waits.operands, Duration(50));
  EXPECT_EQ(waits[1].waits.memory, Duration(50));
  // From ready to its start, nothing is left over.
  for (const OpWait& one : waits) EXPECT_EQ(one.ready + one.waits.total(), one.started);
}

TEST(JobWaits, ComeFromTheTraceIfTheRuntimeNotedNone) {
  RunRecord run = two_ops();
  run.phases.clear();
  run.trace.transfers = {{.value = *run.problem->graph.outputs(OpId{0}).begin(),
                          .from = MemoryId{0},
                          .to = run.problem->machine.memory_of(DeviceId{0}),
                          .start = Duration(210),
                          .finish = Duration(240)}};
  const std::vector<OpWait> waits = op_waits(run);
  EXPECT_EQ(waits[1].waits.deciding, Duration(40));
  EXPECT_EQ(waits[1].waits.operands, Duration(40));
  EXPECT_EQ(waits[1].waits.device, Duration(60));
  for (const OpWait& one : waits) EXPECT_EQ(one.ready + one.waits.total(), one.started);
}

TEST(JobWaits, TimesAreSinceTheJobArrived) {
  Cluster cluster = must(Cluster::make(must(make_preset("uniform-1")), {}));
  const auto job = must(cluster.add_job(graph_from(R"("ops":[{"name":"a","run_time_ns":100}])")));
  JobRecord record{.job = job, .arrival = Duration(1000), .finish = Duration(1300)};
  record.trace.ops = {
      {.op = OpId{0}, .device = DeviceId{0}, .start = Duration(1200), .finish = Duration(1300)}};
  record.trace.placed = {{OpId{0}, Duration(1100)}};
  const RunRecord run = run_record(record);
  EXPECT_EQ(run.completion, Duration(300));
  EXPECT_EQ(run.trace.ops[0].start, Duration(200));
  EXPECT_EQ(run.trace.placed[0].time, Duration(100));
  EXPECT_EQ(run.trace.makespan, Duration(300));
  EXPECT_EQ(critical_path(*run.problem), job->critical_path());
}

TEST(KeptJob, HasTheSlowDownAndATraceThatTheJudgeReads) {
  const EndedJob job = ended(7, "mine");
  const Result<KeptJob> kept = kept_job_from_file("7.job", to_file(keep_job(job)));
  ASSERT_TRUE(kept) << kept.error().message;
  Source source = Source::from_text("summary", kept->summary);
  const Document summary = must(read_json(source));
  // A queue of 1 ms and a run of 400 ns, over two ops of 100 ns.
  EXPECT_NEAR(summary.find("slowdown")->number, 1'000'400.0 / 200, 1e-6);
  EXPECT_NEAR(summary.find("run_slowdown")->number, 2, 1e-9);
  EXPECT_EQ(summary.find("waits")->find("operands_ns")->number, 50);
  EXPECT_EQ(summary.find("lanes")->items.size(), 1u);
  EXPECT_EQ(kept->submission, R"({"make": "two"})");
  Source trace_source = Source::from_text("trace", kept->trace);
  const Result<Trace> trace = read_trace(trace_source, *job.run->problem);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->ops.size(), 2u);
  EXPECT_TRUE(is_summary_of(kept->summary, job.facts));
  JobFacts other = job.facts;
  other.accepted_ms += 1;
  EXPECT_FALSE(is_summary_of(kept->summary, other));
}

TEST(KeptJob, OfAFailedJobSaysWhyAndHasNoTrace) {
  EndedJob job = ended(7, "mine", JobState::failed);
  job.facts.message = "op 'x' failed";
  const KeptJob kept = keep_job(job);
  EXPECT_TRUE(kept.trace.empty());
  EXPECT_NE(kept.summary.find("failed: op 'x' failed"), std::string::npos) << kept.summary;
}

TEST(KeptJob, RefusesFilesThatAreNone) {
  const std::string good = to_file(keep_job(ended(7, "mine")));
  for (const std::string& text : std::vector<std::string>{
           std::string(), std::string("tutti-history 1"), good.substr(0, good.size() - 1),
           good + "x", "tutti-history 1 1 2\nabc", "tutti-history 1 1 1 99999999999999999999\nab",
           "tutti-history 1 -1 1 1\nab", "tutti-history 2 1 1 1\nabc"}) {
    const Result<KeptJob> kept = kept_job_from_file("7.job", text);
    ASSERT_FALSE(kept) << text.substr(0, 40);
    EXPECT_EQ(kept.error().message.find("7.job: "), 0u) << kept.error().message;
  }
}

TEST(History, KeepsAJobAndFindsItAgainAfterARestart) {
  const TestFolder folder;
  const EndedJob job = ended(3, "mine");
  {
    const auto history = must(History::open(folder.path() + "/h", {}));
    history->keep(job);
    history->flush();
    EXPECT_EQ(history->figures().jobs, 1);
    EXPECT_GT(history->figures().bytes, 100);
  }
  const auto again = must(History::open(folder.path() + "/h", {}));
  EXPECT_EQ(again->figures().jobs, 1);
  EXPECT_TRUE(again->find(job.facts));
  // Another job has that number since the journal was moved away.
  EXPECT_FALSE(again->find(ended(3, "other").facts));
  JobFacts running = job.facts;
  running.state = JobState::running;
  EXPECT_FALSE(again->find(running));
}

TEST(History, DeletesTheOldestFirst) {
  const TestFolder folder;
  std::vector<int64_t> deleted;
  const auto history = must(History::open(folder.path() + "/h", {.jobs = 3},
                                          [&](int64_t job) { deleted.push_back(job); }));
  for (int i = 1; i <= 5; ++i) history->keep(ended(i, "job" + std::to_string(i)));
  history->flush();
  EXPECT_EQ(deleted, (std::vector<int64_t>{1, 2}));
  EXPECT_FALSE(history->find(ended(2, "job2").facts));
  EXPECT_TRUE(history->find(ended(3, "job3").facts));
  EXPECT_EQ(history->figures().jobs, 3);
  EXPECT_EQ(history->figures().deleted_total, 2);
}

TEST(History, KeepsWithinItsBytes) {
  const TestFolder folder;
  const int64_t one = static_cast<int64_t>(to_file(keep_job(ended(1, "a"))).size());
  const auto history = must(History::open(folder.path() + "/h", {.bytes = 3 * one + one / 2}));
  for (int i = 1; i <= 9; ++i) history->keep(ended(i, "a"));
  history->flush();
  EXPECT_EQ(history->figures().jobs, 3);
  EXPECT_LE(history->figures().bytes, 3 * one + one / 2);
}

TEST(History, LeavesTheDiskEnoughForTheJournal) {
  const TestFolder folder;
  const std::string path = folder.path() + "/h";
  {
    const auto history = must(History::open(path, {}));
    history->keep(ended(1, "a"));
    history->flush();
    EXPECT_EQ(history->figures().jobs, 1);
  }
  // No disk has that much.
  const auto history = must(History::open(path, {.left_free = int64_t{1} << 62}));
  history->keep(ended(2, "b"));
  history->flush();
  EXPECT_EQ(history->figures().jobs, 0);
  EXPECT_EQ(history->figures().left_out_total, 1);
  EXPECT_EQ(history->figures().deleted_total, 1);
}

TEST(History, ForgetsWithTheFileWhatElseThereIsOfAJob) {
  const TestFolder folder;
  std::vector<int64_t> deleted;
  const auto history =
      must(History::open(folder.path() + "/h", {}, [&](int64_t job) { deleted.push_back(job); }));
  for (const int number : {1, 2}) history->keep(ended(number, "a"));
  history->forget(1);
  history->forget(7);  // of which there is no file
  history->flush();
  EXPECT_EQ(deleted, (std::vector<int64_t>{1, 7}));
  EXPECT_FALSE(history->find(ended(1, "a").facts));
  EXPECT_TRUE(history->find(ended(2, "a").facts));
  EXPECT_EQ(history->figures().jobs, 1);
}

TEST(History, DeletesWhatIsTooOld) {
  const TestFolder folder;
  {
    const auto history = must(History::open(folder.path() + "/h", {}));
    history->keep(ended(1, "a"));
    history->flush();
  }
  const auto long_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(48);
  std::filesystem::last_write_time(folder.path() + "/h/1.job", long_ago);
  const auto history = must(History::open(folder.path() + "/h", {.age = std::chrono::hours(24)}));
  history->keep(ended(2, "b"));
  history->flush();
  EXPECT_FALSE(history->find(ended(1, "a").facts));
  EXPECT_TRUE(history->find(ended(2, "b").facts));
}

TEST(History, AJobThatRanAgainReplacesItsFile) {
  const TestFolder folder;
  const auto history = must(History::open(folder.path() + "/h", {.jobs = 2}));
  for (const int number : {1, 1, 1, 2}) history->keep(ended(number, "a"));
  history->flush();
  EXPECT_EQ(history->figures().jobs, 2);
  EXPECT_EQ(history->figures().deleted_total, 0);
}

TEST(History, PassesOverForeignFilesAndRemovesHalfWrittenOnes) {
  const TestFolder folder;
  std::filesystem::create_directory(folder.path() + "/h");
  std::ofstream(folder.path() + "/h/notes.txt") << "mine";
  std::ofstream(folder.path() + "/h/9.job.new") << "half";
  std::ofstream(folder.path() + "/h/8.job") << "not ours";
  const auto history = must(History::open(folder.path() + "/h", {}));
  EXPECT_EQ(history->figures().jobs, 1);
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/h/9.job.new"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/h/notes.txt"));
  const Result<KeptJob> broken = history->find(ended(8, "a").facts);
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message.find("is no history of a job"), std::string::npos);
}

TEST(HistoryApi, AnswersWithTheJobsHistoryOrWithTheReason) {
  const TestFolder folder;
  const Served served(folder.path());
  EXPECT_EQ(served.submit("?id=mine"), 201);
  const HttpReply early = served.ask("GET", "/v1/jobs/mine/history");
  EXPECT_EQ(early.status, 404);
  EXPECT_NE(early.body.find("when it is over"), std::string::npos) << early.body;
  served.runner->let(1);
  EXPECT_EQ(served.state("mine"), "done");
  const auto kept = [&] { return served.ask("GET", "/v1/jobs/mine/history"); };
  while (kept().status != 200) std::this_thread::yield();  // a thread of its own writes it
  EXPECT_NE(kept().body.find("\"tutti-history\""), std::string::npos);
  // The gated runner records nothing.
  EXPECT_EQ(served.ask("GET", "/v1/jobs/mine/trace").status, 404);
  EXPECT_EQ(served.ask("GET", "/v1/jobs/mine/timeline").status, 404);
  EXPECT_EQ(served.ask("GET", "/v1/jobs/absent/history").status, 404);
  EXPECT_EQ(served.ask("GET", "/v1/jobs/mine/other").status, 404);
  EXPECT_EQ(served.ask("DELETE", "/v1/jobs/mine/history").status, 405);
}

}  // namespace
}  // namespace tutti
