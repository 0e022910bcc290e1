#include "tutti/policy/doppler/general.h"

#include <string>
#include <utility>

#include "tutti/base/check.h"

// The assembler puts the file in as it is: a compiler would take seconds over such an array.
asm(".section .rodata\n"
    ".balign 8\n"
    ".global tutti_general_begin\n"
    ".hidden tutti_general_begin\n"
    "tutti_general_begin:\n"
    ".incbin \"" TUTTI_GENERAL_MODEL
    "\"\n"
    ".global tutti_general_end\n"
    ".hidden tutti_general_end\n"
    "tutti_general_end:\n"
    ".byte 0\n"
    ".previous\n");

// Hidden, so that a shared library can refer to them as a program does.
extern "C" const char tutti_general_begin[];
extern "C" const char tutti_general_end[];

namespace tutti {

std::string_view general_model_bytes() {
  return {tutti_general_begin, static_cast<size_t>(tutti_general_end - tutti_general_begin)};
}

DopplerModel general_model() {
  Source source = Source::from_text("general model", std::string(general_model_bytes()));
  const Result<TensorFile> file = read_tensors(source);
  TUTTI_CHECK(file.has_value());
  Result<DopplerModel> model = DopplerModel::load(*file, "general model");
  TUTTI_CHECK(model.has_value());
  return std::move(*model);
}

std::shared_ptr<const DopplerModel> model_or_general(std::shared_ptr<const DopplerModel> given) {
  return given ? std::move(given) : std::make_shared<const DopplerModel>(general_model());
}

}  // namespace tutti
