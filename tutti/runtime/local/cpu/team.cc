#include "tutti/runtime/local/cpu/team.h"

#include <exception>
#include <string>
#include <thread>
#include <utility>

#include "tutti/runtime/local/cpu/cores.h"
#include "tutti/runtime/local/dispatch/lock.h"

namespace tutti {
namespace {

// Values smaller than this together are not worth waking anybody for.
constexpr int64_t kLeastBytesToShare = 32 << 10;

int64_t bytes_of(std::span<const int64_t> shape, DType dtype) {
  int64_t bytes = element_bytes(dtype);
  for (const int64_t size : shape) bytes *= size;
  return bytes;
}

bool worth_sharing(const OpCall& call) {
  int64_t bytes = 0;
  for (const ConstBlock& block : call.operands) bytes += bytes_of(block.shape, block.dtype);
  for (const Block& block : call.outputs) bytes += bytes_of(block.shape, block.dtype);
  return bytes >= kLeastBytesToShare;
}

// A user's code may throw, but nothing of ours catches it further up.
Result<void> run_part(const OpTable::Entry& entry, const OpCall& call) {
  try {
    return entry.code(call);
  } catch (const std::exception& thrown) {
    return failed(std::string("its code threw: ") + thrown.what());
  } catch (...) {
    return failed("its code threw something");
  }
}

}  // namespace

// One further core. It stays awake for a moment after an op, since the next is often near.
class Team::Helper {
 public:
  explicit Helper(int core) : core_(core), thread_([this] { serve(); }) {}
  ~Helper() {
    ends_.store(true);
    begin(nullptr, nullptr, {});
    thread_.join();
  }

  void begin(const OpTable::Entry* entry, const OpCall* call, Part part) {
    entry_ = entry;
    call_ = call;
    part_ = part;
    result_ = {};
    state_.store(kGiven, std::memory_order_release);
    state_.notify_one();
  }
  Result<void> end() {
    await(kDone);
    return std::move(result_);
  }

 private:
  static constexpr uint32_t kDone = 0;
  static constexpr uint32_t kGiven = 1;
  static constexpr int kSpins = 2000;

  void await(uint32_t wanted) {
    for (int i = 0; i < kSpins; ++i) {
      if (state_.load(std::memory_order_acquire) == wanted) return;
      relax();
    }
    for (uint32_t now; (now = state_.load(std::memory_order_acquire)) != wanted;) state_.wait(now);
  }

  void serve() {
    pin_this_thread(core_);
    for (;;) {
      await(kGiven);
      if (ends_.load()) return;
      OpCall mine = *call_;
      mine.part = part_;
      result_ = run_part(*entry_, mine);
      state_.store(kDone, std::memory_order_release);
      state_.notify_one();
    }
  }

  int core_;
  std::atomic<uint32_t> state_{kDone};
  std::atomic<bool> ends_{false};
  const OpTable::Entry* entry_ = nullptr;
  const OpCall* call_ = nullptr;
  Part part_{};
  Result<void> result_{};
  std::thread thread_;  // last: it uses the others
};

Team::Team(std::vector<int> cores) : cores_(std::move(cores)) {}
Team::~Team() = default;

Result<void> Team::enter() {
  pin_this_thread(cores_[0]);
  for (size_t i = 1; i < cores_.size(); ++i) {
    helpers_.push_back(std::make_unique<Helper>(cores_[i]));
  }
  return {};
}

Result<void> Team::run(const OpTable::Entry& entry, OpCall& call) {
  if (!helpers_.empty() && entry.split == OpTable::Split::parts && worth_sharing(call)) {
    return run_in_parts(entry, call);
  }
  return run_part(entry, call);
}

Result<void> Team::run_in_parts(const OpTable::Entry& entry, OpCall& call) {
  const auto parts = static_cast<int>(cores_.size());
  for (int i = 1; i < parts; ++i) {
    helpers_[static_cast<size_t>(i) - 1]->begin(&entry, &call, {.index = i, .count = parts});
  }
  OpCall mine = call;
  mine.part = {.index = 0, .count = parts};
  Result<void> first = run_part(entry, mine);
  // All must have ended before the op has; of several that fail, the first part is believed.
  for (const std::unique_ptr<Helper>& helper : helpers_) {
    Result<void> other = helper->end();
    if (first && !other) first = std::move(other);
  }
  return first;
}

}  // namespace tutti
