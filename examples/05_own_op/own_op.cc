// A user's own op kind, "smooth", run by tutti on this host's cores together with one of tutti's
// kinds: two signals are smoothed, each on its own device, and then added.

#include <tutti/tutti.h>

#include <cstdio>
#include <span>
#include <stdexcept>
#include <vector>

// Each element becomes the mean of itself and its neighbours.
void smooth(const tutti::Call& call) {
  const std::span<const float> from = call.operand<float>(0);
  const std::span<float> to = call.output<float>(0);
  if (from.size() < 2) throw std::invalid_argument("a signal of one element cannot be smoothed");
  for (size_t i = 0; i < from.size(); ++i) {
    const size_t begin = i == 0 ? 0 : i - 1;
    const size_t end = i + 1 == from.size() ? from.size() : i + 2;
    float sum = 0;
    for (size_t k = begin; k < end; ++k) sum += from[k];
    to[i] = sum / static_cast<float>(end - begin);
  }
}

constexpr const char* kTwoCpus = R"({"schema_version": 1, "name": "two-cpus", "device": [
    {"name": "cpu0", "kind": "cpu", "flops_per_s": 1e9, "uses_host_memory": true},
    {"name": "cpu1", "kind": "cpu", "flops_per_s": 1e9, "uses_host_memory": true}]})";

int main() try {
  // (left, right) -> smooth each -> add.
  tutti::GraphBuilder graph("signals");
  const tutti::Value left = graph.input("left", {6});
  const tutti::Value right = graph.input("right", {6});
  const tutti::Value sum =
      graph.op("sum", "add",
               {graph.op("smooth-left", "smooth", {left}, {6}, {.flops = 18}),
                graph.op("smooth-right", "smooth", {right}, {6}, {.flops = 18})},
               {6}, {.flops = 6});
  const tutti::Problem problem(graph.build(), tutti::Machine::parse(kTwoCpus));
  const tutti::Plan plan = tutti::Plan::of(problem, {0, 1, 0});

  tutti::Engine engine(problem, {{"smooth", smooth}});  // all that the new kind needs
  engine.set_input(left, std::vector<float>{0, 1, 2, 3, 4, 5});
  engine.set_input(right, std::vector<float>{0, 1, 4, 9, 16, 25});
  const tutti::Run run = engine.run(plan);

  for (int32_t op = 0; op < problem.op_count(); ++op) {
    std::printf("%s ran on %s\n", problem.op_name(op).c_str(),
                problem.device_name(run.devices()[static_cast<size_t>(op)]).c_str());
  }
  for (const float element : run.value<float>(sum)) std::printf("%.2f ", element);
  std::printf("\n");
} catch (const tutti::Error& error) {
  std::fprintf(stderr, "own_op: %s\n", error.what());
  return error.code();
}
