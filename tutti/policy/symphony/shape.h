// The shape of a Symphony net: which inputs it gets and how large it is. A model file holds this
// and the weights.
//
// Information levels differ in what is known about the use of shared resources, and in nothing
// else.

#ifndef TUTTI_POLICY_SYMPHONY_SHAPE_H_
#define TUTTI_POLICY_SYMPHONY_SHAPE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tutti/base/file/tensor_file.h"

namespace tutti {

enum class InformationLevel : uint8_t {
  nothing,   // "none": only what was launched by this policy
  counters,  // their readings, in a list, without the topology: a model-free baseline
  topology,  // "counters-topology": their readings, each at the part of the machine it is about
  belief,    // mean and spread of what is believed about each part
  truth,     // what a simulator knows and no decider can
};
const char* to_text(InformationLevel knowledge);
std::optional<InformationLevel> parse_information_level(std::string_view text);

struct SymphonyShape {
  InformationLevel knowledge = InformationLevel::belief;
  int samples = 64;            // that a belief is drawn with
  bool topology = true;        // messages pass between parts of the machine
  bool memory = true;          // an LSTM remembers from decision to decision
  bool no_op = true;           // doing nothing may be chosen though ops could start
  bool launched = true;        // the belief knows what was launched (the paper's a_{t-1})
  bool counter_errors = true;  // the belief knows the error of readings
  // Scores start from those of a rule, online earliest finish, and the net learns what to add.
  bool prior = true;
  bool means = true;  // graphs are summed up by means; false: by sums, as published
  bool wide = false;  // messages are as wide as published; false: half of that
  // Of InformationLevel::counters alone, whose first and last layers are as wide as the machine.
  int counters = 0;
  int devices = 0;
};

// The names and values that tell a shape in a file's metadata, and back. Fails (invalid_input) if
// the file is of another network.
void store_shape(const SymphonyShape& shape, TensorFile& file);
Result<SymphonyShape> load_shape(const TensorFile& file, const std::string& path);

}  // namespace tutti

#endif  // TUTTI_POLICY_SYMPHONY_SHAPE_H_
