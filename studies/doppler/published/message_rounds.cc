// Colour refinement (Weisfeiler and Leman 1968): ops begin with the colour of their features, and a
// round gives each the pair of its colour and of how often it sees each colour. Nets that pass
// messages cannot tell ops of one colour apart, so one row does for all of them. The published
// graphs are made of equal shards: chainmm has 7 colours for 76 ops.

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "studies/doppler/published/features.h"

namespace tutti {
namespace {

using Colours = std::vector<int32_t>;  // by op: its row

// Rounds that are kept one by one; what comes later is refined until nothing changes.
constexpr int kRoundsApart = 8;
// Long chains are refined for as many rounds as they are long. Beyond this every op has its own
// row.
constexpr int kMostRounds = 64;

// Numbers the colours so that rows are sorted by what they send, then by their first op.
template <class Key>
Colours numbered(const PublishedFeatures& features, const std::vector<Key>& keys) {
  std::map<Key, size_t> first;
  for (size_t op = 0; op < keys.size(); ++op) first.emplace(keys[op], op);
  std::vector<std::pair<int32_t, size_t>> sorted;  // kind, first op
  for (const auto& [key, op] : first) sorted.emplace_back(features.message_kind[op], op);
  std::sort(sorted.begin(), sorted.end());
  std::vector<int32_t> row_of_first(keys.size(), 0);
  for (size_t row = 0; row < sorted.size(); ++row) {
    row_of_first[sorted[row].second] = static_cast<int32_t>(row);
  }
  Colours colours(keys.size());
  for (size_t op = 0; op < keys.size(); ++op) colours[op] = row_of_first[first.at(keys[op])];
  return colours;
}

Colours first_colours(const PublishedFeatures& features) {
  std::vector<std::vector<int32_t>> keys(static_cast<size_t>(features.ops));
  for (size_t op = 0; op < keys.size(); ++op) {
    keys[op].resize(kPublishedOpFeatures);
    std::memcpy(keys[op].data(), features.op_rows.data() + op * kPublishedOpFeatures,
                kPublishedOpFeatures * sizeof(float));
    keys[op].push_back(features.message_kind[op]);
  }
  return numbered(features, keys);
}

std::vector<int32_t> heard_by(const PublishedFeatures& features, const Colours& colours,
                              size_t op) {
  std::vector<int32_t> heard;
  for (auto i = static_cast<size_t>(features.neighbours_begin[op]);
       i < static_cast<size_t>(features.neighbours_begin[op + 1]); ++i) {
    heard.push_back(colours[static_cast<size_t>(features.neighbours[i])]);
  }
  std::sort(heard.begin(), heard.end());
  return heard;
}

Colours refined(const PublishedFeatures& features, const Colours& colours) {
  std::vector<std::vector<int32_t>> keys(colours.size());
  for (size_t op = 0; op < keys.size(); ++op) {
    keys[op] = heard_by(features, colours, op);
    keys[op].push_back(colours[op]);
  }
  return numbered(features, keys);
}

Colours all_apart(const PublishedFeatures& features) {
  std::vector<int32_t> ops(static_cast<size_t>(features.ops));
  for (size_t op = 0; op < ops.size(); ++op) ops[op] = static_cast<int32_t>(op);
  return numbered(features, ops);
}

// `before` are the colours one round before; none in round 0.
MessageRound round_of(const PublishedFeatures& features, const Colours& colours,
                      const Colours* before) {
  MessageRound round;
  round.row_of = colours;
  for (const int32_t row : colours) round.rows = std::max(round.rows, row + 1);
  std::vector<size_t> example(static_cast<size_t>(round.rows));
  for (size_t op = colours.size(); op-- > 0;) example[static_cast<size_t>(colours[op])] = op;
  round.kind_begin.assign(features.message_values.size() + 1, 0);
  round.heard_begin.push_back(0);
  for (const size_t op : example) {
    ++round.kind_begin[static_cast<size_t>(features.message_kind[op]) + 1];
    round.parent.push_back(before == nullptr ? static_cast<int32_t>(op) : (*before)[op]);
    if (before != nullptr) {
      const std::vector<int32_t> heard = heard_by(features, *before, op);
      for (size_t i = 0; i < heard.size(); ++i) {
        if (i > 0 && heard[i] == heard[i - 1]) {
          round.times.back() += 1;
        } else {
          round.heard.push_back(heard[i]);
          round.times.push_back(1);
        }
      }
    }
    round.heard_begin.push_back(static_cast<int32_t>(round.heard.size()));
  }
  for (size_t kind = 1; kind < round.kind_begin.size(); ++kind) {
    round.kind_begin[kind] += round.kind_begin[kind - 1];
  }
  return round;
}

}  // namespace

std::vector<MessageRound> message_rounds(const PublishedFeatures& features) {
  Colours colours = first_colours(features);
  std::vector<MessageRound> rounds = {round_of(features, colours, nullptr)};
  for (int count = 1;; ++count) {
    Colours next = refined(features, colours);
    if (next != colours && count > kMostRounds) next = all_apart(features);
    const bool kept = count <= kRoundsApart;
    if (kept) rounds.push_back(round_of(features, next, &colours));
    const bool settled = next == colours || count > kMostRounds;
    if (settled && !kept) {
      rounds.push_back(round_of(features, next, &rounds.back().row_of));
      rounds.push_back(round_of(features, next, &next));
    }
    if (settled) return rounds;
    colours = std::move(next);
  }
}

std::vector<MessageRound> message_rounds_apart(const PublishedFeatures& features) {
  const Colours colours = all_apart(features);
  return {round_of(features, colours, nullptr), round_of(features, colours, &colours)};
}

}  // namespace tutti
