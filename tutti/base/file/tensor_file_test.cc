#include "tutti/base/file/tensor_file.h"

#include <gtest/gtest.h>

#include <limits>

#include "test/support/world.h"

namespace tutti {
namespace {

TensorFile small_file() {
  TensorFile file;
  file.metadata = {{"network", "none"}, {"width", "8"}};
  file.tensors["a"] = {.shape = {2, 2}, .data = {1, 2, 3, 4}};
  file.tensors["b"] = {.shape = {}, .data = {5}};
  file.tensors["c"] = {.shape = {0}, .data = {}};
  return file;
}

std::string with_header(const std::string& header, size_t data_bytes) {
  std::string bytes(8, '\0');
  for (size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>((header.size() >> (8 * i)) & 0xff);
  return bytes + header + std::string(data_bytes, '\0');
}

std::string refusal(const std::string& bytes) {
  Source source = Source::from_text("m.safetensors", bytes);
  const auto file = read_tensors(source);
  EXPECT_FALSE(file);
  if (file) return "";
  EXPECT_EQ(file.error().kind, Error::Kind::invalid_input);
  EXPECT_NE(file.error().message.find("m.safetensors"), std::string::npos);
  return file.error().message;
}

TEST(TensorFile, ComesBackAsItWas) {
  const TensorFile file = small_file();
  const std::string bytes = tensors_to_bytes(file);
  Source source = Source::from_text("kept", bytes);
  const TensorFile again = must(read_tensors(source));
  EXPECT_EQ(file.tensors, again.tensors);
  EXPECT_EQ(file.metadata, again.metadata);
  EXPECT_EQ(tensors_to_bytes(again), bytes);
}

TEST(TensorFile, IsRefusedWhereverItIsCutOff) {
  const std::string bytes = tensors_to_bytes(small_file());
  for (size_t size = 0; size < bytes.size(); ++size) refusal(bytes.substr(0, size));
  refusal(bytes + "x");
}

TEST(TensorFile, HoldsFiniteNumbersAlone) {
  TensorFile file = small_file();
  file.tensors["a"].data[2] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NE(refusal(tensors_to_bytes(file)).find("'a'"), std::string::npos);
}

TEST(TensorFile, IsRefusedWithTheReason) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"a":{"dtype":"F16","shape":[2],"data_offsets":[0,8]}})", "tensor 'a' as F16"},
      {R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", "3 values but 8 bytes"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", "gap or an overlap"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "does not end"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},
           "b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
       "gap or an overlap"},
      {R"({"a":{"dtype":"F32","shape":[8,8,8,8],"data_offsets":[0,8]}})", "ends before tensor 'a'"},
      {R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}})", "shape"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0]}})", "two data_offsets"},
      {R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})", "it was cut short"},
      {R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", "shape"},
      {R"([])", "no object"},
      {R"({"__metadata__":{"width":8}})", "width"},
  };
  for (const auto& [header, reason] : cases) {
    EXPECT_NE(refusal(with_header(header, 8)).find(reason), std::string::npos)
        << refusal(with_header(header, 8));
  }
  EXPECT_NE(refusal(std::string("\xff\xff\xff\xff\xff\xff\xff\x7f") + "{}").find("length"),
            std::string::npos);
}

TEST(TensorFile, TellsNumbersInRange) {
  const TensorFile file = small_file();
  EXPECT_EQ(must(file.number("width", 8, 8, "m")), 8);
  EXPECT_FALSE(file.number("width", 9, 10, "m"));
  EXPECT_FALSE(file.number("height", 0, 10, "m"));
  EXPECT_FALSE(file.number("network", 0, 10, "m"));
}

TEST(TensorFile, TellsCountsAndNothingElseAsCounts) {
  TensorFile file;
  EXPECT_EQ(must(file.count("updates", "m")), 0);
  file.metadata["updates"] = "1000000000000";
  EXPECT_EQ(must(file.count("updates", "m")), 1'000'000'000'000);
  for (const char* wrong :
       {"", "-1", "1.5", " 1", "x", "2000000000000000", "99999999999999999999"}) {
    file.metadata["updates"] = wrong;
    EXPECT_FALSE(file.count("updates", "m")) << wrong;
  }
}

}  // namespace
}  // namespace tutti
