// Load of known intensity on this host, for studies/symphony/bench/real_belief.cc: cores that
// stream through memory or only compute, and copies between the host and its GPU, each with bytes
// counted by the threads that move them. Next to it probes run small pieces of work again and again
// and note how long they take.
//
// Threads are real and so is the work. Not for tests: what it does depends on time.

#ifndef TUTTI_STUDIES_SYMPHONY_BENCH_REAL_LOAD_H_
#define TUTTI_STUDIES_SYMPHONY_BENCH_REAL_LOAD_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tutti/base/mutex.h"
#include "tutti/base/random.h"
#include "tutti/machine/counter.h"
#include "tutti/runtime/local/hardware.h"

namespace tutti {

// A piece of work that can be done again and again by one thread.
class Piece {
 public:
  virtual ~Piece() = default;
  virtual void enter() {}      // in the thread that will run it
  virtual int64_t run() = 0;   // the bytes it moved
  virtual Duration now() = 0;  // the clock by which its time is told
};

// What one worker does in an interval.
struct Order {
  int piece = -1;   // which of its pieces; -1: nothing
  double duty = 0;  // share of the time
  bool own = true;  // the scheduler knows of it
};

// A thread that does as it is told.
class Worker {
 public:
  // Bound to that processor; -1: to none.
  Worker(std::vector<std::unique_ptr<Piece>> pieces, int processor);
  ~Worker();
  void order(const Order& order);
  int64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  void work(int processor);

  std::vector<std::unique_ptr<Piece>> pieces_;
  std::atomic<int64_t> bytes_{0};
  std::atomic<int> piece_{-1};
  std::atomic<double> duty_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// A thread that runs each of two pieces in turn, with pauses, and notes their times. The first is
// what a belief may be told of, the second what it is asked to predict.
class Probe {
 public:
  Probe(std::unique_ptr<Piece> told, std::unique_ptr<Piece> asked, int processor);
  ~Probe();
  // Called by its thread for each time of the first piece.
  void tell(std::function<void(Duration)> told);
  struct Times {
    std::vector<double> told;  // ns
    std::vector<double> asked;
  };
  // What was noted since the last call.
  Times take();
  int64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  void work(int processor);

  std::unique_ptr<Piece> told_;
  std::unique_ptr<Piece> asked_;
  Mutex mutex_;
  Times times_ GUARDED_BY(mutex_);
  std::function<void(Duration)> tell_ GUARDED_BY(mutex_);
  std::atomic<int64_t> bytes_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// One resource that is loaded and believed about.
struct Loaded {
  std::string name;
  Resource resource{};
  double stated = 0;  // bytes per second, by the machine
  std::vector<Worker*> workers;
  Probe* probe = nullptr;
};

class RealLoad {
 public:
  // Streams on this host's cores and, if it has a GPU, copies both ways. Fails where a GPU that
  // is there cannot be used. Keeps a reference to the machine.
  static Result<std::unique_ptr<RealLoad>> open(const Machine& machine);

  // The host's memory first.
  const std::vector<Loaded>& loaded() const { return loaded_; }
  // Of all that a resource carried for us since the start.
  int64_t bytes(const Loaded& item) const;
  void rest();                    // all workers
  void fill(const Loaded& item);  // all its workers stream or copy, the others rest
  // Orders for all workers of a resource: how many work, how much, and whether it is known, at
  // random.
  std::vector<Order> draw(const Loaded& item, Rng& rng) const;

 private:
  RealLoad() = default;
  Result<void> add_copies(const Machine& machine, DeviceId gpu);

  std::unique_ptr<Hardware> hardware_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<Probe>> probes_;
  std::vector<Loaded> loaded_;
};

// Pieces that a worker on a core has, by place.
inline constexpr int kStream = 0;
inline constexpr int kCompute = 1;

}  // namespace tutti

#endif  // TUTTI_STUDIES_SYMPHONY_BENCH_REAL_LOAD_H_
