// tutti.

#include "tools/commands.h"

int main(int argc, char** argv) {
  return tutti::run_tutti(argc, argv);
}
