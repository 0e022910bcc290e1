// A slot of a CPU: the slot's own thread and a helper for each further core, which share an op by
// its parts. BLAS stays on one thread for each part (kernels/cpu/blas.h).

#ifndef TUTTI_RUNTIME_LOCAL_CPU_TEAM_H_
#define TUTTI_RUNTIME_LOCAL_CPU_TEAM_H_

#include <memory>
#include <vector>

#include "tutti/runtime/local/hardware.h"

namespace tutti {

class Team : public SlotRunner {
 public:
  // Requires at least one core.
  explicit Team(std::vector<int> cores);
  ~Team() override;

  Result<void> enter() override;
  Result<void> run(const OpTable::Entry& entry, OpCall& call) override;

 private:
  class Helper;

  Result<void> run_in_parts(const OpTable::Entry& entry, OpCall& call);

  std::vector<int> cores_;
  std::vector<std::unique_ptr<Helper>> helpers_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_CPU_TEAM_H_
