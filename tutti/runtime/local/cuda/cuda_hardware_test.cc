#include "tutti/runtime/local/cuda/cuda_hardware.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "tutti/kernels/cuda/cublas.h"
#include "tutti/kernels/cuda/lane.h"
#include "tutti/kernels/kernel.h"
#include "tutti/runtime/local/cuda/testing.h"

namespace tutti {
namespace {

using Between = GpuOptions::Between;

std::unique_ptr<Hardware> open(const Machine& machine, Between between = Between::directly) {
  auto opened = with_gpus(machine, nullptr, {.between = between});
  EXPECT_TRUE(opened) << opened.error().message;
  return opened ? std::move(*opened) : nullptr;
}

std::vector<std::byte> numbered(size_t count, unsigned seed) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 131 + i / 251 + seed);
  return bytes;
}

// A value in a store, given back when this goes.
class Kept {
 public:
  Kept(Store& store, const std::vector<std::byte>& bytes)
      : store_(store), bytes_(static_cast<int64_t>(bytes.size())), data_(store.allocate(bytes_)) {
    EXPECT_NE(data_, nullptr);
    const auto written = store.write(data_, bytes.data(), bytes_);
    EXPECT_TRUE(written) << written.error().message;
  }
  ~Kept() { store_.release(data_, bytes_); }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  void* data() const { return data_; }
  std::vector<std::byte> read() const {
    std::vector<std::byte> bytes(static_cast<size_t>(bytes_));
    const auto done = store_.read(bytes.data(), data_, bytes_);
    EXPECT_TRUE(done) << done.error().message;
    return bytes;
  }

 private:
  Store& store_;
  int64_t bytes_;
  void* data_;
};

OpTable::Entry code_of(const char* kind) {
  return {[kind](const OpCall& call) {
    return run_cuda(kind, call.attributes, call.operands, call.outputs[0],
                    *static_cast<CudaLane*>(call.lane));
  }};
}

TEST(CudaHardware, RunsOpsInEverySlotOfEveryPartitionAtOnce) {
  TUTTI_NEEDS_MULTIPROCESSORS(128);
  if (const auto cublas = cuda::Cublas::open(); !cublas) GTEST_SKIP() << cublas.error().message;
  constexpr int kSlots = 2;
  const auto machine = partitioned_machine({64, 32, 16, 16}, kSlots);
  ASSERT_TRUE(machine) << machine.error().message;
  const auto hardware = open(*machine);
  ASSERT_NE(hardware, nullptr);
  // All ones times all ones: every element is n.
  constexpr int64_t kN = 256;
  const Shape shape = {kN, kN};
  const std::vector<float> ones(kN * kN, 1.0F);
  std::vector<std::byte> bytes(ones.size() * sizeof(float));
  std::memcpy(bytes.data(), ones.data(), bytes.size());
  const OpTable::Entry matmul = code_of("matmul");
  const Attributes attributes({});
  std::vector<std::thread> threads;
  for (const DeviceId device : machine->devices()) {
    for (int index = 0; index < kSlots; ++index) {
      threads.emplace_back([&, device, index] {
        const auto slot = hardware->slot(device, index);
        const auto entered = slot->enter();
        ASSERT_TRUE(entered) << entered.error().message;
        Store& store = hardware->store(machine->memory_of(device));
        for (int round = 0; round < 20; ++round) {
          const Kept first(store, bytes);
          const Kept out(store, bytes);
          const std::vector<ConstBlock> operands(2, {shape, DType::f32, first.data()});
          const std::vector<Block> outputs = {{shape, DType::f32, out.data()}};
          OpCall call{
              .op = "product", .attributes = attributes, .operands = operands, .outputs = outputs};
          const auto done = slot->run(matmul, call);
          ASSERT_TRUE(done) << done.error().message;
          const std::vector<std::byte> got = out.read();
          std::vector<float> numbers(ones.size());
          std::memcpy(numbers.data(), got.data(), got.size());
          for (const float x : numbers) ASSERT_EQ(x, static_cast<float>(kN));
        }
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
}

void expect_copied(Hardware& hardware, MemoryId from, MemoryId to) {
  const auto copier = hardware.copier(from, to);
  ASSERT_NE(copier, nullptr);
  const auto entered = copier->enter();
  ASSERT_TRUE(entered) << entered.error().message;
  // Less than a piece of a staged copy, a whole number of them, and more than there are at a time.
  const size_t mib = size_t{1} << 20;
  for (const size_t size : {size_t{1}, size_t{257}, 4 * mib, 21 * mib + 3}) {
    const std::vector<std::byte> bytes = numbered(size, 1);
    const Kept source(hardware.store(from), bytes);
    const Kept target(hardware.store(to), numbered(size, 2));
    const auto copied = copier->copy(target.data(), source.data(), static_cast<int64_t>(size));
    ASSERT_TRUE(copied) << copied.error().message;
    EXPECT_TRUE(target.read() == bytes) << size << " bytes";
  }
  EXPECT_TRUE(copier->copy(nullptr, nullptr, 0));
}

TEST(CudaHardware, CopiesBetweenPartitionsAndTheHostBothWays) {
  TUTTI_NEEDS_MULTIPROCESSORS(32);
  const auto machine = partitioned_machine({16, 16});
  ASSERT_TRUE(machine) << machine.error().message;
  const auto hardware = open(*machine);
  ASSERT_NE(hardware, nullptr);
  const MemoryId gpu = machine->memory_of(DeviceId{0});
  expect_copied(*hardware, gpu, machine->host_memory());
  expect_copied(*hardware, machine->host_memory(), gpu);
}

TEST(CudaHardware, CopiesFromPartitionToPartitionDirectlyOrThroughTheHost) {
  TUTTI_NEEDS_MULTIPROCESSORS(32);
  const auto machine = partitioned_machine({16, 16});
  ASSERT_TRUE(machine) << machine.error().message;
  for (const Between between : {Between::directly, Between::through_host}) {
    const auto hardware = open(*machine, between);
    ASSERT_NE(hardware, nullptr);
    expect_copied(*hardware, machine->memory_of(DeviceId{0}), machine->memory_of(DeviceId{1}));
  }
}

TEST(CudaHardware, StoresHoldNoMoreThanTheirCapacity) {
  TUTTI_NEEDS_MULTIPROCESSORS(16);
  constexpr int64_t kCapacity = 1 << 20;
  const auto machine = partitioned_machine({16}, 1, kCapacity);
  ASSERT_TRUE(machine) << machine.error().message;
  const auto hardware = open(*machine);
  ASSERT_NE(hardware, nullptr);
  Store& store = hardware->store(machine->memory_of(DeviceId{0}));
  EXPECT_FALSE(store.ordinary());
  EXPECT_TRUE(hardware->store(machine->host_memory()).ordinary());
  EXPECT_EQ(store.allocate(kCapacity + 1), nullptr);
  void* const all = store.allocate(kCapacity);
  ASSERT_NE(all, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(all) % 64, 0u);
  EXPECT_EQ(store.allocate(1), nullptr);
  store.release(all, kCapacity);
  void* const half = store.allocate(kCapacity / 2);
  EXPECT_EQ(half, all);
  store.release(half, kCapacity / 2);
}

TEST(CudaHardware, RefusesWhatThisHostLacks) {
  TUTTI_NEEDS_MULTIPROCESSORS(16);
  const auto sentence = [](const Result<Machine>& machine) {
    EXPECT_TRUE(machine) << machine.error().message;
    const auto opened = with_gpus(*machine, nullptr);
    if (opened) return std::string("it opens");
    EXPECT_EQ(opened.error().kind, Error::Kind::invalid_input);
    return opened.error().message;
  };
  EXPECT_EQ(sentence(partitioned_machine({16})), "it opens");
  EXPECT_NE(sentence(partitioned_machine({16, 1008})).find("multiprocessors cannot be had"),
            std::string::npos);
  EXPECT_NE(sentence(partitioned_machine({16}, 1, int64_t{1} << 50)).find("bytes of memory in all"),
            std::string::npos);
  // As many whole GPUs as there are, beside a partition of one of them.
  int count = 0;
  ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  std::vector<int> units(static_cast<size_t>(count) + 1, 0);
  units[0] = 16;
  EXPECT_EQ(
      sentence(partitioned_machine(units)),
      fmt::format("the machine has {} whole GPUs and a partitioned one, but the NVIDIA driver "
                  "shows {} here",
                  count, count));
  EXPECT_EQ(sentence(partitioned_machine(std::vector<int>(static_cast<size_t>(count), 0))),
            "it opens");
  EXPECT_EQ(sentence(Machine::build(
                {.devices = {{.device = {.name = "g", .kind = "gpu"}, .uses_host_memory = true}}})),
            "device 'g' is a GPU and cannot use its host's memory; leave out uses_host_memory");
}

// Loses the GPU by reading from nowhere. Returns true if it could be used again afterwards, and
// ends the process with a sentence where something else is wrong than CUDA's leave.
bool lose_and_reopen() {
  const auto give_up = [](const std::string& why) {
    fmt::print(stderr, "{}\n", why);
    std::_Exit(3);
  };
  const auto machine = partitioned_machine({16, 16});
  const OpTable::Entry relu = code_of("relu");
  const Attributes attributes({});
  const Shape shape = {1000};
  const auto run_on = [&](Hardware& hardware, void* operand) {
    const auto slot = hardware.slot(DeviceId{0}, 0);
    if (auto entered = slot->enter(); !entered) return entered;
    Store& store = hardware.store(machine->memory_of(DeviceId{0}));
    void* const out = store.allocate(4000);
    const std::vector<ConstBlock> operands = {
        {shape, DType::f32, operand != nullptr ? operand : out}};
    const std::vector<Block> outputs = {{shape, DType::f32, out}};
    OpCall call{.op = "x", .attributes = attributes, .operands = operands, .outputs = outputs};
    const auto done = slot->run(relu, call);
    store.release(out, 4000);
    return done;
  };
  {
    auto hardware = with_gpus(*machine, nullptr);
    if (!hardware) give_up(hardware.error().message);
    if (auto good = run_on(**hardware, nullptr); !good) give_up(good.error().message);
    const auto lost = run_on(**hardware, reinterpret_cast<void*>(uintptr_t{0x1000}));
    if (lost) give_up("an op that reads from nowhere succeeds");
    fmt::print(stderr, "told: {}\n", lost.error().message);
    if (run_on(**hardware, nullptr)) give_up("a lost GPU goes on as if nothing were");
  }
  auto again = with_gpus(*machine, nullptr);
  if (!again) {
    fmt::print(stderr, "not again: {}\n", again.error().message);
    return false;
  }
  if (auto good = run_on(**again, nullptr); !good) give_up(good.error().message);
  fmt::print(stderr, "opened again\n");
  return true;
}

TEST(CudaHardwareDeathTest, ALostGpuIsToldAndOpensAgainWhereCudaAllowsIt) {
  TUTTI_NEEDS_MULTIPROCESSORS(32);
  // In a process of its own, which starts from the beginning: the GPU is lost to all of it.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        lose_and_reopen();
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(0), "told: .*CUDA says.*(opened again|not again: .*lost)");
}

}  // namespace
}  // namespace tutti
