// A Command is a program that an op stands for, as a graph file names it. Only
// `tutti run --allow-commands` runs it (tutti/runtime/command).

#ifndef TUTTI_GRAPH_COMMAND_H_
#define TUTTI_GRAPH_COMMAND_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tutti/base/time.h"

namespace tutti {

struct Command {
  // The program and its arguments, each as it is: no shell looks at them. Not empty.
  std::vector<std::string> argv{};
  std::vector<std::pair<std::string, std::string>> environment{};  // in addition to that of tutti
  std::string directory{};  // where it runs; empty: where tutti does
  // Seen from there. It may start once its inputs are there, and has done well if it ends with exit
  // code 0 and its outputs are there.
  std::vector<std::string> input_files{};
  std::vector<std::string> output_files{};
  // Limits, 0: none. CPU time and memory are those of each of its processes alone.
  Duration timeout{0};
  Duration cpu_time{0};
  int64_t memory_bytes = 0;

  friend bool operator==(const Command&, const Command&) = default;
};

// Why no process can be made of it, in a few words; empty: one can.
std::string fault_of(const Command& command);

}  // namespace tutti

#endif  // TUTTI_GRAPH_COMMAND_H_
