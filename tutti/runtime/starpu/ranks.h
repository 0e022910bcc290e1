// The processes that run one graph together, called ranks: one for each host of the machine, as
// mpirun or srun started them; or this process alone. What all must do at the same point goes
// through here. A rank that dies or no longer answers ends the others, see watchdog.h.
//
// All but rank(), size() and names is collective: every rank calls it, in the same order, from the
// thread that joined.

#ifndef TUTTI_RUNTIME_STARPU_RANKS_H_
#define TUTTI_RUNTIME_STARPU_RANKS_H_

#include <memory>
#include <string>
#include <vector>

#include "tutti/base/result.h"
#include "tutti/base/time.h"
#include "tutti/runtime/starpu/watchdog.h"

namespace tutti {

class StarpuRanks {
 public:
  // Joins the ranks that a launcher started with this one; without a launcher it is alone. Fails
  // with a sentence if the launcher gave no MPI, or an MPI that threads may not share.
  static Result<std::unique_ptr<StarpuRanks>> join();
  static std::unique_ptr<StarpuRanks> alone();
  // Leaves the others. Every rank must come to this point, or end.
  ~StarpuRanks();

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(hosts_.size()); }
  bool several() const { return size() > 1; }
  // Of the host that a rank is on, as Slurm or the host itself calls it.
  const std::string& host_name(int rank) const { return hosts_[static_cast<size_t>(rank)]; }
  const std::vector<std::string>& host_names() const { return hosts_; }
  // "rank 2 on alpha".
  std::string describe(int rank) const;
  // This rank's share of the cores that it may use: ranks of one host that the launcher bound to
  // the same cores divide them.
  const std::vector<int>& cores() const { return cores_; }
  // Whether another rank has some of them too, as there are not enough for all.
  bool shares_cores() const { return shares_cores_; }
  // How many ranks share this one's host, itself among them.
  int neighbours() const { return neighbours_; }

  void barrier();
  // What rank 0 gives.
  std::string broadcast(std::string text);
  // What each gives, by rank; at rank 0 alone, elsewhere nothing.
  std::vector<std::string> gather(std::string text);
  std::vector<std::string> gather_all(std::string text);
  // The first error by time (of now(), if given) and then by rank, with its rank where there are
  // several; the same at every rank.
  Result<void> agree(const Result<void>& mine, Duration at = Duration{0});
  // Between rank 0 and another; the rest need not call it.
  void send(int to, const std::string& text);
  std::string receive(int from);

  // One clock for all ranks: that of rank 0, as far as messages can tell. StarpuRanks of one host
  // share it exactly. sync_clock is collective, now is not.
  void sync_clock();
  Duration now() const;

  // How this rank's run goes, for the watchdog.
  Pulse& pulse() { return pulse_; }

  // MPI's handle for the world that values travel in (messages.h), as MPI_Comm_c2f spells it.
  // Requires several().
  int communicator() const;

 private:
  struct Mpi;
  StarpuRanks();
  Result<void> meet();
  void divide_cores();

  int rank_ = 0;
  std::vector<std::string> hosts_;
  std::vector<std::string> boots_;  // by rank: equal where the kernel is the same
  std::vector<int> cores_;
  bool shares_cores_ = false;
  int neighbours_ = 1;
  Duration offset_{0};
  Pulse pulse_;
  std::unique_ptr<Mpi> mpi_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_STARPU_RANKS_H_
