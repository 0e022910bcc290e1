#include "studies/studies.h"

#include "studies/doppler/nets.h"
#include "studies/doppler/released/critical_path_released.h"
#include "studies/doppler/released/model.h"
#include "tutti/policy/registry.h"

namespace tutti {

void add_studies() {
  add_study_nets();
  add_released_model();
  add_policy({.name = "critical_path_released",
              .what = "critical path with the defects it was published with, for comparison only",
              .source = "Yao et al. 2025 (Doppler), as released",
              .seeded = true,
              .for_comparison = true,
              .plan = plan_critical_path_released});
}

}  // namespace tutti
