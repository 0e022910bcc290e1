// Small graphs with the shape of the jobs that Symphony (Banerjee et al. 2020) was measured on:
// three steps of variant calling, a seizure detector on EEG, and a tagger of attacks in logs. The
// paper's programs and traces are not public; these have their structure only, in twelve kinds of
// ops that tutti/plan/world/default_cluster.h has costs for. They compute nothing.
//
// An op's flops are its size: one million is the size that costs are stated for. Graph inputs are
// in the first host's memory.

#ifndef TUTTI_GRAPH_MAKE_JOB_H_
#define TUTTI_GRAPH_MAKE_JOB_H_

#include <string>
#include <vector>

#include "tutti/graph/graph.h"

namespace tutti {

//   align       decode, then several times lookup > extend, then sort > dedup
//   indel       scan, several realign, merge
//   haplotype   lookup, then several times assemble (a lookup) > pair_hmm, then merge
//   eeg         scan, several fft, correlate, lookup, infer
//   tagger      decode, several scan, infer, merge
enum class JobFamily : uint8_t { align, indel, haplotype, eeg, tagger };
inline constexpr int kJobFamilies = 5;
const char* to_text(JobFamily family);
std::optional<JobFamily> parse_job_family(std::string_view text);

// How many lanes it has (2 to 5), and all sizes (0.5 to 2 of what is usual), are drawn.
Graph make_job(JobFamily family, uint64_t seed);

// Two families in one job: the second reads what the first made, or runs in parallel and one merge
// reads both.
Graph make_composed_job(JobFamily first, JobFamily second, uint64_t seed);

// "align-3" or "align+eeg-7": families and a seed, as their graphs are called. None for other
// texts.
std::optional<Graph> make_named_job(std::string_view name);

// Jobs to train on, to choose a model by, and to test with. No two sets share a job, or a pair of
// families in one job: jobs of train are of one family or composed of two, those of validation and
// test are held-out compositions of the same families.
enum class JobSet : uint8_t { train, validation, test };
const char* to_text(JobSet set);
std::vector<Graph> make_jobs(JobSet set, int count, uint64_t seed);

}  // namespace tutti

#endif  // TUTTI_GRAPH_MAKE_JOB_H_
