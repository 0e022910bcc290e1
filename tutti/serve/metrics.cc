#include "tutti/serve/metrics.h"

#include <fmt/format.h>

#include <cmath>

namespace tutti {
namespace {

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

}  // namespace

void Histogram::add(double seconds) {
  for (size_t i = 0; i < kBounds.size(); ++i) at_most_[i] += seconds <= kBounds[i];
  ++count_;
  sum_ += seconds;
}

void MetricsText::family(std::string_view name, std::string_view type, std::string_view help) {
  text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void MetricsText::sample(std::string_view name, const Labels& labels, double value) {
  text_ += name;
  char before = '{';
  for (const auto& [label, content] : labels) {
    text_ += fmt::format("{}{}=\"", before, label);
    for (const char c : content) {
      if (c == '\n') {
        text_ += "\\n";
        continue;
      }
      if (c == '"' || c == '\\') text_ += '\\';
      text_ += c;
    }
    text_ += '"';
    before = ',';
  }
  if (!labels.empty()) text_ += '}';
  text_ += fmt::format(" {}\n", number_text(value));
}

void MetricsText::counter(std::string_view name, std::string_view help, int64_t value) {
  family(name, "counter", help);
  sample(name, {}, static_cast<double>(value));
}

void MetricsText::gauge(std::string_view name, std::string_view help, double value) {
  family(name, "gauge", help);
  sample(name, {}, value);
}

void MetricsText::histogram(std::string_view name, std::string_view help,
                            const Histogram& histogram) {
  family(name, "histogram", help);
  const std::string bucket = fmt::format("{}_bucket", name);
  for (size_t i = 0; i < Histogram::kBounds.size(); ++i) {
    const std::string bound = number_text(Histogram::kBounds[i]);
    sample(bucket, {{"le", bound}}, static_cast<double>(histogram.at_most()[i]));
  }
  sample(bucket, {{"le", "+Inf"}}, static_cast<double>(histogram.count()));
  sample(fmt::format("{}_sum", name), {}, histogram.sum());
  sample(fmt::format("{}_count", name), {}, static_cast<double>(histogram.count()));
}

}  // namespace tutti
