// A JobWorld is a machine on which jobs run that enter at any time and share its devices, as a
// Decider says: this host (the engine of tutti/runtime/local/jobs), or a simulated machine
// (tutti/runtime/sim/jobs). It is all that differs between a real and a simulated server.
//
// Simulated time stands still while no job is there.

#ifndef TUTTI_SERVE_RUN_JOB_WORLD_H_
#define TUTTI_SERVE_RUN_JOB_WORLD_H_

#include <functional>
#include <memory>
#include <vector>

#include "tutti/plan/world/client_shares.h"
#include "tutti/plan/world/decider.h"
#include "tutti/runtime/local/op_table.h"
#include "tutti/serve/run/runner.h"
#include "tutti/telemetry/counter_feed.h"

namespace tutti {

class JobWorld {
 public:
  // A job that is about to enter, or has entered.
  class Entry {
   public:
    virtual ~Entry() = default;
    virtual bool waits_for_memory() const { return false; }
  };
  // The job has ended, well or not. Called once by the world's thread: soon done, and no call of
  // the world's.
  using Ended = std::function<void(Result<JobRecord> record)>;

  virtual ~JobWorld() = default;
  virtual const char* name() const = 0;
  virtual bool simulated() const = 0;
  // Its kinds change while jobs enter; any thread may make jobs for it.
  virtual const Cluster& cluster() const = 0;
  virtual const std::vector<Counter>& counters() const = 0;
  // Fails with a sentence if jobs of that problem cannot run here.
  virtual Result<void> check(const Problem& problem, bool knows_colocation) const = 0;
  // Once, before jobs come. Keeps a reference to the shares.
  virtual void begin(std::unique_ptr<Decider> decider, ClientShares& shares, uint64_t seed) = 0;
  // Any thread from here on. Takes as long as filling the job's inputs.
  virtual Result<std::shared_ptr<Entry>> prepare(std::shared_ptr<Job> job,
                                                 std::shared_ptr<JobAccount> account,
                                                 Ended ended) = 0;
  // May call Ended, and the decider: not with a lock that these take.
  virtual void admit(const std::shared_ptr<Entry>& entry) = 0;
  // The job shall end soon, with an error.
  virtual void withdraw(const std::shared_ptr<Entry>& entry) = 0;
  // As Runner::rules_changed().
  virtual void rules_changed() {}
  // The clock of the shares.
  virtual Duration share_time() const = 0;
  virtual std::vector<Utilisation> utilisation() const { return {}; }
};

struct RealWorldOptions {
  int32_t queue_depth = 2;  // of each device; see JobEngineOptions
  // Counters that the decider sees, and their source; see JobEngineOptions.
  std::vector<Counter> counters{};
  std::unique_ptr<CounterFeed> feed{};
  OpTable ops = OpTable::standard();
};

// Fails (invalid_input) with a sentence if this host has not the machine's devices.
Result<std::unique_ptr<JobWorld>> make_real_world(Cluster cluster, RealWorldOptions options);
std::unique_ptr<JobWorld> make_simulated_world(Cluster cluster);

// For real runs: fails with a sentence if no device has code for some op, or if an input cannot be
// filled.
Result<void> check_code(const Graph& graph, const Machine& machine, const OpTable& ops);

}  // namespace tutti

#endif  // TUTTI_SERVE_RUN_JOB_WORLD_H_
