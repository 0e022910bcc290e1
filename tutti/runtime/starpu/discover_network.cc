// How long messages between ranks take, while the cores have work.

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tutti/runtime/local/cpu/cores.h"
#include "tutti/runtime/starpu/discover.h"
#include "tutti/runtime/starpu/messages.h"

namespace tutti {
namespace {

constexpr int kRounds = 20;
constexpr int kAtOnceToEach = 8;
constexpr size_t kLittle = 8;
constexpr size_t kMuch = size_t{1} << 20;

// Keeps cores and their caches busy, as ops do, for as long as it lives.
class BusyCores {
 public:
  explicit BusyCores(const std::vector<int>& cores) {
    for (const int core : cores) {
      threads_.emplace_back([this, core] {
        pin_this_thread(core);
        std::vector<float> a(kMuch / sizeof(float), 1.0F);
        std::vector<float> b(a.size(), 1.0F);
        while (!over_.load(std::memory_order_relaxed)) {
          for (size_t i = 0; i < a.size(); ++i) a[i] = 0.5F * a[i] + 0.25F * b[i];
        }
        sum_.fetch_add(static_cast<int64_t>(a[0] * 1024));  // so that no compiler drops the loop
      });
    }
  }
  ~BusyCores() {
    over_.store(true);
    for (std::thread& thread : threads_) thread.join();
  }
  BusyCores(const BusyCores&) = delete;
  BusyCores& operator=(const BusyCores&) = delete;

 private:
  std::atomic<bool> over_{false};
  std::atomic<int64_t> sum_{0};
  std::vector<std::thread> threads_;
};

// Rank 0 sends a message, another returns it, again and again.
class RoundTrips : private Messages::Peer {
 public:
  RoundTrips(StarpuRanks& ranks, Messages& messages, int other, size_t bytes)
      : ranks_(ranks), messages_(messages), other_(other), in_(bytes), out_(bytes) {}

  // The median; at rank 0.
  Duration run() {
    const bool first = ranks_.rank() == 0;
    messages_.begin(*this, first || ranks_.rank() == other_ ? kRounds : 0);
    ranks_.barrier();
    if (first) send_next(0);
    messages_.finish();
    ranks_.barrier();
    if (times_.empty()) return {};
    std::sort(times_.begin(), times_.end());
    return times_[times_.size() / 2];
  }

 private:
  void send_next(int32_t tag) {
    began_ = ranks_.now();
    messages_.send({.to = other_, .tag = tag, .bytes = out_});
  }
  std::span<std::byte> room(int32_t /*tag*/) override { return in_; }
  void received(int32_t tag) override {
    if (ranks_.rank() != 0) return messages_.send({.to = 0, .tag = tag, .bytes = out_});
    times_.push_back(ranks_.now() - began_);
    if (tag + 1 < kRounds) send_next(tag + 1);
  }
  void sent(int32_t /*tag*/, Duration /*began*/) override {}

  StarpuRanks& ranks_;
  Messages& messages_;
  int other_;
  std::vector<std::byte> in_;
  std::vector<std::byte> out_;
  Duration began_{0};
  std::vector<Duration> times_;
};

// Every rank sends to all others at once.
class AllAtOnce : private Messages::Peer {
 public:
  AllAtOnce(StarpuRanks& ranks, Messages& messages)
      : ranks_(ranks),
        messages_(messages),
        in_(static_cast<size_t>(ranks.size() * kAtOnceToEach), std::vector<std::byte>(kMuch)),
        out_(kMuch) {}

  // What this rank received, by the time it took.
  double bytes_per_s() {
    const int messages = (ranks_.size() - 1) * kAtOnceToEach;
    messages_.begin(*this, messages);
    ranks_.barrier();
    const Duration began = ranks_.now();
    for (int i = 0; i < messages; ++i) {
      const int to = (ranks_.rank() + 1 + i % (ranks_.size() - 1)) % ranks_.size();
      const int tag = ranks_.rank() * kAtOnceToEach + i / (ranks_.size() - 1);
      messages_.send({.to = to, .tag = tag, .priority = i, .bytes = out_});
    }
    messages_.finish();
    const double seconds =
        std::max(1e-9, static_cast<double>((ranks_.now() - began).count()) / 1e9);
    ranks_.barrier();
    return static_cast<double>(messages) * static_cast<double>(kMuch) / seconds;
  }

 private:
  std::span<std::byte> room(int32_t tag) override { return in_[static_cast<size_t>(tag)]; }
  void received(int32_t /*tag*/) override {}
  void sent(int32_t /*tag*/, Duration /*began*/) override {}

  StarpuRanks& ranks_;
  Messages& messages_;
  std::vector<std::vector<std::byte>> in_;  // by tag
  std::vector<std::byte> out_;
};

}  // namespace

MeasuredNetwork measure_network(StarpuRanks& ranks, int reserved_cores) {
  const std::vector<int>& cores = ranks.cores();
  const auto devices = cores.end() - std::min<std::ptrdiff_t>(reserved_cores, std::ssize(cores));
  const BusyCores busy({cores.begin(), devices});
  Messages messages(ranks, {devices, cores.end()});
  MeasuredNetwork network;
  network.links.resize(static_cast<size_t>(ranks.size()));
  MeasuredNetwork::Link& own = network.links[0];
  for (int other = 1; other < ranks.size(); ++other) {
    const Duration little = RoundTrips(ranks, messages, other, kLittle).run() / 2;
    const Duration much = RoundTrips(ranks, messages, other, kMuch).run() / 2;
    // Where a long message takes hardly longer than a short one, an eighth of its time counts.
    const double seconds =
        std::max(1e-9, static_cast<double>(std::max(much - little, much / 8).count()) / 1e9);
    MeasuredNetwork::Link& link = network.links[static_cast<size_t>(other)];
    link = {.latency = little, .bytes_per_s = static_cast<double>(kMuch) / seconds};
    own.latency = other == 1 ? link.latency : std::min(own.latency, link.latency);
    own.bytes_per_s = std::max(own.bytes_per_s, link.bytes_per_s);
  }
  (void)AllAtOnce(ranks, messages).bytes_per_s();  // warm-up
  const double mine = AllAtOnce(ranks, messages).bytes_per_s();
  for (const std::string& text : ranks.gather(std::to_string(mine))) {
    network.together_bytes_per_s += std::stod(text);
  }
  return network;
}

}  // namespace tutti
