// Component packing: parts of a graph that exchange no values (data-parallel copies, for instance)
// need no transfers if each stays on one device. The longest go first, each to the device that is
// done with it first (LPT: Graham 1969, for unequal devices Gonzalez, Ibarra, Sahni 1977).
//
// A part that holds more work than several devices' share, and the largest ones if there are fewer
// parts than devices, are split: they get a team of devices and contention-aware earliest finish
// divides their ops among it.

#include <algorithm>
#include <numeric>
#include <vector>

#include "tutti/graph/analysis.h"
#include "tutti/policy/heuristic/contention_eft.h"
#include "tutti/policy/heuristic/heuristics.h"
#include "tutti/policy/places/subsets.h"

namespace tutti {
namespace {

class Packing {
 public:
  explicit Packing(const Problem& problem)
      : parts_(components(problem.graph)),
        speed_(device_speeds(problem)),
        closeness_(devices_by_speed_and_closeness(problem, speed_)),
        work_(static_cast<size_t>(parts_.count), 0),
        busy_(speed_.size(), 0) {
    for (const OpId op : problem.graph.ops()) {
      work_[static_cast<size_t>(parts_.of_op[op.index])] +=
          static_cast<double>(problem.costs.least_run_time(op).count());
    }
    by_work_.resize(work_.size());
    std::iota(by_work_.begin(), by_work_.end(), 0);
    std::stable_sort(by_work_.begin(), by_work_.end(), [&](int32_t a, int32_t b) {
      return work_[static_cast<size_t>(a)] > work_[static_cast<size_t>(b)];
    });
  }

  Teams pack() {
    Teams teams;
    teams.of_op = parts_.of_op;
    teams.devices.assign(work_.size(), std::vector<bool>(speed_.size(), false));
    const std::vector<int> sizes = team_sizes();
    size_t next = 0;  // into closeness_: devices that no team has
    for (const int32_t part : by_work_) {
      auto& team = teams.devices[static_cast<size_t>(part)];
      const int size = sizes[static_cast<size_t>(part)];
      if (size <= 1) {
        take(part, least_busy(part), 1, team);
        continue;
      }
      for (int i = 0; i < size; ++i) take(part, closeness_[next++], size, team);
    }
    return teams;
  }

 private:
  // As many devices as the part has shares of the work; what is left over goes where most work is
  // left to one device. Only the largest parts get more than one.
  std::vector<int> team_sizes() const {
    const double share =
        std::accumulate(work_.begin(), work_.end(), 0.0) / static_cast<double>(closeness_.size());
    std::vector<int> sizes(work_.size(), 1);
    int left = static_cast<int>(closeness_.size());
    for (const int32_t part : by_work_) {
      const double shares = share > 0 ? work_[static_cast<size_t>(part)] / share : 1;
      sizes[static_cast<size_t>(part)] = std::clamp(static_cast<int>(shares), 1, std::max(1, left));
      left -= sizes[static_cast<size_t>(part)];
      if (left <= 0) break;
    }
    while (left > 0 && !sizes.empty()) {
      const auto per_device = [&](int32_t part) {
        return work_[static_cast<size_t>(part)] / sizes[static_cast<size_t>(part)];
      };
      const auto most =
          std::max_element(by_work_.begin(), by_work_.end(),
                           [&](int32_t a, int32_t b) { return per_device(a) < per_device(b); });
      ++sizes[static_cast<size_t>(*most)];
      --left;
    }
    return sizes;
  }

  DeviceId least_busy(int32_t part) const {
    DeviceId best{};
    double best_end = 0;
    for (const DeviceId device : closeness_) {
      if (speed_[device.index] <= 0) continue;
      const double end =
          busy_[device.index] + work_[static_cast<size_t>(part)] / speed_[device.index];
      if (!best.valid() || end < best_end) {
        best = device;
        best_end = end;
      }
    }
    return best.valid() ? best : closeness_.front();
  }

  void take(int32_t part, DeviceId device, int team_size, std::vector<bool>& team) {
    team[static_cast<size_t>(device.index)] = true;
    busy_[device.index] +=
        work_[static_cast<size_t>(part)] / (std::max(speed_[device.index], 1e-9) * team_size);
  }

  Components parts_;
  std::vector<double> speed_;
  std::vector<DeviceId> closeness_;
  std::vector<double> work_;  // by part
  std::vector<double> busy_;  // by device
  std::vector<int32_t> by_work_;
};

}  // namespace

Result<Plan> plan_components(const Problem& problem, const Budget& budget, uint64_t /*seed*/) {
  const Teams teams = Packing(problem).pack();
  return contention_eft(problem, {.teams = &teams, .stop = budget.stop});
}

}  // namespace tutti
