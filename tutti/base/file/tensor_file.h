// Named arrays of 32-bit floats with a few words about them, kept in the safetensors format: a JSON
// header that says where each array is, then the bytes. Nothing in such a file is ever executed.
// docs/formats/model.md.

#ifndef TUTTI_BASE_FILE_TENSOR_FILE_H_
#define TUTTI_BASE_FILE_TENSOR_FILE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tutti/base/file/source.h"
#include "tutti/base/result.h"

namespace tutti {

struct StoredTensor {
  std::vector<int64_t> shape;
  std::vector<float> data;  // row-major
  friend bool operator==(const StoredTensor&, const StoredTensor&) = default;
};

struct TensorFile {
  std::map<std::string, StoredTensor> tensors{};
  std::map<std::string, std::string> metadata{};

  // Fails (invalid_input) unless there is a tensor of that name and shape, naming `file`.
  Result<const StoredTensor*> find(const std::string& name, const std::vector<int64_t>& shape,
                                   const std::string& file) const;
  // Fails (invalid_input) unless the metadata state a whole number from `least` to `most`.
  Result<int> number(const std::string& key, int least, int most, const std::string& file) const;
  // The same for a count that may be large; 0 if the metadata do not have it.
  Result<int64_t> count(const std::string& key, const std::string& file) const;
};

// A model of ours takes less than a hundredth of it.
inline constexpr int64_t kLargestTensorFile = int64_t{1} << 30;

// Fails (invalid_input) on anything but a whole, well-formed file of F32 tensors that cover its
// bytes without gap or overlap, and on numbers that are not finite.
Result<TensorFile> read_tensors(Source& source);

// The bytes of such a file. Equal contents give equal bytes.
std::string tensors_to_bytes(const TensorFile& file);

}  // namespace tutti

#endif  // TUTTI_BASE_FILE_TENSOR_FILE_H_
