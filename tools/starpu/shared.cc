#include "tools/starpu/shared.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "tutti/base/fingerprint.h"
#include "tutti/plan/file.h"
#include "tutti/runtime/starpu/discover.h"

namespace tutti {
namespace {

// Keeps this process from writing to standard error, for as long as it lives.
class Silence {
 public:
  explicit Silence(bool silent) {
    if (!silent) return;
    kept_ = dup(STDERR_FILENO);
    const int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere < 0) return;
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
  }
  ~Silence() {
    if (kept_ < 0) return;
    std::fflush(stderr);
    dup2(kept_, STDERR_FILENO);
    close(kept_);
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  int kept_ = -1;
};

Result<void> check_readable_by_all(const ProblemInputs& inputs, const StarpuRanks& ranks) {
  if (!ranks.several()) return {};
  for (const std::string* path :
       {&inputs.graph, &inputs.machine, &inputs.costs, &inputs.constraints}) {
    if (*path != "-") continue;
    return invalid_input(
        "standard input (-) reaches one rank alone; put the input in a file that all can read");
  }
  return {};
}

// That all ranks read the same.
Result<void> check_same(const Problem& problem, StarpuRanks& ranks) {
  Fingerprint own;
  own.add(problem.graph.fingerprint());
  own.add(problem.machine.fingerprint());
  own.add(problem.costs.fingerprint());
  own.add(problem.constraints_fingerprint());
  const std::vector<std::string> all = ranks.gather_all(fingerprint_text(own.value()));
  for (int rank = 1; rank < ranks.size(); ++rank) {
    if (all[static_cast<size_t>(rank)] == all[0]) continue;
    return invalid_input(
        fmt::format("{} reads another graph, machine, costs or constraints than {}; all ranks must "
                    "see the same files",
                    ranks.describe(rank), ranks.describe(0)));
  }
  return {};
}

}  // namespace

Result<LoadedProblem> load_on_ranks(const ProblemInputs& inputs, StarpuRanks& ranks) {
  if (Result<void> good = check_readable_by_all(inputs, ranks); !good) return good.error();
  std::optional<Machine> found;
  if (inputs.machine == "this-host" && ranks.several()) {
    Result<Machine> discovered = discover_ranks(ranks);
    if (!discovered) return discovered.error();
    found = std::move(*discovered);
  }
  Result<LoadedProblem> loaded = [&] {
    const Silence silence(ranks.rank() != 0);
    return found ? inputs.load_on(std::move(*found)) : inputs.load();
  }();
  const Result<void> read = loaded ? Result<void>() : Result<void>(loaded.error());
  if (Result<void> good = ranks.agree(read); !good) return good.error();
  if (Result<void> good = check_same(*loaded->problem, ranks); !good) return good.error();
  return loaded;
}

Result<Plan> share_plan(const Problem& problem, StarpuRanks& ranks,
                        const std::function<Result<Plan>()>& make) {
  Result<void> made;
  std::string text;
  if (ranks.rank() == 0) {
    const Result<Plan> plan = make();
    if (!ranks.several()) return plan;
    if (plan) {
      text = plan_to_json(*plan, problem);
    } else {
      made = plan.error();
    }
  }
  if (made = ranks.agree(made); !made) return made.error();
  Source source = Source::from_text("the plan of rank 0", ranks.broadcast(std::move(text)));
  return read_plan(source, problem);
}

int report_once(const Error& error, const StarpuRanks& ranks) {
  const Silence silence(ranks.rank() != 0);
  return report(error);
}

}  // namespace tutti
