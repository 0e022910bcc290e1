// The program tutti-train and its methods.

#ifndef TUTTI_TOOLS_TRAIN_TRAIN_H_
#define TUTTI_TOOLS_TRAIN_TRAIN_H_

#include <CLI/CLI.hpp>

namespace tutti {

// Words as of main, the program's name first. The exit code. tutti-study has it too.
int run_train(int argc, char** argv);

// Adds the sub-command symphony.
void add_symphony(CLI::App& app, int& exit_code);

}  // namespace tutti

#endif  // TUTTI_TOOLS_TRAIN_TRAIN_H_
