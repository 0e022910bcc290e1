#include "tutti/train/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "tutti/base/file/output.h"

namespace tutti {

std::string exactly(double number) {
  return fmt::format("{:a}", number);
}

Result<double> figure_in(const TensorFile& file, const std::string& key, double fallback,
                         const std::string& path) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end()) return fallback;
  const std::string& text = found->second;
  char* end = nullptr;
  const double figure = std::strtod(text.c_str(), &end);
  const bool whole = !text.empty() && std::isspace(static_cast<unsigned char>(text[0])) == 0 &&
                     end == text.c_str() + text.size();
  if (!whole || !std::isfinite(figure) || std::signbit(figure)) {
    return invalid_input(
        fmt::format("{}: '{}' is '{}', not a figure from 0 up; the checkpoint is spoilt, begin in "
                    "another folder",
                    path, key, text));
  }
  return figure;
}

void add_model(std::string_view prefix, const TensorFile& model, TensorFile& file) {
  for (const auto& [name, tensor] : model.tensors) {
    file.tensors[std::string(prefix) + name] = tensor;
  }
}

Result<TensorFile> model_under(std::string_view prefix, TensorFile like, const TensorFile& file,
                               const std::string& path) {
  for (auto& [name, tensor] : like.tensors) {
    const auto found = file.find(std::string(prefix) + name, tensor.shape, path);
    if (!found) return found.error();
    tensor = **found;
  }
  return like;
}

bool is_finite(const TensorFile& file) {
  return std::all_of(file.tensors.begin(), file.tensors.end(), [](const auto& entry) {
    return std::all_of(entry.second.data.begin(), entry.second.data.end(),
                       [](float value) { return std::isfinite(value); });
  });
}

Result<void> shorten_log(const std::string& path, int64_t lines) {
  std::ifstream log(path);
  std::string kept;
  std::string line;
  for (int64_t i = 0; i < lines && std::getline(log, line); ++i) kept += line + "\n";
  return write_file(path, kept);
}

}  // namespace tutti
