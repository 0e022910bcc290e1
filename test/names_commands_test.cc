// Names that tutti prints, and words that it does not know: every name in a list is accepted where
// the list stands, and a word that is none gets a suggestion.

#include <map>
#include <set>
#include <string>

#include "test/support/cli.h"
#include "tutti/base/file/document.h"

namespace tutti {
namespace {

class Names : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    // With shards, without which expert refuses.
    graph_ = write("graph.json", R"({"format": "tutti-graph", "schema_version": 1, "name": "g",
 "ops": [{"name": "a", "outputs": [{"bytes": 1000}], "run_time_ns": 100,
          "attributes": {"shard": "0"}},
         {"name": "b", "operands": ["a"], "outputs": [{"bytes": 1000}], "run_time_ns": 100,
          "attributes": {"shard": "1"}}]}
)");
    taken_ = write("taken", "");  // a file, so that no server gets its folder here
  }

  std::vector<std::string> with(std::vector<std::string> words, const std::string& last) const {
    words.push_back(last);
    return words;
  }

  // Ends at once: after the policy was accepted there is no folder for the journal.
  Ran serve(const std::string& name, const std::string& runtime) const {
    return run({"serve", "--state", taken_, "--listen", "127.0.0.1:0", "--runtime", runtime, "-m",
                runtime == "local" ? "this-host:1x1" : "p100-4", "--policy", name});
  }

  // Whether the place takes the name: what it says is not about policies.
  bool accepts(const std::string& place, const std::string& name) const {
    Ran ran;
    const std::string exact = name == "exact" ? "--budget" : "--seed";
    const std::string value = name == "exact" ? "5s" : "1";
    if (place == "plan") {
      ran = run({"plan", graph_, "-m", "uniform-2", "--policy", name, exact, value});
    } else if (place == "compare") {
      ran = run({"compare", graph_, "-m", "uniform-2", "--policies", name, exact, value});
    } else if (place == "run" || place == "run --online") {
      // The same flags as tutti run, which needs kernels.
      std::vector<std::string> words = {"simulate", graph_, "-m",  "uniform-2",
                                        "--policy", name,   exact, value};
      if (place == "run --online") words.emplace_back("--online");
      ran = run(words);
    } else if (place == "cluster") {
      ran = run({"cluster", "--saturation", "185.7", "--jobs", "1", "--policy", name});
    } else if (place == "serve") {
      ran = serve(name, "local");
      EXPECT_NE(ran.exit_code, 0);
      return ran.err.find(taken_) != std::string::npos;
    } else {
      ADD_FAILURE() << "tutti policies names a place that is none: " << place;
    }
    return ran.exit_code == 0;
  }

  // The names behind "known are:" or "those that can are:".
  static std::vector<std::string> listed(const std::string& sentence) {
    const size_t at = sentence.find(" are: ");
    if (at == std::string::npos) return {};
    std::string rest = sentence.substr(at + 6);
    rest = rest.substr(0, rest.find_first_of(";\n"));
    std::vector<std::string> names;
    for (size_t begin = 0; begin <= rest.size();) {
      const size_t end = std::min(rest.find(", ", begin), rest.size());
      names.push_back(rest.substr(begin, end - begin));
      begin = end + 2;
    }
    return names;
  }

  std::string graph_;
  std::string taken_;
};

TEST_F(Names, EveryPolicyIsAcceptedWhereTheListSaysSo) {
  const Ran ran = run({"policies", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  Source source = Source::from_text("policies", ran.out);
  const Result<Document> list = read_json(source);
  ASSERT_TRUE(list) << list.error().message;
  std::map<std::string, int> places;
  std::set<std::string> names;
  for (const Document& policy : list->find("policies")->items) {
    const std::string name = policy.find("name")->text;
    names.insert(policy.find("kind")->text + " " + name);
    for (const Document& where : policy.find("where")->items) {
      ++places[where.text];
      if (where.text == "train" || name == "symphony=FILE") continue;
      EXPECT_TRUE(accepts(where.text, name)) << name << " in " << where.text;
    }
  }
  for (const char* place :
       {"plan", "compare", "run", "run --online", "cluster", "serve", "train"}) {
    EXPECT_GT(places[place], 0) << place;
  }
  for (const char* name : {"planner auto", "planner doppler", "planner heft", "decider heft",
                           "decider fifo", "decider planned_auto", "decider symphony=FILE"}) {
    EXPECT_TRUE(names.count(name) == 1) << name;
  }
}

TEST_F(Names, WhatIsNotListedForAPlaceIsRefusedThere) {
  EXPECT_FALSE(accepts("serve", "cpop"));
  EXPECT_FALSE(accepts("run --online", "heft"));
  EXPECT_FALSE(accepts("cluster", "cpop"));
  EXPECT_FALSE(accepts("run --online", "fifo"));
  EXPECT_FALSE(accepts("plan", "planned_auto"));
}

// Each list stands in the sentence about a policy that there is not, or that cannot be used there.
TEST_F(Names, ListsInErrorsHoldAcceptedNamesOnly) {
  for (const auto& [place, words] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"plan", {"plan", graph_, "-m", "uniform-2", "--policy"}},
           {"compare", {"compare", graph_, "-m", "uniform-2", "--policies"}},
           {"run", {"simulate", graph_, "-m", "uniform-2", "--policy"}},
           {"run --online", {"simulate", graph_, "-m", "uniform-2", "--online", "--policy"}},
           {"cluster", {"cluster", "--saturation", "185.7", "--jobs", "1", "--policy"}}}) {
    for (const char* name : {"hefft", "cpop"}) {
      const Ran ran = run(with(words, name));
      if (ran.exit_code == 0) continue;  // cpop can plan
      EXPECT_EQ(ran.exit_code, 2) << place;
      const std::vector<std::string> names = listed(ran.err);
      EXPECT_FALSE(names.empty()) << place << ": " << ran.err;
      for (const std::string& one : names)
        EXPECT_TRUE(accepts(place, one)) << one << " in " << place;
    }
  }
  for (const char* runtime : {"local", "sim", "cluster"}) {
    for (const char* name : {"hefft", "cpop"}) {
      const Ran ran = serve(name, runtime);
      EXPECT_EQ(ran.exit_code, 2) << runtime << " " << name;
      const std::vector<std::string> names = listed(ran.err);
      EXPECT_FALSE(names.empty()) << runtime << ": " << ran.err;
      for (const std::string& one : names) {
        if (one == "symphony=FILE") continue;
        EXPECT_NE(serve(one, runtime).err.find(taken_), std::string::npos) << one << " " << runtime;
      }
    }
  }
}

TEST_F(Names, UnknownWordsGetSuggestions) {
  const struct {
    std::vector<std::string> words;
    std::vector<std::string> expected;
  } cases[] = {
      {{"plann"}, {"tutti has no 'plann'; did you mean 'plan'? known are: ", "see tutti --help"}},
      {{"graph", "make", "lu"},
       {"tutti graph make has no 'lu'; known are: chainmm, ", "cholesky", "fft", "layered"}},
      {{"graph", "make", "colesky"}, {"did you mean 'cholesky'?"}},
      {{"graph", "make"}, {"tutti graph make needs one of: chainmm"}},
      {{"machine", "shw"}, {"did you mean 'show'?"}},
      {{"plan", graph_, "-m", "p100-5"}, {"did you mean 'p100-4'?", "cluster-2x4", "this-host"}},
      {{"plan", graph_, "-m", "uniform-2", "--polcy", "heft"},
       {"tutti plan has no flag '--polcy'; did you mean '--policy'?"}},
      {{"plan", graph_, "-m", "uniform-2", "--policy", "hetf"}, {"did you mean 'heft'?"}},
      {{"compare", graph_, "-m", "uniform-2", "--policies", "atuo"}, {"did you mean 'auto'?"}},
      {{"cluster", "--policy", "graphen"}, {"did you mean 'graphene'?"}},
      {{"serve", "--state", taken_, "--policy", "critical-path"},
       {"did you mean 'critical_path'?", "graphene"}},
  };
  for (const auto& [words, expected] : cases) {
    const Ran ran = run(words);
    EXPECT_EQ(ran.exit_code, 2) << ran.err;
    for (const std::string& one : expected) expect_one_sentence(ran, one);
  }
}

TEST_F(Names, JobsByWordsGetSuggestionsToo) {
  const Ran ran = run({"graph", "make", "layerd", "--ops", "3"});
  expect_one_sentence(ran, "did you mean 'layered'?");
}

// A copy of the program stands alone, as in a build without libtorch.
TEST_F(Names, HelpOfTrainNeedsNoLibtorch) {
  const std::string alone = path("tutti");
  std::filesystem::copy_file(TUTTI_BINARY, alone);
  const auto run_alone = [&](const std::string& words) {
    const std::string command = alone + " " + words + " > " + path("out") + " 2> " + path("err");
    const int status = std::system(command.c_str());
    return Ran{WEXITSTATUS(status), read_text(path("out")), read_text(path("err"))};
  };
  for (const char* words : {"train --help", "train -h", "train doppler --help"}) {
    const Ran ran = run_alone(words);
    EXPECT_EQ(ran.exit_code, 0) << words << ": " << ran.err;
    EXPECT_NE(ran.out.find("symphony"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("libtorch-dev"), std::string::npos) << ran.out;
  }
  const Ran ran = run_alone("train doppler -o run");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.err.find("libtorch-dev"), std::string::npos) << ran.err;
  const Ran listed = run_alone("policies");
  EXPECT_EQ(listed.exit_code, 0) << listed.err;
  EXPECT_EQ(listed.out.find("placeto"), std::string::npos);
}

// The settings that deciders were tuned to are those of the command. Untuned, the slow-downs
// here are 6.4, 5.7 and 11.9.
TEST_F(Names, ClusterUsesTunedSettings) {
  const Ran ran = run({"cluster", "--saturation", "185.7", "--jobs", "60", "--load", "0.6",
                       "--unknown-load", "0.8", "--policy", "fifo,graphene,paragon", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  Source source = Source::from_text("cluster", ran.out);
  const Result<Document> result = read_json(source);
  ASSERT_TRUE(result) << result.error().message;
  for (const Document& row : result->find("results")->items) {
    EXPECT_LT(row.find("mean_slowdown")->number, 4) << row.find("policy")->text;
  }
}

}  // namespace
}  // namespace tutti
