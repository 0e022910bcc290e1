// The model that comes with tutti: trained across families, sizes and machines, so that it plans
// for graphs it has never seen (studies/doppler/protocol.md says which it has). Its bytes are in
// the program.

#ifndef TUTTI_POLICY_DOPPLER_GENERAL_H_
#define TUTTI_POLICY_DOPPLER_GENERAL_H_

#include <memory>
#include <string_view>

#include "tutti/policy/doppler/model.h"

namespace tutti {

// models/general.safetensors, as it was when the program was built.
std::string_view general_model_bytes();

DopplerModel general_model();

// The given one, or this one where none is given.
std::shared_ptr<const DopplerModel> model_or_general(std::shared_ptr<const DopplerModel> given);

}  // namespace tutti

#endif  // TUTTI_POLICY_DOPPLER_GENERAL_H_
