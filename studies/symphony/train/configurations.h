// Ways of training Symphony that the study compares, as configurations of the product
// (tutti/train/symphony/configuration.h).

#ifndef TUTTI_STUDIES_SYMPHONY_TRAIN_CONFIGURATIONS_H_
#define TUTTI_STUDIES_SYMPHONY_TRAIN_CONFIGURATIONS_H_

namespace tutti {

// For programs that train: in main, once.
void add_symphony_studies();

}  // namespace tutti

#endif  // TUTTI_STUDIES_SYMPHONY_TRAIN_CONFIGURATIONS_H_
