// Labels: good plans to imitate. A search makes one better; a checkpoint keeps it.

#ifndef TUTTI_TRAIN_LABELS_H_
#define TUTTI_TRAIN_LABELS_H_

#include <string>

#include "tutti/base/file/tensor_file.h"
#include "tutti/search/islands.h"

namespace tutti {

// The best plan that annealing meets from there until it has spent so much or is stopped.
Candidate improved(const Problem& problem, const SearchModel& judging, Candidate start,
                   int64_t evaluations, const Stop& stop, Rng rng);

// The plan with the place of each op in the order of priorities for its priority. Labels are kept
// so, in memory as in a file: a search from the one must go as from the other.
Plan with_ranks(Plan plan);

// As two tensors: the device of each op, and its place in the order of priorities.
void keep_plan(const std::string& name, const Plan& plan, TensorFile& file);
bool has_plan(const std::string& name, const TensorFile& file);
// Fails (invalid_input) if what is kept is no plan of that problem, or puts an op where it may not
// go: a simulation of that might never end.
Result<Plan> kept_plan(const std::string& name, const Problem& problem, const TensorFile& file,
                       const std::string& path);

}  // namespace tutti

#endif  // TUTTI_TRAIN_LABELS_H_
