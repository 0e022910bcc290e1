#include "studies/symphony/bench/real_load.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <optional>
#include <utility>

#include "tutti/machine/shared_resources.h"
#include "tutti/runtime/local/gpus.h"

namespace tutti {
namespace {

constexpr size_t kStreamed = size_t{256} << 20;  // of each worker: no cache holds several
constexpr size_t kPieceBytes = size_t{1} << 20;
constexpr int64_t kCopiedBytes = int64_t{4} << 20;
constexpr int kCopiesEachWay = 2;
constexpr auto kPeriod = std::chrono::milliseconds(2);  // of working and resting
constexpr auto kPause = std::chrono::milliseconds(3);   // of probes

Duration wall_time() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

// What a thread waits for memory counts, what it waits for a core does not.
Duration thread_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

void bind_thread(int processor) {
  if (processor < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  sched_setaffinity(0, sizeof set, &set);
}

std::vector<int> processors() {
  cpu_set_t set;
  std::vector<int> found;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return {-1};
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) found.push_back(i);
  }
  return found;
}

// Reads a stretch of memory that nothing has read for long, then the next.
class Stream : public Piece {
 public:
  Stream() : memory_(kStreamed / sizeof(uint64_t), 1) {}
  int64_t run() override {
    const uint64_t* begin = memory_.data() + place_;
    uint64_t sum = 0;
    for (size_t i = 0; i < kPieceBytes / sizeof(uint64_t); ++i) sum += begin[i];
    sink_ = sink_ + sum;
    place_ = (place_ + kPieceBytes / sizeof(uint64_t)) % memory_.size();
    return kPieceBytes;
  }
  Duration now() override { return thread_time(); }

 private:
  std::vector<uint64_t> memory_;
  size_t place_ = 0;
  volatile uint64_t sink_ = 0;
};

// Copies such a stretch to another.
class CopyOfMemory : public Piece {
 public:
  CopyOfMemory() : from_(kStreamed, 1), to_(kStreamed, 0) {}
  int64_t run() override {
    std::memcpy(to_.data() + place_, from_.data() + place_, kPieceBytes);
    place_ = (place_ + kPieceBytes) % kStreamed;
    return 2 * kPieceBytes;
  }
  Duration now() override { return thread_time(); }

 private:
  std::vector<char> from_;
  std::vector<char> to_;
  size_t place_ = 0;
};

// Keeps a core busy and memory at rest.
class Compute : public Piece {
 public:
  int64_t run() override {
    uint64_t x = value_;
    for (int i = 0; i < 100'000; ++i) x = x * 6364136223846793005ULL + 1442695040888963407ULL;
    value_ = x;
    return 0;
  }
  Duration now() override { return thread_time(); }

 private:
  volatile uint64_t value_ = 1;
};

// As the local engine sends a value over one hop.
class CopyOverLink : public Piece {
 public:
  CopyOverLink(Hardware& hardware, MemoryId from, MemoryId to, int64_t bytes)
      : copier_(hardware.copier(from, to)),
        from_(hardware.store(from).allocate(bytes)),
        to_(hardware.store(to).allocate(bytes)),
        bytes_(bytes) {}
  bool usable() const { return copier_ != nullptr && from_ != nullptr && to_ != nullptr; }
  void enter() override { check(copier_->enter()); }
  int64_t run() override {
    check(copier_->copy(to_, from_, bytes_));
    return bytes_;
  }
  Duration now() override { return wall_time(); }

 private:
  static void check(const Result<void>& done) {
    if (done) return;
    fmt::print(stderr, "real_belief: {}\n", done.error().message);
    std::exit(1);
  }
  std::unique_ptr<Copier> copier_;
  void* from_;
  void* to_;
  int64_t bytes_;
};

// The channel of the link between a GPU and its host in one direction.
struct Way {
  std::string name;
  Resource resource{};
  double bytes_per_s = 0;
};
std::optional<Way> way_of(const Machine& machine, const std::string& gpu, bool towards_gpu) {
  for (const auto& link : machine.spec().links) {
    const int end = link.ends[0] == gpu ? 0 : link.ends[1] == gpu ? 1 : -1;
    if (end < 0 || link.bytes_per_s <= 0 || machine.find_device(link.ends[1 - end])) continue;
    const bool forward = (end == 1) == towards_gpu;
    const std::string name = link.full_duplex ? link.name + (forward ? ">" : "<") : link.name;
    for (int32_t i = 0; i < machine.channel_count(); ++i) {
      if (machine.channel(ChannelId{i}).name == name)
        return Way{name, resource_of(ChannelId{i}), link.bytes_per_s};
    }
  }
  return std::nullopt;
}

template <class... Pieces>
std::vector<std::unique_ptr<Piece>> pieces(Pieces... some) {
  std::vector<std::unique_ptr<Piece>> list;
  (list.push_back(std::move(some)), ...);
  return list;
}

}  // namespace

Worker::Worker(std::vector<std::unique_ptr<Piece>> pieces, int processor)
    : pieces_(std::move(pieces)), thread_([this, processor] { work(processor); }) {}

Worker::~Worker() {
  stop_ = true;
  thread_.join();
}

void Worker::order(const Order& order) {
  duty_ = order.duty;
  piece_ = order.piece;
}

void Worker::work(int processor) {
  bind_thread(processor);
  for (const auto& piece : pieces_) piece->enter();
  while (!stop_) {
    const int which = piece_;
    const double duty = which < 0 ? 0 : duty_.load();
    const auto begin = std::chrono::steady_clock::now();
    const auto until = begin + duty * std::chrono::duration<double>(kPeriod);
    int64_t moved = 0;
    while (duty > 0 && std::chrono::steady_clock::now() < until) moved += pieces_[which]->run();
    bytes_.fetch_add(moved, std::memory_order_relaxed);
    if (duty < 1) std::this_thread::sleep_until(begin + kPeriod);
  }
}

Probe::Probe(std::unique_ptr<Piece> told, std::unique_ptr<Piece> asked, int processor)
    : told_(std::move(told)),
      asked_(std::move(asked)),
      thread_([this, processor] { work(processor); }) {}

Probe::~Probe() {
  stop_ = true;
  thread_.join();
}

void Probe::tell(std::function<void(Duration)> told) {
  const MutexLock lock(mutex_);
  tell_ = std::move(told);
}

Probe::Times Probe::take() {
  const MutexLock lock(mutex_);
  return std::exchange(times_, {});
}

void Probe::work(int processor) {
  bind_thread(processor);
  told_->enter();
  asked_->enter();
  const auto timed = [&](Piece& piece) {
    const Duration begin = piece.now();
    bytes_.fetch_add(piece.run(), std::memory_order_relaxed);
    return piece.now() - begin;
  };
  while (!stop_) {
    std::this_thread::sleep_for(kPause);
    const Duration told = timed(*told_);
    const Duration asked = timed(*asked_);
    const MutexLock lock(mutex_);
    times_.told.push_back(static_cast<double>(told.count()));
    times_.asked.push_back(static_cast<double>(asked.count()));
    if (tell_) tell_(told);
  }
}

Result<std::unique_ptr<RealLoad>> RealLoad::open(const Machine& machine) {
  std::unique_ptr<RealLoad> load(new RealLoad());
  std::optional<DeviceId> gpu;
  for (const DeviceId id : machine.devices()) {
    if (!gpu && is_gpu(machine.device(id))) gpu = id;
  }
  // Threads that wait for a GPU keep a core busy.
  const std::vector<int> cores = processors();
  const int others = gpu ? 2 + 2 * kCopiesEachWay : 0;
  const int streams = std::max(1, static_cast<int>(cores.size()) - 1 - others);
  const MemoryId memory = machine.host_memory();
  const SharedResources shared(machine);
  const int32_t place = shared.find(resource_of(memory));
  if (place < 0) return invalid_input("the machine does not say what the host's memory carries");
  Loaded item{"memory", resource_of(memory), shared[place].capacity, {}, nullptr};
  for (int i = 0; i < streams; ++i) {
    const int processor = cores[static_cast<size_t>(1 + i) % cores.size()];
    load->workers_.push_back(std::make_unique<Worker>(
        pieces(std::make_unique<Stream>(), std::make_unique<Compute>()), processor));
    item.workers.push_back(load->workers_.back().get());
  }
  load->probes_.push_back(std::make_unique<Probe>(std::make_unique<Stream>(),
                                                  std::make_unique<CopyOfMemory>(), cores[0]));
  item.probe = load->probes_.back().get();
  load->loaded_.push_back(std::move(item));
  if (gpu) {
    if (auto added = load->add_copies(machine, *gpu); !added) return added.error();
  }
  return load;
}

Result<void> RealLoad::add_copies(const Machine& machine, DeviceId gpu) {
  auto bound = bind_hardware(machine);
  if (!bound) return bound.error();
  hardware_ = std::move(*bound);
  const std::string& name = machine.device(gpu).name;
  for (const bool towards_gpu : {true, false}) {
    const auto way = way_of(machine, name, towards_gpu);
    if (!way) return invalid_input("no link with a bandwidth leads from the host to " + name);
    const MemoryId from = towards_gpu ? machine.host_memory() : machine.memory_of(gpu);
    const MemoryId to = towards_gpu ? machine.memory_of(gpu) : machine.host_memory();
    Loaded item{way->name, way->resource, way->bytes_per_s, {}, nullptr};
    bool usable = true;
    const auto copy = [&](int64_t bytes) {
      auto piece = std::make_unique<CopyOverLink>(*hardware_, from, to, bytes);
      usable = usable && piece->usable();
      return piece;
    };
    for (int i = 0; i < kCopiesEachWay && usable; ++i) {
      auto piece = copy(kCopiedBytes);
      if (!usable) break;
      workers_.push_back(std::make_unique<Worker>(pieces(std::move(piece)), -1));
      item.workers.push_back(workers_.back().get());
    }
    auto told = copy(kCopiedBytes / 4);
    auto asked = copy(kCopiedBytes);
    if (!usable) return failed("values cannot be copied between the host and " + name);
    probes_.push_back(std::make_unique<Probe>(std::move(told), std::move(asked), -1));
    item.probe = probes_.back().get();
    loaded_.push_back(std::move(item));
  }
  return {};
}

int64_t RealLoad::bytes(const Loaded& item) const {
  int64_t sum = item.probe->bytes();
  for (const Worker* worker : item.workers) sum += worker->bytes();
  // Whatever goes over a link is read from memory or written to it.
  if (item.resource.kind == Resource::Kind::memory) {
    for (size_t i = 1; i < loaded_.size(); ++i) sum += bytes(loaded_[i]);
  }
  return sum;
}

void RealLoad::rest() {
  for (const auto& worker : workers_) worker->order({});
}

void RealLoad::fill(const Loaded& item) {
  rest();
  for (Worker* worker : item.workers) worker->order({.piece = kStream, .duty = 1});
}

std::vector<Order> RealLoad::draw(const Loaded& item, Rng& rng) const {
  const bool cores = item.resource.kind == Resource::Kind::memory;
  const double level = rng.uniform();
  std::vector<Order> orders;
  for (size_t i = 0; i < item.workers.size(); ++i) {
    Order order{.piece = kStream, .duty = 0.2 + 0.8 * rng.uniform(), .own = rng.uniform() < 0.5};
    if (cores && rng.uniform() < 0.3) order.piece = kCompute;
    if (rng.uniform() >= level) order = {};
    orders.push_back(order);
  }
  return orders;
}

}  // namespace tutti
