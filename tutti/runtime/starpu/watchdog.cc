#include "tutti/runtime/starpu/watchdog.h"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

namespace tutti {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBeat{500};
constexpr std::chrono::seconds kAbortTime{3};
constexpr int kTag = 1;

// Waits for an end that may be asked for, on a thread of its own.
class Sleeper {
 public:
  // False once the end was asked for.
  bool sleep(Clock::duration time) {
    std::unique_lock lock(mutex_);
    return !condition_.wait_for(lock, time, [this] { return over_; });
  }
  void end() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    condition_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool over_ = false;
};

}  // namespace

std::chrono::seconds rank_timeout() {
  constexpr int kDefault = 15;
  const char* text = std::getenv("TUTTI_RANK_TIMEOUT");
  const int given = text == nullptr ? 0 : std::atoi(text);
  return std::chrono::seconds(given > 0 ? given : kDefault);
}

void abort_run(const std::string& sentence) {
  const std::string line = "tutti: " + sentence + "\n";
  (void)!write(STDERR_FILENO, line.data(), line.size());
  std::thread([] {  // MPI may itself wait for what no longer answers
    std::this_thread::sleep_for(kAbortTime);
    _exit(1);
  })
      .detach();
  int there = 0;
  if (MPI_Initialized(&there) == MPI_SUCCESS && there != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  _exit(1);
}

// Deadline

struct Deadline::State {
  Sleeper sleeper;
  std::thread thread;
};

Deadline::Deadline(std::string sentence) : state_(std::make_unique<State>()) {
  State& state = *state_;
  // A little more than the watchdog allows: it knows more about what is wrong.
  state.thread = std::thread([&state, sentence = std::move(sentence)] {
    if (state.sleeper.sleep(rank_timeout() + std::chrono::seconds(10))) abort_run(sentence);
  });
}

Deadline::~Deadline() {
  state_->sleeper.end();
  state_->thread.join();
}

// Watchdog

struct Watchdog::State {
  using Sign = std::array<int64_t, 3>;  // events so far, ops that run, whether it waits

  int rank;
  int size;
  const Pulse& pulse;
  std::function<std::string(int)> describe;
  MPI_Comm world = MPI_COMM_NULL;
  Sleeper sleeper;
  std::thread thread;

  std::vector<Clock::time_point> heard;  // by rank
  std::vector<Sign> signs;               // by rank: the last that came
  std::vector<Sign> sent;                // by rank: what is on its way there
  std::vector<MPI_Request> sending;      // by rank
  Sign last_sum{};
  Clock::time_point changed;

  Sign own_sign() const {
    return {pulse.events.load(), pulse.busy.load(), pulse.waiting.load() ? 1 : 0};
  }

  void run() {
    changed = Clock::now();
    while (sleeper.sleep(kBeat)) {
      listen();
      for (int other = 0; other < size; ++other) {
        if (other != rank && (rank == 0 || other == 0)) speak(other);
      }
      look_for_silence();
      if (rank == 0) look_for_standstill();
    }
  }

  void listen() {
    for (;;) {
      int there = 0;
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, kTag, world, &there, &status);
      if (there == 0) return;
      const auto from = static_cast<size_t>(status.MPI_SOURCE);
      MPI_Recv(signs[from].data(), 3, MPI_INT64_T, status.MPI_SOURCE, kTag, world,
               MPI_STATUS_IGNORE);
      heard[from] = Clock::now();
    }
  }

  void speak(int other) {
    const auto at = static_cast<size_t>(other);
    int done = 1;
    if (sending[at] != MPI_REQUEST_NULL) MPI_Test(&sending[at], &done, MPI_STATUS_IGNORE);
    if (done == 0) return;  // it does not listen
    sent[at] = own_sign();
    MPI_Isend(sent[at].data(), 3, MPI_INT64_T, other, kTag, world, &sending[at]);
  }

  void look_for_silence() {
    for (int other = 0; other < size; ++other) {
      if (other == rank || (rank != 0 && other != 0)) continue;
      // Rank 0 knows which rank is missing; the others give it time to say so, and then each other.
      const auto patience = rank_timeout() + rank * std::chrono::milliseconds(500);
      if (Clock::now() - heard[static_cast<size_t>(other)] < patience) continue;
      abort_run(fmt::format("{} has given no sign of life for {} s: the run is over",
                            describe(other), rank_timeout().count()));
    }
  }

  void look_for_standstill() {
    signs[0] = own_sign();
    Sign sum{};
    for (const Sign& sign : signs) {
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += sign[i];
    }
    const bool stands = sum[2] > 0 && sum[1] == 0 && sum == last_sum;
    if (!stands) {
      last_sum = sum;
      changed = Clock::now();
    } else if (Clock::now() - changed > rank_timeout()) {
      abort_run(
          fmt::format("nothing has run or arrived on any of the {} ranks for {} s: the run "
                      "is over; a message may have been lost",
                      size, rank_timeout().count()));
    }
  }
};

Watchdog::Watchdog(int rank, int size, const Pulse& pulse, std::function<std::string(int)> describe)
    : state_(new State{.rank = rank,
                       .size = size,
                       .pulse = pulse,
                       .describe = std::move(describe),
                       .sleeper = {},
                       .thread = {},
                       .heard = {},
                       .signs = {},
                       .sent = {},
                       .sending = {},
                       .changed = {}}) {
  State& state = *state_;
  MPI_Comm_dup(MPI_COMM_WORLD, &state.world);
  const auto count = static_cast<size_t>(size);
  state.heard.assign(count, Clock::now());
  state.signs.resize(count);
  state.sent.resize(count);
  state.sending.assign(count, MPI_REQUEST_NULL);
  state.thread = std::thread([&state] { state.run(); });
}

Watchdog::~Watchdog() {
  state_->sleeper.end();
  state_->thread.join();
  // Signs that no rank will receive any more are MPI_Finalize's to drop.
  for (MPI_Request& request : state_->sending) {
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
}

}  // namespace tutti
