// What a Daemon says of itself and its jobs.

#include <fmt/format.h>

#include "tutti/serve/daemon.h"

namespace tutti {

std::optional<JobFacts> Daemon::find(const std::string& id) const {
  MutexLock lock(mutex_);
  return core_.find(id);
}

std::optional<JobFacts> Daemon::wait(const std::string& id, std::chrono::milliseconds time) const {
  const auto deadline = std::chrono::steady_clock::now() + time;
  MutexLock lock(mutex_);
  while (true) {
    std::optional<JobFacts> facts = core_.find(id);
    if (!facts || is_over(facts->state) || stopping_ || !broken_.empty() ||
        std::chrono::steady_clock::now() >= deadline) {
      return facts;
    }
    changed_.wait_until(mutex_, deadline);
  }
}

std::vector<JobFacts> Daemon::list(const std::set<JobState>& states, int64_t before,
                                   int64_t most) const {
  MutexLock lock(mutex_);
  return core_.list(states, before, most);
}

std::vector<JobFacts> Daemon::queue(int64_t most) const {
  MutexLock lock(mutex_);
  return core_.queue(most);
}

std::string Daemon::unready() const {
  MutexLock lock(mutex_);
  if (!broken_.empty()) return "the journal has failed";
  if (stopping_) return "the server is being stopped";
  if (core_.draining()) return "the server is draining";
  const CoreFigures& figures = core_.figures();
  if (figures.open() >= options_.limits.open_jobs ||
      figures.open_bytes >= options_.limits.open_bytes) {
    return "there are as many open jobs as there may be";
  }
  return "";
}

DaemonFigures Daemon::figures() const {
  MutexLock lock(mutex_);
  return {core_.figures(), journal_->figures(), wait_seconds_, run_seconds_, refused_total_,
          reloads_total_,  core_.draining(),    stopping_,     broken_,      history_->figures()};
}

std::string Daemon::why_waiting(const JobFacts& job) const {
  MutexLock lock(mutex_);
  if (job.state == JobState::queued) {
    if (next_runner_ != nullptr)
      return "waits for running jobs to end: the server is reloaded then";
    return core_.why_queued(job, runner_->places(), runner_->share_time());
  }
  if (job.state != JobState::running) return {};
  std::string why = runner_->why_waiting(job.id);
  if (!why.empty() || !shares_.divides()) return why;
  const ClientShare share = shares_.share(shares_.client(job.client), runner_->share_time());
  if (share.quota_free_in == Duration(0)) return {};
  return fmt::format(
      "its ops wait for the quota of client '{}': {} of {} of device time in {} are "
      "used; again in {}",
      share.name, to_text(share.quota_used), to_text(share.quota), to_text(share.quota_window),
      to_text(share.quota_free_in));
}

std::vector<ClientShare> Daemon::shares() const {
  MutexLock lock(mutex_);
  return shares_.shares(runner_->share_time());
}

ServedBy Daemon::served_by() const {
  MutexLock lock(mutex_);
  const Machine& machine = runner_->machine();
  ServedBy served;
  served.runtime = runner_->name();
  served.policy = runner_->policy();
  served.machine = machine.name();
  served.places = runner_->places();
  served.reloading = next_runner_ != nullptr;
  served.deciding = runner_->deciding();
  for (const DeviceId id : machine.devices()) served.devices.push_back(machine.device(id).name);
  return served;
}

std::vector<Utilisation> Daemon::utilisation() const {
  if (meter_ != nullptr) return meter_->now();
  std::shared_ptr<Runner> runner;
  {
    MutexLock lock(mutex_);
    runner = runner_;
  }
  return runner->utilisation();
}

}  // namespace tutti
