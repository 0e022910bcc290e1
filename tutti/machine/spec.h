// What a machine file says, checked and made whole before a Machine is built from it.

#ifndef TUTTI_MACHINE_SPEC_H_
#define TUTTI_MACHINE_SPEC_H_

#include <cstdint>
#include <string>

#include "tutti/base/result.h"
#include "tutti/machine/machine.h"

namespace tutti {

// Of machine files; see docs/formats/machine.md.
inline constexpr int64_t kMachineSchemaVersion = 1;

// Routes are kept for every pair of memories, so their number is bounded.
inline constexpr int kMostDevices = 4096;
inline constexpr int kMostDevicesWithMemory = 1024;
inline constexpr int kMostHosts = 64;
inline constexpr int kMostSwitches = 4096;
inline constexpr int kMostLinks = 65536;
inline constexpr int kMostLinksOfRoute = 32;
inline constexpr int kMostSlots = 1024;
inline constexpr int kMostUnits = 65536;
inline constexpr int kMostCapacity = 1 << 20;
inline constexpr int64_t kLongestLatencyNs = 3'600'000'000'000;  // one hour

// Adds a host if none is declared, gives devices without a host the first one, and sorts rates by
// dtype. Fails on duplicate names and on values out of range; whether the ends of links
// exist is for Machine::build to see.
Result<void> complete_spec(MachineSpec& spec);

// Of everything but lines and the file they are in. Requires a complete spec.
uint64_t spec_fingerprint(const MachineSpec& spec);

// An error about the part of the machine on that line: "file:line: sentence" if it has one.
Error spec_error(const MachineSpec& spec, int line, const std::string& sentence);

}  // namespace tutti

#endif  // TUTTI_MACHINE_SPEC_H_
