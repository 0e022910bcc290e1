// tutti-study: all that tutti and tutti-train do, with the nets, models of evaluation, policies
// and configurations of the studies.

#include <string_view>

#include "studies/studies.h"
#include "tools/commands.h"
#ifdef TUTTI_HAVE_TORCH
#include "studies/doppler/train/configurations.h"
#include "studies/symphony/train/configurations.h"
#include "tools/train/train.h"
#endif

int main(int argc, char** argv) {
  tutti::add_studies();
#ifdef TUTTI_HAVE_TORCH
  tutti::add_doppler_studies();
  tutti::add_symphony_studies();
  if (argc > 1 && std::string_view(argv[1]) == "train") {
    return tutti::run_train(argc - 1, argv + 1);
  }
#endif
  return tutti::run_tutti(argc, argv);
}
