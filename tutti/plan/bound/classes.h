// Gathers devices into classes, inside of which it makes no difference which one is chosen.

#ifndef TUTTI_PLAN_BOUND_CLASSES_H_
#define TUTTI_PLAN_BOUND_CLASSES_H_

#include <vector>

#include "tutti/plan/bound/instance.h"
#include "tutti/plan/problem.h"

namespace tutti::bound {

// In the order of their first devices.
//
// Pins may tell more devices apart than we care to: beyond sixteen classes, devices stay together
// that some op may use only in part. The op then counts as allowed on all of them.
std::vector<DeviceClass> device_classes(const Problem& problem);

// In nanoseconds, by op and then class; kImpossible where the op may use no device of the class.
std::vector<Ticks> run_times_of(const Problem& problem, const std::vector<DeviceClass>& classes);

}  // namespace tutti::bound

#endif  // TUTTI_PLAN_BOUND_CLASSES_H_
