// Ways of training that the study compares, as configurations of the product
// (tutti/train/configuration.h): Doppler as its authors describe and release it, its variants, and
// the learned rivals; with their networks in libtorch.

#ifndef TUTTI_STUDIES_DOPPLER_TRAIN_CONFIGURATIONS_H_
#define TUTTI_STUDIES_DOPPLER_TRAIN_CONFIGURATIONS_H_

namespace tutti {

// For programs that train: in main, once, after add_studies().
void add_training_studies();

}  // namespace tutti

#endif  // TUTTI_STUDIES_DOPPLER_TRAIN_CONFIGURATIONS_H_
