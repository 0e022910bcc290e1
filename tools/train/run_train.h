// The program tutti-train, for those that hold it: itself and tutti-study.

#ifndef TUTTI_TOOLS_TRAIN_RUN_TRAIN_H_
#define TUTTI_TOOLS_TRAIN_RUN_TRAIN_H_

namespace tutti {

// Words as of main, the program's name first. The exit code.
int run_train(int argc, char** argv);

}  // namespace tutti

#endif  // TUTTI_TOOLS_TRAIN_RUN_TRAIN_H_
