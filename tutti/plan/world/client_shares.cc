#include "tutti/plan/world/client_shares.h"

#include <algorithm>
#include <utility>

namespace tutti {

void ClientShares::Window::add(Duration time, Duration now, Duration window) {
  const int64_t number = part_of(now, window);
  const auto at = static_cast<size_t>(number % (kParts + 1));
  if (numbers_[at] != number) {
    numbers_[at] = number;
    parts_[at] = Duration(0);
  }
  parts_[at] += time;
}

Duration ClientShares::Window::sum(Duration now, Duration window) const {
  const int64_t last = part_of(now, window);
  Duration sum{0};
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (numbers_[i] > last - kParts - 1) sum += parts_[i];
  }
  return sum;
}

Duration ClientShares::Window::below_at(Duration limit, Duration now, Duration window) const {
  Duration left = sum(now, window);
  const int64_t last = part_of(now, window);
  const int64_t length = window.count() / kParts + 1;
  for (int64_t number = last - kParts; left >= limit && number <= last; ++number) {
    const auto at = static_cast<size_t>(std::max<int64_t>(0, number) % (kParts + 1));
    if (number < 0 || numbers_[at] != number) continue;
    left -= parts_[at];
    if (left < limit) return Duration((number + kParts + 1) * length);
  }
  return now;
}

ClientShares::Window ClientShares::Window::in_parts_of(Duration other, Duration now,
                                                       Duration window) const {
  Window made;
  const int64_t last = part_of(now, window);
  const int64_t length = window.count() / kParts + 1;
  for (int64_t number = std::max<int64_t>(0, last - kParts); number <= last; ++number) {
    const auto at = static_cast<size_t>(number % (kParts + 1));
    // At the end of its part, so that it is counted for no less than its time.
    const Duration time = std::min(now, Duration((number + 1) * length - 1));
    if (numbers_[at] == number) made.add(parts_[at], time, other);
  }
  return made;
}

ClientShares::ClientShares(ShareRules rules) : rules_(std::move(rules)) {}

void ClientShares::set_rules(ShareRules rules) {
  const MutexLock lock(mutex_);
  const Duration window = rules_.window;
  rules_ = std::move(rules);
  for (Client& client : clients_) {
    const Duration before = client.rule.quota_window;
    client.rule = rule_of(client.name);
    if (client.rule.quota_window != before)
      client.for_quota = client.for_quota.in_parts_of(client.rule.quota_window, latest_, before);
  }
  if (rules_.window != window) change_window(window);
}

// Marks are numbered by parts of the window: those of another one say nothing. What is owed since
// then is forgotten.
void ClientShares::change_window(Duration before) {
  recent_ = recent_.in_parts_of(rules_.window, latest_, before);
  for (Client& client : clients_)
    client.recent = client.recent.in_parts_of(rules_.window, latest_, before);
  marks_.fill(virtual_time_);
  last_mark_ = latest_.count() / (rules_.window.count() / kMarks + 1);
}

void ClientShares::set_devices(const std::vector<std::string>& names) {
  const MutexLock lock(mutex_);
  place_of_.clear();
  for (const std::string& name : names) {
    const auto known = std::find(devices_.begin(), devices_.end(), name);
    place_of_.push_back(static_cast<size_t>(known - devices_.begin()));
    if (known == devices_.end()) devices_.push_back(name);
  }
}

std::vector<std::string> ClientShares::devices() const {
  const MutexLock lock(mutex_);
  return devices_;
}

bool ClientShares::divides() const {
  const MutexLock lock(mutex_);
  return rules_.divided;
}

const ShareRule& ClientShares::rule_of(const std::string& name) const {
  for (const auto& [known, rule] : rules_.named) {
    if (known == name) return rule;
  }
  return rules_.usual;
}

int32_t ClientShares::client(const std::string& name) {
  const MutexLock lock(mutex_);
  for (size_t i = 0; i < clients_.size(); ++i) {
    if (clients_[i].name == name) return static_cast<int32_t>(i);
  }
  Client fresh;
  fresh.name = name;
  fresh.rule = rule_of(name);
  clients_.push_back(std::move(fresh));
  return static_cast<int32_t>(clients_.size()) - 1;
}

double ClientShares::weights() const {
  double sum = 0;
  for (const Client& client : clients_) sum += client.open_jobs > 0 ? client.rule.weight : 0;
  return sum;
}

void ClientShares::job_opened(int32_t number, Duration now) {
  const MutexLock lock(mutex_);
  limit_debts(std::max(now, latest_));
  Client& client = clients_[static_cast<size_t>(number)];
  // Absence earns nothing.
  if (client.open_jobs++ == 0) client.virtual_time = std::max(client.virtual_time, virtual_time_);
}

void ClientShares::job_closed(int32_t number) {
  const MutexLock lock(mutex_);
  --clients_[static_cast<size_t>(number)].open_jobs;
}

JobAccount ClientShares::enter(int32_t number, Duration work) {
  const MutexLock lock(mutex_);
  Client& client = clients_[static_cast<size_t>(number)];
  client.work_left += work;
  ++client.placed;
  return {number, work, true};
}

void ClientShares::leave(JobAccount& account) {
  if (account.client < 0) return;
  const MutexLock lock(mutex_);
  Client& client = clients_[static_cast<size_t>(account.client)];
  client.work_left -= account.work_left;
  client.placed -= account.placed ? 1 : 0;
  account.work_left = Duration(0);
  account.placed = false;
}

bool ClientShares::has_quota(int32_t number) const {
  const MutexLock lock(mutex_);
  return clients_[static_cast<size_t>(number)].rule.quota != kNever;
}

int64_t ClientShares::placed_with_quota() const {
  const MutexLock lock(mutex_);
  int64_t placed = 0;
  for (const Client& client : clients_) placed += client.rule.quota != kNever ? client.placed : 0;
  return placed;
}

void ClientShares::given(const JobAccount& account, Duration expected) {
  if (account.client < 0) return;
  const MutexLock lock(mutex_);
  clients_[static_cast<size_t>(account.client)].expected += expected;
}

void ClientShares::taken_back(const JobAccount& account, Duration expected) {
  given(account, -expected);
}

void ClientShares::ended(JobAccount& account, int32_t device, Duration expected, Duration least,
                         Duration taken, Duration now) {
  if (account.client < 0) return;
  const MutexLock lock(mutex_);
  now = std::max(now, latest_);
  Client& client = clients_[static_cast<size_t>(account.client)];
  client.expected -= expected;
  least = std::min(least, account.work_left);
  account.work_left -= least;
  client.work_left -= least;
  client.used += taken;
  const auto number = static_cast<size_t>(device);
  const size_t place = number < place_of_.size() ? place_of_[number] : number;
  if (client.by_device.size() <= place) client.by_device.resize(place + 1, Duration(0));
  client.by_device[place] += taken;
  client.recent.add(taken, now, rules_.window);
  recent_.add(taken, now, rules_.window);
  if (client.rule.quota != kNever) client.for_quota.add(taken, now, client.rule.quota_window);
  const auto time = static_cast<double>(taken.count());
  client.virtual_time += time / client.rule.weight;
  virtual_time_ += time / std::max(weights(), client.rule.weight);
  limit_debts(now);
}

// A client that cannot use its share, or is held by its quota, is owed what it missed in one window
// at most, and the others owe no more than they had beyond their shares in it.
void ClientShares::limit_debts(Duration now) {
  latest_ = now;
  const int64_t length = rules_.window.count() / kMarks + 1;
  const int64_t mark = now.count() / length;
  if (mark <= last_mark_) return;
  for (int64_t i = std::max(last_mark_ + 1, mark - kMarks + 1); i <= mark; ++i)
    marks_[static_cast<size_t>(i % kMarks)] = virtual_time_;
  last_mark_ = mark;
  const double oldest = marks_[static_cast<size_t>((mark + 1) % kMarks)];
  for (Client& client : clients_) {
    const auto used = static_cast<double>(client.recent.sum(now, rules_.window).count());
    const double ahead = used / client.rule.weight - (virtual_time_ - oldest);
    client.virtual_time =
        std::clamp(client.virtual_time, oldest, virtual_time_ + std::max(0.0, ahead));
  }
}

Duration ClientShares::quota_used(const Client& client, Duration now) const {
  return client.for_quota.sum(now, client.rule.quota_window) + client.expected;
}

bool ClientShares::is_held(const Client& client, Duration now) const {
  return client.rule.quota != kNever && quota_used(client, now) >= client.rule.quota;
}

void ClientShares::order(Duration now, bool places, std::vector<int32_t>& clients) {
  const MutexLock lock(mutex_);
  now = std::max(now, latest_);
  limit_debts(now);
  clients.clear();
  std::vector<double> keys(clients_.size());
  for (size_t i = 0; i < clients_.size(); ++i) {
    Client& client = clients_[i];
    if (client.open_jobs == 0) continue;
    const bool held = is_held(client, now);
    // Waiting for its quota earns nothing.
    if (client.was_held && !held)
      client.virtual_time = std::max(client.virtual_time, virtual_time_);
    client.was_held = held;
    if (held) continue;
    const Duration ahead = client.expected + (places ? client.work_left : Duration(0));
    keys[i] = client.virtual_time + static_cast<double>(ahead.count()) / client.rule.weight;
    clients.push_back(static_cast<int32_t>(i));
  }
  std::sort(clients.begin(), clients.end(), [&](int32_t a, int32_t b) {
    const double first = keys[static_cast<size_t>(a)];
    const double second = keys[static_cast<size_t>(b)];
    return first != second ? first < second : a < b;
  });
}

Duration ClientShares::next_change(Duration now) const {
  const MutexLock lock(mutex_);
  now = std::max(now, latest_);
  Duration next = kNever;
  for (const Client& client : clients_) {
    if (client.open_jobs == 0 || !is_held(client, now)) continue;
    // Of what is on a device now nothing is known but that it will end.
    const Duration limit = std::max(Duration(1), client.rule.quota - client.expected);
    const Duration free = client.for_quota.below_at(limit, now, client.rule.quota_window);
    next = std::min(next, std::max(free, now + std::chrono::milliseconds(1)));
  }
  return next;
}

ClientShare ClientShares::share_of(const Client& client, Duration now) const {
  ClientShare share;
  share.name = client.name;
  share.weight = client.rule.weight;
  share.open_jobs = client.open_jobs;
  share.used_total = client.used;
  share.used_by_device = client.by_device;
  share.used_in_window = client.recent.sum(now, rules_.window);
  const Duration all = recent_.sum(now, rules_.window);
  if (all > Duration(0)) {
    share.share =
        static_cast<double>(share.used_in_window.count()) / static_cast<double>(all.count());
  }
  if (client.open_jobs > 0) share.entitled = client.rule.weight / weights();
  share.quota = client.rule.quota;
  share.quota_window = client.rule.quota_window;
  share.quota_used = quota_used(client, now);
  if (is_held(client, now)) {
    const Duration free =
        client.for_quota.below_at(client.rule.quota, now, client.rule.quota_window);
    share.quota_free_in = std::max(Duration(1), free - now);
  }
  return share;
}

std::string ClientShares::name(int32_t client) const {
  const MutexLock lock(mutex_);
  return clients_[static_cast<size_t>(client)].name;
}

Duration ClientShares::latest() const {
  const MutexLock lock(mutex_);
  return latest_;
}

ClientShare ClientShares::share(int32_t client, Duration now) const {
  const MutexLock lock(mutex_);
  return share_of(clients_[static_cast<size_t>(client)], std::max(now, latest_));
}

std::vector<ClientShare> ClientShares::shares(Duration now) const {
  const MutexLock lock(mutex_);
  std::vector<ClientShare> all;
  now = std::max(now, latest_);
  for (const Client& client : clients_) all.push_back(share_of(client, now));
  return all;
}

}  // namespace tutti
