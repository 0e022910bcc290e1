// Figures in the metadata of a checkpoint. They are written so that they read back the same, and
// read as if a stranger had written them.

#ifndef TUTTI_TRAIN_FIGURES_H_
#define TUTTI_TRAIN_FIGURES_H_

#include <string>

#include "tutti/base/file/tensor_file.h"

namespace tutti {

std::string exactly(double number);

// `fallback` if the metadata do not have it. Fails (invalid_input) unless it is finite and not
// negative, naming `path`.
Result<double> figure_in(const TensorFile& file, const std::string& key, double fallback,
                         const std::string& path);

}  // namespace tutti

#endif  // TUTTI_TRAIN_FIGURES_H_
