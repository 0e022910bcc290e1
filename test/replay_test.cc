// Replays test/corpus/<name>/ through the harness of that name (test/fuzz), without libFuzzer: what
// a fuzzer once found stays found. A file called good_* must be taken by its reader and one called
// bad_* refused; a file of any other name, such as a fuzzer's find, need only be survived.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "test/fuzz/harness.h"
#include "tutti/base/file/document.h"
#include "tutti/graph/import/onnx/onnx.h"

namespace tutti::fuzz {

void PrintTo(const Harness& harness, std::ostream* out) {
  *out << harness.name;
}

namespace {

const std::filesystem::path kCorpus = TUTTI_SOURCE_DIR "/test/corpus";

struct Seed {
  std::string name;
  std::string text;
};

// By name, less what this build has no library for.
std::vector<Seed> seeds_of(const Harness& harness) {
  std::vector<Seed> seeds;
  for (const auto& entry : std::filesystem::directory_iterator(kCorpus / harness.name)) {
    if (entry.path().extension() == ".toml" && !can_read_toml()) continue;
    if (entry.path().extension() == ".onnx" && !can_read_onnx()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    seeds.push_back({entry.path().filename(), {std::istreambuf_iterator<char>(file), {}}});
  }
  std::sort(seeds.begin(), seeds.end(),
            [](const Seed& a, const Seed& b) { return a.name < b.name; });
  return seeds;
}

bool run(const Harness& harness, const std::string& text) {
  return harness.run(reinterpret_cast<const uint8_t*>(text.data()), text.size());
}

class Replay : public ::testing::TestWithParam<Harness> {};

TEST_P(Replay, TakesWhatIsGoodAndRefusesWhatIsBad) {
  const std::vector<Seed> seeds = seeds_of(GetParam());
  EXPECT_FALSE(seeds.empty());
  for (const Seed& seed : seeds) {
    SCOPED_TRACE(seed.name);
    const bool taken = run(GetParam(), seed.text);
    if (seed.name.starts_with("good_")) {
      EXPECT_TRUE(taken);
    }
    if (seed.name.starts_with("bad_")) {
      EXPECT_FALSE(taken);
    }
  }
}

// The harness itself stops the program if a refusal is not one line that says something.
TEST_P(Replay, RefusesTruncationsOfGoodJsonAndSurvivesThoseOfOtherTexts) {
  for (const Seed& seed : seeds_of(GetParam())) {
    if (!seed.name.starts_with("good_")) continue;
    const size_t step = 1 + seed.text.size() / 300;
    // A text of one JSON object to a line may end after any of them, or be cut in the last.
    const bool lines = seed.name.ends_with(".jsonl");
    const bool json = !lines && (seed.text.starts_with('{') || seed.text.starts_with('['));
    const size_t whole = json ? seed.text.find_last_of("}]") + 1 : 0;
    for (size_t length = 0; length < seed.text.size(); length += step) {
      const bool taken = run(GetParam(), seed.text.substr(0, length));
      EXPECT_FALSE(taken && length < whole) << seed.name << " cut to " << length << " bytes";
    }
  }
}

// Bytes changed, cut out, doubled or moved: what is hit is often a number or a name, so that the
// rest stays a text that is read to its end.
std::string damaged(std::string text, std::mt19937& random) {
  const auto below = [&](size_t count) { return static_cast<size_t>(random()) % count; };
  const int changes = 1 + static_cast<int>(below(4));
  for (int i = 0; i < changes && !text.empty(); ++i) {
    const size_t at = below(text.size());
    const size_t length = 1 + below(std::min<size_t>(text.size() - at, 40));
    const std::string part = text.substr(at, length);
    switch (below(5)) {
      case 0:
        text[at] = static_cast<char>(below(256));
        break;
      case 1:
        text[at] = static_cast<char>('0' + below(10));
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.insert(at, part);
        break;
      default:
        text.insert(below(text.size() + 1), part);
        break;
    }
  }
  return text;
}

// The readers whose graphs are computed from what they read, and could grow without limit.
TEST_P(Replay, SurvivesDamageToModels) {
  const std::string name = GetParam().name;
  if (name != "hlo" && name != "stablehlo" && name != "onnx") GTEST_SKIP() << "for models";
  constexpr int kRounds = 300;
  std::mt19937 random(19);
  for (const Seed& seed : seeds_of(GetParam())) {
    if (!seed.name.starts_with("good_")) continue;
    for (int i = 0; i < kRounds; ++i) {
      static_cast<void>(run(GetParam(), damaged(seed.text, random)));
    }
  }
}

std::string repeated(const std::string& part, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += part;
  return text;
}

// Texts that are too large to keep in the repository.
TEST_P(Replay, RefusesLargeNonsense) {
  constexpr int kMany = 100000;
  const std::string large[] = {
      repeated("[", kMany),
      repeated("{\"a\":", kMany),
      "{\"a\":" + repeated("[", kMany) + repeated("]", kMany) + "}",
      "{\"format\": \"tutti-graph\", \"ops\": [" + repeated("[", kMany),
      "{\"workflow\": " + repeated("{\"a\":", kMany),
      "{\"a\": \"" + repeated("x", 10 * kMany),
      "{\"a\": " + repeated("9", kMany) + "}",
      "a = " + repeated("[", kMany),
      "a = " + repeated("{a=", kMany),
      "a" + repeated(".a", kMany) + " = 1",
      "a" + repeated(".\"=\"", kMany) + " = 1",
      "[a" + repeated(".\"[\"", kMany) + "]",
      "a = " + repeated("{a" + repeated(".a", 60) + " = ", 250),
      "a = " + repeated("{a" + repeated(".a", 60) + " = ", 250) + "1" + repeated("}", 250),
      "digraph " + repeated("{", kMany),
      "digraph { a" + repeated("[", kMany),
      "digraph { \"" + repeated("x", 20 * kMany) + "\" }",
      "digraph { a [" + repeated(",", kMany),
      repeated("7 ", kMany),
      "2147483647\n" + repeated("0,", kMany) + "\n",
      repeated("9", kMany),
      repeated("\n", kMany),
      repeated("#", kMany),
  };
  for (size_t i = 0; i < std::size(large); ++i) {
    EXPECT_FALSE(run(GetParam(), large[i])) << "text " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Every, Replay, ::testing::ValuesIn(harnesses().begin(), harnesses().end()),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST(Corpus, HasAHarnessForEveryFolder) {
  for (const auto& entry : std::filesystem::directory_iterator(kCorpus)) {
    const std::string name = entry.path().filename();
    EXPECT_TRUE(std::any_of(harnesses().begin(), harnesses().end(), [&](const Harness& harness) {
      return name == harness.name;
    })) << name;
  }
}

}  // namespace
}  // namespace tutti::fuzz
