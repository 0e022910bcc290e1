#include <cmath>
#include <vector>

#include "tutti/kernels/cpu/cpu.h"
#include "tutti/kernels/cpu/lines.h"

namespace tutti::cpu {
namespace {

// The cosines and sines of a few neighbouring positions, for each pair of a line.
class Turns {
 public:
  static constexpr int64_t kPositions = 16;

  Turns(int64_t pairs, double base)
      : pairs_(pairs),
        step_(static_cast<size_t>(pairs)),
        cosines_(static_cast<size_t>(kPositions * pairs)),
        sines_(cosines_.size()) {
    for (int64_t i = 0; i < pairs; ++i) {
      step_[i] = std::pow(base, -static_cast<double>(2 * i) / static_cast<double>(2 * pairs));
    }
  }

  // For positions first to first + kPositions - 1. The first is computed, each further one turned
  // on from the one before, which costs four products; in doubles nothing of float32 is lost.
  void set(double first) {
    for (int64_t i = 0; i < pairs_; ++i) {
      const double turn = first * step_[i];
      const double by_cosine = std::cos(step_[i]);
      const double by_sine = std::sin(step_[i]);
      double cosine = std::cos(turn);
      double sine = std::sin(turn);
      for (int64_t j = 0; j < kPositions; ++j) {
        cosines_[j * pairs_ + i] = static_cast<float>(cosine);
        sines_[j * pairs_ + i] = static_cast<float>(sine);
        const double next = cosine * by_cosine - sine * by_sine;
        sine = cosine * by_sine + sine * by_cosine;
        cosine = next;
      }
    }
  }

  void turn_line(int64_t position, const float* x, float* out) const {
    const float* cosine = cosines_.data() + position * pairs_;
    const float* sine = sines_.data() + position * pairs_;
    for (int64_t i = 0; i < pairs_; ++i) {
      const float even = x[2 * i];
      const float odd = x[2 * i + 1];
      out[2 * i] = even * cosine[i] - odd * sine[i];
      out[2 * i + 1] = even * sine[i] + odd * cosine[i];
    }
  }

 private:
  int64_t pairs_;
  std::vector<double> step_;  // by pair: how far it turns from one position to the next
  std::vector<float> cosines_;
  std::vector<float> sines_;
};

}  // namespace

// Parts take positions, so that each computes the turns of its own alone. Positions go in fixed
// groups: the bytes are the same with any number of parts.
Done rope(const Attributes& attributes, Operands operands, const Block& output, Part part) {
  const std::span<const int64_t> shape = operands[0].shape;
  const Axis axis(shape, axis_of(attributes, shape));
  const int64_t width = shape.back();
  const int64_t lines = width == 0 ? 0 : axis.inner / width;  // of one position
  const auto first = static_cast<double>(*attributes.whole("first_position", 0));
  const Range range = share(axis.count, part);
  if (range.empty() || lines == 0) return {};
  Turns turns(width / 2, *attributes.number("base", 10000));
  constexpr int64_t kGroup = Turns::kPositions;
  for (int64_t group = range.begin / kGroup; group * kGroup < range.end; ++group) {
    const Range own{std::max(range.begin, group * kGroup),
                    std::min(range.end, (group + 1) * kGroup)};
    turns.set(first + static_cast<double>(group * kGroup));
    for (int64_t outer = 0; outer < axis.outer; ++outer) {
      for (int64_t position = own.begin; position < own.end; ++position) {
        const int64_t begin = (outer * axis.count + position) * axis.inner;
        for (int64_t line = 0; line < lines; ++line) {
          turns.turn_line(position - group * kGroup, floats(operands[0]) + begin + line * width,
                          floats(output) + begin + line * width);
        }
      }
    }
  }
  return {};
}

}  // namespace tutti::cpu
