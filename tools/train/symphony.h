// `tutti train symphony`: learns to schedule jobs that arrive, in simulated clusters.

#ifndef TUTTI_TOOLS_TRAIN_SYMPHONY_H_
#define TUTTI_TOOLS_TRAIN_SYMPHONY_H_

#include <CLI/CLI.hpp>

namespace tutti {

void add_symphony(CLI::App& app, int& exit_code);

}  // namespace tutti

#endif  // TUTTI_TOOLS_TRAIN_SYMPHONY_H_
