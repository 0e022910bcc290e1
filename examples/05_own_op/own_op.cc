// A user's own op kind, "smooth", run by tutti on this host's cores together with one of tutti's
// kinds: two signals are smoothed, each on its own device, and then added.

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "tutti/graph/builder.h"
#include "tutti/runtime/local/local.h"

namespace {

using namespace tutti;

constexpr int64_t kSize = 6;

template <class T>
T must(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "own_op: {}\n", result.error().message);
    std::exit(1);
  }
  return std::move(*result);
}

// Each element becomes the mean of itself and its neighbours.
Result<void> smooth(const OpCall& call) {
  const auto* from = static_cast<const float*>(call.operands[0].data);
  auto* to = static_cast<float*>(call.outputs[0].data);
  const int64_t size = call.operands[0].shape[0];
  if (size < 2) return failed("a signal of one element cannot be smoothed");
  for (int64_t i = 0; i < size; ++i) {
    const int64_t begin = i == 0 ? 0 : i - 1;
    const int64_t end = i + 1 == size ? size : i + 2;
    float sum = 0;
    for (int64_t k = begin; k < end; ++k) sum += from[k];
    to[i] = sum / static_cast<float>(end - begin);
  }
  return {};
}

// (left, right) -> smooth each -> add.
Graph signals() {
  GraphBuilder builder("signals");
  const ValueSpec signal{.bytes = kSize * 4, .shape = {kSize}, .dtype = DType::f32};
  std::vector<ValueId> smoothed;
  for (const char* name : {"left", "right"}) {
    ValueSpec input = signal;
    input.name = name;
    const std::vector<ValueId> operands = {builder.add_input({.value = input})};
    const OpId op = builder.add_op({.name = std::string("smooth-") + name,
                                    .kind = "smooth",
                                    .operands = operands,
                                    .outputs = {&signal, 1},
                                    .flops = 3 * kSize});
    smoothed.push_back(builder.outputs(op).front());
  }
  builder.add_op({.name = "sum",
                  .kind = "add",
                  .operands = smoothed,
                  .outputs = {&signal, 1},
                  .flops = kSize});
  return must(std::move(builder).build());
}

Machine two_cpus() {
  MachineSpec spec{.name = "two-cpus"};
  for (const char* name : {"cpu0", "cpu1"}) {
    spec.devices.push_back(
        {.device = {.name = name, .kind = "cpu", .flops_per_s = 1e9}, .uses_host_memory = true});
  }
  return must(Machine::build(std::move(spec)));
}

}  // namespace

int main() {
  const Problem problem = must(Problem::make(signals(), two_cpus()));

  OpTable ops = OpTable::standard();
  ops.add("smooth", "cpu", smooth);  // the one call

  const auto runtime = must(LocalRuntime::open(problem.machine, std::move(ops)));
  runtime->set_options({.input = [](ValueId value, const Block& block) {
    auto* data = static_cast<float*>(block.data);
    for (int64_t i = 0; i < kSize; ++i) data[i] = static_cast<float>(value.index == 0 ? i : i * i);
  }});
  Plan plan{.placement = {DeviceId{0}, DeviceId{1}, DeviceId{0}}, .priority = {0, 0, 1}};
  const Trace trace = must(runtime->run(problem, plan));

  for (const OpSpan& span : trace.ops) {
    fmt::print("{} ran on {}\n", problem.graph.op_name(span.op),
               problem.machine.device(span.device).name);
  }
  const std::vector<std::byte> bytes =
      must(runtime->result(problem.graph.outputs(OpId{problem.graph.size() - 1}).front()));
  float sums[kSize];
  std::memcpy(sums, bytes.data(), sizeof(sums));
  for (const float sum : sums) fmt::print("{:.2f} ", sum);
  fmt::print("\n");
}
