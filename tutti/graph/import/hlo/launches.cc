#include "tutti/graph/import/hlo/launches.h"

#include <algorithm>

#include "tutti/graph/import/hlo/opcodes.h"

namespace tutti {
namespace {

constexpr double kMostCounted = 1e18;

// Of one computation, without those that it runs.
struct Own {
  Launches launches{};
  std::vector<int32_t> runs{};
};

Own count_own(const HloFlat& flat, const std::vector<HloGroup>& groups) {
  Own own;
  std::vector<bool> read(flat.values.size(), false);
  for (const int32_t value : flat.results) read[value] = true;
  for (const HloGroup& group : groups) {
    for (const int32_t value : group.reads) read[value] = true;
  }
  // The room that a library asks for comes back as a result that nothing reads.
  const auto is_workspace = [&](const HloGroup& group, int32_t value) {
    const HloType::Array& type = flat.values[value].type;
    return group.kind == "custom-call" && group.makes.size() > 1 && !read[value] &&
           type.dims.size() == 1 && (type.dtype == DType::i8 || type.dtype == DType::u8);
  };
  for (const HloGroup& group : groups) {
    const std::vector<int32_t>& runs = flat.nodes[group.root].instruction->runs;
    own.runs.insert(own.runs.end(), runs.begin(), runs.end());
    const auto add_results = [&] {
      for (const int32_t value : group.makes) {
        if (!is_workspace(group, value)) own.launches.bytes += flat.values[value].type.bytes;
      }
    };
    // A start hands on its operands with the result, which its done has alone.
    const bool starts = group.kind.ends_with("-start");
    if (group.kind.ends_with("-done")) add_results();
    if (!hlo_launches(group.kind)) continue;
    ++own.launches.instructions;
    for (const int32_t value : group.reads) own.launches.bytes += flat.values[value].type.bytes;
    if (!starts) add_results();
  }
  return own;
}

}  // namespace

Launches count_hlo_launches(const HloModule& module, const HloExpansion& expansion, bool fused,
                            const HloFlat& flat, const std::vector<HloGroup>& groups) {
  std::vector<bool> reached(module.computations.size(), false);
  std::vector<Own> own(module.computations.size());
  // Inlined bodies of all loops together: a short text can call a large one from very many.
  int64_t budget = int64_t{1} << 21;
  reached[module.entry] = true;
  for (int32_t i = module.entry; i >= 0; --i) {
    if (!reached[i]) continue;
    if (i == module.entry) {
      own[i] = count_own(flat, groups);
    } else if (fused) {
      const bool inlined = expansion.fits(i) && expansion.size(i) <= budget;
      if (inlined) budget -= expansion.size(i);
      const HloFlat inner = simplify_hlo(module, i, inlined);
      own[i] = count_own(inner, fuse_hlo(inner));
    } else {
      const HloFlat inner = flatten_hlo(module, i);
      own[i] = count_own(inner, separate_hlo(inner));
    }
    for (const int32_t run : own[i].runs) reached[run] = true;
  }
  for (int32_t i = 0; i <= module.entry; ++i) {
    for (const int32_t run : own[i].runs) {
      Launches& sum = own[i].launches;
      // Loops within loops can be as many as 2 to the number of computations.
      sum.instructions = std::min(sum.instructions + own[run].launches.instructions, kMostCounted);
      sum.bytes = std::min(sum.bytes + own[run].launches.bytes, kMostCounted);
    }
  }
  return own[module.entry].launches;
}

}  // namespace tutti
