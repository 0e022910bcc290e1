#include "tutti/belief/relation.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "tutti/belief/draws.h"

namespace tutti {
namespace {

using Column = std::array<double, kBlock>;

double noise_of(const Family& family) {
  return family.constants.back();
}

// saturate is (1 + x - root) / 2 with root = sqrt((1 - x)^2 + 4 c^2).
double saturation_slope(double x) {
  const double room = 1 - x;
  return 0.5 * (1 + room / std::sqrt(room * room + 4 * kCorner * kCorner));
}

class SaturatingLoad final : public Relation {
 public:
  SaturatingLoad(std::vector<double> factors, const std::vector<bool>& scaled)
      : factors_(std::move(factors)), scale_of_(factors_.size(), 0) {
    TUTTI_CHECK(scaled.empty() || scaled.size() == factors_.size());
    size_t next = 1;
    for (size_t p = 0; p < scaled.size(); ++p) {
      if (scaled[p]) scale_of_[p] = next++;
    }
  }

  std::string_view formula() const override {
    return "min(1, sum of what parents carry / capacity) + noise";
  }

  void mean(const Family& family, double* out) const override {
    load(family, out);
    for (int i = 0; i < family.count; ++i) out[i] = saturate(out[i]);
  }

  void pull(const Family& family, const double* slope, double* const* parent_slopes,
            double* gradient) const override {
    const double capacity = family.constants[0];
    Column x;
    load(family, x.data());
    double by_capacity = 0;
    for (int i = 0; i < family.count; ++i) {
      const double inner = slope[i] * saturation_slope(x[i]);
      by_capacity -= inner * x[i] / capacity;
      x[i] = inner / capacity;
    }
    gradient[0] += by_capacity;
    for (size_t p = 0; p < factors_.size(); ++p) {
      if (scale_of_[p] > 0) {
        double by_scale = 0;
        for (int i = 0; i < family.count; ++i) by_scale += x[i] * family.parents[p][i];
        gradient[scale_of_[p]] += by_scale * factors_[p];
      }
      if (parent_slopes == nullptr) continue;
      const double factor = factors_[p] * scale(family, p);
      for (int i = 0; i < family.count; ++i) parent_slopes[p][i] += x[i] * factor;
    }
  }

 private:
  double scale(const Family& family, size_t p) const {
    return scale_of_[p] > 0 ? family.constants[scale_of_[p]] : 1;
  }

  void load(const Family& family, double* out) const {
    std::fill(out, out + family.count, 0.0);
    for (size_t p = 0; p < factors_.size(); ++p) {
      const double factor = factors_[p] * scale(family, p) / family.constants[0];
      const double* parent = family.parents[p];
      for (int i = 0; i < family.count; ++i) out[i] += factor * parent[i];
    }
  }

  std::vector<double> factors_;
  std::vector<size_t> scale_of_;  // the place of the parent's own capacity; 0: none
};

class SaturatingMixture final : public Relation {
 public:
  std::string_view formula() const override { return "min(1, sum of weight * parent) + noise"; }

  void mean(const Family& family, double* out) const override {
    mix(family, out);
    for (int i = 0; i < family.count; ++i) out[i] = saturate(out[i]);
  }

  void pull(const Family& family, const double* slope, double* const* parent_slopes,
            double* gradient) const override {
    Column inner;
    mix(family, inner.data());
    for (int i = 0; i < family.count; ++i) inner[i] = slope[i] * saturation_slope(inner[i]);
    for (size_t p = 0; p < family.parents.size(); ++p) {
      const double* parent = family.parents[p];
      double sum = 0;
      for (int i = 0; i < family.count; ++i) sum += inner[i] * parent[i];
      gradient[p] += sum;
      if (parent_slopes == nullptr) continue;
      const double weight = family.constants[p];
      for (int i = 0; i < family.count; ++i) parent_slopes[p][i] += inner[i] * weight;
    }
  }

 private:
  static void mix(const Family& family, double* out) {
    std::fill(out, out + family.count, 0.0);
    for (size_t p = 0; p < family.parents.size(); ++p) {
      const double weight = family.constants[p];
      const double* parent = family.parents[p];
      for (int i = 0; i < family.count; ++i) out[i] += weight * parent[i];
    }
  }
};

class AnyOf final : public Relation {
 public:
  std::string_view formula() const override {
    return "1 - product of (1 - weight * parent) + noise";
  }

  void mean(const Family& family, double* out) const override {
    std::fill(out, out + family.count, 1.0);
    for (size_t p = 0; p < family.parents.size(); ++p) times_idle(family, p, out);
    for (int i = 0; i < family.count; ++i) out[i] = 1 - out[i];
  }

  void pull(const Family& family, const double* slope, double* const* parent_slopes,
            double* gradient) const override {
    for (size_t p = 0; p < family.parents.size(); ++p) {
      // The product of all others; dividing by this one would fail where it is 0.
      Column others;
      std::copy(slope, slope + family.count, others.begin());
      for (size_t q = 0; q < family.parents.size(); ++q) {
        if (q != p) times_idle(family, q, others.data());
      }
      const double* parent = family.parents[p];
      double sum = 0;
      for (int i = 0; i < family.count; ++i) sum += others[i] * parent[i];
      gradient[p] += sum;
      if (parent_slopes == nullptr) continue;
      const double weight = family.constants[p];
      for (int i = 0; i < family.count; ++i) parent_slopes[p][i] += others[i] * weight;
    }
  }

 private:
  static void times_idle(const Family& family, size_t p, double* product) {
    const double weight = family.constants[p];
    const double* parent = family.parents[p];
    for (int i = 0; i < family.count; ++i) product[i] *= 1 - weight * parent[i];
  }
};

// A memory that hardly anybody asks anything of has no share to speak of.
constexpr double kLeastShare = 0.02;

class ShareAboveThreshold final : public Relation {
 public:
  explicit ShareAboveThreshold(std::vector<int> thresholds) {
    TUTTI_CHECK(thresholds.size() >= 2 && thresholds[0] >= 1);
    for (const int threshold : thresholds) logs_.push_back(std::log(threshold));
    TUTTI_CHECK(std::is_sorted(logs_.begin(), logs_.end()));
  }

  std::string_view formula() const override {
    return "share of time above the threshold / share above the first + noise";
  }

  void mean(const Family& family, double* out) const override {
    const Place place = find(family.constants[0]);
    const double* low = family.parents[place.interval];
    const double* high = family.parents[place.interval + 1];
    const double* any = family.parents[0];
    for (int i = 0; i < family.count; ++i) {
      out[i] = ((1 - place.part) * low[i] + place.part * high[i]) / std::max(any[i], kLeastShare);
    }
  }

  void pull(const Family& family, const double* slope, double* const* parent_slopes,
            double* gradient) const override {
    const Place place = find(family.constants[0]);
    const double* low = family.parents[place.interval];
    const double* high = family.parents[place.interval + 1];
    const double* any = family.parents[0];
    double by_part = 0;
    for (int i = 0; i < family.count; ++i) {
      const double scaled = slope[i] / std::max(any[i], kLeastShare);
      by_part += scaled * (high[i] - low[i]);
      if (parent_slopes == nullptr) continue;
      const double share = (1 - place.part) * low[i] + place.part * high[i];
      parent_slopes[place.interval][i] += scaled * (1 - place.part);
      parent_slopes[place.interval + 1][i] += scaled * place.part;
      if (any[i] > kLeastShare) parent_slopes[0][i] -= scaled * share / any[i];
    }
    gradient[0] += by_part * place.part_by_theta;
  }

 private:
  struct Place {
    size_t interval;
    double part;
    double part_by_theta;
  };

  Place find(double theta) const {
    const double at = std::log(theta);
    size_t interval = 0;
    while (interval + 2 < logs_.size() && at > logs_[interval + 1]) ++interval;
    const double width = logs_[interval + 1] - logs_[interval];
    const double part = (at - logs_[interval]) / width;
    // Outside of what is counted the share stays, but the slope leads back in.
    return {interval, std::clamp(part, 0.0, 1.0), 1 / (theta * width)};
  }

  std::vector<double> logs_;
};

// Below this a use is none: its logarithm would have no end.
constexpr double kLeastUse = 1e-3;

class PowerOf final : public Relation {
 public:
  std::string_view formula() const override { return "parent ^ power + noise"; }

  void mean(const Family& family, double* out) const override {
    const double power = family.constants[0];
    const double* use = family.parents[0];
    for (int i = 0; i < family.count; ++i) out[i] = std::pow(std::max(use[i], kLeastUse), power);
  }

  void pull(const Family& family, const double* slope, double* const* parent_slopes,
            double* gradient) const override {
    const double power = family.constants[0];
    const double* use = family.parents[0];
    Column value;
    mean(family, value.data());
    double by_power = 0;
    for (int i = 0; i < family.count; ++i) {
      const double base = std::max(use[i], kLeastUse);
      by_power += slope[i] * value[i] * std::log(base);
      if (parent_slopes == nullptr || use[i] < kLeastUse) continue;
      parent_slopes[0][i] += slope[i] * power * value[i] / base;
    }
    gradient[0] += by_power;
  }
};

class MeanOf final : public Relation {
 public:
  std::string_view formula() const override { return "mean of parents + noise"; }

  void mean(const Family& family, double* out) const override {
    std::fill(out, out + family.count, 0.0);
    const double part = 1.0 / static_cast<double>(family.parents.size());
    for (const double* parent : family.parents) {
      for (int i = 0; i < family.count; ++i) out[i] += part * parent[i];
    }
  }

  void pull(const Family& family, const double* slope, double* const* parent_slopes,
            double* /*gradient*/) const override {
    if (parent_slopes == nullptr) return;
    const double part = 1.0 / static_cast<double>(family.parents.size());
    for (size_t p = 0; p < family.parents.size(); ++p) {
      for (int i = 0; i < family.count; ++i) parent_slopes[p][i] += part * slope[i];
    }
  }
};

}  // namespace

double saturate(double x) {
  const double room = 1 - x;
  return 0.5 * (1 + x - std::sqrt(room * room + 4 * kCorner * kCorner));
}

void Relation::draw(const Family& family, Rng& rng, double* x) const {
  mean(family, x);
  Column normals;
  draw_normals(rng, family.count, normals.data());
  const double noise = noise_of(family);
  for (int i = 0; i < family.count; ++i) x[i] += noise * normals[i];
}

// An observed variable is seen through its counter, whose own doubt adds to the noise.
void Relation::add_log_density(const Family& family, const double* x, double* sum) const {
  Column expected;
  mean(family, expected.data());
  const double noise = noise_of(family);
  const double variance = noise * noise + family.reading_variance;
  const double constant = -0.5 * std::log(variance);
  for (int i = 0; i < family.count; ++i) {
    const double off = x[i] - expected[i];
    sum[i] += constant - 0.5 * off * off / variance;
  }
}

void Relation::add_score(const Family& family, const double* x, const double* weight,
                         double* const* parent_slopes, double* gradient) const {
  Column slope;
  mean(family, slope.data());
  const double noise = noise_of(family);
  const double variance = noise * noise + family.reading_variance;
  double by_noise = 0;
  for (int i = 0; i < family.count; ++i) {
    const double off = x[i] - slope[i];
    by_noise += weight[i] * (off * off / variance - 1) * noise / variance;
    slope[i] = weight[i] * off / variance;
  }
  gradient[family.constants.size() - 1] += by_noise;
  pull(family, slope.data(), parent_slopes, gradient);
}

void Relation::add_path(const Family& family, const double* x, const double* slope,
                        double* const* parent_slopes, double* gradient) const {
  Column expected;
  mean(family, expected.data());
  const double noise = noise_of(family);
  double by_noise = 0;
  for (int i = 0; i < family.count; ++i) by_noise += slope[i] * (x[i] - expected[i]) / noise;
  gradient[family.constants.size() - 1] += by_noise;
  pull(family, slope, parent_slopes, gradient);
}

std::shared_ptr<const Relation> saturating_load(std::vector<double> factors,
                                                const std::vector<bool>& scaled) {
  return std::make_shared<SaturatingLoad>(std::move(factors), scaled);
}
std::shared_ptr<const Relation> saturating_mixture() {
  return std::make_shared<SaturatingMixture>();
}
std::shared_ptr<const Relation> any_of() {
  return std::make_shared<AnyOf>();
}
std::shared_ptr<const Relation> share_above_threshold(std::vector<int> thresholds) {
  return std::make_shared<ShareAboveThreshold>(std::move(thresholds));
}
std::shared_ptr<const Relation> power_of() {
  return std::make_shared<PowerOf>();
}
std::shared_ptr<const Relation> mean_of() {
  return std::make_shared<MeanOf>();
}

}  // namespace tutti
