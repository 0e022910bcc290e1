#include "tools/import_flags.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <utility>

#include "tools/print/messages.h"

namespace tutti {
namespace {

Result<std::vector<std::pair<std::string, int64_t>>> parse_dims(
    const std::vector<std::string>& dims) {
  std::vector<std::pair<std::string, int64_t>> sizes;
  for (const std::string& dim : dims) {
    const size_t equals = dim.rfind('=');
    int64_t size = -1;
    if (equals != std::string::npos && equals > 0) {
      const char* end = dim.data() + dim.size();
      const auto [rest, code] = std::from_chars(dim.data() + equals + 1, end, size);
      if (code != std::errc{} || rest != end) size = -1;
    }
    if (size < 0 || size > std::numeric_limits<int32_t>::max()) {
      return invalid_input(fmt::format(
          "--dim takes a name and a size up to 2^31 - 1, such as batch=8, not '{}'", dim));
    }
    sizes.emplace_back(dim.substr(0, equals), size);
  }
  return sizes;
}

Error misplaced(const Source& source, const char* flag, const char* meant,
                const std::string& format) {
  return invalid_input(fmt::format("{}: {} is for {}, and this is {}; leave it out", source.name(),
                                   flag, meant, format));
}

}  // namespace

void ImportFlags::add_to(CLI::App& command) {
  command
      .add_option("--dim", dims,
                  "ONNX: the size of an open dimension or the rounds of a loop, such as batch=8; "
                  "once for each")
      ->allow_extra_args(false);  // or it would take the graph's name for another
  command
      .add_option("--shard", shards,
                  "ONNX: split large products with weights into that many blocks of columns")
      ->check(CLI::Range(1, 4096));
  command.add_flag(
      "--no-fuse", no_fuse,
      "HLO and StableHLO: keep each instruction an op of its own, instead of fusing a module that "
      "XLA has not optimised");
}

Result<Imported> ImportFlags::load(Source& source, bool scale_by_machine_speed) const {
  Result<std::vector<std::pair<std::string, int64_t>>> sizes = parse_dims(dims);
  if (!sizes) return sizes.error();
  Result<Imported> imported = load_graph(source, {.scale_by_machine_speed = scale_by_machine_speed,
                                                  .dims = std::move(*sizes),
                                                  .shards = shards,
                                                  .fuse = !no_fuse});
  if (!imported) return imported;
  if (quiet) imported->warnings.clear();
  for (const std::string& warning : imported->warnings) {
    print_warning(fmt::format("{}: {}", source.name(), warning));
  }
  const std::string& format = imported->format;
  if (format != "onnx" && !dims.empty()) return misplaced(source, "--dim", "ONNX models", format);
  if (format != "onnx" && shards != 1) return misplaced(source, "--shard", "ONNX models", format);
  if (format != "hlo" && format != "stablehlo" && no_fuse) {
    return misplaced(source, "--no-fuse", "HLO and StableHLO text", format);
  }
  return imported;
}

Result<Imported> ImportFlags::load(const std::string& path, bool scale_by_machine_speed) const {
  Result<Source> source = Source::open(path);
  if (!source) return source.error();
  return load(*source, scale_by_machine_speed);
}

}  // namespace tutti
