// main of test programs that know the studies.

#include <gtest/gtest.h>

#include "studies/studies.h"
#ifdef TUTTI_STUDIES_TRAIN
#include "studies/doppler/train/configurations.h"
#include "studies/symphony/train/configurations.h"
#endif

int main(int argc, char** argv) {
  tutti::add_studies();
#ifdef TUTTI_STUDIES_TRAIN
  tutti::add_doppler_studies();
  tutti::add_symphony_studies();
#endif
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
