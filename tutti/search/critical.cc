#include "tutti/search/critical.h"

namespace tutti {

void critical_path_of(const Graph& graph, const Judge& judge, std::vector<OpId>& path) {
  path.clear();
  OpId last{};
  for (const OpId op : graph.ops()) {
    if (!last.valid() || judge.finish(op) > judge.finish(last)) last = op;
  }
  for (OpId op = last; op.valid(); op = judge.decided_by(op)) path.push_back(op);
}

}  // namespace tutti
