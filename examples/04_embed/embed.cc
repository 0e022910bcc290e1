// A program outside tutti's source tree that plans its own graph and runs it with its own ops: it
// counts the letters of a text. The text is cut into parts, the letters of each part are counted,
// and the counts are added.

#include <tutti/graph/builder.h>
#include <tutti/plan/bound.h>
#include <tutti/runtime/local/local.h>
#include <tutti/search/planners.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int kParts = 6;
constexpr int kLetters = 26;
const std::string kText =
    "tutti means that everyone plays, and no device waits while something could run";

template <class T>
T must(tutti::Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "embed: %s\n", result.error().message.c_str());
    std::exit(1);
  }
  return std::move(*result);
}

// "count": the letters of a part.
tutti::Result<void> count(const tutti::OpCall& call) {
  const auto* text = static_cast<const uint8_t*>(call.operands[0].data);
  auto* counts = static_cast<int32_t*>(call.outputs[0].data);
  std::fill_n(counts, kLetters, 0);
  for (int64_t i = 0; i < call.operands[0].shape[0]; ++i) {
    if (text[i] >= 'a' && text[i] <= 'z') ++counts[text[i] - 'a'];
  }
  return {};
}

// "total": the sum of any number of counts.
tutti::Result<void> total(const tutti::OpCall& call) {
  auto* sums = static_cast<int32_t*>(call.outputs[0].data);
  std::fill_n(sums, kLetters, 0);
  for (const auto& operand : call.operands) {
    const auto* counts = static_cast<const int32_t*>(operand.data);
    for (int i = 0; i < kLetters; ++i) sums[i] += counts[i];
  }
  return {};
}

std::string part_of_text(int part) {
  const size_t size = (kText.size() + kParts - 1) / kParts;
  return kText.substr(static_cast<size_t>(part) * size, size);
}

tutti::Graph letters() {
  tutti::GraphBuilder builder("letters");
  const tutti::ValueSpec counts{
      .bytes = kLetters * 4, .shape = {kLetters}, .dtype = tutti::DType::i32};
  std::vector<tutti::ValueId> counted;
  for (int part = 0; part < kParts; ++part) {
    const auto size = static_cast<int64_t>(part_of_text(part).size());
    const std::vector<tutti::ValueId> operands = {
        builder.add_input({.value = {.name = "part" + std::to_string(part),
                                     .bytes = size,
                                     .shape = {size},
                                     .dtype = tutti::DType::u8}})};
    const tutti::OpId op = builder.add_op({.name = "count" + std::to_string(part),
                                           .kind = "count",
                                           .operands = operands,
                                           .outputs = {&counts, 1},
                                           .flops = 1e6});
    counted.push_back(builder.outputs(op).front());
  }
  builder.add_op({.name = "total",
                  .kind = "total",
                  .operands = counted,
                  .outputs = {&counts, 1},
                  .flops = 1e5});
  return must(std::move(builder).build());
}

// Two devices of one core each, on the host's memory.
tutti::Machine two_cores() {
  tutti::MachineSpec spec{.name = "two-cores"};
  for (const char* name : {"cpu0", "cpu1"}) {
    spec.devices.push_back(
        {.device = {.name = name, .kind = "cpu", .flops_per_s = 1e9}, .uses_host_memory = true});
  }
  return must(tutti::Machine::build(std::move(spec)));
}

}  // namespace

int main() {
  const tutti::Problem problem = must(tutti::Problem::make(letters(), two_cores()));

  // The best of all policies, improved by search. With a count of evaluations the plan is the same
  // in every run.
  const tutti::AutoResult best =
      must(tutti::plan_auto(problem, {.budget = {.evaluations = 200}, .seed = 1}));
  std::printf("planned: %lld us, at least %lld us\n",
              static_cast<long long>(best.makespan.count() / 1000),
              static_cast<long long>(tutti::lower_bounds(problem).strongest().count() / 1000));
  int on_second = 0;
  for (const tutti::DeviceId device : best.plan.placement) on_second += device.index == 1;
  std::printf("ops: %d on cpu0, %d on cpu1\n", problem.graph.size() - on_second, on_second);

  tutti::OpTable ops = tutti::OpTable::standard();
  ops.add("count", "cpu", count);
  ops.add("total", "cpu", total);
  const auto runtime = must(tutti::LocalRuntime::open(problem.machine, std::move(ops)));
  runtime->set_options({.input = [](tutti::ValueId value, const tutti::Block& block) {
    // Inputs and counts were added alternately, so the parts are every other value.
    const std::string part = part_of_text(value.index / 2);
    std::memcpy(block.data, part.data(), part.size());
  }});
  must(runtime->run(problem, best.plan));

  const std::vector<std::byte> bytes =
      must(runtime->result(problem.graph.outputs(tutti::OpId{problem.graph.size() - 1}).front()));
  int32_t sums[kLetters];
  std::memcpy(sums, bytes.data(), sizeof(sums));
  for (int i = 0; i < kLetters; ++i) {
    if (sums[i] == std::count(kText.begin(), kText.end(), static_cast<char>('a' + i))) continue;
    std::fprintf(stderr, "embed: the letter %c was miscounted\n", 'a' + i);
    return 1;
  }
  std::printf("ran: e occurs %d times in the text, t %d times\n", sums['e' - 'a'], sums['t' - 'a']);
}
