// For tests of the local engine: ops whose result tells whether every operand was whole and there,
// machines of small CPUs, and hardware that fails when it is told to.

#ifndef TUTTI_RUNTIME_LOCAL_TESTING_H_
#define TUTTI_RUNTIME_LOCAL_TESTING_H_

#include <atomic>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "test/support/world.h"
#include "tutti/base/check.h"
#include "tutti/base/mutex.h"
#include "tutti/runtime/local/cpu/cpu_hardware.h"
#include "tutti/runtime/local/local.h"

namespace tutti::testing {

// What an op makes of its operands, one number for a whole value.
inline uint8_t digest(std::string_view op, size_t output, const std::vector<uint8_t>& operands) {
  uint32_t sum = static_cast<uint32_t>(output) + 1;
  for (const char c : op) sum = sum * 31 + static_cast<uint8_t>(c);
  for (const uint8_t operand : operands) sum = sum * 7 + operand;
  return static_cast<uint8_t>(sum >> 3);
}

// By value, worked out op after op. Inputs are 0.
inline std::vector<uint8_t> digests(const Graph& graph) {
  std::vector<uint8_t> values(static_cast<size_t>(graph.value_count()), 0);
  for (const OpId op : graph.topological_order()) {
    std::vector<uint8_t> operands;
    for (const ValueId value : graph.operands(op)) {
      operands.push_back(graph.bytes(value) > 0 ? values[static_cast<size_t>(value.index)] : 0);
    }
    size_t output = 0;
    for (const ValueId value : graph.outputs(op)) {
      values[static_cast<size_t>(value.index)] = digest(graph.op_name(op), output++, operands);
    }
  }
  return values;
}

// Sizes are not part of a block without shape, so the code asks the graph.
inline OpCode digest_code(const Graph& graph) {
  return [&graph](const OpCall& call) -> Result<void> {
    OpId op{};
    for (const OpId each : graph.ops()) {
      if (graph.op_name(each) == call.op) op = each;
    }
    std::vector<uint8_t> operands;
    for (size_t i = 0; i < call.operands.size(); ++i) {
      const auto bytes = static_cast<size_t>(graph.bytes(graph.operands(op)[i]));
      const auto* data = static_cast<const uint8_t*>(call.operands[i].data);
      if (bytes > 0 && data[0] != data[bytes - 1]) return failed("an operand is not whole");
      operands.push_back(bytes > 0 ? data[0] : 0);
    }
    size_t output = 0;
    for (const ValueId value : graph.outputs(op)) {
      const auto bytes = static_cast<size_t>(graph.bytes(value));
      if (bytes > 0)
        std::memset(call.outputs[output].data, digest(call.op, output, operands), bytes);
      ++output;
    }
    return {};
  };
}

// The same code for every kind of the graph.
inline OpTable table_of(const Graph& graph, const OpCode& code) {
  OpTable table;
  for (const std::string& kind : graph.op_kinds()) table.add(kind, "cpu", code);
  return table;
}

inline std::unique_ptr<LocalRuntime> open_local(const Machine& machine, OpTable table) {
  return must(LocalRuntime::open(machine, std::move(table)));
}

// Expects that every value that no op reads is what it should be. For all runtimes with results.
template <class SomeRuntime>
void expect_digests(const Graph& graph, const SomeRuntime& runtime) {
  const std::vector<uint8_t> wanted = digests(graph);
  for (const ValueId value : graph.values()) {
    if (!graph.producer(value).valid() || !graph.consumers(value).empty()) continue;
    const Result<std::vector<std::byte>> got = runtime.result(value);
    ASSERT_TRUE(got) << got.error().message;
    ASSERT_EQ(got->size(), static_cast<size_t>(graph.bytes(value)));
    for (const std::byte byte : *got) {
      ASSERT_EQ(static_cast<uint8_t>(byte), wanted[static_cast<size_t>(value.index)])
          << graph.value_name(value);
    }
  }
}

// Devices of one core each that share the host's memory.
inline Machine cpus(int devices, int slots, int64_t memory_bytes = kUnlimitedBytes) {
  MachineSpec spec{.name = "cpus", .hosts = {{.name = "host", .memory_bytes = memory_bytes}}};
  for (int i = 0; i < devices; ++i) {
    spec.devices.push_back({.device = {.name = "cpu" + std::to_string(i),
                                       .kind = "cpu",
                                       .slots = slots,
                                       .flops_per_s = 1e9},
                            .uses_host_memory = true});
  }
  return must(Machine::build(std::move(spec)));
}

// Devices with memories of their own, each with a link to the host.
inline Machine islands(int devices, int slots, int64_t memory_bytes = kUnlimitedBytes) {
  MachineSpec spec{.name = "islands", .hosts = {{.name = "host"}}};
  for (int i = 0; i < devices; ++i) {
    const std::string name = "cpu" + std::to_string(i);
    spec.devices.push_back(
        {.device = {.name = name, .kind = "cpu", .slots = slots, .flops_per_s = 1e9},
         .memory_bytes = memory_bytes});
    spec.links.push_back({.name = name + "-host", .ends = {name, "host"}, .bytes_per_s = 1e9});
  }
  return must(Machine::build(std::move(spec)));
}

// All ops by id, spread over the devices in turn.
inline Plan in_turn(const Problem& problem) {
  Plan plan;
  for (const OpId op : problem.graph.ops()) {
    plan.placement.push_back(DeviceId{op.index % problem.machine.size()});
    plan.priority.push_back(op.index);
  }
  return plan;
}

// Cores that fail when told to, and count what they have given.
struct Trouble {
  std::atomic<int64_t> allocations_left{1LL << 60};  // then there is no more memory
  std::atomic<int64_t> runs_left{1LL << 60};         // then devices are lost
  std::atomic<int64_t> copies_left{1LL << 60};
  std::atomic<bool> closed{false};  // devices cannot be entered
  std::atomic<bool> shut{false};    // nor links
  std::atomic<int64_t> blocks{0};   // given and not taken back
  std::atomic<int64_t> strange{0};  // given back to a store that had not given them

  void mend() {
    allocations_left = runs_left = copies_left = 1LL << 60;
    closed = false;
    shut = false;
  }
};

class TroubledHardware : public Hardware {
 public:
  TroubledHardware(const Machine& machine, Trouble& trouble)
      : trouble_(trouble), cpu_(machine, cores_of_this_process()) {
    for (int32_t i = 0; i < machine.memory_count(); ++i) {
      stores_.push_back(std::make_unique<TroubledStore>(trouble));
    }
  }

  Store& store(MemoryId memory) override { return *stores_[static_cast<size_t>(memory.index)]; }
  std::unique_ptr<SlotRunner> slot(DeviceId device, int index) override {
    return std::make_unique<TroubledSlot>(trouble_, cpu_.slot(device, index));
  }
  std::unique_ptr<Copier> copier(MemoryId from, MemoryId to) override {
    return std::make_unique<TroubledCopier>(trouble_, cpu_.copier(from, to));
  }

 private:
  class TroubledStore : public HostStore {
   public:
    explicit TroubledStore(Trouble& trouble) : trouble_(trouble) {}
    void* allocate(int64_t bytes) override {
      if (trouble_.allocations_left.fetch_sub(1) <= 0) return nullptr;
      trouble_.blocks.fetch_add(1);
      void* const block = HostStore::allocate(bytes);
      const MutexLock lock(mutex_);
      given_.insert(block);
      return block;
    }
    void release(void* address, int64_t bytes) override {
      trouble_.blocks.fetch_sub(1);
      {
        const MutexLock lock(mutex_);
        if (given_.erase(address) == 0) trouble_.strange.fetch_add(1);
      }
      HostStore::release(address, bytes);
    }

   private:
    Trouble& trouble_;
    Mutex mutex_;
    std::set<void*> given_ GUARDED_BY(mutex_);
  };
  class TroubledSlot : public SlotRunner {
   public:
    TroubledSlot(Trouble& trouble, std::unique_ptr<SlotRunner> real)
        : trouble_(trouble), real_(std::move(real)) {}
    Result<void> enter() override {
      if (trouble_.closed) return failed("it is closed");
      return real_->enter();
    }
    Result<void> run(const OpTable::Entry& entry, OpCall& call) override {
      if (trouble_.runs_left.fetch_sub(1) <= 0) return failed("the device is lost");
      return real_->run(entry, call);
    }

   private:
    Trouble& trouble_;
    std::unique_ptr<SlotRunner> real_;
  };
  class TroubledCopier : public Copier {
   public:
    TroubledCopier(Trouble& trouble, std::unique_ptr<Copier> real)
        : trouble_(trouble), real_(std::move(real)) {}
    Result<void> enter() override {
      entered_ = !trouble_.shut;
      if (!entered_) return failed("the link is shut");
      return real_->enter();
    }
    Result<void> copy(void* to, const void* from, int64_t bytes) override {
      TUTTI_CHECK(entered_);
      if (trouble_.copies_left.fetch_sub(1) <= 0) return failed("the link is down");
      return real_->copy(to, from, bytes);
    }

   private:
    Trouble& trouble_;
    std::unique_ptr<Copier> real_;
    bool entered_ = false;
  };

  Trouble& trouble_;
  CpuHardware cpu_;
  std::vector<std::unique_ptr<TroubledStore>> stores_;
};

}  // namespace tutti::testing

#endif  // TUTTI_RUNTIME_LOCAL_TESTING_H_
