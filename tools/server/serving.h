// What tutti serve runs jobs with, by its flags: a machine, costs and a policy become a runner. A
// reload reads the files again.

#ifndef TUTTI_TOOLS_SERVER_SERVING_H_
#define TUTTI_TOOLS_SERVER_SERVING_H_

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tutti/base/mutex.h"
#include "tutti/serve/api.h"
#include "tutti/serve/clients.h"
#include "tutti/serve/run/jobs_runner.h"

namespace tutti {

struct ServingOptions {
  std::string machine = "this-host";
  std::string costs;
  std::string runtime = "local";
  std::string policy = "critical_path";
  std::string fallback = "graphene";
  std::string clients;  // a file; empty: clients have no shares
  std::string tokens;   // a file that another reads; a reload is refused if it is wrong
  int parallel = 0;     // 0: one for each usable core
  uint64_t seed = 1;
  bool allow_commands = false;
  std::vector<std::string> environment;
};

// Warns the operator, once for each name, of graphs that the costs do not fit.
class CostsWatch {
 public:
  void replace(Machine machine, CostSpec costs, std::string file);
  void look_at(const Graph& graph);

 private:
  static constexpr size_t kMostNames = 1000;
  struct Costs {
    Machine machine;
    CostSpec spec;
    std::string file;
  };
  Mutex mutex_;
  std::shared_ptr<const Costs> costs_ GUARDED_BY(mutex_);
  std::set<std::string> seen_ GUARDED_BY(mutex_);
};

class Serving {
 public:
  explicit Serving(ServingOptions options) : options_(std::move(options)) {}

  // Once, first. Fails with a sentence if a file is wrong, this host has not the machine's devices,
  // or there is no such policy.
  Result<std::unique_ptr<Runner>> open();
  // Of the file; none if there is none.
  Result<ClientRules> clients() const;
  // Reads all files again. Fails with a sentence: all is as before then. Any thread.
  Result<void> reload(Daemon& daemon, const ReloadRequest& request);

  ClientShares& shares() { return shares_; }
  CostsWatch& watch() { return watch_; }

 private:
  struct Made {
    std::unique_ptr<Runner> runner;
    Machine machine;
    CostSpec costs;
  };
  Result<Made> make(const ServingOptions& options, const Machine& machine, CostSpec costs);
  // Of the contents of its files: equal if nothing has changed.
  static uint64_t digest_of(const ServingOptions& options, const Machine& machine);

  ClientShares shares_;
  CostsWatch watch_;
  Mutex mutex_;  // held by a reload
  ServingOptions options_;
  uint64_t digest_ = 0;
};

}  // namespace tutti

#endif  // TUTTI_TOOLS_SERVER_SERVING_H_
