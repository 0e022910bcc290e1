// Forgeries of runs and plans that stream weights: copies without a reader, buffers that are too
// small, kept weights that travel.

#include <gtest/gtest.h>

#include <functional>

#include "tutti/runtime/forgery_testing.h"

namespace tutti {
namespace {

using testing::breaks;
using testing::Specimen;
using testing::told;

// Four layers, one after the other, each with a weight of 100 bytes in the host's memory.
Graph four_layers() {
  GraphBuilder builder("layers");
  ValueId before = builder.add_input({.value = {.name = "x", .bytes = 10}});
  const std::vector<ValueSpec> output = {{.bytes = 10}};
  const std::vector<GivenTime> times = {{"", Duration{20}}};
  for (const char* number : {"0", "1", "2", "3"}) {
    const ValueId weight =
        builder.add_input({.value = {.name = std::string("w") + number, .bytes = 100},
                           .residence = {.where = Residence::Where::host},
                           .weight = true});
    const std::vector<ValueId> operands = {before, weight};
    const OpId op = builder.add_op({.name = std::string("layer") + number,
                                    .kind = "layer",
                                    .operands = operands,
                                    .outputs = output,
                                    .run_times = times});
    before = builder.outputs(op).front();
  }
  return must(std::move(builder).build());
}

// A GPU behind a link that takes a nanosecond for a byte.
Machine gpu_and_host() {
  MachineSpec spec;
  spec.name = "gpu";
  spec.hosts = {{.name = "host"}};
  spec.devices.push_back({.device = {.name = "gpu", .kind = "gpu"}, .memory_bytes = 400});
  MachineSpec::LinkSpec link;
  link.name = "pcie";
  link.ends[0] = "host";
  link.ends[1] = "gpu";
  link.bytes_per_s = 1e9;
  spec.links.push_back(link);
  return must(Machine::build(std::move(spec)));
}

// All layers run on the GPU, which keeps the first weight and has room for two more.
Specimen streaming_run() {
  const auto world = std::make_shared<World>(four_layers(), gpu_and_host());
  const Problem& problem = *world->problem;
  Plan plan;
  plan.placement.assign(4, DeviceId{0});
  plan.priority = {0, 1, 2, 3};
  plan.weights = {.kept = {{}, {problem.homed_weights()[0]}}, .stream_buffer_bytes = {0, 200}};
  note_origin(problem, /*seed=*/1, plan.provenance);
  SimRuntime runtime;
  Trace trace = must(runtime.run(problem, plan));
  return {"layers", world, std::move(plan), std::move(trace)};
}

TransferSpan& copy_of(Specimen& one, size_t weight) {
  for (TransferSpan& span : one.trace.transfers) {
    if (span.value == one.problem().homed_weights()[weight]) return span;
  }
  TUTTI_CHECK(false);
}

// Plan and trace say that the GPU has this buffer and keeps these weights.
void keep(Specimen& one, int64_t buffer, std::vector<ValueId> kept) {
  for (WeightKeeping* keeping : {&one.trace.weights, &one.plan->weights}) {
    keeping->stream_buffer_bytes[1] = buffer;
    keeping->kept[1] = kept;
  }
}

struct StreamForgery {
  const char* what;
  std::function<void(Specimen&)> forge;
};

const std::vector<StreamForgery>& trace_forgeries() {
  static const std::vector<StreamForgery> all = {
      {"a copy that no op reads: it came when its reader had run",
       [](Specimen& one) {
         TransferSpan again = copy_of(one, 1);
         again.start = one.trace.makespan;
         again.finish = again.start + Duration{100};
         one.trace.transfers.push_back(again);
       }},
      {"two weights at once in a buffer for one",
       [](Specimen& one) { keep(one, 100, one.plan->weights.kept[1]); }},
      {"no buffer at all", [](Specimen& one) { keep(one, 0, one.plan->weights.kept[1]); }},
      {"a weight that is kept was sent",
       [](Specimen& one) {
         const auto weights = one.problem().homed_weights();
         keep(one, 200, {weights[0], weights[1]});
       }},
      {"the trace keeps another weight than its plan",
       [](Specimen& one) { one.trace.weights.kept[1] = {one.problem().homed_weights()[3]}; }},
  };
  return all;
}

const std::vector<StreamForgery>& plan_forgeries() {
  static const std::vector<StreamForgery> all = {
      {"a byte less than a layer reads",
       [](Specimen& one) { one.plan->weights.stream_buffer_bytes[1] = 99; }},
      {"no buffer", [](Specimen& one) { one.plan->weights.stream_buffer_bytes[1] = 0; }},
      {"the buffer is in another memory",
       [](Specimen& one) {
         one.plan->weights.stream_buffer_bytes = {200, 0};
       }},
  };
  return all;
}

TEST(StreamForgeries, OfNothingAreGood) {
  const Specimen genuine = streaming_run();
  EXPECT_TRUE(testing::judge(genuine).good()) << told(testing::judge(genuine));
  const Judgement plan = judge_plan(genuine.problem(), *genuine.plan, /*limit=*/1000);
  EXPECT_TRUE(plan.good()) << told(plan);
}

TEST(StreamForgeries, OfTracesAreRefused) {
  const Specimen genuine = streaming_run();
  for (const StreamForgery& forgery : trace_forgeries()) {
    Specimen forged = genuine;
    forgery.forge(forged);
    const Judgement found = testing::judge(forged);
    EXPECT_TRUE(breaks(found, "streams")) << forgery.what << told(found);
  }
}

TEST(StreamForgeries, OfPlansAreRefused) {
  const Specimen genuine = streaming_run();
  for (const StreamForgery& forgery : plan_forgeries()) {
    Specimen forged = genuine;
    forgery.forge(forged);
    const Judgement found = judge_plan(forged.problem(), *forged.plan, /*limit=*/1000);
    EXPECT_TRUE(breaks(found, "stream buffers")) << forgery.what << told(found);
  }
}

}  // namespace
}  // namespace tutti
