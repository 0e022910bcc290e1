// The state of a calibration as a file, so that measuring can be resumed and later traces can be
// learned from. docs/formats/calibration.md.

#ifndef TUTTI_CALIBRATE_STATE_FILE_H_
#define TUTTI_CALIBRATE_STATE_FILE_H_

#include <string>

#include "tutti/base/file/source.h"
#include "tutti/calibrate/knowledge.h"

namespace tutti {

// How far measuring has come.
struct CalibrationState {
  uint64_t machine_fingerprint = 0;
  uint64_t experiments_fingerprint = 0;  // 0: nothing was measured, only learned from traces
  int64_t runs = 0;                      // of these experiments
  Knowledge knowledge{};
};

std::string calibration_to_json(const CalibrationState& state);

// Fails with file and line.
Result<CalibrationState> read_calibration(Source& source);
// The same from a file that must be of that machine.
Result<CalibrationState> load_calibration(const std::string& path, const Machine& machine);

}  // namespace tutti

#endif  // TUTTI_CALIBRATE_STATE_FILE_H_
