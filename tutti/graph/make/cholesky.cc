#include "tutti/graph/make/cholesky.h"

#include <fmt/format.h>

#include "tutti/graph/make/shard/emitter.h"
#include "tutti/graph/make/shard/expert.h"

namespace tutti {
namespace {

class Cholesky {
 public:
  explicit Cholesky(const CholeskySpec& spec)
      : spec_(spec), emitter_(fmt::format("cholesky_{}", spec.tiles), spec.dtype, spec.most_made) {}

  Result<Graph> make() &&;

 private:
  Result<void> add_inputs();
  Result<void> step(int64_t k);
  // Replaces tile (i, j) by what the op makes of `others` and of it.
  Result<void> apply(const std::string& name, const std::string& kind, const std::string& group,
                     std::vector<ValueId> others, int64_t i, int64_t j);
  ValueId& tile(int64_t i, int64_t j) { return tiles_[static_cast<size_t>(i * (i + 1) / 2 + j)]; }

  const CholeskySpec& spec_;
  Emitter emitter_;
  std::vector<ValueId> tiles_;  // lower ones, row by row, as they are now
};

Result<void> Cholesky::add_inputs() {
  for (int64_t i = 0; i < spec_.tiles; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      const Result<ValueId> value =
          emitter_.add_input(fmt::format("a.{}.{}", i, j), {spec_.tile_size, spec_.tile_size},
                             /*weight=*/false);
      if (!value) return value.error();
      tiles_.push_back(*value);
    }
  }
  return {};
}

Result<void> Cholesky::apply(const std::string& name, const std::string& kind,
                             const std::string& group, std::vector<ValueId> others, int64_t i,
                             int64_t j) {
  others.push_back(tile(i, j));
  const Result<ValueId> value =
      emitter_.add_op({.name = name,
                       .kind = kind,
                       .operands = std::move(others),
                       .attributes = {},
                       .group = group,
                       .shard = block_cyclic(i, j, spec_.tiles, spec_.tiles, spec_.devices)});
  if (!value) return value.error();
  tile(i, j) = *value;
  return {};
}

Result<void> Cholesky::step(int64_t k) {
  const auto named = [&](const char* what) { return fmt::format("{}.{}", what, k); };
  if (auto done = apply(named("potrf"), "potrf", named("potrf"), {}, k, k); !done) return done;
  for (int64_t i = k + 1; i < spec_.tiles; ++i) {
    auto done = apply(fmt::format("trsm.{}.{}", i, k), "trsm", named("trsm"), {tile(k, k)}, i, k);
    if (!done) return done;
  }
  for (int64_t i = k + 1; i < spec_.tiles; ++i) {
    for (int64_t j = k + 1; j < i; ++j) {
      auto done = apply(fmt::format("gemm.{}.{}.{}", i, j, k), "gemm", named("update"),
                        {tile(i, k), tile(j, k)}, i, j);
      if (!done) return done;
    }
    auto done = apply(fmt::format("syrk.{}.{}", i, k), "syrk", named("update"), {tile(i, k)}, i, i);
    if (!done) return done;
  }
  return {};
}

Result<Graph> Cholesky::make() && {
  if (auto added = add_inputs(); !added) return added.error();
  for (int64_t k = 0; k < spec_.tiles; ++k) {
    if (auto done = step(k); !done) return done.error();
  }
  return std::move(emitter_).build();
}

}  // namespace

Result<Graph> make_cholesky(const CholeskySpec& spec) {
  if (auto checked = check_devices(spec.devices); !checked) return checked.error();
  if (spec.tiles < 1 || spec.tile_size < 1) {
    return invalid_input("a factorisation has at least 1 tile of at least 1 row");
  }
  const auto tiles = static_cast<double>(spec.tiles);
  if (auto fits = check_made(4 * tiles * tiles * tiles / 6, spec.most_made); !fits)
    return fits.error();
  return Cholesky(spec).make();
}

}  // namespace tutti
