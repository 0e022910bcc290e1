// Figures in the text format of Prometheus (version 0.0.4).
//
//   MetricsText text;
//   text.family("tutti_jobs_open", "gauge", "Jobs that are not over.");
//   text.sample("tutti_jobs_open", {{"state", "queued"}}, 17);

#ifndef TUTTI_SERVE_METRICS_H_
#define TUTTI_SERVE_METRICS_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti {

// How many of the values were at most each bound, and their sum.
class Histogram {
 public:
  static constexpr std::array<double, 8> kBounds = {0.001, 0.01, 0.1, 1, 10, 100, 1000, 10000};
  void add(double seconds);
  const std::array<int64_t, kBounds.size()>& at_most() const { return at_most_; }
  int64_t count() const { return count_; }
  double sum() const { return sum_; }

 private:
  std::array<int64_t, kBounds.size()> at_most_{};
  int64_t count_ = 0;
  double sum_ = 0;
};

class MetricsText {
 public:
  using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

  void family(std::string_view name, std::string_view type, std::string_view help);
  void sample(std::string_view name, const Labels& labels, double value);
  // The family and its only sample.
  void counter(std::string_view name, std::string_view help, int64_t value);
  void gauge(std::string_view name, std::string_view help, double value);
  void histogram(std::string_view name, std::string_view help, const Histogram& histogram);

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace tutti

#endif  // TUTTI_SERVE_METRICS_H_
