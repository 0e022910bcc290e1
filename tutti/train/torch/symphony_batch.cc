#include "tutti/train/torch/symphony_batch.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tutti {
namespace {

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

class Gatherer {
 public:
  void add(const Passage& passage) {
    all_.first.push_back(static_cast<int32_t>(all_.count()));
    all_.length.push_back(static_cast<int32_t>(passage.end - passage.first));
    const SymphonyMemory& before = passage.episode->decisions[passage.first].considered.before;
    all_.hidden.insert(all_.hidden.end(), before.hidden.begin(), before.hidden.end());
    all_.cell.insert(all_.cell.end(), before.cell.begin(), before.cell.end());
    for (size_t i = passage.first; i < passage.end; ++i)
      add(*passage.episode, passage.episode->decisions[i]);
  }

  SymphonyBatch take() && {
    all_.first_option.push_back(static_cast<int32_t>(all_.option_op.size()));
    all_.first_draw.push_back(static_cast<int32_t>(all_.draw_vertex.size()));
    // Cells can be numbered only now that the widest decision is known.
    for (const auto* list : {&executions_, &changes_, &rests_}) {
      for (const auto& [decision, place] : *list)
        all_.cell_of_action.push_back(decision * all_.most_actions + place);
    }
    return std::move(all_);
  }

 private:
  struct Placed {
    int32_t first_op;
    int32_t number;
  };

  Placed job(const SymphonyEpisode& episode, int32_t id) {
    const auto found = jobs_.find({&episode, id});
    if (found != jobs_.end()) return found->second;
    const JobRows& rows = episode.jobs.at(id);
    const Placed placed{static_cast<int32_t>(all_.job_of_op.size()), all_.jobs++};
    append(all_.op_rows, rows.rows);
    append(all_.edge_rows, rows.edge_rows);
    for (const int32_t op : rows.from) all_.from.push_back(placed.first_op + op);
    for (const int32_t op : rows.to) all_.to.push_back(placed.first_op + op);
    all_.job_of_op.insert(all_.job_of_op.end(), static_cast<size_t>(rows.ops), placed.number);
    all_.job_of_edge.insert(all_.job_of_edge.end(), rows.from.size(), placed.number);
    jobs_.emplace(std::pair(&episode, id), placed);
    return placed;
  }

  void add(const SymphonyEpisode& episode, const KeptDecision& decision) {
    const auto number = static_cast<int32_t>(all_.count());
    const DecisionFeatures& features = decision.considered.features;
    all_.decisions.push_back(&decision);
    all_.chosen.push_back(static_cast<int32_t>(decision.chosen));
    for (const int32_t id : features.jobs) {
      all_.seen_job.push_back(job(episode, id).number);
      all_.seen_by.push_back(number);
    }
    const auto first_op = static_cast<int32_t>(all_.op.size());
    const auto first_option = static_cast<int32_t>(all_.option_op.size());
    for (const DecisionFeatures::Op& op : features.ops)
      all_.op.push_back(job(episode, op.job).first_op + op.op);
    int32_t last_op = -1;
    for (const DecisionFeatures::Option& option : features.options) {
      if (option.op != last_op)
        all_.first_option.push_back(static_cast<int32_t>(all_.option_op.size()));
      last_op = option.op;
      all_.option_op.push_back(first_op + option.op);
      all_.option_by.push_back(number);
      all_.option_device.push_back(option.device);
      all_.crowd_own.push_back(option.crowd_own);
      all_.before.push_back(option.before);
      all_.run.push_back(option.run);
      all_.first_draw.push_back(static_cast<int32_t>(all_.draw_vertex.size()));
      all_.widest_draw = std::max(all_.widest_draw, option.end_draw - option.first_draw);
      for (int32_t d = option.first_draw; d < option.end_draw; ++d) {
        const DecisionFeatures::VertexDraw& draw = features.draws[static_cast<size_t>(d)];
        all_.draw_vertex.push_back(draw.vertex);
        all_.draw_share.push_back(draw.share);
        all_.draw_own.push_back(draw.own);
        all_.draw_flows.push_back(draw.flows);
      }
    }
    append(all_.option_rows, features.option_rows);
    int32_t place = 0;
    for (const int32_t option : features.executions) {
      all_.execution.push_back(first_option + option);
      executions_.emplace_back(number, place++);
    }
    for (const int32_t device : features.reconfigured) {
      all_.change_by.push_back(number);
      all_.change_device.push_back(device);
      changes_.emplace_back(number, place++);
    }
    append(all_.change_rows, features.reconfigure_rows);
    if (features.may_rest) {
      all_.rest_by.push_back(number);
      rests_.emplace_back(number, place++);
    }
    all_.most_actions = std::max(all_.most_actions, place);
  }

  SymphonyBatch all_;
  std::map<std::pair<const SymphonyEpisode*, int32_t>, Placed> jobs_;
  std::vector<std::pair<int32_t, int32_t>> executions_, changes_, rests_;
};

}  // namespace

SymphonyBatch batch_of(std::span<const Passage> passages) {
  std::vector<Passage> sorted(passages.begin(), passages.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const Passage& a, const Passage& b) {
    return a.end - a.first > b.end - b.first;
  });
  Gatherer gatherer;
  for (const Passage& passage : sorted) gatherer.add(passage);
  return std::move(gatherer).take();
}

}  // namespace tutti
