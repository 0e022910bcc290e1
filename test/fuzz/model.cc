#include "studies/doppler/published/net.h"
#include "studies/doppler/rivals/gdp_net.h"
#include "studies/doppler/rivals/placeto_net.h"
#include "test/fuzz/harness.h"
#include "test/fuzz/promises.h"
#include "tutti/base/file/tensor_file.h"
#include "tutti/policy/doppler/residual_net.h"

namespace tutti::fuzz {

// What is taken can be written and read again. Taken means: a network there is.
bool fuzz_model(const uint8_t* data, size_t size) {
  Source source = source_of(data, size);
  const Result<TensorFile> file = read_tensors(source);
  if (!file) {
    expect_refusal(file.error());
    return false;
  }
  Source written = Source::from_text("written", tensors_to_bytes(*file));
  const Result<TensorFile> again = read_tensors(written);
  TUTTI_CHECK(again.has_value() && again->tensors == file->tensors &&
              again->metadata == file->metadata);
  const auto residual = ResidualNet::load(*file, "input");
  const auto published = PublishedNet::load(*file, "input");
  if (!residual) expect_refusal(residual.error());
  const auto placeto = PlacetoNet::load(*file, "input");
  const auto gdp = GdpNet::load(*file, "input");
  if (!published) expect_refusal(published.error());
  if (!placeto) expect_refusal(placeto.error());
  if (!gdp) expect_refusal(gdp.error());
  return residual || published || placeto || gdp;
}

}  // namespace tutti::fuzz
