// Ways of training that the study compares, as configurations of the product
// (tutti/train/doppler/configuration.h): Doppler as its authors describe and release it, its
// variants, the learned rivals, and ablations of the product's own; with their nets in
// libtorch.

#ifndef TUTTI_STUDIES_DOPPLER_TRAIN_CONFIGURATIONS_H_
#define TUTTI_STUDIES_DOPPLER_TRAIN_CONFIGURATIONS_H_

namespace tutti {

// For programs that train: in main, once, after add_studies().
void add_doppler_studies();

}  // namespace tutti

#endif  // TUTTI_STUDIES_DOPPLER_TRAIN_CONFIGURATIONS_H_
