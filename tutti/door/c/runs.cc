// Runs of the C interface: simulated, or real with functions of the caller.

#include <fmt/format.h>

#include <cstring>
#include <map>

#include "tutti/door/c/handles.h"
#include "tutti/runtime/local/local.h"
#include "tutti/runtime/sim/sim.h"
#include "tutti/search/evaluate/scenario_simulator.h"
#include "tutti/trace/file.h"

struct tutti_run {
  std::shared_ptr<const tutti::door::ProblemData> data;
  tutti::Trace trace;
  // By op, then by hop.
  std::vector<int32_t> devices{};
  std::vector<int32_t> slots{};
  std::vector<int64_t> starts{};
  std::vector<int64_t> finishes{};
  std::vector<int32_t> values{};
  std::vector<int32_t> from{};
  std::vector<int32_t> to{};
  std::vector<int64_t> transfer_starts{};
  std::vector<int64_t> transfer_finishes{};
  std::map<int32_t, std::vector<std::byte>> results{};
  std::once_flag text_once{};
  std::string text{};
};

struct tutti_ops {
  tutti::OpTable table = tutti::OpTable::standard();
};

struct tutti_engine {
  std::shared_ptr<const tutti::door::ProblemData> data;
  std::unique_ptr<tutti::LocalRuntime> runtime;
  std::map<int32_t, std::vector<std::byte>> inputs{};
};

namespace tutti::door {

tutti_run* run_handle(std::shared_ptr<const ProblemData> data, Trace trace) {
  auto run = std::make_unique<tutti_run>();
  const auto ops = static_cast<size_t>(data->problem.graph.size());
  run->devices.assign(ops, -1);
  run->slots.assign(ops, -1);
  run->starts.assign(ops, -1);
  run->finishes.assign(ops, -1);
  for (const OpSpan& span : trace.ops) {
    const auto op = static_cast<size_t>(span.op.index);
    run->devices[op] = span.device.index;
    run->slots[op] = span.slot;
    run->starts[op] = span.start.count();
    run->finishes[op] = span.finish.count();
  }
  for (const TransferSpan& span : trace.transfers) {
    run->values.push_back(span.value.index);
    run->from.push_back(span.from.index);
    run->to.push_back(span.to.index);
    run->transfer_starts.push_back(span.start.count());
    run->transfer_finishes.push_back(span.finish.count());
  }
  run->trace = std::move(trace);
  run->data = std::move(data);
  return run.release();
}

namespace {

// The plan was made for the same problem, or one like it.
Result<void> check_about(const tutti_problem& problem, const tutti_plan& plan) {
  if (plan.data == problem.data) return {};
  const Problem& of_plan = plan.data->problem;
  const Problem& of_run = problem.data->problem;
  if (of_plan.graph.fingerprint() == of_run.graph.fingerprint() &&
      of_plan.machine.fingerprint() == of_run.machine.fingerprint() &&
      of_plan.constraints_fingerprint() == of_run.constraints_fingerprint()) {
    return {};
  }
  return invalid_input(fmt::format(
      "the plan is of graph {} on machine {}, and the problem is {} on {}", of_plan.graph.name(),
      of_plan.machine.name(), of_run.graph.name(), of_run.machine.name()));
}

Result<Trace> simulate(const tutti_problem& problem, const tutti_plan& plan,
                       const tutti_simulate_options& options) {
  if (const Result<void> good = check_about(problem, plan); !good) return good.error();
  const std::string word = text_or(options.order, "priority");
  const std::optional<ReadyOrder> order = find_ready_order(word);
  if (!order) {
    return invalid_input(
        fmt::format("'{}' is no order; take priority, fifo, lifo or random", word));
  }
  const Problem& its = problem.data->problem;
  SimRuntime runtime(SimModel::physical, {.order = *order,
                                          .seed = options.seed,
                                          .sample = options.mean == 0 && its.costs.has_noise()});
  return runtime.run(its, plan.plan);
}

Result<void> makespans(const tutti_problem& problem, const tutti_plan& plan, uint64_t first_seed,
                       int64_t* makespans_ns, size_t count) {
  if (const Result<void> good = check_about(problem, plan); !good) return good;
  ScenarioSimulator simulator(problem.data->problem, SimModel::physical);
  for (size_t i = 0; i < count; ++i) {
    const Result<Duration> makespan = simulator.makespan(plan.plan, first_seed + i);
    if (!makespan) return makespan.error();
    makespans_ns[i] = makespan->count();
  }
  return {};
}

tutti_block block_of(std::span<const int64_t> shape, DType dtype, void* data) {
  return {.data = data,
          .shape = shape.data(),
          .rank = static_cast<int32_t>(shape.size()),
          .dtype = dtype == DType::unknown ? "" : to_text(dtype)};
}

Result<void> call_function(tutti_function function, void* context, const OpCall& call) {
  std::vector<tutti_block> operands;
  for (const ConstBlock& block : call.operands) {
    operands.push_back(block_of(block.shape, block.dtype, const_cast<void*>(block.data)));
  }
  std::vector<tutti_block> outputs;
  for (const Block& block : call.outputs) {
    outputs.push_back(block_of(block.shape, block.dtype, block.data));
  }
  const std::string op(call.op);
  const std::string device(call.device);
  const tutti_call given = {.size = sizeof(tutti_call),
                            .op = op.c_str(),
                            .device = device.c_str(),
                            .operands = operands.data(),
                            .operand_count = static_cast<int32_t>(operands.size()),
                            .outputs = outputs.data(),
                            .output_count = static_cast<int32_t>(outputs.size())};
  char message[1020] = "";
  if (function(&given, context, message, sizeof(message)) == 0) return {};
  message[sizeof(message) - 1] = 0;
  return failed(*message != 0 ? message : "its function failed and gave no reason");
}

Result<tutti_run*> run(tutti_engine& engine, const tutti_plan& plan) {
  const tutti_problem problem{engine.data};
  if (const Result<void> good = check_about(problem, plan); !good) return good.error();
  engine.runtime->set_options({.input = [&engine](ValueId value, const Block& block) {
    const auto found = engine.inputs.find(value.index);
    if (found == engine.inputs.end()) {
      std::memset(block.data, 0, static_cast<size_t>(engine.data->problem.graph.bytes(value)));
    } else {
      std::memcpy(block.data, found->second.data(), found->second.size());
    }
  }});
  Result<Trace> trace = engine.runtime->run(engine.data->problem, plan.plan);
  if (!trace) return trace.error();
  std::unique_ptr<tutti_run> handle(run_handle(engine.data, std::move(*trace)));
  const Graph& graph = engine.data->problem.graph;
  for (const ValueId value : graph.values()) {
    if (!graph.consumers(value).empty() || !graph.producer(value).valid()) continue;
    Result<std::vector<std::byte>> bytes = engine.runtime->result(value);
    if (!bytes) return bytes.error();
    handle->results.emplace(value.index, std::move(*bytes));
  }
  return handle.release();
}

}  // namespace
}  // namespace tutti::door

using namespace tutti;        // NOLINT: the rest of this file is in C's only namespace
using namespace tutti::door;  // NOLINT

tutti_run* tutti_simulate(const tutti_problem* problem, const tutti_plan* plan,
                          const tutti_simulate_options* options, tutti_error* error) {
  return guarded<tutti_run*>(error, nullptr, [&]() -> tutti_run* {
    Result<void> good = require("tutti_simulate", problem, plan);
    const Result<tutti_simulate_options> read = options_of(options);
    if (good && !read) good = read.error();
    Result<Trace> trace = good ? simulate(*problem, *plan, *read) : Result<Trace>(good.error());
    if (trace) return run_handle(problem->data, std::move(*trace));
    tell(error, trace.error());
    return nullptr;
  });
}

int tutti_makespans(const tutti_problem* problem, const tutti_plan* plan, uint64_t first_seed,
                    int64_t* makespans_ns, size_t count, tutti_error* error) {
  return guarded<int>(error, TUTTI_FAILED, [&] {
    Result<void> done = require("tutti_makespans", problem, plan, makespans_ns);
    if (done) done = makespans(*problem, *plan, first_seed, makespans_ns, count);
    return done ? TUTTI_OK : tell(error, done.error());
  });
}

void tutti_run_free(tutti_run* run) {
  delete run;
}

int64_t tutti_run_makespan(const tutti_run* run) {
  return run == nullptr ? -1 : run->trace.makespan.count();
}

size_t tutti_run_op_count(const tutti_run* run) {
  return run == nullptr ? 0 : run->devices.size();
}

const int32_t* tutti_run_op_devices(const tutti_run* run) {
  return run == nullptr ? nullptr : run->devices.data();
}

const int32_t* tutti_run_op_slots(const tutti_run* run) {
  return run == nullptr ? nullptr : run->slots.data();
}

const int64_t* tutti_run_op_starts(const tutti_run* run) {
  return run == nullptr ? nullptr : run->starts.data();
}

const int64_t* tutti_run_op_finishes(const tutti_run* run) {
  return run == nullptr ? nullptr : run->finishes.data();
}

size_t tutti_run_transfer_count(const tutti_run* run) {
  return run == nullptr ? 0 : run->values.size();
}

const int32_t* tutti_run_transfer_values(const tutti_run* run) {
  return run == nullptr ? nullptr : run->values.data();
}

const int32_t* tutti_run_transfer_from(const tutti_run* run) {
  return run == nullptr ? nullptr : run->from.data();
}

const int32_t* tutti_run_transfer_to(const tutti_run* run) {
  return run == nullptr ? nullptr : run->to.data();
}

const int64_t* tutti_run_transfer_starts(const tutti_run* run) {
  return run == nullptr ? nullptr : run->transfer_starts.data();
}

const int64_t* tutti_run_transfer_finishes(const tutti_run* run) {
  return run == nullptr ? nullptr : run->transfer_finishes.data();
}

const char* tutti_run_trace(tutti_run* run) {
  return guarded<const char*>(nullptr, nullptr, [&]() -> const char* {
    if (run == nullptr) return nullptr;
    std::call_once(run->text_once,
                   [&] { run->text = trace_to_text(run->data->problem, run->trace); });
    return run->text.c_str();
  });
}

const void* tutti_run_value(const tutti_run* run, int32_t value, size_t* bytes) {
  if (bytes != nullptr) *bytes = 0;
  if (run == nullptr) return nullptr;
  const auto found = run->results.find(value);
  if (found == run->results.end()) return nullptr;
  if (bytes != nullptr) *bytes = found->second.size();
  return found->second.data();
}

tutti_ops* tutti_ops_new(void) {
  return guarded<tutti_ops*>(nullptr, nullptr, [] { return new tutti_ops; });
}

void tutti_ops_free(tutti_ops* ops) {
  delete ops;
}

int tutti_ops_add(tutti_ops* ops, const char* kind, tutti_function function, void* context,
                  tutti_error* error) {
  return guarded<int>(error, TUTTI_FAILED, [&] {
    if (ops == nullptr || kind == nullptr || function == nullptr) {
      return tell(error, invalid_input("tutti_ops_add needs ops, a kind and a function"));
    }
    ops->table.add(kind, "cpu", [function, context](const OpCall& call) {
      return call_function(function, context, call);
    });
    return TUTTI_OK + 0;
  });
}

tutti_engine* tutti_engine_open(const tutti_problem* problem, const tutti_ops* ops,
                                tutti_error* error) {
  return guarded<tutti_engine*>(error, nullptr, [&]() -> tutti_engine* {
    if (const Result<void> good = require("tutti_engine_open", problem); !good) {
      tell(error, good.error());
      return nullptr;
    }
    OpTable table = ops == nullptr ? OpTable::standard() : ops->table;
    Result<std::unique_ptr<LocalRuntime>> runtime =
        LocalRuntime::open(problem->data->problem.machine, std::move(table));
    if (runtime) return new tutti_engine{problem->data, std::move(*runtime)};
    tell(error, runtime.error());
    return nullptr;
  });
}

void tutti_engine_free(tutti_engine* engine) {
  delete engine;
}

int tutti_engine_set_input(tutti_engine* engine, int32_t value, const void* data, size_t bytes,
                           tutti_error* error) {
  return guarded<int>(error, TUTTI_FAILED, [&] {
    if (engine == nullptr || (data == nullptr && bytes > 0)) {
      return tell(error, invalid_input("tutti_engine_set_input needs an engine and data"));
    }
    const Graph& graph = engine->data->problem.graph;
    if (value < 0 || value >= graph.value_count() || graph.producer(ValueId{value}).valid()) {
      return tell(error, invalid_input(fmt::format("value {} is no graph input", value)));
    }
    if (bytes != static_cast<size_t>(graph.bytes(ValueId{value}))) {
      return tell(error, invalid_input(fmt::format("input {} has {} bytes and was given {}",
                                                   graph.value_name(ValueId{value}),
                                                   graph.bytes(ValueId{value}), bytes)));
    }
    const auto* first = static_cast<const std::byte*>(data);
    engine->inputs[value].assign(first, first + bytes);
    return TUTTI_OK + 0;
  });
}

tutti_run* tutti_engine_run(tutti_engine* engine, const tutti_plan* plan, tutti_error* error) {
  return guarded<tutti_run*>(error, nullptr, [&]() -> tutti_run* {
    const Result<void> good = require("tutti_engine_run", engine, plan);
    const Result<tutti_run*> done = good ? run(*engine, *plan) : Result<tutti_run*>(good.error());
    if (done) return *done;
    tell(error, done.error());
    return nullptr;
  });
}
