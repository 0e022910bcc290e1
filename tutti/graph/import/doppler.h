// The graph files of Doppler (github.com/xinyuyao/Doppler, compute_graph):
//
//   line 1   how many ops there are, INCLUDING the inputs
//   line 2   the ids of the inputs; only their count N_in means anything
//   line 3   where each edge comes from, separated by commas
//   line 4   where each edge leads to
//   then     one row "comp,comm[,kind]" for each op that is not an input
//
// Ids on lines 3 and 4 count the ops that are not inputs from 0, so they are the rows. comp is
// taken as the run time in ns on every kind of device, comm as the time of each transfer of what
// the op makes; the authors give no unit. Inputs have no cost and are not scheduled: they are left
// out.

#ifndef TUTTI_GRAPH_IMPORT_DOPPLER_H_
#define TUTTI_GRAPH_IMPORT_DOPPLER_H_

#include <string_view>

#include "tutti/graph/import/import.h"

namespace tutti {

bool looks_like_doppler(std::string_view start);

Result<Imported> read_doppler(Source& source, const ImportOptions& options);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_DOPPLER_H_
