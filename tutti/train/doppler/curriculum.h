// The problems that a general policy is trained on: graphs of the training families on drawn
// machines, with communication ratios between those of the tests. studies/doppler/protocol.md says
// what is held apart from them.

#ifndef TUTTI_TRAIN_DOPPLER_CURRICULUM_H_
#define TUTTI_TRAIN_DOPPLER_CURRICULUM_H_

#include "tutti/base/random.h"
#include "tutti/train/training_problem.h"

namespace tutti {

struct CurriculumSpec {
  int least_ops = 16;
  int most_ops = 200;
  double noise = 0.1;  // log-normal spread of all run and transfer times
};

// The same problem for the same generator state, everywhere.
std::unique_ptr<TrainingProblem> draw_problem(const CurriculumSpec& spec, Rng rng);

// Its parts, for tests.
Graph draw_graph(const CurriculumSpec& spec, Rng& rng, int devices);
Machine draw_machine(Rng& rng);

}  // namespace tutti

#endif  // TUTTI_TRAIN_DOPPLER_CURRICULUM_H_
