#include "tutti/base/file/tensor_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include "tutti/base/file/fields.h"
#include "tutti/base/file/json_writer.h"

namespace tutti {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors are little-endian");

constexpr int64_t kLargestHeader = int64_t{1} << 24;
constexpr size_t kLengthBytes = 8;
constexpr size_t kMostDimensions = 8;
constexpr std::string_view kMetadata = "__metadata__";

struct Extent {
  int64_t begin = 0;
  int64_t end = 0;
  std::string name{};
};

class Reader {
 public:
  Reader(std::string name, std::string bytes) : name_(std::move(name)), bytes_(std::move(bytes)) {}

  Result<TensorFile> read() {
    if (bytes_.size() < kLengthBytes) return error("is too short to be a safetensors file");
    uint64_t header_size = 0;
    std::memcpy(&header_size, bytes_.data(), kLengthBytes);
    if (header_size > kLargestHeader || header_size > bytes_.size() - kLengthBytes) {
      return error("does not begin with the length of a safetensors header");
    }
    data_begin_ = kLengthBytes + header_size;
    Source header = Source::from_text(name_, bytes_.substr(kLengthBytes, header_size));
    Result<Document> document = read_json(header);
    if (!document) return document.error();
    if (document->kind != Document::Kind::object) return error("has a header that is no object");
    for (size_t i = 0; i < document->keys.size(); ++i) {
      const auto done = document->keys[i] == kMetadata
                            ? read_metadata(document->items[i])
                            : read_tensor(document->keys[i], document->items[i]);
      if (!done) return done.error();
    }
    if (auto covered = check_cover(); !covered) return covered.error();
    return std::move(file_);
  }

 private:
  Error error(const std::string& sentence) const {
    return invalid_input(fmt::format("{}: the file {}", name_, sentence));
  }

  Error ends_too_soon(const std::string& tensor) const {
    return error(
        fmt::format("ends before tensor '{}' does; it was cut short, or is spoilt", tensor));
  }

  Result<void> read_metadata(const Document& document) {
    Fields fields(document, name_, "metadata");
    for (const std::string& key : document.keys) file_.metadata[key] = fields.text(key, "");
    return fields.done();
  }

  Result<void> read_tensor(const std::string& key, const Document& document) {
    Fields fields(document, name_, fmt::format("tensor '{}'", key));
    const std::string dtype = fields.text("dtype");
    if (fields.good() && dtype != "F32") {
      return error(fmt::format("holds tensor '{}' as {}, and only F32 is read", key, dtype));
    }
    constexpr int64_t kMost = kLargestTensorFile;
    const int64_t room = static_cast<int64_t>(bytes_.size() - data_begin_);
    StoredTensor tensor;
    int64_t count = 1;
    const auto& shape = fields.items("shape");
    if (shape.size() > kMostDimensions) fields.fail("has too many dimensions");
    for (const Document& item : shape) {
      const auto extent =
          fields.as_integer(item, "shape", {.fallback = {}, .least = 0, .most = kMost});
      if (!extent) break;
      tensor.shape.push_back(*extent);
      count *= *extent;
      if (count > room) return ends_too_soon(key);
    }
    Extent extent{.name = key};
    const auto& offsets = fields.items("data_offsets");
    if (offsets.size() == 2) {
      const Fields::Whole rule{.fallback = {}, .least = 0, .most = kMost};
      extent.begin = fields.as_integer(offsets[0], "data_offsets", rule).value_or(0);
      extent.end = fields.as_integer(offsets[1], "data_offsets", rule).value_or(0);
    } else {
      fields.fail("needs two data_offsets");
    }
    if (fields.good() && std::max(extent.begin, extent.end) > room) return ends_too_soon(key);
    if (fields.good() && extent.end - extent.begin != count * 4) {
      fields.fail(fmt::format("has {} values but {} bytes", count, extent.end - extent.begin));
    }
    if (auto done = fields.done(); !done) return done;
    tensor.data.resize(static_cast<size_t>(count));
    if (count > 0) {
      std::memcpy(tensor.data.data(), bytes_.data() + data_begin_ + extent.begin,
                  static_cast<size_t>(count) * 4);
    }
    const bool finite = std::all_of(tensor.data.begin(), tensor.data.end(),
                                    [](float value) { return std::isfinite(value); });
    if (!finite) return error(fmt::format("holds a value in tensor '{}' that is no number", key));
    extents_.push_back(extent);
    file_.tensors[key] = std::move(tensor);
    return {};
  }

  // So that nothing can hide in a file, and no tensor in another.
  Result<void> check_cover() {
    std::sort(extents_.begin(), extents_.end(), [](const Extent& a, const Extent& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    });
    int64_t covered = 0;
    for (const Extent& extent : extents_) {
      if (extent.begin != covered) {
        return error(fmt::format("has a gap or an overlap before tensor '{}'", extent.name));
      }
      covered = extent.end;
    }
    if (covered != static_cast<int64_t>(bytes_.size() - data_begin_)) {
      return error("does not end where its last tensor ends");
    }
    return {};
  }

  std::string name_;
  std::string bytes_;
  size_t data_begin_ = 0;
  TensorFile file_;
  std::vector<Extent> extents_;
};

// The whole number that the text's decimal digits are; -1 if there are others or it exceeds `most`.
int64_t digits_of(const std::string& text, int64_t most) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  const bool good = error == std::errc{} && rest == end && value <= static_cast<uint64_t>(most);
  return good ? static_cast<int64_t>(value) : -1;
}

std::string shape_to_text(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

}  // namespace

Result<const StoredTensor*> TensorFile::find(const std::string& name,
                                             const std::vector<int64_t>& shape,
                                             const std::string& file) const {
  const auto found = tensors.find(name);
  if (found == tensors.end()) {
    return invalid_input(fmt::format("{}: the model has no tensor '{}'", file, name));
  }
  if (found->second.shape != shape) {
    return invalid_input(fmt::format("{}: tensor '{}' has shape {}, not {}", file, name,
                                     shape_to_text(found->second.shape), shape_to_text(shape)));
  }
  return &found->second;
}

Result<int> TensorFile::number(const std::string& key, int least, int most,
                               const std::string& file) const {
  const auto found = metadata.find(key);
  if (found == metadata.end()) {
    return invalid_input(fmt::format("{}: the model does not tell its '{}'", file, key));
  }
  const int64_t value = digits_of(found->second, most);
  if (value < least || value > most) {
    return invalid_input(fmt::format("{}: the model's '{}' is '{}', not from {} to {}", file, key,
                                     found->second, least, most));
  }
  return static_cast<int>(value);
}

Result<int64_t> TensorFile::count(const std::string& key, const std::string& file) const {
  constexpr int64_t kMost = int64_t{1} << 50;
  const auto found = metadata.find(key);
  if (found == metadata.end()) return int64_t{0};
  const int64_t count = digits_of(found->second, kMost);
  if (count < 0) {
    return invalid_input(fmt::format("{}: '{}' is '{}', not a count", file, key, found->second));
  }
  return count;
}

Result<TensorFile> read_tensors(Source& source) {
  Result<std::string> bytes = source.read_all(kLargestTensorFile);
  if (!bytes) return bytes.error();
  return Reader(source.name(), std::move(*bytes)).read();
}

std::string tensors_to_bytes(const TensorFile& file) {
  JsonWriter json(0);
  json.open_object();
  if (!file.metadata.empty()) {
    json.key(kMetadata).open_object();
    for (const auto& [key, text] : file.metadata) json.field(key, text);
    json.close_object();
  }
  int64_t offset = 0;
  for (const auto& [name, tensor] : file.tensors) {
    json.key(name).open_object().field("dtype", "F32").key("shape").open_list();
    for (const int64_t extent : tensor.shape) json.value(extent);
    const int64_t end = offset + static_cast<int64_t>(tensor.data.size()) * 4;
    json.close_list().key("data_offsets").open_list().value(offset).value(end).close_list();
    json.close_object();
    offset = end;
  }
  json.close_object();
  std::string header = json.text();
  while (header.size() % kLengthBytes != 0) header += ' ';  // keeps the floats aligned
  const uint64_t length = header.size();
  std::string bytes(kLengthBytes, '\0');
  std::memcpy(bytes.data(), &length, kLengthBytes);
  bytes += header;
  for (const auto& [name, tensor] : file.tensors) {
    bytes.append(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size() * 4);
  }
  return bytes;
}

}  // namespace tutti
