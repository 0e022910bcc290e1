#include "tutti/machine/machine.h"

#include "test/fuzz/harness.h"
#include "test/fuzz/promises.h"
#include "tutti/base/file/document.h"
#include "tutti/machine/file.h"

namespace tutti::fuzz {
namespace {

void expect_same(const Machine& machine, const std::string& written) {
  Source source = Source::from_text("written", written);
  const Result<Machine> again = read_machine(source);
  if (!again) std::fprintf(stderr, "written machine refused: %s\n", again.error().message.c_str());
  TUTTI_CHECK(again.has_value());
  TUTTI_CHECK(again->name() == machine.name());
  TUTTI_CHECK(again->fingerprint() == machine.fingerprint());
}

}  // namespace

bool fuzz_machine(const uint8_t* data, size_t size) {
  Source source = source_of(data, size);
  const Result<Machine> machine = read_machine(source);
  if (!machine) {
    expect_refusal(machine.error());
    return false;
  }
  if (size <= kSmallText) {
    expect_same(*machine, machine_to_json(*machine));
    if (can_read_toml()) expect_same(*machine, machine_to_toml(*machine));
  }
  return true;
}

}  // namespace tutti::fuzz
