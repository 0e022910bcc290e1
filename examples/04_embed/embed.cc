// A program outside tutti's source tree that plans its own graph and runs it with its own ops: it
// counts the letters of a text. The text is cut into parts, the letters of each part are counted,
// and the counts are added.

#include <tutti/tutti.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

constexpr size_t kParts = 6;
constexpr int kLetters = 26;
const std::string kText =
    "tutti means that everyone plays, and no device waits while something could run";

// "count": the letters of a part.
void count(const tutti::Call& call) {
  const auto counts = call.output<int32_t>(0);
  std::fill(counts.begin(), counts.end(), 0);
  for (const uint8_t letter : call.operand<uint8_t>(0)) {
    if (letter >= 'a' && letter <= 'z') ++counts[letter - 'a'];
  }
}

// "total": the sum of any number of counts.
void total(const tutti::Call& call) {
  const auto sums = call.output<int32_t>(0);
  std::fill(sums.begin(), sums.end(), 0);
  for (size_t i = 0; i < call.operand_count(); ++i) {
    for (size_t k = 0; k < kLetters; ++k) sums[k] += call.operand<int32_t>(i)[k];
  }
}

// Two devices of one core each, on the host's memory.
constexpr const char* kTwoCores = R"({"schema_version": 1, "name": "two-cores", "device": [
    {"name": "cpu0", "kind": "cpu", "flops_per_s": 1e9, "uses_host_memory": true},
    {"name": "cpu1", "kind": "cpu", "flops_per_s": 1e9, "uses_host_memory": true}]})";

int main() try {
  tutti::GraphBuilder builder("letters");
  const tutti::Shape counts{{kLetters}, "i32"};
  const size_t size = (kText.size() + kParts - 1) / kParts;
  std::vector<tutti::Value> parts;
  std::vector<tutti::Value> counted;
  for (size_t i = 0; i < kParts; ++i) {
    const auto length = static_cast<int64_t>(kText.substr(i * size, size).size());
    const std::string number = std::to_string(i);
    parts.push_back(builder.input("part" + number, {{length}, "u8"}));
    counted.push_back(builder.op("count" + number, "count", {parts[i]}, counts, {.flops = 1e6}));
  }
  const tutti::Value sums = builder.op("total", "total", counted, counts, {.flops = 1e5});
  const tutti::Problem problem(builder.build(), tutti::Machine::parse(kTwoCores));

  // The best of all policies, improved by search. With a count of evaluations the plan is the same
  // in every run.
  const tutti::Plan plan(problem, {.evaluations = 200});
  std::printf("planned: %lld us, at least %lld us\n",
              static_cast<long long>(plan.makespan_ns() / 1000),
              static_cast<long long>(problem.lower_bound_ns() / 1000));
  const auto on_second = std::count(plan.devices().begin(), plan.devices().end(), 1);
  std::printf("ops: %d on cpu0, %d on cpu1\n", problem.op_count() - static_cast<int>(on_second),
              static_cast<int>(on_second));

  tutti::Engine engine(problem, {{"count", count}, {"total", total}});
  for (size_t i = 0; i < kParts; ++i) {
    const std::string part = kText.substr(i * size, size);
    engine.set_input(parts[i], std::vector<uint8_t>(part.begin(), part.end()));
  }
  const tutti::Run run = engine.run(plan);
  const auto letters = run.value<int32_t>(sums);
  for (size_t i = 0; i < kLetters; ++i) {
    if (letters[i] == std::count(kText.begin(), kText.end(), static_cast<char>('a' + i))) continue;
    throw tutti::Error(TUTTI_FAILED, "a letter was miscounted");
  }
  std::printf("ran: e occurs %d times in the text, t %d times\n", letters['e' - 'a'],
              letters['t' - 'a']);
} catch (const tutti::Error& error) {
  std::fprintf(stderr, "embed: %s\n", error.what());
  return error.code();
}
