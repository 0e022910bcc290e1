#include "tutti/policy/places/transport.h"

#include <functional>
#include <limits>
#include <queue>
#include <utility>

#include "tutti/base/check.h"

namespace tutti {
namespace {

class Transport {
 public:
  Transport(const std::vector<int64_t>& cost, const std::vector<int>& capacity)
      : cost_(cost),
        places_(static_cast<int>(capacity.size())),
        left_(capacity),
        place_of_(cost.size() / capacity.size(), -1),
        moves_(capacity.size() * capacity.size()),
        distance_(capacity.size()),
        via_(capacity.size()) {}

  std::vector<int> run() {
    for (int item = 0; item < static_cast<int>(place_of_.size()); ++item) add(item);
    return std::move(place_of_);
  }

 private:
  // What an item's moving on costs, the least on top. Entries of items that left are dropped.
  using Move = std::pair<int64_t, int>;
  using Moves = std::priority_queue<Move, std::vector<Move>, std::greater<>>;

  int64_t cost(int item, int place) const {
    return cost_[static_cast<size_t>(item) * static_cast<size_t>(places_) +
                 static_cast<size_t>(place)];
  }
  Moves& moves(int from, int to) {
    return moves_[static_cast<size_t>(from) * static_cast<size_t>(places_) +
                  static_cast<size_t>(to)];
  }
  const Move* cheapest_move(int from, int to) {
    Moves& all = moves(from, to);
    while (!all.empty() && place_of_[static_cast<size_t>(all.top().second)] != from) all.pop();
    return all.empty() ? nullptr : &all.top();
  }

  void settle(int item, int place) {
    place_of_[static_cast<size_t>(item)] = place;
    for (int to = 0; to < places_; ++to) {
      if (to != place) moves(place, to).push({cost(item, to) - cost(item, place), item});
    }
  }

  // Shortest ways from the new item to every place: directly, or by pushing others on.
  void find_ways(int item) {
    for (int place = 0; place < places_; ++place) {
      distance_[static_cast<size_t>(place)] = cost(item, place);
      via_[static_cast<size_t>(place)] = -1;
    }
    // Bellman and Ford: costs of moves may be negative, but no cycle of them is.
    for (bool better = true; better;) {
      better = false;
      for (int from = 0; from < places_; ++from) {
        for (int to = 0; to < places_; ++to) {
          const Move* move = from == to ? nullptr : cheapest_move(from, to);
          if (move == nullptr) continue;
          const int64_t way = distance_[static_cast<size_t>(from)] + move->first;
          if (way >= distance_[static_cast<size_t>(to)]) continue;
          distance_[static_cast<size_t>(to)] = way;
          via_[static_cast<size_t>(to)] = from;
          better = true;
        }
      }
    }
  }

  int cheapest_with_room() const {
    int best = -1;
    for (int place = 0; place < places_; ++place) {
      if (left_[static_cast<size_t>(place)] == 0) continue;
      if (best < 0 || distance_[static_cast<size_t>(place)] < distance_[static_cast<size_t>(best)])
        best = place;
    }
    return best;
  }

  // The cheapest place of all needs no pushing if it has room.
  bool settle_at_once(int item) {
    int cheapest = 0;
    for (int place = 1; place < places_; ++place) {
      if (cost(item, place) < cost(item, cheapest)) cheapest = place;
    }
    if (left_[static_cast<size_t>(cheapest)] == 0) return false;
    --left_[static_cast<size_t>(cheapest)];
    settle(item, cheapest);
    return true;
  }

  void add(int item) {
    if (settle_at_once(item)) return;
    find_ways(item);
    int place = cheapest_with_room();
    TUTTI_CHECK(place >= 0);
    --left_[static_cast<size_t>(place)];
    for (int from = via_[static_cast<size_t>(place)]; from >= 0;
         from = via_[static_cast<size_t>(place)]) {
      settle(cheapest_move(from, place)->second, place);
      place = from;
    }
    settle(item, place);
  }

  const std::vector<int64_t>& cost_;
  int places_;
  std::vector<int> left_;  // by place
  std::vector<int> place_of_;
  std::vector<Moves> moves_;  // by place x place
  std::vector<int64_t> distance_;
  std::vector<int> via_;
};

}  // namespace

std::vector<int> transport(const std::vector<int64_t>& cost, const std::vector<int>& capacity) {
  return Transport(cost, capacity).run();
}

}  // namespace tutti
