// The published net in libtorch; published/tower.cc is the same without. Both share what libtorch
// would do slowly or with other rounding: the encoder where messages pass once, sums over
// neighbours and along ways, and standardising.
//
// Rows of an encoder are ops x batch x width: the batch is 1, or all steps where messages pass at
// every step.

#include <algorithm>
#include <numeric>

#include "studies/doppler/nets.h"
#include "studies/doppler/nn/standardise.h"
#include "studies/doppler/published/net.h"
#include "studies/doppler/torch/encode_once.h"
#include "studies/doppler/torch/modules.h"
#include "tutti/train/torch/module.h"

namespace tutti {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;
template <class T>
using Function = torch::autograd::Function<T>;

// Lessons and features outlive both passes, so that pointers to them can be kept in between.
template <class T>
int64_t kept(const T* data) {
  return reinterpret_cast<int64_t>(data);
}
template <class T>
const T& kept_in(AutogradContext* context, const char* key) {
  return *reinterpret_cast<const T*>(context->saved_data[key].toInt());
}

class SumNeighbours : public Function<SumNeighbours> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const PublishedFeatures* features) {
    context->saved_data["features"] = kept(features);
    return sum(*features, x);
  }
  // Edges lead both ways, so the sum is its own transpose.
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    return {sum(kept_in<PublishedFeatures>(context, "features"), gradients[0]), {}};
  }

 private:
  static torch::Tensor sum(const PublishedFeatures& features, const torch::Tensor& x) {
    const torch::Tensor from = x.contiguous();
    torch::Tensor to = torch::empty_like(from);
    sum_neighbours(features, from.data_ptr<float>(),
                   static_cast<size_t>(from.numel() / features.ops), to.data_ptr<float>());
    return to;
  }
};

class SumAlong : public Function<SumAlong> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const PublishedFeatures* features, Way way) {
    context->saved_data["features"] = kept(features);
    context->saved_data["to_exit"] = way == Way::to_exit;
    torch::Tensor to = x.clone(torch::MemoryFormat::Contiguous);
    sum_along(*features, way, static_cast<size_t>(to.numel() / features->ops),
              to.data_ptr<float>());
    return to;
  }
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto& features = kept_in<PublishedFeatures>(context, "features");
    const Way way = context->saved_data["to_exit"].toBool() ? Way::to_exit : Way::to_entry;
    torch::Tensor to = gradients[0].clone(torch::MemoryFormat::Contiguous);
    sum_along_backward(features, way, static_cast<size_t>(to.numel() / features.ops),
                       to.data_ptr<float>());
    return {to, {}, {}};
  }
};

torch::Tensor tensor_of(const std::vector<int64_t>& data) {
  return torch::from_blob(const_cast<int64_t*>(data.data()), {static_cast<int64_t>(data.size())},
                          torch::kInt64)
      .clone();
}

// Some rows of a matrix, in groups.
struct RowGroups {
  torch::Tensor index;  // the rows
  torch::Tensor begin;  // where in `index` each group begins; one more at the end
};

// All `rows`, in groups of `size`.
RowGroups equal_groups(int64_t rows, int64_t size) {
  return {.index = torch::arange(rows), .begin = torch::arange(0, rows + size, size)};
}

class StandardiseGroups : public Function<StandardiseGroups> {
 public:
  static torch::Tensor of(const torch::Tensor& x, const RowGroups& groups) {
    return apply(x, groups.index, groups.begin);
  }

  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& index, const torch::Tensor& begin) {
    const torch::Tensor from = x.contiguous();
    const int64_t width = from.size(1);
    const int64_t* rows = index.data_ptr<int64_t>();
    const int64_t* first = begin.data_ptr<int64_t>();
    torch::Tensor y = torch::empty({index.numel(), width});
    torch::Tensor spreads = torch::empty({begin.numel() - 1, width}, torch::kFloat64);
    for (int64_t i = 0; i < index.numel(); ++i) {
      std::copy_n(from.data_ptr<float>() + rows[i] * width, width, y.data_ptr<float>() + i * width);
    }
    for (int64_t g = 0; g + 1 < begin.numel(); ++g) {
      float* group = y.data_ptr<float>() + first[g] * width;
      standardise(group, static_cast<int>(first[g + 1] - first[g]), static_cast<int>(width), group,
                  spreads.data_ptr<double>() + g * width);
    }
    context->saved_data["rows"] = from.size(0);
    context->save_for_backward({y, spreads, index, begin});
    return y;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto saved = context->get_saved_variables();
    const torch::Tensor by_y = gradients[0].contiguous();
    const int64_t width = by_y.size(1);
    const int64_t* index = saved[2].data_ptr<int64_t>();
    const int64_t* begin = saved[3].data_ptr<int64_t>();
    torch::Tensor by_x = torch::zeros({context->saved_data["rows"].toInt(), width});
    std::vector<float> rows;
    for (int64_t g = 0; g + 1 < saved[3].numel(); ++g) {
      const int64_t first = begin[g];
      const int64_t count = begin[g + 1] - first;
      rows.resize(static_cast<size_t>(count * width));
      standardise_backward(by_y.data_ptr<float>() + first * width,
                           saved[0].data_ptr<float>() + first * width,
                           saved[1].data_ptr<double>() + g * width, static_cast<int>(count),
                           static_cast<int>(width), rows.data());
      for (int64_t i = 0; i < count; ++i) {
        float* to = by_x.data_ptr<float>() + index[first + i] * width;
        const float* from = rows.data() + i * width;
        for (int64_t k = 0; k < width; ++k) to[k] += from[k];
      }
    }
    return {by_x, {}, {}};
  }
};

// By step of each episode, the sums of the rows of x over what is on each device by then:
// (episodes x steps x devices) x width.
class SumsOnDevices : public Function<SumsOnDevices> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const Lesson* lesson) {
    const torch::Tensor from = x.contiguous();
    const auto devices = static_cast<size_t>(lesson->episodes.front()->devices);
    const auto width = static_cast<size_t>(from.size(1));
    const size_t steps = lesson->episodes.front()->op.size();
    const size_t row = devices * width;
    torch::Tensor all = torch::zeros(
        {static_cast<int64_t>(lesson->episodes.size() * steps * devices), from.size(1)});
    float* now = all.data_ptr<float>();
    for (const Episode* episode : lesson->episodes) {
      for (size_t step = 0; step < steps; ++step, now += row) {
        if (step + 1 == steps) continue;
        std::copy_n(now, row, now + row);
        float* sum = now + row + static_cast<size_t>(episode->device[step]) * width;
        const float* added =
            from.data_ptr<float>() + static_cast<size_t>(episode->op[step]) * width;
        for (size_t k = 0; k < width; ++k) sum[k] += added[k];
      }
    }
    context->saved_data["lesson"] = kept(lesson);
    context->saved_data["rows"] = from.size(0);
    return all;
  }
  // What is placed at a step counts in all later ones.
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto& lesson = kept_in<Lesson>(context, "lesson");
    const torch::Tensor from = gradients[0].contiguous();
    const auto devices = static_cast<size_t>(lesson.episodes.front()->devices);
    const auto width = static_cast<size_t>(from.size(1));
    const size_t steps = lesson.episodes.front()->op.size();
    const size_t row = devices * width;
    torch::Tensor by_x =
        torch::zeros({context->saved_data["rows"].toInt(), static_cast<int64_t>(width)});
    std::vector<float> later(row);
    const float* first = from.data_ptr<float>();
    for (const Episode* episode : lesson.episodes) {
      std::fill(later.begin(), later.end(), 0.0F);
      for (size_t step = steps; step-- > 0;) {
        const float* sum = later.data() + static_cast<size_t>(episode->device[step]) * width;
        float* to = by_x.data_ptr<float>() + static_cast<size_t>(episode->op[step]) * width;
        for (size_t k = 0; k < width; ++k) to[k] += sum[k];
        const float* now = first + step * row;
        for (size_t k = 0; k < row; ++k) later[k] += now[k];
      }
      first += steps * row;
    }
    return {by_x, {}};
  }
};

// Everything about a lesson that its towers share.
struct Course {
  const Lesson& lesson;
  const PublishedFeatures& features;
  DecisionBatch decisions;
  int64_t batch = 1;               // of the encoder
  torch::Tensor op_rows{};         // ops x batch x columns
  RowGroups ready{};               // by step, the ready ops' rows in ops x batch
  torch::Tensor ready_cell{};      // by ready op, its place in decisions.ready
  torch::Tensor candidate_rows{};  // by ready op, standardised over the step
  std::shared_ptr<FactoredGradients> factored{};

  int64_t count() const { return decisions.episodes * decisions.steps; }
};

// The op rows at every step, with what is placed by then.
torch::Tensor rows_of_steps(const Lesson& lesson, const PublishedFeatures& features,
                            int64_t count) {
  constexpr int64_t kColumns = kPublishedOpFeatures + kStepColumns;
  torch::Tensor rows = torch::zeros({features.ops, count, kColumns});
  rows.narrow(2, 0, kPublishedOpFeatures)
      .copy_(view_of(features.op_rows, {features.ops, 1, kPublishedOpFeatures})
                 .expand({features.ops, count, kPublishedOpFeatures}));
  int64_t begin = 0;
  for (const Episode* episode : lesson.episodes) {
    const auto steps = static_cast<int64_t>(episode->op.size());
    for (int64_t step = 0; step + 1 < steps; ++step) {
      const auto at = static_cast<size_t>(step);
      float* row = rows.data_ptr<float>() +
                   (episode->op[at] * count + begin + step + 1) * kColumns + kPublishedOpFeatures;
      for (int64_t later = step + 1; later < steps; ++later, row += kColumns) {
        row[0] = 1;
        row[1] = episode->start[at];
      }
    }
    begin += steps;
  }
  return rows;
}

Course prepare(const Lesson& lesson, const PublishedShape& shape) {
  const PublishedFeatures& features = features_as<PublishedNetFeatures>(*lesson.features).graph;
  Course course{.lesson = lesson, .features = features, .decisions = gather_decisions(lesson)};
  if (!shape.every_step) course.factored = std::make_shared<FactoredGradients>();
  const int64_t count = course.count();
  if (shape.every_step) {
    course.batch = count;
    course.op_rows = rows_of_steps(lesson, features, count);
  } else {
    course.op_rows = view_of(features.op_rows, {features.ops, 1, kPublishedOpFeatures});
  }
  const int64_t widest = course.decisions.ready.size(1);
  std::vector<float> rows;
  std::vector<int64_t> index, cell, begin = {0};
  int64_t row = 0;
  for (const Episode* episode : lesson.episodes) {
    for (size_t step = 0; step < episode->op.size(); ++step, ++row) {
      const auto first = static_cast<size_t>(episode->ready_begin[step]);
      const auto end = static_cast<size_t>(episode->ready_begin[step + 1]);
      const size_t filled = rows.size();
      for (size_t i = first; i < end; ++i) {
        const int64_t op = episode->ready[i];
        index.push_back(course.batch == 1 ? op : op * course.batch + row);
        cell.push_back(row * widest + static_cast<int64_t>(i - first));
        const float* from = features.op_rows.data() + op * kPublishedOpFeatures;
        rows.insert(rows.end(), from, from + kPublishedOpFeatures);
      }
      standardise(rows.data() + filled, static_cast<int>(end - first), kPublishedOpFeatures,
                  rows.data() + filled);
      begin.push_back(static_cast<int64_t>(index.size()));
    }
  }
  course.ready = {.index = tensor_of(index), .begin = tensor_of(begin)};
  course.ready_cell = tensor_of(cell);
  course.candidate_rows =
      view_of(rows, {static_cast<int64_t>(index.size()), kPublishedOpFeatures}).clone();
  return course;
}

// One policy net at work on a lesson.
class Tower {
 public:
  Tower(const Parameters& parameters, const TowerShape& shape, const Course& course)
      : parameters_(parameters),
        shape_(shape),
        course_(course),
        features_(course.features),
        state_(course.factored == nullptr
                   ? encode()
                   : leak(encode_once(parameters, shape, features_, course.factored))) {}

  // SELECT's logits of the ready ops.
  torch::Tensor ready_logits() const { return score(candidates()); }

  // PLACE's logits: steps x devices.
  torch::Tensor device_logits() const {
    const DecisionBatch& decisions = course_.decisions;
    const torch::Tensor op = decisions.op.view({-1});
    torch::Tensor row = op;
    if (course_.batch > 1) row = op * course_.batch + torch::arange(course_.count());
    const torch::Tensor of_op =
        part(HeadPart::op,
             leak(dense("op", view_of(features_.op_rows, {features_.ops, kPublishedOpFeatures}))));
    const torch::Tensor of_state = part(HeadPart::state, state_) + bias("first");
    const torch::Tensor fixed = torch::embedding(of_op, op) + torch::embedding(of_state, row);
    return score(fixed.unsqueeze(1) + devices(decisions.rows) + loads());
  }

  // The joint policy's logits: ready ops x devices. Rows likewise.
  torch::Tensor pair_logits(const torch::Tensor& rows) const {
    const torch::Tensor step =
        torch::arange(course_.count()).repeat_interleave(course_.ready.begin.diff());
    const torch::Tensor loads_of_step = loads();
    const int64_t columns = loads_of_step.size(1) * loads_of_step.size(2);
    const torch::Tensor load = torch::embedding(loads_of_step.reshape({-1, columns}), step)
                                   .view({-1, loads_of_step.size(1), loads_of_step.size(2)});
    return score(candidates().unsqueeze(1) + devices(rows) + load);
  }

 private:
  const torch::Tensor& tensor(const std::string& name) const {
    return parameters_.at(std::string(to_text(shape_.role)) + "." + name);
  }
  const torch::Tensor& bias(const std::string& name) const { return tensor(name + ".bias"); }
  torch::Tensor dense(const std::string& name, const torch::Tensor& x) const {
    return torch::linear(x, tensor(name + ".weight"), bias(name));
  }
  static torch::Tensor leak(const torch::Tensor& x) { return torch::leaky_relu(x, kPublishedLeak); }
  // What a part adds to the head's first layer.
  torch::Tensor part(HeadPart which, const torch::Tensor& x) const {
    return torch::linear(x, tensor("first.weight").narrow(1, shape_.begin_of(which), shape_.width));
  }
  torch::Tensor score(const torch::Tensor& hidden) const {
    return dense("last", leak(hidden)).squeeze(-1);
  }

  // The embeddings where they change from step to step: (ops x batch) x width.
  torch::Tensor encode() const {
    const int64_t width = shape_.width;
    const auto kinds = static_cast<int64_t>(features_.message_values.size());
    const std::vector<torch::Tensor> matrices =
        dense("message_matrix",
              torch::relu(dense("message", view_of(features_.message_values, {kinds, 1}))))
            .view({kinds, width, width})
            .unbind(0);
    // Ops by the kind of message they send, and back.
    std::vector<int32_t> sorted(static_cast<size_t>(features_.ops));
    std::iota(sorted.begin(), sorted.end(), 0);
    std::stable_sort(sorted.begin(), sorted.end(), [&](int32_t a, int32_t b) {
      return features_.message_kind[static_cast<size_t>(a)] <
             features_.message_kind[static_cast<size_t>(b)];
    });
    std::vector<int32_t> back(sorted.size());
    std::vector<int64_t> sizes(matrices.size(), 0);
    for (size_t i = 0; i < sorted.size(); ++i) {
      back[static_cast<size_t>(sorted[i])] = static_cast<int32_t>(i);
      sizes[static_cast<size_t>(features_.message_kind[i])] += course_.batch;
    }
    const torch::Tensor forth_index = indices(sorted);
    const torch::Tensor back_index = indices(back);
    const auto reorder = [&](const torch::Tensor& x, const torch::Tensor& index) {
      return x.view({features_.ops, -1}).index_select(0, index).view({-1, width});
    };
    torch::Tensor state = torch::relu(dense("embed", course_.op_rows)).view({-1, width});
    for (int step = 0; step < shape_.steps; ++step) {
      const auto by_kind = reorder(state, forth_index).split_with_sizes(sizes);
      std::vector<torch::Tensor> sent;
      for (size_t k = 0; k < matrices.size(); ++k) sent.push_back(by_kind[k].mm(matrices[k]));
      const torch::Tensor heard =
          torch::relu(SumNeighbours::apply(reorder(torch::cat(sent), back_index), &features_) +
                      bias("message_sum"));
      state = torch::gru_cell(heard, state, tensor("gates_in.weight"), tensor("gates_state.weight"),
                              bias("gates_in"), bias("gates_state"));
    }
    return leak(state);
  }

  // The head's first layer of each ready op.
  torch::Tensor candidates() const {
    const auto fixed = part(HeadPart::state, state_) + bias("first");
    return torch::embedding(fixed, course_.ready.index) +
           part(HeadPart::candidate, leak(dense("candidate", course_.candidate_rows))) +
           part(HeadPart::exit, along(Way::to_exit)) + part(HeadPart::entry, along(Way::to_entry));
  }

  torch::Tensor along(Way way) const {
    const torch::Tensor sums = SumAlong::apply(state_, &features_, way).view({features_.ops, -1});
    const torch::Tensor alike =
        StandardiseGroups::of(sums, equal_groups(features_.ops, features_.ops));
    return StandardiseGroups::of(alike.view({-1, shape_.width}), course_.ready);
  }

  torch::Tensor devices(const torch::Tensor& rows) const {
    return part(HeadPart::device, leak(dense("device", rows)));
  }

  // Steps x devices x kPublishedHead.
  torch::Tensor loads() const {
    const DecisionBatch& decisions = course_.decisions;
    const torch::Tensor sums =
        course_.batch == 1 ? SumsOnDevices::apply(state_, &course_.lesson) : sums_of_steps();
    return part(HeadPart::load,
                StandardiseGroups::of(sums, equal_groups(sums.size(0), decisions.devices)))
        .view({course_.count(), decisions.devices, kPublishedHead});
  }

  // As SumsOnDevices, where embeddings change from step to step.
  torch::Tensor sums_of_steps() const {
    const DecisionBatch& decisions = course_.decisions;
    torch::Tensor where = torch::zeros({course_.count(), decisions.devices, features_.ops});
    float* first = where.data_ptr<float>();
    for (const Episode* episode : course_.lesson.episodes) {
      const auto steps = static_cast<int64_t>(episode->op.size());
      for (int64_t step = 0; step < steps; ++step) {
        const auto at = static_cast<size_t>(step);
        for (int64_t later = step + 1; later < steps; ++later) {
          first[(later * decisions.devices + episode->device[at]) * features_.ops +
                episode->op[at]] = 1;
        }
      }
      first += steps * decisions.devices * features_.ops;
    }
    const torch::Tensor by_step =
        state_.view({features_.ops, course_.batch, shape_.width}).transpose(0, 1);
    return torch::bmm(where, by_step).view({-1, shape_.width});
  }

  const Parameters& parameters_;
  const TowerShape& shape_;
  const Course& course_;
  const PublishedFeatures& features_;
  torch::Tensor state_;
};

class PublishedModule : public Module {
 public:
  explicit PublishedModule(const PublishedShape& shape) : shape_(shape) {}

  bool separable() const override { return towers_of(shape_).size() > 1; }

  Likelihoods forward(const Parameters& parameters, const Lesson& lesson,
                      const Wanted& wanted) const override {
    const Course course = prepare(lesson, shape_);
    Choice select{.likelihood = torch::zeros({course.count()}),
                  .entropy = torch::zeros({course.count()})};
    Choice place = select;
    for (const TowerShape& tower_shape : towers_of(shape_)) {
      if (!(tower_shape.role == TowerRole::place ? wanted.place : wanted.select)) continue;
      const Tower tower(parameters, tower_shape, course);
      switch (tower_shape.role) {
        case TowerRole::select:
          select = choose_op(course, tower);
          break;
        case TowerRole::place:
          place = choose(tower.device_logits(), course.decisions.allowed,
                         course.decisions.right_device);
          break;
        case TowerRole::joint:
          select = choose_pair(course, tower);
          break;
      }
    }
    const std::vector<int64_t> shape = {course.decisions.episodes, course.decisions.steps};
    return {.select = select.likelihood.view(shape),
            .place = place.likelihood.view(shape),
            .select_entropy = select.entropy.view(shape),
            .place_entropy = place.entropy.view(shape),
            .factored = course.factored};
  }

 private:
  // From one row for each ready op to as many rows for each step as the widest has, padded by 0.
  static torch::Tensor padded(const Course& course, const torch::Tensor& rows) {
    std::vector<int64_t> shape = rows.sizes().vec();
    shape[0] = course.decisions.ready.numel();
    return torch::zeros(shape, rows.options())
        .index_copy(0, course.ready_cell, rows)
        .view({course.count(), -1});
  }

  static Choice choose_op(const Course& course, const Tower& tower) {
    return choose(padded(course, tower.ready_logits()), course.decisions.is_ready,
                  course.decisions.right_op);
  }

  static Choice choose_pair(const Course& course, const Tower& tower) {
    std::vector<float> rows;
    std::vector<uint8_t> allowed, right;
    for (const Episode* episode : course.lesson.episodes) {
      rows.insert(rows.end(), episode->rows.begin(), episode->rows.end());
      allowed.insert(allowed.end(), episode->allowed.begin(), episode->allowed.end());
      right.insert(right.end(), episode->right_device.begin(), episode->right_device.end());
    }
    const int64_t devices = course.decisions.devices;
    const auto flags = [&](std::vector<uint8_t>& data) {
      const auto count = static_cast<int64_t>(data.size());
      return padded(course,
                    torch::from_blob(data.data(), {count / devices, devices}, torch::kUInt8))
          .to(torch::kBool);
    };
    const torch::Tensor logits =
        tower.pair_logits(view_of(rows, {static_cast<int64_t>(allowed.size()) / devices, devices,
                                         kPublishedDeviceFeatures})
                              .clone());
    return choose(padded(course, logits), flags(allowed), flags(right));
  }

  PublishedShape shape_;
};

}  // namespace

void add_published_module() {
  add_module({"published", checked_module<PublishedNet, PublishedModule>});
}

}  // namespace tutti
