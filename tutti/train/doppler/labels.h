// Labels: good plans to imitate. A search improves them; a checkpoint stores them.

#ifndef TUTTI_TRAIN_DOPPLER_LABELS_H_
#define TUTTI_TRAIN_DOPPLER_LABELS_H_

#include <string>

#include "tutti/base/file/tensor_file.h"
#include "tutti/search/walk/islands.h"

namespace tutti {

// The best plan that annealing finds from `start` until it has spent the evaluations or is stopped.
CostedPlan improved(const Problem& problem, const SearchModel& judging, CostedPlan start,
                    int64_t evaluations, const Stop& stop, Rng rng);

// The plan with each op's rank in the order of priorities as its priority. Labels are stored so in
// memory too, so that a search goes the same way before and after a checkpoint.
Plan with_ranks(Plan plan);

// As two tensors: the device of each op, and its place in the order of priorities.
void keep_plan(const std::string& name, const Plan& plan, TensorFile& file);
bool has_plan(const std::string& name, const TensorFile& file);
// Fails (invalid_input) if what is kept is no plan of that problem, or puts an op where it may not
// go: a simulation of that might never end.
Result<Plan> kept_plan(const std::string& name, const Problem& problem, const TensorFile& file,
                       const std::string& path);

}  // namespace tutti

#endif  // TUTTI_TRAIN_DOPPLER_LABELS_H_
