#include "tutti/report/validation.h"

#include "test/fuzz/harness.h"
#include "test/fuzz/promises.h"
#include "tutti/base/file/document.h"
#include "tutti/report/page.h"

namespace tutti::fuzz {

bool fuzz_validation(const uint8_t* data, size_t size) {
  Source source = source_of(data, size);
  Result<ReportedValidation> validation = read_validation(source);
  if (!validation) {
    expect_refusal(validation.error());
    return false;
  }
  Source page = Source::from_text("page", page_data({.validations = {std::move(*validation)}}));
  TUTTI_CHECK(read_json(page).has_value());
  return true;
}

bool fuzz_online_validation(const uint8_t* data, size_t size) {
  Source source = source_of(data, size);
  Result<ReportedOnlineValidation> validation = read_online_validation(source);
  if (!validation) {
    expect_refusal(validation.error());
    return false;
  }
  Source page =
      Source::from_text("page", page_data({.online_validations = {std::move(*validation)}}));
  TUTTI_CHECK(read_json(page).has_value());
  return true;
}

}  // namespace tutti::fuzz
