// A Verdict gathers what a judge finds wrong: one sentence per broken rule, up to a limit.

#ifndef TUTTI_PLAN_VERDICT_H_
#define TUTTI_PLAN_VERDICT_H_

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

namespace tutti {

class Verdict {
 public:
  explicit Verdict(int limit) : limit_(static_cast<size_t>(limit < 0 ? 0 : limit)) {}

  // Takes a format and its arguments; forgotten once full.
  template <class... T>
  void add(fmt::format_string<T...> format, T&&... arguments) {
    good_ = false;
    if (!full()) sentences_.push_back(fmt::format(format, std::forward<T>(arguments)...));
  }

  // True while nothing was found.
  bool good() const { return good_; }
  // True if further sentences would be forgotten, so that a judge may stop looking.
  bool full() const { return sentences_.size() >= limit_; }

  std::vector<std::string> take() { return std::move(sentences_); }

 private:
  size_t limit_;
  bool good_ = true;
  std::vector<std::string> sentences_;
};

}  // namespace tutti

#endif  // TUTTI_PLAN_VERDICT_H_
