// tutti serve and the commands that ask it, run as a user would.

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "test/support/cli.h"
#include "tutti/machine/preset.h"
#include "tutti/policy/symphony/model.h"
#include "tutti/runtime/sim/jobs/options.h"

namespace tutti {
namespace {

class ServeCommands : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    ::unsetenv("TUTTI_TOKEN");
    ::unsetenv("TUTTI_SERVER");
  }
  void TearDown() override {
    if (server_ > 0) end(SIGKILL);
    Cli::TearDown();
  }

  // Starts a server at a free port and returns when it listens.
  void serve(std::vector<std::string> more = {}, rlim_t longest_file = 0) {
    std::vector<std::string> words = {TUTTI_BINARY,  "serve",   "--listen",
                                      "127.0.0.1:0", "--state", path("jobs")};
    words.insert(words.end(), more.begin(), more.end());
    int both[2];
    ASSERT_EQ(::pipe(both), 0);
    server_ = ::fork();
    if (server_ == 0) {
      ::dup2(both[1], STDOUT_FILENO);
      ::close(both[0]);
      const int err = ::open(path("err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      ::dup2(err, STDERR_FILENO);
      if (longest_file > 0) {
        const rlimit bytes{longest_file, longest_file};
        ::setrlimit(RLIMIT_FSIZE, &bytes);  // it has to survive the signal itself
      }
      std::vector<char*> raw;
      for (std::string& word : words) raw.push_back(word.data());
      raw.push_back(nullptr);
      ::execv(TUTTI_BINARY, raw.data());
      ::_exit(127);
    }
    ::close(both[1]);
    std::string said;
    char byte = 0;
    while (::read(both[0], &byte, 1) == 1 && byte != '\n') said += byte;
    output_ = both[0];
    const size_t at = said.find("http://");
    ASSERT_NE(at, std::string::npos) << said;
    address_ = said.substr(at, said.find(' ', at) - at);
  }

  int end(int signal) {
    ::kill(server_, signal);
    int status = 0;
    ::waitpid(server_, &status, 0);
    ::close(output_);
    server_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  void signal(int number) const { ::kill(server_, number); }

  Ran ask(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--server", address_});
    return run(arguments);
  }

  std::string address_;

 private:
  pid_t server_ = -1;
  int output_ = -1;
};

constexpr const char* kSmall = "cholesky --tiles 2 --tile-size 16 --devices 1";

TEST_F(ServeCommands, SubmitWaitsForAJobThatRanForReal) {
  serve({"--machine", "this-host:1x1"});
  const Ran ran = ask({"submit", "--make", kSmall, "--id", "night-1", "--wait"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_TRUE(ran.out.starts_with("night-1: done, makespan ")) << ran.out;
  EXPECT_NE(ran.out.find("(cholesky_2, 4 ops)"), std::string::npos) << ran.out;
  const Ran status = ask({"status", "night-1", "--json"});
  EXPECT_NE(status.out.find("\"attempts\":1"), std::string::npos) << status.out;
  EXPECT_EQ(ask({"status"}).exit_code, 0);
}

TEST_F(ServeCommands, SubmitConvertsOtherFormats) {
  serve({"--runtime", "sim", "--machine", "uniform-2"});
  const std::string dot = write("graph.dot", "digraph g { a -> b; a -> c; }\n");
  const Ran ran = ask({"submit", dot, "--wait"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_TRUE(ran.out.starts_with("job-1: done")) << ran.out;
}

TEST_F(ServeCommands, AJobIsThereAfterAKillAndRunsOnce) {
  serve({"--runtime", "sim", "--machine", "uniform-2", "--run-log", path("runs")});
  const std::string graph = write("graph.json", kGraph);
  ASSERT_EQ(ask({"submit", graph, "--id", "a", "--wait"}).exit_code, 0);
  EXPECT_EQ(end(SIGKILL), 128 + SIGKILL);
  serve({"--runtime", "sim", "--machine", "uniform-2", "--run-log", path("runs")});
  const Ran again = ask({"submit", graph, "--id", "a", "--wait"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(end(SIGTERM), 0);
  const std::string runs = read_text(path("runs"));
  EXPECT_EQ(std::count(runs.begin(), runs.end(), '\n'), 2) << runs;
}

TEST_F(ServeCommands, DrainTakesNothingNew) {
  serve({"--runtime", "sim", "--machine", "uniform-2"});
  const Ran drained = ask({"drain", "--wait"});
  EXPECT_EQ(drained.exit_code, 0) << drained.err;
  EXPECT_EQ(drained.out, "drained: no job is open\n");
  const Ran ran = ask({"submit", "--make", kSmall});
  EXPECT_EQ(ran.exit_code, 1);
  expect_one_sentence(ran, "draining");
  const Ran cancelled = ask({"cancel", "nobody"});
  EXPECT_EQ(cancelled.exit_code, 2);
  expect_one_sentence(cancelled, "no job of that id");
}

// Libraries start threads before main() is reached, and any of them may get the signal.
TEST_F(ServeCommands, EndsInOrderWheneverItIsAskedTo) {
  for (int i = 0; i < 20; ++i) {
    serve({"--runtime", "sim", "--machine", "uniform-2"});
    ASSERT_EQ(end(i % 2 == 0 ? SIGTERM : SIGINT), 0) << "server " << i;
  }
}

TEST_F(ServeCommands, NobodyWaitsForAServerWhoseDiskIsFull) {
  serve({"--runtime", "sim", "--machine", "uniform-2"}, 6000);
  const std::string graph = write("graph.json", kGraph);
  Ran ran;
  for (int i = 0; i < 20 && ran.exit_code <= 0; ++i) {
    ran = ask({"submit", graph, "--id", "j" + std::to_string(i)});
  }
  EXPECT_EQ(ran.exit_code, 1);
  expect_one_sentence(ran, "the journal has failed");
  const Ran drained = ask({"drain", "--wait"});
  EXPECT_EQ(drained.exit_code, 1);
  expect_one_sentence(drained, "the journal has failed");
  for (int i = 0; i < 20; ++i) {  // over before the disk was full, never accepted, or neither
    const Ran waited = ask({"status", "j" + std::to_string(i), "--wait"});
    if (waited.exit_code != 0) expect_one_sentence(waited, "");
  }
  EXPECT_EQ(end(SIGTERM), 1);
  const std::string said = read_text(path("err"));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_NE(said.find("make room"), std::string::npos) << said;
}

TEST_F(ServeCommands, AModelOfSymphonyDecidesForTheClusterItWasMadeFor) {
  const Cluster cluster = *Cluster::make(*make_preset("uniform-2"), {});
  const std::string model = write(
      "model.safetensors",
      tensors_to_bytes(SymphonyModel::fresh({}, cluster, usual_counters(cluster.machine()), 1)));
  const std::vector<std::string> words = {"--runtime", "cluster", "--policy", "symphony=" + model};
  std::vector<std::string> more = words;
  more.insert(more.end(), {"--machine", "uniform-2", "--parallel", "2"});
  serve(more);
  const Ran ran = ask({"submit", write("graph.json", kGraph), "--id", "a", "--wait"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ask({"status"}).out.find("symphony=" + model), std::string::npos);
  EXPECT_EQ(end(SIGTERM), 0);
  std::vector<std::string> other = {"serve",       "--state",   path("jobs"), "--listen",
                                    "127.0.0.1:0", "--machine", "p100-4"};
  other.insert(other.end(), words.begin(), words.end());
  const Ran refused = run(other);
  EXPECT_EQ(refused.exit_code, 2);
  expect_one_sentence(refused, model);
}

TEST_F(ServeCommands, RealJobsShareTheMachineUnderADecider) {
  const std::vector<std::string> words = {"--machine", "this-host:1x1", "--policy",
                                          "heft",      "--parallel",    "3"};
  serve(words);
  for (int i = 0; i < 6; ++i) {
    ASSERT_EQ(ask({"submit", "--make", kSmall, "--id", "j" + std::to_string(i)}).exit_code, 0);
  }
  EXPECT_EQ(end(SIGKILL), 128 + SIGKILL);
  serve(words);
  for (int i = 0; i < 6; ++i) {
    const Ran ran = ask({"status", "j" + std::to_string(i), "--wait"});
    EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  }
  EXPECT_EQ(end(SIGTERM), 0);
}

TEST_F(ServeCommands, ReloadChangesThePolicyAndRefusesWhatCannotBe) {
  const std::string machine = write("machine.json", run({"machine", "show", "uniform-2"}).out);
  serve({"--runtime", "sim", "--machine", machine});
  const Ran other = ask({"reload", "--policy", "graphene"});
  EXPECT_EQ(other.exit_code, 0) << other.err;
  EXPECT_NE(other.out.find("decided by graphene"), std::string::npos) << other.out;
  const Ran unknown = ask({"reload", "--policy", "nobody"});
  EXPECT_EQ(unknown.exit_code, 2);
  expect_one_sentence(unknown, "nobody");
  EXPECT_EQ(ask({"submit", write("graph.json", kGraph), "--wait"}).exit_code, 0);
  write("machine.json", "{");
  const Ran broken = ask({"reload"});
  EXPECT_EQ(broken.exit_code, 2);
  expect_one_sentence(broken, "machine.json");
  signal(SIGHUP);
  EXPECT_EQ(ask({"submit", path("graph.json"), "--wait"}).exit_code, 0);  // the old one stays
  EXPECT_NE(ask({"status"}).out.find("decided by graphene"), std::string::npos);
  EXPECT_EQ(end(SIGTERM), 0);
  EXPECT_NE(read_text(path("err")).find("all stays as it was"), std::string::npos);
}

TEST_F(ServeCommands, ReloadReadsNoPipesAndNoStandardInput) {
  serve({"--runtime", "sim", "--machine", "uniform-2"});
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  for (const char* flag : {"--machine", "--costs"}) {
    const Ran pipe = ask({"reload", flag, path("pipe")});
    EXPECT_EQ(pipe.exit_code, 2);
    expect_one_sentence(pipe, "no regular file");
    const Ran input = ask({"reload", flag, "-"});
    EXPECT_EQ(input.exit_code, 2);
    expect_one_sentence(input, "standard input");
  }
  EXPECT_EQ(ask({"reload"}).exit_code, 0);
  EXPECT_EQ(end(SIGTERM), 0);
}

TEST_F(ServeCommands, ReloadRefusesABrokenFileOfTokens) {
  const std::string tokens = write("tokens", "0123456789abcdef0123\n");
  const std::string mine = write("mine", "0123456789abcdef0123\n");
  for (const std::string& file : {tokens, mine}) ::chmod(file.c_str(), 0600);
  serve({"--runtime", "sim", "--machine", "uniform-2", "--token-file", tokens});
  write("tokens", "short\n");
  const Ran broken = ask({"reload", "--token-file", mine});
  EXPECT_EQ(broken.exit_code, 2);
  expect_one_sentence(broken, "tokens:1");
}

TEST_F(ServeCommands, ATraceOnStandardOutputIsAloneThere) {
  serve({"--runtime", "sim", "--machine", "uniform-2"});
  EXPECT_EQ(ask({"submit", "--make", kSmall, "--id", "a", "--deadline", "nan"}).exit_code, 2);
  EXPECT_EQ(ask({"submit", "--make", kSmall, "--id", "a", "--wait"}).exit_code, 0);
  Ran trace;
  for (int i = 0; i < 600; ++i) {  // it is written after the job's end
    trace = ask({"status", "a", "--trace", "-"});
    if (trace.exit_code == 0) break;
    ::usleep(100'000);
  }
  EXPECT_EQ(trace.exit_code, 0) << trace.err;
  EXPECT_EQ(trace.out.find("a: done"), std::string::npos) << trace.out;
  EXPECT_EQ(trace.out.substr(trace.out.find_last_not_of(" \n"), 1), "}") << trace.out;
}

TEST_F(ServeCommands, ClientsAreListedWithTheirSharesAndHeldToTheirQuotas) {
  const std::string tokens =
      write("tokens", "alice 0123456789abcdef0123\nbob 0123456789abcdef0124\n");
  const std::string alice = write("alice", "0123456789abcdef0123\n");
  const std::string bob = write("bob", "0123456789abcdef0124\n");
  for (const std::string& file : {tokens, alice, bob}) ::chmod(file.c_str(), 0600);
  const std::string clients = write(
      "clients.json",
      R"({"schema_version": 1, "client": [{"name": "alice", "weight": 3}, {"name": "bob", "open_jobs": 1}]})");
  serve(
      {"--runtime", "sim", "--machine", "uniform-2", "--token-file", tokens, "--clients", clients});
  const std::string graph = write("graph.json", kGraph);
  EXPECT_EQ(ask({"submit", graph, "--wait", "--token-file", alice}).exit_code, 0);
  EXPECT_EQ(ask({"submit", graph, "--wait", "--token-file", bob}).exit_code, 0);
  const Ran status = ask({"status", "--token-file", bob});
  EXPECT_NE(status.out.find("share of device time"), std::string::npos) << status.out;
  EXPECT_NE(status.out.find("alice"), std::string::npos) << status.out;
  write("clients.json", R"({"schema_version": 1, "client": [{"name": "alice", "wieght": 3}]})");
  const Ran broken = ask({"reload", "--token-file", bob});
  EXPECT_EQ(broken.exit_code, 2);
  expect_one_sentence(broken, "wieght");
  EXPECT_EQ(end(SIGTERM), 0);
  const Ran refused = run({"serve", "--state", path("jobs"), "--clients", clients});
  EXPECT_EQ(refused.exit_code, 2);
  expect_one_sentence(refused, "clients.json:1");
}

TEST_F(ServeCommands, ATokenIsAskedOfEverybody) {
  const std::string token = write("token", "0123456789abcdef0123\n");
  ASSERT_EQ(::chmod(token.c_str(), 0600), 0);
  serve({"--runtime", "sim", "--machine", "uniform-2", "--token-file", token});
  const Ran without = ask({"submit", "--make", kSmall});
  EXPECT_EQ(without.exit_code, 2);
  expect_one_sentence(without, "asks for a token");
  const std::string other = write("other", "0123456789abcdef0124\n");
  expect_one_sentence(ask({"status", "--token-file", other}), "not the token");
  EXPECT_EQ(ask({"submit", "--make", kSmall, "--token-file", token, "--wait"}).exit_code, 0);
}

TEST_F(ServeCommands, WordsThatMakeNoGraphAreRefusedByTheServer) {
  serve({"--runtime", "sim", "--machine", "uniform-2", "--max-ops", "1000"});
  for (const char* words :
       {"nothing", "--help", "cholesky --help", "cholesky --tiles", "cholesky --tiles 2 -o x",
        "cholesky --tiles 1000", "layered --ops 100000000", "tree --levels 40",
        "chainmm --size 100000 --split 1000,1000,1000"}) {
    const Ran ran = ask({"submit", std::string("--make=") + words});
    EXPECT_EQ(ran.exit_code, 2) << words << ran.out;
    expect_one_sentence(ran, "");
  }
  EXPECT_EQ(ask({"submit", "--make", "layered --ops 900"}).exit_code, 0);
}

TEST_F(ServeCommands, SaySoInOneSentenceWhereNobodyServes) {
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"submit", "--make", kSmall},
        {"status"},
        {"cancel", "a"},
        {"drain"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--server", "http://127.0.0.1:1"});
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.exit_code, 1) << ran.err;
    expect_one_sentence(ran, "no tutti serve answers at http://127.0.0.1:1");
    arguments.back() = "http://nowhere";
    const Ran wrong = run(arguments);
    EXPECT_EQ(wrong.exit_code, 2) << wrong.err;
    expect_one_sentence(wrong, "is no server");
  }
  const Ran both = run({"submit"});
  EXPECT_EQ(both.exit_code, 2);
  expect_one_sentence(both, "name a graph file");
}

TEST_F(ServeCommands, ServeRefusesWhatItCannotDoInOneSentence) {
  const std::string state = path("jobs");
  const std::string token = write("token", "short\n");
  const std::pair<std::vector<std::string>, const char*> wrong[] = {
      {{"--listen", "0.0.0.0:0"}, "others can reach 0.0.0.0:0"},
      {{"--listen", "here"}, "is no address to listen at"},
      {{"--token-file", token}, "a token is one line of 16"},
      {{"--token-file", path("none")}, "none"},
      {{"--policy", "nobody"}, "nobody"},
      {{"--policy", "peft"}, "plans ahead"},
      {{"--policy", "symphony"}, "symphony=FILE"},
      {{"--policy", "fifo", "--quick", "graphene"}, "models of Symphony"},
      {{"--machine", "nowhere"}, "nowhere"},
      {{"--clients", path("absent.toml")}, "absent.toml"},
      {{"--run-log", path("no/such/folder")}, "cannot be written"},
  };
  for (const auto& [more, sentence] : wrong) {
    std::vector<std::string> arguments = {"serve", "--listen", "127.0.0.1:0", "--state", state};
    arguments.insert(arguments.end(), more.begin(), more.end());
    if (more[0] == "--listen") arguments.erase(arguments.begin() + 1, arguments.begin() + 3);
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.exit_code, 2) << more[0] << ran.err;
    expect_one_sentence(ran, sentence);
  }
}

// A graph of one command, with more keys of that.
std::string command_graph(const std::string& script, const std::string& more = "") {
  return R"({"format": "tutti-graph", "schema_version": 2, "name": "c", "ops": [{"name": "a",
    "run_time_ns": 1000, "command": {"argv": ["/bin/sh", "-c", ")" +
         script + "\"]" + more + "}}]}\n";
}

const std::vector<std::string> kWithCommands = {"--machine", "this-host:1x1", "--allow-commands"};

TEST_F(ServeCommands, AJobThatNeverRanIsNotDoneWhereNumbersBeginAgain) {
  const std::string graph = write("graph.json", command_graph("echo ran >> " + path("marks")));
  serve(kWithCommands);
  ASSERT_EQ(ask({"submit", graph, "--id", "a", "--wait"}).exit_code, 0);
  EXPECT_EQ(read_text(path("marks")), "ran\n");
  EXPECT_EQ(end(SIGTERM), 0);
  std::filesystem::rename(path("jobs/journal"), path("jobs/journal.aside"));
  serve(kWithCommands);
  ASSERT_EQ(ask({"submit", graph, "--id", "a", "--wait"}).exit_code, 0);
  EXPECT_EQ(read_text(path("marks")), "ran\nran\n");
  EXPECT_EQ(end(SIGTERM), 0);
  EXPECT_NE(read_text(path("err")).find("history, which has a job 1 that it does not know"),
            std::string::npos)
      << read_text(path("err"));
}

TEST_F(ServeCommands, FoldersOfTheFirstVersionAreRefusedUntilTheyAreAdopted) {
  const std::string graph = write(
      "graph.json",
      command_graph("echo ran >> " + path("marks") + "; test -e " + path("go") + " || sleep 1000"));
  serve(kWithCommands);
  ASSERT_EQ(ask({"submit", graph, "--id", "a"}).exit_code, 0);
  while (!std::filesystem::exists(path("marks"))) ::usleep(10000);
  end(SIGKILL);
  ASSERT_TRUE(std::filesystem::remove(path("jobs/runs/1/job.json")));
  std::vector<std::string> words = {"serve", "--state", path("jobs"), "--listen", "127.0.0.1:0"};
  words.insert(words.end(), kWithCommands.begin(), kWithCommands.end());
  const Ran refused = run(words);
  EXPECT_EQ(refused.exit_code, 2);
  expect_one_sentence(refused, "--adopt-runs");
  write("go", "");
  std::vector<std::string> adopting = kWithCommands;
  adopting.push_back("--adopt-runs");
  serve(adopting);
  EXPECT_EQ(ask({"status", "a", "--wait"}).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(path("jobs/runs/1.old-1")));
  EXPECT_TRUE(std::filesystem::exists(path("jobs/runs/1/job.json")));
}

TEST_F(ServeCommands, APipeAsAnOutputFileIsAFailureAndBlocksNobody) {
  serve(kWithCommands);
  const std::string graph = write(
      "graph.json",
      command_graph("mkfifo " + path("pipe"), ", \"output_files\": [\"" + path("pipe") + "\"]"));
  const Ran ran = ask({"submit", graph, "--id", "a", "--wait"});
  EXPECT_EQ(ran.exit_code, 1) << ran.out;
  EXPECT_NE((ran.out + ran.err).find("is a pipe; it must be a regular file"), std::string::npos)
      << ran.out << ran.err;
  EXPECT_EQ(end(SIGTERM), 0);
}

TEST_F(ServeCommands, CommandsGetNeitherTheTokenNorWhatIsNotListed) {
  ::setenv("TUTTI_TOKEN", "0123456789abcdef0123", 1);
  ::setenv("A_SECRET", "of-the-operator", 1);
  ::setenv("WANTED", "by-the-command", 1);
  std::vector<std::string> words = kWithCommands;
  words.insert(words.end(), {"--env", "WANTED"});
  serve(words);
  // The second line looks at what they can read of their supervisor and of the server.
  const std::string script = "env > " + path("seen") +
                             "; grep -ac 0123456789abcdef0123 /proc/$PPID/environ "
                             "/proc/$(sed -n 's/PPid:.//p' /proc/$PPID/status)/environ > " +
                             path("read") + "; true";
  const Ran ran = ask({"submit", write("graph.json", command_graph(script)), "--wait"});
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  for (const char* name : {"TUTTI_TOKEN", "A_SECRET", "WANTED"}) ::unsetenv(name);
  const std::string seen = read_text(path("seen"));
  EXPECT_EQ(seen.find("TUTTI_TOKEN"), std::string::npos) << seen;
  EXPECT_EQ(seen.find("A_SECRET"), std::string::npos) << seen;
  EXPECT_NE(seen.find("WANTED=by-the-command"), std::string::npos) << seen;
  EXPECT_NE(seen.find("PATH="), std::string::npos) << seen;
  const std::string read = read_text(path("read"));
  EXPECT_EQ(std::count(read.begin(), read.end(), '\n'), 2) << read;
  EXPECT_EQ(read.find(":1"), std::string::npos) << read;
  const auto mode = [&](const std::string& name) {
    return std::filesystem::status(path(name)).permissions();
  };
  EXPECT_EQ(mode("jobs"), std::filesystem::perms(0700));
  EXPECT_EQ(mode("jobs/lock"), std::filesystem::perms(0600));
  EXPECT_EQ(mode("jobs/runs/1/logs/0-a.1.log"), std::filesystem::perms(0600));
  const Ran refused = run({"serve", "--allow-commands", "--env", "TUTTI_TOKEN"});
  EXPECT_EQ(refused.exit_code, 2);
  expect_one_sentence(refused, "the token is not for commands");
}

TEST_F(ServeCommands, ASecondServerStaysOutThoughTheLockIsDeleted) {
  serve({"--runtime", "sim", "--machine", "uniform-2"});
  ASSERT_TRUE(std::filesystem::remove(path("jobs/lock")));
  const Ran second = run({"serve", "--runtime", "sim", "--machine", "uniform-2", "--state",
                          path("jobs"), "--listen", "127.0.0.1:0"});
  EXPECT_EQ(second.exit_code, 2);
  expect_one_sentence(second, "another run is at work in this folder");
}

TEST_F(ServeCommands, ServeDoesNotStartOnAJournalThatIsDamagedOrInUse) {
  serve({"--runtime", "sim", "--machine", "uniform-2"});
  for (const char* id : {"a", "b", "c"}) {
    ASSERT_EQ(ask({"submit", "--make", kSmall, "--id", id, "--wait"}).exit_code, 0);
  }
  const std::vector<std::string> another = {"serve",      "--runtime", "sim",
                                            "--machine",  "uniform-2", "--state",
                                            path("jobs"), "--listen",  "127.0.0.1:0"};
  expect_one_sentence(run(another), "another run is at work in this folder");
  EXPECT_EQ(end(SIGTERM), 0);
  std::string journal = read_text(path("jobs/journal"));
  journal[5000] = static_cast<char>(journal[5000] ^ 1);
  write("jobs/journal", journal);
  const Ran ran = run(another);
  EXPECT_EQ(ran.exit_code, 2);
  expect_one_sentence(ran, "journal: damaged at byte");
  expect_one_sentence(ran, "tutti journal repair " + path("jobs"));
  // As the sentence says.
  const Ran checked = run({"journal", "check", path("jobs")});
  EXPECT_EQ(checked.exit_code, 2);
  EXPECT_NE(checked.out.find("whole again: record "), std::string::npos) << checked.out;
  EXPECT_NE(checked.err.find("journal: damaged at byte"), std::string::npos) << checked.err;
  const Ran repaired = run({"journal", "repair", path("jobs")});
  EXPECT_EQ(repaired.exit_code, 0) << repaired.out << repaired.err;
  EXPECT_NE(repaired.out.find("whole again: record "), std::string::npos) << repaired.out;
  EXPECT_EQ(read_text(path("jobs/journal.damaged")), journal);
  EXPECT_EQ(run({"journal", "check", path("jobs")}).exit_code, 0);
  serve({"--runtime", "sim", "--machine", "uniform-2"});
  for (const char* id : {"a", "b", "c"}) {
    EXPECT_TRUE(ask({"status", id}).out.starts_with(std::string(id) + ": done")) << id;
  }
}

// The audit cut a journal where a record ends: nobody noticed.
TEST_F(ServeCommands, AJournalThatWasCutBackIsRepairedWithEveryLossNamed) {
  serve({"--runtime", "sim", "--machine", "uniform-2"});
  for (const char* id : {"a", "b"}) {
    ASSERT_EQ(ask({"submit", "--make", kSmall, "--id", id, "--wait"}).exit_code, 0);
  }
  EXPECT_EQ(end(SIGTERM), 0);
  // numbered, then acceptance, start and end of each: the last two records go.
  const std::string journal = read_text(path("jobs/journal"));
  constexpr size_t kStartAndEnd = 2 * (44 + 17) + 24;
  write("jobs/journal", journal.substr(0, journal.size() - kStartAndEnd));
  const Ran refused = run({"serve", "--runtime", "sim", "--machine", "uniform-2", "--state",
                           path("jobs"), "--listen", "127.0.0.1:0"});
  EXPECT_EQ(refused.exit_code, 2) << refused.out;
  expect_one_sentence(refused, "number 6 to 7 are not whole");
  const Ran repaired = run({"journal", "repair", path("jobs"), "--json"});
  EXPECT_EQ(repaired.exit_code, 1) << repaired.err;
  std::string found = repaired.out;
  std::erase_if(found, [](char c) { return c == ' ' || c == '\n'; });
  EXPECT_NE(found.find(R"("first":6,"last":7,)"), std::string::npos) << repaired.out;
  EXPECT_NE(found.find(R"("doubtful":["b"])"), std::string::npos) << repaired.out;
  serve({"--runtime", "sim", "--machine", "uniform-2"});
  EXPECT_TRUE(ask({"status", "b", "--wait"}).out.starts_with("b: done"));
  const Ran next = ask({"submit", "--make", kSmall, "--json"});
  EXPECT_NE(next.out.find("\"number\":5"), std::string::npos) << next.out;
}

// Row 12 of the audit.
TEST_F(ServeCommands, SubmitTakesNoIdThatHasAnotherMeaning) {
  for (const char* id : {"", ".", "..", "a/b", "job-1"}) {
    const Ran ran = run({"submit", "--make", kSmall, "--id", id, "--server", "http://127.0.0.1:1"});
    EXPECT_EQ(ran.exit_code, 2) << id;
    expect_one_sentence(ran, "id");
  }
}

TEST_F(ServeCommands, EachClientHasATokenAndTheFileIsReadAgain) {
  const std::string alice = "alice-0123456789abcdef";
  const std::string bob = "bob-0123456789abcdef00";
  const std::string tokens = write("tokens", "alice " + alice + "\n");
  ASSERT_EQ(::chmod(tokens.c_str(), 0600), 0);
  const std::string hers = write("hers", alice + "\n");
  const std::string his = write("his", "bob " + bob + "\n");
  serve({"--runtime", "sim", "--machine", "uniform-2", "--token-file", tokens});
  const Ran ran = ask({"submit", "--make", kSmall, "--id", "a", "--wait", "--token-file", hers});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find(", of alice)"), std::string::npos) << ran.out;
  EXPECT_EQ(ask({"status", "--token-file", his}).exit_code, 2);
  write("tokens", "alice " + alice + "\nbob " + bob + "\n");
  signal(SIGHUP);
  int exit_code = 2;
  for (int i = 0; i < 100 && exit_code != 0; ++i) {
    ::usleep(50'000);
    exit_code = ask({"status", "--token-file", his}).exit_code;
  }
  EXPECT_EQ(exit_code, 0);
  // What cannot be read leaves those that hold in force.
  write("tokens", "alice\n");
  signal(SIGHUP);
  for (int i = 0; i < 100 && read_text(path("err")).empty(); ++i) ::usleep(50'000);
  EXPECT_NE(read_text(path("err")).find("the tokens from before hold"), std::string::npos);
  EXPECT_EQ(ask({"status", "--token-file", hers}).exit_code, 0);
  expect_one_sentence(ask({"status", "--token-file", tokens}), "a token is one line");
  EXPECT_EQ(end(SIGTERM), 0);
}

}  // namespace
}  // namespace tutti
