#include "tutti/report/command_output.h"

#include "test/fuzz/harness.h"
#include "test/fuzz/promises.h"
#include "tutti/base/file/document.h"
#include "tutti/report/page.h"

namespace tutti::fuzz {

bool fuzz_command_output(const uint8_t* data, size_t size) {
  Source source = source_of(data, size);
  Result<CommandOutput> output = read_command_output(source);
  if (!output) {
    expect_refusal(output.error());
    return false;
  }
  Source page = Source::from_text("page", page_data({.outputs = {std::move(*output)}}));
  TUTTI_CHECK(read_json(page).has_value());
  return true;
}

}  // namespace tutti::fuzz
