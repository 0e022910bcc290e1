#include "tutti/runtime/starpu/messages.h"

#include <mpi.h>
#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <queue>
#include <thread>
#include <utility>

#include "tutti/base/check.h"
#include "tutti/runtime/local/cpu/cores.h"

namespace tutti {
namespace {

// To one rank at a time: enough that the next is on its way when one ends.
constexpr size_t kMostAtOnceToRank = 4;
// MPI counts in int; a longer value goes in parts.
constexpr size_t kMostBytesOfPart = size_t{1} << 30;

// Looks again soon while something may come soon, and then seldom, so that workers on the same core
// get on.
void pause_after(int idle_turns) {
  if (idle_turns < 20) return;
  if (idle_turns < 60) return std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::microseconds(std::min(idle_turns, 200)));
}

}  // namespace

struct Messages::State {
  struct Less {
    bool operator()(const Message& a, const Message& b) const {  // the greatest goes first
      return std::pair(b.priority, b.tag) < std::pair(a.priority, a.tag);
    }
  };
  struct Flight {
    bool outgoing = false;
    int32_t tag = 0;
    int to = 0;
    Duration began{0};
    std::vector<MPI_Request> parts{};
  };
  struct Coming {  // a value of several parts
    std::span<std::byte> room{};
    size_t done = 0;  // asked of MPI
  };

  StarpuRanks& ranks;
  std::vector<int> cores;
  MPI_Comm world = MPI_COMM_NULL;
  Peer* peer = nullptr;  // set between runs

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Message> given;          // guarded by mutex
  bool over = false;                   // guarded by mutex
  std::atomic<bool> has_given{false};  // there is something in `given`, or it is over
  std::atomic<int64_t> expected{0};    // messages that have not come
  int64_t unsent = 0;                  // guarded by mutex: given and not sent

  // The thread's own.
  std::vector<std::priority_queue<Message, std::vector<Message>, Less>> waiting;  // by rank
  std::vector<size_t> on_their_way;                                               // by rank
  std::vector<Flight> flights;
  std::map<std::pair<int, int32_t>, Coming> coming;  // by rank and tag
  std::thread thread;

  State(StarpuRanks& all, std::vector<int> own) : ranks(all), cores(std::move(own)) {}

  void run() {
    pthread_setname_np(pthread_self(), "messages");
    if (!cores.empty()) pin_this_thread(cores);
    prctl(PR_SET_TIMERSLACK, 1);  // a pause of 60 microseconds shall not last 110
    int idle = 0;
    while (take_given()) {
      const bool sent = start_sending();
      const bool came = start_receiving();
      const bool ended = end_flights();
      idle = sent || came || ended ? 0 : idle + 1;
      if (cores.empty()) pause_after(idle);
    }
  }

  bool is_idle() const {
    return flights.empty() && expected.load() == 0 &&
           std::all_of(waiting.begin(), waiting.end(), [](const auto& to) { return to.empty(); });
  }

  // Waits while there is nothing to do. False: it is over.
  bool take_given() {
    if (!has_given.load(std::memory_order_acquire) && !is_idle()) return true;
    std::unique_lock lock(mutex);
    while (given.empty() && !over && is_idle()) changed.wait(lock);
    for (const Message& message : given) waiting[static_cast<size_t>(message.to)].push(message);
    given.clear();
    has_given.store(over);
    return !(over && is_idle());
  }

  bool start_sending() {
    bool any = false;
    for (size_t to = 0; to < waiting.size(); ++to) {
      while (!waiting[to].empty() && on_their_way[to] < kMostAtOnceToRank) {
        send_now(waiting[to].top());
        waiting[to].pop();
        ++on_their_way[to];
        any = true;
      }
    }
    return any;
  }

  void send_now(const Message& message) {
    Flight& flight = flights.emplace_back();
    flight = {.outgoing = true, .tag = message.tag, .to = message.to, .began = ranks.now()};
    size_t done = 0;
    do {
      const size_t now = std::min(kMostBytesOfPart, message.bytes.size() - done);
      MPI_Isend(message.bytes.data() + done, static_cast<int>(now), MPI_BYTE, message.to,
                message.tag, world, &flight.parts.emplace_back());
      done += now;
    } while (done < message.bytes.size());
  }

  // A long message waits at its sender until it is asked for here, where its place is known then.
  bool start_receiving() {
    bool any = false;
    while (expected.load() > 0) {
      int there = 0;
      MPI_Message found;
      MPI_Status status;
      MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &there, &found, &status);
      if (there == 0) return any;
      any = true;
      receive(status, found);
    }
    return any;
  }

  void receive(const MPI_Status& status, MPI_Message found) {
    const std::pair from(status.MPI_SOURCE, static_cast<int32_t>(status.MPI_TAG));
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    const auto entry = coming.try_emplace(from);
    Coming& one = entry.first->second;
    if (entry.second) one.room = peer->room(from.second);
    TUTTI_CHECK(one.done + static_cast<size_t>(bytes) <= one.room.size());
    const auto same = std::find_if(flights.begin(), flights.end(), [&](const Flight& flight) {
      return !flight.outgoing && flight.to == from.first && flight.tag == from.second;
    });
    Flight& flight = same != flights.end() ? *same : flights.emplace_back();
    flight.tag = from.second;
    flight.to = from.first;
    MPI_Imrecv(one.room.data() + one.done, bytes, MPI_BYTE, &found, &flight.parts.emplace_back());
    one.done += static_cast<size_t>(bytes);
  }

  bool end_flights() {
    bool any = false;
    for (size_t i = 0; i < flights.size();) {
      int done = 0;
      std::vector<MPI_Request>& parts = flights[i].parts;
      MPI_Testall(static_cast<int>(parts.size()), parts.data(), &done, MPI_STATUSES_IGNORE);
      if (done == 0 || !is_whole(flights[i])) {
        ++i;
        continue;
      }
      any = true;
      const Flight flight = std::move(flights[i]);
      flights[i] = std::move(flights.back());
      flights.pop_back();
      end(flight);
    }
    return any;
  }

  bool is_whole(const Flight& flight) const {
    if (flight.outgoing) return true;
    const Coming& one = coming.at({flight.to, flight.tag});
    return one.done == one.room.size();
  }

  void end(const Flight& flight) {
    if (!flight.outgoing) {
      coming.erase({flight.to, flight.tag});
      peer->received(flight.tag);
      if (expected.fetch_sub(1) == 1) tell();
      return;
    }
    --on_their_way[static_cast<size_t>(flight.to)];
    peer->sent(flight.tag, flight.began);
    {
      const std::lock_guard lock(mutex);
      --unsent;
    }
    changed.notify_all();
  }

  void tell() {
    { const std::lock_guard lock(mutex); }  // a waiter sees the change or the notice
    changed.notify_all();
  }
};

Messages::Messages(StarpuRanks& ranks, std::vector<int> cores)
    : state_(std::make_unique<State>(ranks, std::move(cores))) {
  TUTTI_CHECK(ranks.several());
  State& state = *state_;
  state.world = MPI_Comm_f2c(ranks.communicator());
  state.waiting.resize(static_cast<size_t>(ranks.size()));
  state.on_their_way.resize(static_cast<size_t>(ranks.size()), 0);
  state.thread = std::thread([&state] { state.run(); });
}

Messages::~Messages() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->over = true;
    state_->has_given.store(true);
  }
  state_->changed.notify_all();
  state_->thread.join();
}

int64_t Messages::most_tag() const {
  void* most = nullptr;
  int there = 0;
  MPI_Comm_get_attr(state_->world, MPI_TAG_UB, static_cast<void*>(&most), &there);
  return there != 0 ? *static_cast<int*>(most) : 32767;  // what the standard promises
}

void Messages::begin(Peer& peer, int64_t expected) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->peer = &peer;
    state_->expected.store(expected);
  }
  state_->changed.notify_all();
}

void Messages::send(const Message& message) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->given.push_back(message);
    ++state_->unsent;
    state_->has_given.store(true, std::memory_order_release);
  }
  state_->changed.notify_all();
}

void Messages::finish() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->unsent == 0 && state_->expected.load() == 0; });
}

}  // namespace tutti
