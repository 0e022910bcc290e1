// What a device of each kind consists of, as a short text: "cpu:2, gpu-64:64". Costs are by kind
// of device, and say nothing about one of the same kind with other cores.

#ifndef TUTTI_MACHINE_UNITS_H_
#define TUTTI_MACHINE_UNITS_H_

#include <string>
#include <string_view>

#include "tutti/machine/machine.h"

namespace tutti {

// Kinds in alphabetical order, each with its cores or multiprocessors; kinds whose devices do not
// say are left out. Devices of one kind that differ are joined: "cpu:2+4".
std::string units_text(const Machine& machine);

// The first kind that both texts have with other units, as "cpu:2"; empty: none.
std::string first_difference(std::string_view units, std::string_view others);

}  // namespace tutti

#endif  // TUTTI_MACHINE_UNITS_H_
