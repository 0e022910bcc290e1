// What write_viewer_trace adds: arrows and counters, for viewers alone.

#include <gtest/gtest.h>

#include <map>

#include "tutti/base/file/document.h"
#include "tutti/trace/file.h"
#include "tutti/trace/memory.h"
#include "tutti/trace/testing.h"

namespace tutti {
namespace {

using namespace testing;

std::vector<Document> events_of(const Problem& problem, const Trace& trace) {
  Source source = Source::from_text("trace.json", viewer_trace_to_text(problem, trace));
  const Result<Document> root = read_json(source);
  EXPECT_TRUE(root) << root.error().message;
  return root ? root->find("traceEvents")->items : std::vector<Document>();
}

std::string text_of(const Document& event, const char* key) {
  const Document* found = event.find(key);
  return found == nullptr ? "" : found->text;
}

TEST(ViewerTrace, IsReadAsTheTraceItShows) {
  const World world(small_graph(), small_machine());
  const Trace trace = small_trace(world.problem());
  const std::string text = viewer_trace_to_text(world.problem(), trace);
  Source source = Source::from_text("trace.json", text);
  const Result<Trace> read = read_trace(source, world.problem());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(trace_to_text(world.problem(), *read), trace_to_text(world.problem(), trace));
  EXPECT_GT(text.size(), trace_to_text(world.problem(), trace).size());
}

// x to a; a to b on one memory; a over two hops to c; b over two hops to d; c to d; d over a hop to
// e.
TEST(ViewerTrace, HasAnArrowForEveryStepOfTheData) {
  const World world(small_graph(), small_machine());
  std::map<std::string, int> ends;
  std::map<std::string, Document> begins;
  int arrows = 0;
  for (const Document& event : events_of(world.problem(), small_trace(world.problem()))) {
    if (text_of(event, "ph") == "s") {
      begins[text_of(event, "id")] = event;
      ++ends[text_of(event, "id")];
    }
    if (text_of(event, "ph") != "f") continue;
    ++arrows;
    --ends[text_of(event, "id")];
    EXPECT_EQ(text_of(event, "bp"), "e");
    // Time goes along the arrow.
    EXPECT_LE(begins[text_of(event, "id")].find("ts")->number, event.find("ts")->number);
  }
  for (const auto& [id, left] : ends) EXPECT_EQ(left, 0) << id;
  EXPECT_EQ(arrows, 11);
}

TEST(ViewerTrace, CountersReachThePeakOfEachMemory) {
  const World world(small_graph(), small_machine());
  const Trace trace = small_trace(world.problem());
  std::map<std::string, double> most;
  std::map<std::string, double> last;
  for (const Document& event : events_of(world.problem(), trace)) {
    if (text_of(event, "ph") != "C") continue;
    const Document* bytes = event.find("args")->find("bytes");
    if (bytes == nullptr) {
      last[text_of(event, "name")] = event.find("args")->find("bytes_per_s")->number;
      continue;
    }
    double& known = most[text_of(event, "name")];
    known = std::max(known, bytes->number);
  }
  const Presence presence(world.problem(), trace, {});
  const std::vector<MemoryUse> uses = memory_use(world.problem(), trace, presence);
  for (size_t i = 0; i < uses.size(); ++i) {
    const std::string& name =
        world.problem().machine.memory(MemoryId{static_cast<int32_t>(i)}).name;
    EXPECT_EQ(most[name], static_cast<double>(uses[i].peak())) << name;
  }
  EXPECT_FALSE(last.empty());
  for (const auto& [channel, rate] : last) EXPECT_EQ(rate, 0) << channel;
}

}  // namespace
}  // namespace tutti
