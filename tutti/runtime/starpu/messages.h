// Values on their way between ranks. One thread of its own talks to MPI: it sends what it is given,
// the most urgent first and only a few at a time to each rank, so that what becomes urgent later
// can still overtake; and it receives whatever comes, directly into the memory where readers will
// look for it. A value is one message, whose tag says what it is.
//
// No lock is held while MPI is called. StarPU-MPI's own thread holds one while it polls, and
// workers that wait for that lock may wait for ever (docs/adr/0026-messages.md).
//
// send may be called by any thread during a run; the rest by the thread that runs plans.

#ifndef TUTTI_RUNTIME_STARPU_MESSAGES_H_
#define TUTTI_RUNTIME_STARPU_MESSAGES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tutti/base/time.h"
#include "tutti/runtime/starpu/ranks.h"

namespace tutti {

class Messages {
 public:
  struct Message {
    int to = 0;  // rank
    int32_t tag = 0;
    int64_t priority = 0;                // the smallest goes first; then in the order of tags
    std::span<const std::byte> bytes{};  // must stay until it was sent
  };
  // Called by the thread, which goes on when these functions return.
  class Peer {
   public:
    virtual ~Peer() = default;
    // Where a message's bytes go, as many as were sent.
    virtual std::span<std::byte> room(int32_t tag) = 0;
    virtual void received(int32_t tag) = 0;
    // `began`: when MPI was given it, in the clock of all ranks.
    virtual void sent(int32_t tag, Duration began) = 0;
  };

  // Requires several ranks. Keeps a reference. The thread binds itself to these cores, which no
  // worker uses, and polls without pause; with none it runs anywhere and pauses while nothing
  // moves.
  Messages(StarpuRanks& ranks, std::vector<int> cores);
  ~Messages();
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  // The greatest tag that MPI takes.
  int64_t most_tag() const;

  // A run begins, for which so many messages will come. Every rank must have called this before one
  // sends.
  void begin(Peer& peer, int64_t expected);
  void send(const Message& message);
  // Returns when as many messages as expected came and everything was sent.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_STARPU_MESSAGES_H_
