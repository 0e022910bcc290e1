#include <tutti/tutti.h>

#include <cstdio>

void twice(const tutti::Call& call) {
  for (size_t i = 0; i < 1000; ++i) call.output<float>(0)[i] = 2 * call.operand<float>(0)[i];
}

int main() {
  tutti::GraphBuilder graph("first");
  const auto numbers = graph.input("numbers", {1000});
  const auto a = graph.op("a", "twice", {numbers}, {1000}, {.flops = 1e9});
  const auto b = graph.op("b", "twice", {numbers}, {1000}, {.flops = 1e9});
  const auto sum = graph.op("sum", "add", {a, b}, {1000}, {.flops = 1000});
  const tutti::Problem problem(graph.build(), tutti::Machine("this-host:2x1"));
  const tutti::Plan plan(problem, {.evaluations = 100});
  tutti::Engine engine(problem, {{"twice", twice}});
  engine.set_input(numbers, std::vector<float>(1000, 1));
  std::printf("%g, gap %.1f %%\n", engine.run(plan).value<float>(sum)[0], 100 * plan.gap());
}
