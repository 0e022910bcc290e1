#include "studies/doppler/published/encoder.h"

#include <algorithm>

#include "studies/doppler/published/unit.h"
#include "tutti/policy/nn/dense.h"

namespace tutti {
namespace {

constexpr size_t kChunk = 48;  // rows of a factor that stay in the nearest cache

size_t size(int count) {
  return static_cast<size_t>(count);
}

const MessageRound& at_step(const std::vector<MessageRound>& rounds, int step) {
  return rounds[std::min(size(step), rounds.size() - 1)];
}

// to[c][r] = from[r][c]
void turn(const float* from, size_t rows, size_t columns, float* to) {
  constexpr size_t kBlock = 16;
  for (size_t first = 0; first < rows; first += kBlock) {
    const size_t end = std::min(rows, first + kBlock);
    for (size_t c = 0; c < columns; ++c) {
      for (size_t r = first; r < end; ++r) to[c * rows + r] = from[r * columns + c];
    }
  }
}

// product += dy^T x, for dy of rows x out, x of rows x in, product of out x in.
void add_outer(const float* dy, size_t rows, size_t out, const float* x, size_t in,
               std::vector<float>& workspace, float* product) {
  for (size_t first = 0; first < rows; first += kChunk) {
    const size_t count = std::min(kChunk, rows - first);
    workspace.resize(out * count);
    turn(dy + first * out, count, out, workspace.data());
    multiply_add(workspace.data(), static_cast<int>(out), static_cast<int>(count), x + first * in,
                 static_cast<int>(in), product);
  }
}

void add_columns_of(const std::vector<float>& rows, std::vector<float>& sums) {
  for (size_t i = 0; i < rows.size(); i += sums.size()) {
    for (size_t k = 0; k < sums.size(); ++k) sums[k] += rows[i + k];
  }
}

// By row of the round: the sum of what its neighbours send, by row of the round before.
void hear(const MessageRound& round, const std::vector<float>& sent, size_t width,
          std::vector<float>& heard) {
  heard.assign(size(round.rows) * width, 0.0F);
  for (size_t row = 0; row < size(round.rows); ++row) {
    float* to = heard.data() + row * width;
    for (auto i = size(round.heard_begin[row]); i < size(round.heard_begin[row + 1]); ++i) {
      const float* from = sent.data() + size(round.heard[i]) * width;
      const float times = round.times[i];
      for (size_t k = 0; k < width; ++k) to[k] += times * from[k];
    }
  }
}

void hear_backward(const MessageRound& round, const std::vector<float>& by_heard, size_t width,
                   std::vector<float>& by_sent) {
  for (size_t row = 0; row < size(round.rows); ++row) {
    const float* from = by_heard.data() + row * width;
    for (auto i = size(round.heard_begin[row]); i < size(round.heard_begin[row + 1]); ++i) {
      float* to = by_sent.data() + size(round.heard[i]) * width;
      const float times = round.times[i];
      for (size_t k = 0; k < width; ++k) to[k] += times * from[k];
    }
  }
}

std::vector<float> turned(const LayerWeights& layer, int out, int in) {
  std::vector<float> to(size(out) * size(in));
  turn(layer.weight, size(out), size(in), to.data());
  return to;
}

// y = W x + b by row, W being in x out.
void apply_layer(const std::vector<float>& x, int rows, const std::vector<float>& weight,
                 const float* bias, int in, int out, std::vector<float>& y) {
  y.clear();
  for (int row = 0; row < rows; ++row) y.insert(y.end(), bias, bias + out);
  multiply_add(x.data(), rows, in, weight.data(), out, y.data());
}

}  // namespace

Encoder::Encoder(const EncoderWeights& weights)
    : weights_(weights),
      gates_in_(turned(weights.gates_in, 3 * weights.width, weights.width)),
      gates_state_(turned(weights.gates_state, 3 * weights.width, weights.width)) {}

std::vector<float> Encoder::hidden(const PublishedFeatures& features) const {
  std::vector<float> found;
  for (const float value : features.message_values) {
    for (size_t k = 0; k < size(weights_.width); ++k) {
      found.push_back(
          std::max(0.0F, weights_.message.weight[k] * value + weights_.message.bias[k]));
    }
  }
  return found;
}

std::vector<float> Encoder::matrices(const PublishedFeatures& features) const {
  const size_t kinds = features.message_values.size();
  const size_t width = size(weights_.width);
  const size_t cells = width * width;
  const std::vector<float> from = hidden(features);
  // The weights are passed over once, with all kinds next to each other.
  const size_t lanes = (kinds + kLaneWidth - 1) / kLaneWidth * kLaneWidth;
  std::vector<float> columns(width * lanes, 0.0F);  // width x lanes
  for (size_t kind = 0; kind < kinds; ++kind) {
    for (size_t k = 0; k < width; ++k) columns[k * lanes + kind] = from[kind * width + k];
  }
  std::vector<float> all(kinds * cells);
  constexpr size_t kCells = 256;
  std::vector<float> part(kCells * lanes);
  for (size_t first = 0; first < cells; first += kCells) {
    const size_t count = std::min(kCells, cells - first);
    std::fill(part.begin(), part.end(), 0.0F);
    multiply_add(weights_.message_matrix.weight + first * width, static_cast<int>(count),
                 weights_.width, columns.data(), static_cast<int>(lanes), part.data());
    for (size_t kind = 0; kind < kinds; ++kind) {
      for (size_t i = 0; i < count; ++i) {
        all[kind * cells + first + i] =
            part[i * lanes + kind] + weights_.message_matrix.bias[first + i];
      }
    }
  }
  return all;
}

std::vector<float> Encoder::forward(const PublishedFeatures& features,
                                    const std::vector<MessageRound>& rounds,
                                    const std::vector<float>& matrices, const float* op_rows,
                                    EncoderTape* tape) const {
  const size_t width = size(weights_.width);
  const size_t columns = size(weights_.columns);
  const MessageRound& start = rounds.front();
  std::vector<float> rows;
  for (const int32_t op : start.parent) {
    rows.insert(rows.end(), op_rows + size(op) * columns, op_rows + size(op + 1) * columns);
  }
  std::vector<float> state;
  apply_layer(rows, start.rows, turned(weights_.embed, weights_.width, weights_.columns),
              weights_.embed.bias, weights_.columns, weights_.width, state);
  for (float& value : state) value = std::max(0.0F, value);
  if (tape != nullptr) {
    tape->rows = std::move(rows);
    tape->steps.resize(size(weights_.steps));
  }
  EncoderTape::Step scratch;
  std::vector<float> sent, in, next;
  for (int step = 1; step <= weights_.steps; ++step) {
    EncoderTape::Step& kept = tape == nullptr ? scratch : tape->steps[size(step - 1)];
    const MessageRound& before = at_step(rounds, step - 1);
    const MessageRound& round = at_step(rounds, step);
    sent.assign(state.size(), 0.0F);
    for (size_t kind = 0; kind + 1 < before.kind_begin.size(); ++kind) {
      const size_t first = size(before.kind_begin[kind]) * width;
      multiply_add(state.data() + first, before.kind_begin[kind + 1] - before.kind_begin[kind],
                   weights_.width, matrices.data() + kind * width * width, weights_.width,
                   sent.data() + first);
    }
    hear(round, sent, width, kept.heard);
    for (size_t i = 0; i < kept.heard.size(); i += width) {
      for (size_t k = 0; k < width; ++k) {
        kept.heard[i + k] = std::max(0.0F, kept.heard[i + k] + weights_.message_sum.bias[k]);
      }
    }
    apply_layer(kept.heard, round.rows, gates_in_, weights_.gates_in.bias, weights_.width,
                3 * weights_.width, in);
    apply_layer(state, before.rows, gates_state_, weights_.gates_state.bias, weights_.width,
                3 * weights_.width, kept.own);
    for (std::vector<float>* part : {&kept.reset, &kept.update, &kept.fresh, &next}) {
      part->resize(size(round.rows) * width);
    }
    for (size_t row = 0; row < size(round.rows); ++row) {
      const size_t parent = size(round.parent[row]);
      apply_unit(in.data() + 3 * row * width, kept.own.data() + 3 * parent * width,
                 state.data() + parent * width, width,
                 {.reset = kept.reset.data() + row * width,
                  .update = kept.update.data() + row * width,
                  .fresh = kept.fresh.data() + row * width,
                  .next = next.data() + row * width});
    }
    std::swap(state, next);
    std::swap(kept.state, next);
  }
  const MessageRound& last = at_step(rounds, weights_.steps);
  std::vector<float> embeddings(size(features.ops) * width);
  for (size_t op = 0; op < size(features.ops); ++op) {
    std::copy_n(state.data() + size(last.row_of[op]) * width, width,
                embeddings.data() + op * width);
  }
  if (tape != nullptr) tape->state = std::move(state);
  return embeddings;
}

EncoderGradient Encoder::backward(const PublishedFeatures& features,
                                  const std::vector<MessageRound>& rounds,
                                  const std::vector<float>& matrices, const EncoderTape& tape,
                                  const float* by_state) const {
  const size_t width = size(weights_.width);
  const size_t cells = width * width;
  const size_t kinds = features.message_values.size();
  EncoderGradient gradient;
  gradient.gates_in_weight.assign(3 * cells, 0.0F);
  gradient.gates_state_weight.assign(3 * cells, 0.0F);
  gradient.gates_in_bias.assign(3 * width, 0.0F);
  gradient.gates_state_bias.assign(3 * width, 0.0F);
  gradient.message_sum_bias.assign(width, 0.0F);
  gradient.by_matrices.assign(kinds * cells, 0.0F);
  std::vector<float> turned_matrices(matrices.size());
  for (size_t kind = 0; kind < kinds; ++kind) {
    turn(matrices.data() + kind * cells, width, width, turned_matrices.data() + kind * cells);
  }
  std::vector<float> by(tape.state.size(), 0.0F);  // by the state after the step
  const MessageRound& last = at_step(rounds, weights_.steps);
  for (size_t op = 0; op < size(features.ops); ++op) {
    float* to = by.data() + size(last.row_of[op]) * width;
    for (size_t k = 0; k < width; ++k) to[k] += by_state[op * width + k];
  }
  std::vector<float> by_in, by_own, by_before, by_heard, by_sent, workspace;
  for (int step = weights_.steps; step > 0; --step) {
    const EncoderTape::Step& kept = tape.steps[size(step - 1)];
    const MessageRound& before = at_step(rounds, step - 1);
    const MessageRound& round = at_step(rounds, step);
    by_in.resize(3 * by.size());
    by_own.assign(kept.own.size(), 0.0F);
    by_before.assign(kept.state.size(), 0.0F);
    for (size_t row = 0; row < size(round.rows); ++row) {
      const size_t parent = size(round.parent[row]);
      unit_backward(by.data() + row * width, kept.own.data() + 3 * parent * width,
                    kept.state.data() + parent * width, width, kept.reset.data() + row * width,
                    kept.update.data() + row * width, kept.fresh.data() + row * width,
                    {.by_in = by_in.data() + 3 * row * width,
                     .by_own = by_own.data() + 3 * parent * width,
                     .by_state = by_before.data() + parent * width});
    }
    add_outer(by_in.data(), size(round.rows), 3 * width, kept.heard.data(), width, workspace,
              gradient.gates_in_weight.data());
    add_outer(by_own.data(), size(before.rows), 3 * width, kept.state.data(), width, workspace,
              gradient.gates_state_weight.data());
    add_columns_of(by_in, gradient.gates_in_bias);
    add_columns_of(by_own, gradient.gates_state_bias);
    by_heard.assign(by.size(), 0.0F);
    multiply_add(by_in.data(), round.rows, 3 * weights_.width, weights_.gates_in.weight,
                 weights_.width, by_heard.data());
    for (size_t i = 0; i < by_heard.size(); ++i) {
      if (kept.heard[i] <= 0) by_heard[i] = 0;
    }
    add_columns_of(by_heard, gradient.message_sum_bias);
    multiply_add(by_own.data(), before.rows, 3 * weights_.width, weights_.gates_state.weight,
                 weights_.width, by_before.data());
    by_sent.assign(kept.state.size(), 0.0F);
    hear_backward(round, by_heard, width, by_sent);
    for (size_t kind = 0; kind < kinds; ++kind) {
      const size_t first = size(before.kind_begin[kind]) * width;
      const int count = before.kind_begin[kind + 1] - before.kind_begin[kind];
      multiply_add(by_sent.data() + first, count, weights_.width,
                   turned_matrices.data() + kind * cells, weights_.width, by_before.data() + first);
      add_outer(kept.state.data() + first, size(count), width, by_sent.data() + first, width,
                workspace, gradient.by_matrices.data() + kind * cells);
    }
    std::swap(by, by_before);
  }
  const std::vector<float>& embedded = tape.steps.empty() ? tape.state : tape.steps.front().state;
  for (size_t i = 0; i < by.size(); ++i) {
    if (embedded[i] <= 0) by[i] = 0;
  }
  gradient.embed_weight.assign(width * size(weights_.columns), 0.0F);
  gradient.embed_bias.assign(width, 0.0F);
  add_columns_of(by, gradient.embed_bias);
  const size_t columns = size(weights_.columns);
  for (size_t row = 0; row < size(rounds.front().rows); ++row) {
    for (size_t k = 0; k < width; ++k) {
      for (size_t c = 0; c < columns; ++c) {
        gradient.embed_weight[k * columns + c] +=
            by[row * width + k] * tape.rows[row * columns + c];
      }
    }
  }
  backward_matrices(features, gradient);
  return gradient;
}

// From by_matrices to what made the matrices.
void Encoder::backward_matrices(const PublishedFeatures& features,
                                EncoderGradient& gradient) const {
  const size_t width = size(weights_.width);
  const size_t cells = width * width;
  const size_t kinds = features.message_values.size();
  gradient.hidden = hidden(features);
  gradient.message_matrix_bias.assign(cells, 0.0F);
  for (size_t kind = 0; kind < kinds; ++kind) {
    const float* by = gradient.by_matrices.data() + kind * cells;
    for (size_t i = 0; i < cells; ++i) gradient.message_matrix_bias[i] += by[i];
  }
  std::vector<float> by_hidden(kinds * width, 0.0F);
  std::vector<float> part(kinds * kChunk);
  for (size_t first = 0; first < cells; first += kChunk) {
    const size_t count = std::min(kChunk, cells - first);
    for (size_t kind = 0; kind < kinds; ++kind) {
      std::copy_n(gradient.by_matrices.data() + kind * cells + first, count,
                  part.data() + kind * count);
    }
    multiply_add(part.data(), static_cast<int>(kinds), static_cast<int>(count),
                 weights_.message_matrix.weight + first * width, weights_.width, by_hidden.data());
  }
  gradient.message_weight.assign(width, 0.0F);
  gradient.message_bias.assign(width, 0.0F);
  for (size_t kind = 0; kind < kinds; ++kind) {
    for (size_t k = 0; k < width; ++k) {
      if (gradient.hidden[kind * width + k] <= 0) continue;
      gradient.message_weight[k] += by_hidden[kind * width + k] * features.message_values[kind];
      gradient.message_bias[k] += by_hidden[kind * width + k];
    }
  }
}

}  // namespace tutti
