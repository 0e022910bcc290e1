// A Runner runs the graphs of jobs. A graph is prepared once, when it is submitted: it is checked
// and gets its costs. It is run in one of the places of the runner, as many at once as there are.
//
// The one of a server is tutti/serve/run/jobs_runner.h.

#ifndef TUTTI_SERVE_RUN_RUNNER_H_
#define TUTTI_SERVE_RUN_RUNNER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tutti/base/stop.h"
#include "tutti/graph/graph.h"
#include "tutti/machine/machine.h"
#include "tutti/plan/world/client_shares.h"
#include "tutti/plan/world/cluster.h"
#include "tutti/serve/run/decisions.h"
#include "tutti/serve/run/job_folder.h"
#include "tutti/trace/job_record.h"

namespace tutti {

// A graph that can be run here.
struct PreparedJob {
  std::shared_ptr<const Graph> graph;
  std::shared_ptr<Job> job{};  // the same graph with its costs; null: its ops are programs
  Duration work{0};            // device time, each op on its quickest device; 0: not known
  Duration least{0};           // it takes no less, with the machine to itself
};

// One run of one job.
struct RunContext {
  std::string job;       // its name, for the log
  std::string folder{};  // a run continues from what an earlier run of the same job left there
  JobIdentity identity{};
  Unnamed unnamed = Unnamed::moved_aside;
  std::function<void(const std::string& sentence)> note{};  // for the operator
  std::shared_ptr<JobAccount> account{};                    // null: its device time is not counted
  Stop stop{};
};

struct RunReport {
  Duration makespan{0};
  JobRecord record{};  // with its trace; of commands, the trace alone
};

struct Utilisation {
  std::string resource;
  double mean = 0;
  // 95 of 100 lie between these.
  double low = 0;
  double high = 0;
  bool measured = false;  // a counter is about it; otherwise it is inferred from others
};

class Runner {
 public:
  virtual ~Runner() = default;

  virtual const char* name() const = 0;    // "local", "sim"
  virtual std::string policy() const = 0;  // its name
  virtual int places() const = 0;
  virtual const Machine& machine() const = 0;
  // Fails with a sentence if the graph cannot be run here. Any thread may ask.
  virtual Result<PreparedJob> prepare(Graph graph) const = 0;
  // Fails soon after it was stopped. Requires a job that this runner prepared; runs it once.
  virtual Result<RunReport> run(const PreparedJob& prepared, const RunContext& context,
                                DecisionLog& log) = 0;
  // Its time passes only while jobs run.
  virtual bool simulated() const { return false; }
  // The clock of the shares: that by which device time is counted.
  virtual Duration share_time() const = 0;
  // Why a job that runs does not go on, in one sentence; empty: it does, or that is not known.
  virtual std::string why_waiting(const std::string& /*job*/) const { return {}; }
  // The rules of the shares have changed: jobs that are held may go on.
  virtual void rules_changed() {}
  // How often the decider was asked, and how long it took in all.
  struct Deciding {
    int64_t asked = 0;
    Duration time{0};
  };
  virtual Deciding deciding() const { return {}; }
  // How busy the machine's resources are, if the runner itself knows.
  virtual std::vector<Utilisation> utilisation() const { return {}; }
};

}  // namespace tutti

#endif  // TUTTI_SERVE_RUN_RUNNER_H_
