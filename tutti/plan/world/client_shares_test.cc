#include "tutti/plan/world/client_shares.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "tutti/base/random.h"

namespace tutti {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

ShareRules rules_of(std::vector<std::pair<std::string, ShareRule>> named) {
  return {.divided = true, .usual = {}, .named = std::move(named)};
}

double ratio(Duration a, Duration b) {
  return static_cast<double>(a.count()) / static_cast<double>(b.count());
}

// Devices that always have something to run, ops of random lengths that differ from what was
// expected, and clients that may have nothing to do at times.
struct Devices {
  Devices(ShareRules rules, const std::vector<std::string>& names, int devices, Duration mean_time)
      : shares(std::move(rules)), running(static_cast<size_t>(devices)), mean(mean_time) {
    for (const std::string& name : names) {
      clients.push_back(shares.client(name));
      accounts.push_back({clients.back(), seconds(1'000'000)});
      used.push_back(Duration(0));
      present.push_back(false);
    }
  }
  void come(size_t client) {
    present[client] = true;
    shares.job_opened(clients[client], now);
  }
  void go(size_t client) {
    present[client] = false;
    shares.job_closed(clients[client]);
  }
  // Everything up to that time.
  void run_until(Duration end) {
    while (true) {
      size_t first = 0;
      for (size_t i = 0; i < running.size(); ++i) {
        if (running[i].client < 0) start(i);
        if (running[i].ends < running[first].ends) first = i;
      }
      if (running[first].ends >= end) break;
      now = running[first].ends;
      finish(first);
    }
    now = end;
  }

  ClientShares shares;
  std::vector<int32_t> clients;
  std::vector<JobAccount> accounts;
  std::vector<Duration> used;
  Duration now{0};

 private:
  struct Op {
    int32_t client = -1;
    Duration expected{0};
    Duration taken{0};
    Duration ends = kNever;
  };
  void start(size_t device) {
    shares.order(now, false, order);
    Op& op = running[device];
    if (order.empty()) {
      op.ends = shares.next_change(now);  // looks again then
      return;
    }
    op.client = order[0];
    op.expected =
        Duration(static_cast<int64_t>(static_cast<double>(mean.count()) * (0.5 + rng.uniform())));
    op.taken = Duration(static_cast<int64_t>(static_cast<double>(op.expected.count()) *
                                             (0.7 + 0.8 * rng.uniform())));
    op.ends = now + op.taken;
    shares.given(accounts[static_cast<size_t>(op.client)], op.expected);
  }
  void finish(size_t device) {
    Op& op = running[device];
    if (op.client >= 0) {
      const auto client = static_cast<size_t>(op.client);
      shares.ended(accounts[client], static_cast<int32_t>(device), op.expected, op.expected,
                   op.taken, now);
      used[client] += op.taken;
    }
    op = {};
  }

  std::vector<Op> running;
  Duration mean;
  std::vector<bool> present;
  std::vector<int32_t> order;
  Rng rng{7};
};

TEST(ClientShares, DividesDeviceTimeByWeightOverAnyTenSeconds) {
  Devices devices(rules_of({{"a", {.weight = 3}}, {"b", {.weight = 1}}}), {"a", "b"}, 4,
                  milliseconds(20));
  devices.come(0);
  devices.come(1);
  std::deque<std::vector<Duration>> past;  // each second
  for (int second = 1; second <= 60; ++second) {
    past.push_back(devices.used);
    devices.run_until(seconds(second));
    if (past.size() < 10) continue;
    const Duration a = devices.used[0] - past.front()[0];
    const Duration b = devices.used[1] - past.front()[1];
    past.pop_front();
    EXPECT_NEAR(ratio(a, b), 3, 0.05 * 3) << "up to " << second << " s";
  }
  const auto all = devices.shares.shares(devices.now);
  EXPECT_NEAR(all[0].share, 0.75, 0.02);
  EXPECT_NEAR(all[0].entitled, 0.75, 1e-9);
  EXPECT_NEAR(all[1].share, 0.25, 0.02);
  EXPECT_EQ(all[0].used_total, devices.used[0]);
  Duration sum{0};
  for (const Duration time : all[0].used_by_device) sum += time;
  EXPECT_EQ(sum, devices.used[0]);
}

TEST(ClientShares, AClientThatWasAwayIsOwedNothing) {
  Devices devices(rules_of({}), {"stays", "comes"}, 2, milliseconds(10));
  devices.come(0);
  devices.run_until(seconds(100));
  devices.come(1);
  const std::vector<Duration> before = devices.used;
  devices.run_until(seconds(105));
  EXPECT_NEAR(ratio(devices.used[1] - before[1], devices.used[0] - before[0]), 1, 0.05);
}

TEST(ClientShares, NoDeviceIdlesForAClientThatIsNotThere) {
  Devices devices(rules_of({{"a", {.weight = 100}}}), {"a", "b"}, 2, milliseconds(10));
  devices.come(1);
  devices.run_until(seconds(10));
  EXPECT_NEAR(ratio(devices.used[1], seconds(20)), 1, 0.01);
}

TEST(ClientShares, ADebtIsLimitedToOneWindow) {
  ClientShares shares(rules_of({}));
  const int32_t busy = shares.client("busy");
  const int32_t slow = shares.client("slow");
  shares.job_opened(busy, Duration(0));
  shares.job_opened(slow, Duration(0));
  JobAccount account{busy, seconds(10000)};
  // For 100 s the other has jobs and nothing that could run.
  for (int i = 1; i <= 1000; ++i)
    shares.ended(account, 0, Duration(0), Duration(0), milliseconds(100), milliseconds(100) * i);
  // How long it may go first now: half of what was done in about one window of 10 s.
  JobAccount other{slow, seconds(10000)};
  Duration now = seconds(100);
  std::vector<int32_t> order;
  int turns = 0;
  for (shares.order(now, false, order); order[0] == slow; shares.order(now, false, order)) {
    now += milliseconds(100);
    shares.ended(other, 0, Duration(0), Duration(0), milliseconds(100), now);
    ++turns;
  }
  EXPECT_GE(turns, 40);
  EXPECT_LE(turns, 110);
}

TEST(ClientShares, KeepsAQuotaInEveryWindow) {
  Devices devices(
      rules_of({{"a", {.weight = 1, .quota = seconds(2), .quota_window = seconds(10)}}}),
      {"a", "b"}, 2, milliseconds(20));
  devices.come(0);
  devices.come(1);
  std::deque<Duration> past;
  for (int second = 1; second <= 60; ++second) {
    past.push_back(devices.used[0]);
    devices.run_until(seconds(second));
    if (past.size() < 10) continue;
    const Duration used = devices.used[0] - past.front();
    past.pop_front();
    EXPECT_LE(used, milliseconds(2050));  // two ops may have been on their way
    EXPECT_GE(used, milliseconds(1700));
  }
  // The rest is not wasted.
  EXPECT_NEAR(ratio(devices.used[0] + devices.used[1], seconds(120)), 1, 0.01);
}

TEST(ClientShares, SaysHowLongAQuotaHolds) {
  ClientShares shares(rules_of({{"a", {.quota = seconds(1), .quota_window = seconds(40)}}}));
  const int32_t a = shares.client("a");
  shares.job_opened(a, Duration(0));
  JobAccount account{a, seconds(10)};
  shares.ended(account, 0, Duration(0), Duration(0), seconds(1), seconds(5));
  std::vector<int32_t> order;
  shares.order(seconds(6), false, order);
  EXPECT_TRUE(order.empty());
  const Duration again = shares.next_change(seconds(6));
  EXPECT_GE(again, seconds(45));
  EXPECT_LE(again, seconds(47));
  const ClientShare share = shares.share(a, seconds(6));
  EXPECT_EQ(share.quota_used, seconds(1));
  EXPECT_EQ(share.quota_free_in, again - seconds(6));
  shares.order(again, false, order);
  EXPECT_EQ(order, std::vector<int32_t>{a});
  EXPECT_EQ(shares.next_change(again), kNever);
}

TEST(ClientShares, PlacesGoByTheWorkThatIsLeft) {
  ClientShares shares(rules_of({{"a", {.weight = 3}}}));
  const int32_t a = shares.client("a");
  const int32_t b = shares.client("b");
  shares.job_opened(a, Duration(0));
  shares.job_opened(b, Duration(0));
  std::vector<int32_t> order;
  std::vector<JobAccount> accounts;
  std::vector<int> places(2);
  for (int i = 0; i < 8; ++i) {
    shares.order(Duration(0), true, order);
    ++places[static_cast<size_t>(order[0])];
    accounts.push_back(shares.enter(order[0], milliseconds(10)));
  }
  EXPECT_EQ(places, (std::vector<int>{6, 2}));
  // A job that is given up owes nothing.
  for (JobAccount& account : accounts) shares.leave(account);
  shares.order(Duration(0), true, order);
  EXPECT_EQ(order[0], a);
}

TEST(ClientShares, NewRulesHoldAtOnceAndNothingUsedIsForgotten) {
  Devices devices(rules_of({{"a", {.weight = 3}}}), {"a", "b"}, 2, milliseconds(10));
  devices.come(0);
  devices.come(1);
  devices.run_until(seconds(10));
  devices.shares.set_rules(rules_of({{"b", {.weight = 3}}}));
  const std::vector<Duration> before = devices.used;
  devices.run_until(seconds(20));
  EXPECT_NEAR(ratio(devices.used[1] - before[1], devices.used[0] - before[0]), 3, 0.15);
  EXPECT_EQ(devices.shares.share(0, devices.now).used_total, devices.used[0]);
}

TEST(ClientShares, DeviceTimeIsThatOfTheDeviceOfThatName) {
  ClientShares shares;
  const int32_t client = shares.client("a");
  JobAccount account = shares.enter(client, Duration(0));
  const auto use = [&](int32_t device, Duration time) {
    shares.ended(account, device, Duration(0), Duration(0), time, shares.latest() + time);
  };
  shares.set_devices({"cpu", "gpu0"});
  use(1, seconds(1));
  shares.set_devices({"gpu1", "gpu0"});  // another machine
  use(0, seconds(2));
  use(1, seconds(4));
  EXPECT_EQ(shares.devices(), (std::vector<std::string>{"cpu", "gpu0", "gpu1"}));
  EXPECT_EQ(shares.share(client, Duration(0)).used_by_device,
            (std::vector<Duration>{seconds(0), seconds(5), seconds(2)}));
}

// For how long a client goes first that could not use its share for twenty minutes.
Duration goes_first(ClientShares& shares, const std::function<void()>& change) {
  const int32_t a = shares.client("a");
  const int32_t b = shares.client("b");
  JobAccount of_a = shares.enter(a, Duration(0));
  JobAccount of_b = shares.enter(b, Duration(0));
  shares.job_opened(a, Duration(0));
  shares.job_opened(b, Duration(0));
  Duration now{0};
  const auto use = [&](JobAccount& account, Duration time) {
    now += time;
    shares.ended(account, 0, Duration(0), Duration(0), time, now);
  };
  for (int i = 0; i < 3600; ++i) use(i % 2 == 0 ? of_a : of_b, seconds(1));
  change();
  for (int i = 0; i < 1200; ++i) use(of_a, seconds(1));
  std::vector<int32_t> order;
  const Duration began = now;
  for (shares.order(now, false, order); order[0] == b && now - began < seconds(1200);
       shares.order(now, false, order)) {
    use(of_b, milliseconds(100));
  }
  return now - began;
}

TEST(ClientShares, AnotherWindowStillLimitsWhatIsOwed) {
  ShareRules rules{.divided = true, .window = seconds(10)};
  ClientShares shares(rules);
  const Duration time = goes_first(shares, [&] {
    rules.window = seconds(60);
    shares.set_rules(rules);
  });
  EXPECT_LE(time, seconds(66));
}

TEST(ClientShares, AnotherWindowOfTheQuotaForgetsNoUse) {
  ShareRules rules = rules_of({{"a", {.quota = seconds(10), .quota_window = seconds(40)}}});
  ClientShares shares(rules);
  const int32_t client = shares.client("a");
  JobAccount account = shares.enter(client, Duration(0));
  for (int second = 1; second <= 20; second += 10)
    shares.ended(account, 0, Duration(0), Duration(0), seconds(6), seconds(second));
  for (const int window : {80, 15, 60}) {
    rules.named[0].second.quota_window = seconds(window);
    shares.set_rules(rules);
    const Duration used = shares.share(client, seconds(11)).quota_used;
    EXPECT_EQ(used, seconds(12)) << window;
  }
}

}  // namespace
}  // namespace tutti
