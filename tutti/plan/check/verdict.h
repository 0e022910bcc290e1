// A Verdict gathers what a judge finds wrong: one sentence per fault, up to a limit, with the rule
// that it breaks; and which rules the judge could not apply, and why.
//
// A judge has a table of rules. Each of them is begun, set aside with a reason, or both if it holds
// for a part only. What is neither, because the judge stopped early, counts as set aside too: no
// rule is left out silently.

#ifndef TUTTI_PLAN_CHECK_VERDICT_H_
#define TUTTI_PLAN_CHECK_VERDICT_H_

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti {

struct Rule {
  std::string_view name;
  std::string_view claim;  // what holds if it is kept
};

struct Fault {
  std::string rule;
  std::string sentence;
};

struct NotApplied {
  std::string rule;
  std::string reason;
};

struct Judgement {
  std::vector<Fault> faults{};
  std::vector<NotApplied> not_applied{};

  bool good() const { return faults.empty(); }
  std::vector<std::string> sentences() const {
    std::vector<std::string> all;
    for (const Fault& fault : faults) all.push_back(fault.sentence);
    return all;
  }
};

class Verdict {
 public:
  // Without a table: for a judge whose rules have no names.
  explicit Verdict(int limit, std::span<const Rule> rules = {})
      : limit_(static_cast<size_t>(limit < 0 ? 0 : limit)), rules_(rules) {}

  // From here on faults are of this rule, which must stand in the table.
  void begin(std::string_view rule) {
    rule_ = rule;
    see(rule);
  }
  // The rule could not be applied, or to a part only.
  void set_aside(std::string_view rule, std::string reason) {
    see(rule);
    not_applied_.push_back({std::string(rule), std::move(reason)});
  }

  // Takes a format and its arguments; forgotten once full.
  template <class... T>
  void add(fmt::format_string<T...> format, T&&... arguments) {
    good_ = false;
    if (full()) return;
    faults_.push_back({std::string(rule_), fmt::format(format, std::forward<T>(arguments)...)});
  }

  // True while nothing was found.
  bool good() const { return good_; }
  // True if further sentences would be forgotten, so that a judge may stop looking.
  bool full() const { return faults_.size() >= limit_; }

  // Both empty the verdict.
  std::vector<std::string> take() { return take_judgement().sentences(); }
  Judgement take_judgement() {
    for (const Rule& rule : rules_) {
      if (was_seen(rule.name)) continue;
      not_applied_.push_back({std::string(rule.name), "an earlier rule is broken"});
    }
    return {std::move(faults_), std::move(not_applied_)};
  }

 private:
  void see(std::string_view rule) {
    if (!was_seen(rule)) seen_.push_back(rule);
  }
  bool was_seen(std::string_view rule) const {
    return std::find(seen_.begin(), seen_.end(), rule) != seen_.end();
  }

  size_t limit_;
  std::span<const Rule> rules_;
  bool good_ = true;
  std::string_view rule_{};
  std::vector<std::string_view> seen_{};
  std::vector<Fault> faults_{};
  std::vector<NotApplied> not_applied_{};
};

}  // namespace tutti

#endif  // TUTTI_PLAN_CHECK_VERDICT_H_
