// What a Symphony network is told, and of what it is made: everything that a model's file says
// beside its numbers.
//
// The rungs of the information ladder differ in what is known about the use of shared resources,
// and in nothing else.

#ifndef TUTTI_POLICY_SYMPHONY_SHAPE_H_
#define TUTTI_POLICY_SYMPHONY_SHAPE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tutti/base/file/tensor_file.h"

namespace tutti {

enum class Insight : uint8_t {
  nothing,   // "none": what one has launched oneself
  counters,  // their readings, in a list: the model-free rival, with no topology network
  topology,  // "counters-topology": their readings, each at the part of the machine it is about
  belief,    // mean and spread of what is believed about each part
  truth,     // what a simulator knows and no dispatcher can
};
const char* to_text(Insight knowledge);
std::optional<Insight> parse_knowledge(std::string_view text);

struct SymphonyShape {
  Insight knowledge = Insight::belief;
  int samples = 64;            // that a belief is drawn with
  bool topology = true;        // messages pass between parts of the machine
  bool memory = true;          // an LSTM remembers from decision to decision
  bool no_op = true;           // doing nothing may be chosen beside something
  bool launched = true;        // the belief is told what was launched (the paper's a_{t-1})
  bool counter_errors = true;  // the belief is told how sure readings are
  // Scores start from those of a rule, online earliest finish, and the network learns what to add.
  bool prior = true;
  bool means = true;  // graphs are summed up by means; false: by sums, as published
  bool wide = false;  // messages are as wide as published; false: half of that
  // Of Insight::counters alone, whose first and last layers are as wide as the machine.
  int counters = 0;
  int devices = 0;
};

// The names and values that tell a shape in a file's metadata, and back. Fails (invalid_input) if
// the file is of another network.
void store_shape(const SymphonyShape& shape, TensorFile& file);
Result<SymphonyShape> load_shape(const TensorFile& file, const std::string& path);

}  // namespace tutti

#endif  // TUTTI_POLICY_SYMPHONY_SHAPE_H_
