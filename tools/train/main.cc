// tutti-train: what `tutti train` starts.

#include "tools/train/train.h"

int main(int argc, char** argv) {
  return tutti::run_train(argc, argv);
}
