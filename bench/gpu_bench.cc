// Speed of a GPU and its partitions, as the local engine uses them: products on partitions alone
// and in parallel, the overhead of a slot, copies alone and in parallel, and each kind of op. Times
// are the shortest of several rounds. Run by scripts/gpu-test --bench.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "tutti/kernels/kernel.h"
#include "tutti/runtime/local/gpus.h"

namespace tutti {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRounds = 10;
constexpr int64_t kBytes = int64_t{64} << 20;  // of a copy

template <class T>
T must(Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "gpu_bench: {}\n", result.error().message);
  std::exit(1);
}
void must(const Result<void>& result) {
  if (result) return;
  fmt::print(stderr, "gpu_bench: {}\n", result.error().message);
  std::exit(1);
}

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

Machine partitions(const std::vector<int>& units) {
  MachineSpec spec;
  for (size_t i = 0; i < units.size(); ++i) {
    const std::string name = fmt::format("gpu{}", i);
    spec.devices.push_back(
        {.device = {.name = name, .kind = fmt::format("gpu-{}", units[i]), .units = units[i]}});
    spec.links.push_back({.name = name + "-link", .ends = {name, "host"}});
  }
  return must(Machine::build(std::move(spec)));
}

struct Work {
  const char* kind;
  std::vector<Shape> shapes;
  Attributes::Pairs attributes{};
};

// One op, ready to run in a slot, on operands of small numbers.
class Op {
 public:
  Op(Hardware& hardware, const Machine& machine, DeviceId device, const Work& work, DType dtype)
      : slot_(hardware.slot(device, 0)),
        store_(hardware.store(machine.memory_of(device))),
        attributes_(work.attributes),
        shapes_(work.shapes),
        facts_(must(infer_op(work.kind, attributes_, shapes_))),
        dtype_(dtype) {
    must(slot_->enter());
    for (const Shape& shape : shapes_) operands_.emplace_back(shape, dtype, filled(shape));
    outputs_.push_back({facts_.output, dtype, filled(facts_.output)});
    entry_.code = [kind = work.kind](const OpCall& call) {
      return run_cuda(kind, call.attributes, call.operands, call.outputs[0],
                      *static_cast<CudaLane*>(call.lane));
    };
  }

  double flops() const { return facts_.flops; }
  double bytes() const { return facts_.elements_moved * element_bytes(dtype_); }

  double run_ms() {
    OpCall call{
        .op = "bench", .attributes = attributes_, .operands = operands_, .outputs = outputs_};
    const auto begin = Clock::now();
    must(slot_->run(entry_, call));
    return ms_since(begin);
  }
  double least_ms() {
    double least = run_ms();
    for (int i = 0; i < kRounds; ++i) least = std::min(least, run_ms());
    return least;
  }

 private:
  // 0 except a diagonal of ones: suits products, tiles and ids.
  void* filled(const Shape& shape) {
    const auto count = static_cast<size_t>(element_count(shape));
    const auto width = static_cast<size_t>(element_bytes(dtype_));
    std::vector<std::byte> bytes(count * width);
    const size_t step = shape.size() == 2 ? static_cast<size_t>(shape[1]) + 1 : count + 1;
    for (size_t i = 0; i < count; i += step) {
      bytes[i * width + width - 2] = std::byte{0x80};  // 1, in f32 and in bf16
      bytes[i * width + width - 1] = std::byte{0x3f};
    }
    void* const data = store_.allocate(static_cast<int64_t>(bytes.size()));
    if (data == nullptr) must(Result<void>(failed("the GPU's memory is full")));
    must(store_.write(data, bytes.data(), static_cast<int64_t>(bytes.size())));
    return data;
  }

  std::unique_ptr<SlotRunner> slot_;
  Store& store_;
  Attributes attributes_;
  std::vector<Shape> shapes_;
  OpFacts facts_;
  DType dtype_;
  OpTable::Entry entry_;
  std::vector<ConstBlock> operands_;
  std::vector<Block> outputs_;
};

// Runs each on its own thread, all at once, and returns the mean time of a run of each.
template <class Run>
std::vector<double> all_at_once(size_t count, Run run) {
  std::vector<double> ms(count);
  std::atomic<size_t> ready{0};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      auto once = run(i);
      once();
      ++ready;
      while (ready < count) {
      }
      const auto begin = Clock::now();
      for (int round = 0; round < kRounds; ++round) once();
      ms[i] = ms_since(begin) / kRounds;
    });
  }
  for (std::thread& thread : threads) thread.join();
  return ms;
}

void print_products(const std::vector<int>& units) {
  const Machine machine = partitions(units);
  const auto hardware = must(with_gpus(machine, nullptr));
  const Work work{"matmul", {{2048, 2048}, {2048, 2048}}};
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const auto alone = [&](size_t i) {
      return Op(*hardware, machine, DeviceId{static_cast<int32_t>(i)}, work, dtype).least_ms();
    };
    std::vector<double> single;
    for (size_t i = 0; i < units.size(); ++i) single.push_back(alone(i));
    const std::vector<double> together = all_at_once(units.size(), [&](size_t i) {
      auto op =
          std::make_shared<Op>(*hardware, machine, DeviceId{static_cast<int32_t>(i)}, work, dtype);
      return [op] { op->run_ms(); };
    });
    for (size_t i = 0; i < units.size(); ++i) {
      fmt::print("product 2048^3 {} on {:3} multiprocessors: {:.3f} ms alone, {:.3f} ms with all\n",
                 to_text(dtype), units[i], single[i], together[i]);
    }
  }
}

// A 64 MiB value over hops between the memories of four partitions and the host.
void print_copies() {
  const Machine machine = partitions({16, 16, 16, 16});
  struct Way {
    const char* name;
    GpuOptions::Between between;
    bool by_host;  // over two hops, as routes through a host
  };
  for (const Way& way : {Way{"to the host and from there", GpuOptions::Between::directly, true},
                         Way{"staged in pieces", GpuOptions::Between::through_host, false},
                         Way{"directly", GpuOptions::Between::directly, false}}) {
    const auto hardware = must(with_gpus(machine, nullptr, {.between = way.between}));
    for (const size_t count : {1, 2, 4}) {
      const std::vector<double> ms = all_at_once(count, [&](size_t i) {
        const auto memory = [&](size_t device) {
          return machine.memory_of(DeviceId{static_cast<int32_t>(device % 4)});
        };
        std::vector<MemoryId> stops = {memory(i), memory(i + 1)};
        if (way.by_host) stops.insert(stops.begin() + 1, machine.host_memory());
        auto copiers = std::make_shared<std::vector<std::unique_ptr<Copier>>>();
        std::vector<void*> places;
        for (const MemoryId stop : stops) places.push_back(hardware->store(stop).allocate(kBytes));
        for (size_t hop = 0; hop + 1 < stops.size(); ++hop) {
          copiers->push_back(hardware->copier(stops[hop], stops[hop + 1]));
          must(copiers->back()->enter());
        }
        return [copiers, places] {
          for (size_t hop = 0; hop < copiers->size(); ++hop) {
            must((*copiers)[hop]->copy(places[hop + 1], places[hop], kBytes));
          }
        };
      });
      fmt::print("64 MiB {}, {} at once: {:.3f} ms\n", way.name, count,
                 *std::max_element(ms.begin(), ms.end()));
    }
  }
}

void print_kinds() {
  const Machine machine = partitions({0});
  const auto hardware = must(with_gpus(machine, nullptr));
  const Shape square = {4096, 4096};
  const std::vector<Work> works = {
      {"relu", {{1}}},
      {"add", {square, square}},
      {"add", {square, {4096}}, {{"einsum", "ab,b->ab"}}},
      {"silu", {square}},
      {"sum", {square, square, square, square}},
      {"softmax", {square}},
      {"softmax", {square}, {{"axis", "0"}}},
      {"rms_norm", {square, {4096}}},
      {"reduce_sum", {square}, {{"axis", "0"}}},
      {"reduce_sum", {square}, {{"axis", "1"}}},
      {"rope", {{8, 1024, 16, 128}}, {{"axis", "1"}}},
      {"transpose", {square}, {{"permutation", "1,0"}}},
      {"slice", {square}, {{"begin", "0,2048"}, {"shape", "4096,2048"}}},
      {"embedding", {{8192}, {4096, 2048}}},
      {"matmul", {square, square}},
      {"matmul", {{8, 1024, 16, 128}, {8, 1024, 16, 128}}, {{"einsum", "abcd,aecd->acbe"}}},
      {"gemm", {{2048, 2048}, {2048, 2048}, {2048, 2048}}},
      {"syrk", {{2048, 2048}, {2048, 2048}}},
      {"trsm", {{2048, 2048}, {2048, 2048}}},
      {"potrf", {{1024, 1024}}},
      {"potrf", {{2048, 2048}}},
  };
  for (const DType dtype : {DType::f32, DType::bf16}) {
    for (const Work& work : works) {
      Op op(*hardware, machine, DeviceId{0}, work, dtype);
      const double ms = op.least_ms();
      std::string what = fmt::format("{} {}", work.kind, to_text(dtype));
      for (const Shape& shape : work.shapes) what += fmt::format(" ({})", wholes_text(shape));
      for (const auto& [key, text] : work.attributes) what += fmt::format(" {}={}", key, text);
      fmt::print("{}: {:.4f} ms, {:.1f} GFLOP/s, {:.1f} GB/s\n", what, ms, op.flops() / ms / 1e6,
                 op.bytes() / ms / 1e6);
    }
  }
}

}  // namespace
}  // namespace tutti

int main() {
  tutti::print_products({64, 32, 16, 16});
  tutti::print_copies();
  tutti::print_kinds();
}
