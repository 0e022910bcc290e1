#include "tutti/runtime/starpu/ranks.h"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "tutti/base/check.h"
#include "tutti/runtime/local/cpu/cores.h"

namespace tutti {
namespace {

constexpr int kTextTag = 1;
constexpr int kClockTag = 2;
constexpr int kClockRounds = 16;
// MPI counts in int.
constexpr int64_t kMostAtOnce = int64_t{1} << 30;

bool is_set(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr && *text != '\0';
}

// Whether mpirun, or srun with an MPI plugin, started this process.
bool has_launcher() {
  return is_set("OMPI_COMM_WORLD_SIZE") || is_set("PMIX_RANK") || is_set("PMI_RANK");
}

// How many tasks srun started; 1 without it.
int slurm_tasks() {
  const char* text = std::getenv("SLURM_STEP_NUM_TASKS");
  return text == nullptr || !is_set("SLURM_PROCID") ? 1 : std::atoi(text);
}

std::string own_host_name() {
  if (const char* slurm = std::getenv("SLURMD_NODENAME"); slurm != nullptr && *slurm != '\0') {
    return slurm;
  }
  char name[256] = {};
  if (gethostname(name, sizeof(name) - 1) != 0 || name[0] == '\0') return "host";
  return name;
}

// The same for all processes of one running kernel, whatever names and networks they see.
std::string own_boot() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return id;
}

Duration steady_now() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

// Waits without keeping a core busy: others may need it.
void wait(MPI_Request request) {
  for (int turn = 0;; ++turn) {
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return;
    if (turn > 100) std::this_thread::sleep_for(std::chrono::microseconds(200));
    if (turn > 10) std::this_thread::yield();
  }
}

}  // namespace

struct StarpuRanks::Mpi {
  MPI_Comm world = MPI_COMM_NULL;  // ours, so that no other messages are seen
  MPI_Comm values = MPI_COMM_NULL;
  std::unique_ptr<Watchdog> watchdog;
};

StarpuRanks::StarpuRanks()
    : hosts_{own_host_name()}, boots_{own_boot()}, cores_(cores_of_this_process()) {}

std::unique_ptr<StarpuRanks> StarpuRanks::alone() {
  return std::unique_ptr<StarpuRanks>(new StarpuRanks);
}

Result<std::unique_ptr<StarpuRanks>> StarpuRanks::join() {
  std::unique_ptr<StarpuRanks> ranks = alone();
  if (!has_launcher()) {
    if (slurm_tasks() == 1) return ranks;
    return invalid_input(fmt::format(
        "srun started {} tasks but gave them no MPI, so that they cannot find each other; start "
        "them with srun --mpi=pmix (srun --mpi=list says what there is) or with mpirun",
        slurm_tasks()));
  }
  if (const Result<void> met = ranks->meet(); !met) return met.error();
  return ranks;
}

Result<void> StarpuRanks::meet() {
  // StarpuRanks often share cores, and an MPI that spins takes them from the ops.
  setenv("OMPI_MCA_mpi_yield_when_idle", "1", /*overwrite=*/0);
  int level = 0;
  {
    const Deadline deadline("the ranks did not find each other in time: the run is over");
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level) != MPI_SUCCESS) {
      return failed("MPI could not be started");
    }
  }
  mpi_ = std::make_unique<Mpi>();
  if (level < MPI_THREAD_MULTIPLE) {
    return failed(
        "this MPI does not let several threads call it (MPI_THREAD_MULTIPLE); use one "
        "that does, such as Debian's Open MPI");
  }
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1) return {};
  // A message to a rank that was killed shall fail, not kill this one too: launchers name the rank
  // that dies first.
  std::signal(SIGPIPE, SIG_IGN);
  const Deadline deadline(
      fmt::format("rank {} could not talk to the others in time: the run is over", rank_));
  MPI_Comm_dup(MPI_COMM_WORLD, &mpi_->world);
  MPI_Comm_dup(MPI_COMM_WORLD, &mpi_->values);
  const std::string own_name = hosts_[0];
  const std::string own_id = boots_[0];
  hosts_.resize(static_cast<size_t>(size));  // from here on several() holds
  hosts_ = gather_all(own_name);
  boots_ = gather_all(own_id);
  divide_cores();
  mpi_->watchdog = std::make_unique<Watchdog>(rank_, size, pulse_,
                                              [this](int other) { return describe(other); });
  return {};
}

void StarpuRanks::divide_cores() {
  std::string mask;
  for (const int core : cores_) mask += fmt::format("{},", core);
  const std::vector<std::string> masks = gather_all(mask);
  size_t sharing = 0;
  size_t before = 0;
  neighbours_ = 0;
  for (int other = 0; other < size(); ++other) {
    const auto at = static_cast<size_t>(other);
    if (boots_[at] != boots_[static_cast<size_t>(rank_)]) continue;
    ++neighbours_;
    if (masks[at] != mask) continue;
    ++sharing;
    before += other < rank_;
  }
  if (sharing <= 1) return;
  const size_t all = cores_.size();
  shares_cores_ = sharing > all;
  const size_t first = before * all / sharing;
  const size_t last = std::max(first + 1, (before + 1) * all / sharing);
  cores_ = {cores_.begin() + static_cast<std::ptrdiff_t>(first),
            cores_.begin() + static_cast<std::ptrdiff_t>(last)};
}

StarpuRanks::~StarpuRanks() {
  if (mpi_ == nullptr) return;
  const Deadline deadline(
      fmt::format("rank {} waited for the others, which did not end: the run is over", rank_));
  if (several()) barrier();
  mpi_->watchdog.reset();
  MPI_Finalize();
}

std::string StarpuRanks::describe(int rank) const {
  return fmt::format("rank {} on {}", rank, host_name(rank));
}

int StarpuRanks::communicator() const {
  TUTTI_CHECK(several());
  return static_cast<int>(MPI_Comm_c2f(mpi_->values));
}

void StarpuRanks::barrier() {
  if (!several()) return;
  MPI_Request request;
  MPI_Ibarrier(mpi_->world, &request);
  wait(request);
}

void StarpuRanks::send(int to, const std::string& text) {
  const auto bytes = static_cast<int64_t>(text.size());
  MPI_Request request;
  MPI_Isend(&bytes, 1, MPI_INT64_T, to, kTextTag, mpi_->world, &request);
  wait(request);
  for (int64_t done = 0; done < bytes; done += kMostAtOnce) {
    const auto now = static_cast<int>(std::min(kMostAtOnce, bytes - done));
    MPI_Isend(text.data() + done, now, MPI_BYTE, to, kTextTag, mpi_->world, &request);
    wait(request);
  }
}

std::string StarpuRanks::receive(int from) {
  int64_t bytes = 0;
  MPI_Request request;
  MPI_Irecv(&bytes, 1, MPI_INT64_T, from, kTextTag, mpi_->world, &request);
  wait(request);
  std::string text(static_cast<size_t>(bytes), '\0');
  for (int64_t done = 0; done < bytes; done += kMostAtOnce) {
    const auto now = static_cast<int>(std::min(kMostAtOnce, bytes - done));
    MPI_Irecv(text.data() + done, now, MPI_BYTE, from, kTextTag, mpi_->world, &request);
    wait(request);
  }
  return text;
}

// Texts are few and go by way of rank 0: a star needs no counts beforehand.
std::string StarpuRanks::broadcast(std::string text) {
  if (!several()) return text;
  if (rank_ != 0) return receive(0);
  for (int other = 1; other < size(); ++other) send(other, text);
  return text;
}

std::vector<std::string> StarpuRanks::gather(std::string text) {
  if (rank_ != 0) {
    send(0, text);
    return {};
  }
  std::vector<std::string> all = {std::move(text)};
  for (int other = 1; other < size(); ++other) all.push_back(receive(other));
  return all;
}

std::vector<std::string> StarpuRanks::gather_all(std::string text) {
  std::vector<std::string> all = gather(std::move(text));
  all.resize(static_cast<size_t>(size()));
  for (std::string& each : all) each = broadcast(std::move(each));
  return all;
}

Result<void> StarpuRanks::agree(const Result<void>& mine, Duration at) {
  if (!several()) return mine;
  std::string text;  // kind, time, message
  if (!mine) {
    text = fmt::format("{}{} {}", static_cast<int>(mine.error().kind), at.count(),
                       mine.error().message);
  }
  const std::vector<std::string> all = gather_all(std::move(text));
  int first = -1;
  int64_t earliest = 0;
  for (int rank = 0; rank < size(); ++rank) {
    const std::string& one = all[static_cast<size_t>(rank)];
    if (one.empty()) continue;
    const int64_t time = std::strtoll(one.c_str() + 1, nullptr, 10);
    if (first >= 0 && time >= earliest) continue;
    first = rank;
    earliest = time;
  }
  if (first < 0) return {};
  const std::string& one = all[static_cast<size_t>(first)];
  return Error{static_cast<Error::Kind>(one[0] - '0'),
               describe(first) + ": " + one.substr(one.find(' ') + 1)};
}

// The round trip that was shortest tells most: its middle is when rank 0 looked at its clock, give
// or take half of it.
void StarpuRanks::sync_clock() {
  if (!several()) return;
  for (int other = 1; other < size(); ++other) {
    if (boots_[static_cast<size_t>(other)] == boots_[0]) continue;
    if (rank_ != 0 && rank_ != other) continue;
    Duration shortest = kNever;
    for (int round = 0; round < kClockRounds; ++round) {
      int64_t time = 0;
      if (rank_ == 0) {
        MPI_Recv(&time, 1, MPI_INT64_T, other, kClockTag, mpi_->world, MPI_STATUS_IGNORE);
        time = steady_now().count();
        MPI_Send(&time, 1, MPI_INT64_T, other, kClockTag, mpi_->world);
        continue;
      }
      const Duration begin = steady_now();
      MPI_Send(&time, 1, MPI_INT64_T, 0, kClockTag, mpi_->world);
      MPI_Recv(&time, 1, MPI_INT64_T, 0, kClockTag, mpi_->world, MPI_STATUS_IGNORE);
      const Duration trip = steady_now() - begin;
      if (trip >= shortest) continue;
      shortest = trip;
      offset_ = Duration(time) - (begin + trip / 2);
    }
  }
}

Duration StarpuRanks::now() const {
  return steady_now() + offset_;
}

}  // namespace tutti
