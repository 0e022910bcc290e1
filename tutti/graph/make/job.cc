#include "tutti/graph/make/job.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "tutti/base/check.h"
#include "tutti/base/random.h"
#include "tutti/graph/builder.h"

namespace tutti {
namespace {

constexpr double kUsualFlops = 1e6;
constexpr double kMegabyte = 0.5e6;  // of what the jobs below say: most ops last longer than it
                                     // takes to fetch their operands

class JobMaker {
 public:
  JobMaker(std::string name, uint64_t seed) : builder_(std::move(name)), rng_(seed) {}

  ValueId input(double megabytes) {
    return builder_.add_input(
        {.value = {.bytes = bytes_of(megabytes)}, .residence = {.where = Residence::Where::host}});
  }

  // `size` and `megabytes` (of its output) are what is usual.
  ValueId op(const char* kind, double size, double megabytes, std::vector<ValueId> operands) {
    const std::string name = fmt::format("{}{}", kind, count_++);
    const ValueSpec output{.bytes = bytes_of(megabytes)};
    const OpId op = builder_.add_op({.name = name,
                                     .kind = kind,
                                     .operands = operands,
                                     .outputs = {&output, 1},
                                     .flops = size * drawn() * kUsualFlops});
    return builder_.outputs(op).front();
  }

  ValueId add(JobFamily family, ValueId from) {
    switch (family) {
      case JobFamily::align:
        return align(from);
      case JobFamily::indel:
        return indel(from);
      case JobFamily::haplotype:
        return haplotype(from);
      case JobFamily::eeg:
        return eeg(from);
      case JobFamily::tagger:
        return tagger(from);
    }
    return from;
  }

  Graph build() && {
    Result<Graph> graph = std::move(builder_).build();
    TUTTI_CHECK(graph.has_value());
    return std::move(*graph);
  }

  bool coin() { return rng_.below(2) == 0; }

 private:
  double drawn() { return 0.5 + 1.5 * rng_.uniform(); }
  int64_t bytes_of(double megabytes) {
    return static_cast<int64_t>(megabytes * drawn() * kMegabyte);
  }
  int lanes() { return 2 + static_cast<int>(rng_.below(4)); }

  ValueId align(ValueId reads) {
    const ValueId decoded = op("decode", 1, 12, {reads});
    std::vector<ValueId> parts;
    for (int lane = lanes(); lane > 0; --lane) {
      parts.push_back(op("extend", 1, 4, {op("lookup", 1, 6, {decoded})}));
    }
    return op("dedup", 1, 8, {op("sort", 1, 16, std::move(parts))});
  }
  ValueId indel(ValueId alignments) {
    const ValueId scanned = op("scan", 1, 10, {alignments});
    std::vector<ValueId> parts;
    for (int lane = lanes(); lane > 0; --lane) parts.push_back(op("realign", 1, 5, {scanned}));
    return op("merge", 1, 10, std::move(parts));
  }
  ValueId haplotype(ValueId alignments) {
    const ValueId windows = op("lookup", 0.7, 8, {alignments});
    std::vector<ValueId> parts;
    for (int lane = lanes(); lane > 0; --lane) {
      parts.push_back(op("pair_hmm", 1, 2, {op("lookup", 0.8, 6, {windows})}));
    }
    return op("merge", 1, 4, std::move(parts));
  }
  ValueId eeg(ValueId samples) {
    const ValueId filtered = op("scan", 0.8, 12, {samples});
    std::vector<ValueId> parts;
    for (int lane = lanes(); lane > 0; --lane) parts.push_back(op("fft", 1, 6, {filtered}));
    const ValueId matrix = op("correlate", 1, 8, std::move(parts));
    return op("infer", 1, 1, {op("lookup", 0.6, 4, {matrix})});
  }
  ValueId tagger(ValueId logs) {
    const ValueId parsed = op("decode", 0.8, 10, {logs});
    std::vector<ValueId> parts;
    for (int lane = lanes(); lane > 0; --lane) parts.push_back(op("scan", 0.6, 3, {parsed}));
    return op("merge", 0.5, 1, {op("infer", 1.2, 2, std::move(parts))});
  }

  GraphBuilder builder_;
  Rng rng_;
  int count_ = 0;
};

constexpr const char* kFamilyNames[kJobFamilies] = {"align", "indel", "haplotype", "eeg", "tagger"};

}  // namespace

const char* to_text(JobFamily family) {
  return kFamilyNames[static_cast<int>(family)];
}

std::optional<JobFamily> parse_job_family(std::string_view text) {
  for (int i = 0; i < kJobFamilies; ++i) {
    if (text == kFamilyNames[i]) return static_cast<JobFamily>(i);
  }
  return std::nullopt;
}

const char* to_text(JobSet set) {
  constexpr const char* kNames[] = {"train", "validation", "test"};
  return kNames[static_cast<int>(set)];
}

Graph make_job(JobFamily family, uint64_t seed) {
  JobMaker maker(fmt::format("{}-{}", to_text(family), seed), seed);
  maker.add(family, maker.input(16));
  return std::move(maker).build();
}

Graph make_composed_job(JobFamily first, JobFamily second, uint64_t seed) {
  JobMaker maker(fmt::format("{}+{}-{}", to_text(first), to_text(second), seed), seed);
  if (maker.coin()) {
    maker.add(second, maker.add(first, maker.input(16)));
  } else {
    const ValueId one = maker.add(first, maker.input(16));
    const ValueId other = maker.add(second, maker.input(16));
    maker.op("merge", 0.5, 2, {one, other});
  }
  return std::move(maker).build();
}

std::optional<Graph> make_named_job(std::string_view name) {
  const size_t dash = name.rfind('-');
  if (dash == std::string_view::npos) return std::nullopt;
  uint64_t seed = 0;
  const char* end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + dash + 1, end, seed);
  if (error != std::errc{} || rest != end) return std::nullopt;
  const std::string_view families = name.substr(0, dash);
  const size_t plus = families.find('+');
  const auto first = parse_job_family(families.substr(0, plus));
  if (!first) return std::nullopt;
  if (plus == std::string_view::npos) return make_job(*first, seed);
  const auto second = parse_job_family(families.substr(plus + 1));
  if (!second) return std::nullopt;
  return make_composed_job(*first, *second, seed);
}

namespace {

// Which set the compositions of two families are of, in either order: of those that lie two apart
// in the list of families some are for choosing and some for judging.
JobSet set_of(JobFamily one, JobFamily other) {
  const int a = static_cast<int>(one);
  const int b = static_cast<int>(other);
  const int apart = (b - a + kJobFamilies) % kJobFamilies;
  if (apart != 2 && apart != 3) return JobSet::train;
  const int first = apart == 2 ? a : b;
  return first < 2 ? JobSet::validation : JobSet::test;
}

}  // namespace

std::vector<Graph> make_jobs(JobSet set, int count, uint64_t seed) {
  Rng rng = Rng(seed).split(static_cast<uint64_t>(set) + 1);
  std::vector<Graph> jobs;
  const auto family = [&] { return static_cast<JobFamily>(rng.below(kJobFamilies)); };
  for (int i = 0; i < count; ++i) {
    JobFamily first = family();
    JobFamily second = family();
    while (set_of(first, second) != set) {
      first = family();
      second = family();
    }
    // Seeds of two sets differ in their last decimal digits.
    const uint64_t job_seed = rng.below(1'000'000'000) * 10 + static_cast<uint64_t>(set);
    const bool alone = set == JobSet::train && i % 2 == 0;
    jobs.push_back(alone ? make_job(first, job_seed) : make_composed_job(first, second, job_seed));
  }
  return jobs;
}

}  // namespace tutti
