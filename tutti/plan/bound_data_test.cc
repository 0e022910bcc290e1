// The bounds on graphs whose optima, or best known bounds, others have published.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "test/support/shared_data.h"
#include "tutti/graph/import/doppler.h"
#include "tutti/graph/import/stg.h"
#include "tutti/machine/preset.h"
#include "tutti/plan/bound.h"

namespace tutti {
namespace {

using ReadGraph = Result<Imported> (*)(Source&, const ImportOptions&);

Bounds bounds_of(const std::string& path, ReadGraph read, int devices) {
  Source source = Source::open(shared_data(path)).value();
  return lower_bounds(Problem::make(read(source, {}).value().graph,
                                    make_preset("uniform-" + std::to_string(devices)).value())
                          .value());
}

// One row of a table of optima: a graph, a count of devices, and the optimal makespan; or the
// least and the most that it can be, where nobody knows.
struct StgRow {
  std::string graph;
  int devices;
  std::vector<int64_t> makespans;
};

std::vector<StgRow> read_stg_rows(const std::string& table) {
  std::vector<StgRow> rows;
  std::ifstream file(shared_data("stg/opt_share/" + table));
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    StgRow row;
    std::string field;
    std::getline(fields, row.graph, ',');
    std::getline(fields, field, ',');
    row.devices = std::stoi(field);
    while (std::getline(fields, field, ',')) row.makespans.push_back(std::stoll(field));
    rows.push_back(std::move(row));
  }
  return rows;
}

TEST(BoundOnData, IsOptimalOnTheStandardTaskGraphSet) {
  TUTTI_NEEDS_SHARED_DATA("stg");
  int known = 0;
  int reached = 0;
  for (const char* size : {"50", "100"}) {
    for (const char* devices : {"2", "4", "8", "16"}) {
      for (const StgRow& row :
           read_stg_rows(std::string("Case") + size + "_" + devices + "_OPT.csv")) {
        const int64_t bound =
            bounds_of("stg/" + row.graph, read_stg, row.devices).strongest().count();
        EXPECT_LE(bound, row.makespans.back()) << row.graph << " on " << row.devices;
        if (row.makespans.size() > 1) {
          EXPECT_GE(bound, row.makespans.front()) << row.graph << " on " << row.devices;
          continue;
        }
        ++known;
        reached += bound == row.makespans.front();
      }
    }
  }
  EXPECT_EQ(known, 692);
  EXPECT_GE(reached, 686);
}

struct DopplerRow {
  const char* graph;
  int devices;
  double load_or_path;  // in units of 1e10 ns
  double strongest;     // at least
};

TEST(BoundOnData, KeepsItsFiguresOnTheGraphsOfDoppler) {
  TUTTI_NEEDS_SHARED_DATA("doppler");
  const DopplerRow rows[] = {
      {"gdp_chain_mm_112nodes", 4, 1200.07, 1200.0},
      {"ffnn_192nodes", 4, 56.70, 56.6},
      {"transformer_block_215nodes", 4, 97.17, 141.0},
      {"full_transformer_layer_261nodes", 4, 97.24, 97.2},
      {"8gpu_transformer_block", 8, 97.15, 159.5},
      {"8gpu_full_transformer", 8, 97.23, 141.1},
  };
  for (const DopplerRow& row : rows) {
    const Bounds bounds =
        bounds_of(std::string("doppler/") + row.graph + ".txt", read_doppler, row.devices);
    const double scale = 1e10;
    EXPECT_NEAR(static_cast<double>(std::max(bounds.load, bounds.path).count()) / scale,
                row.load_or_path, 0.005)
        << row.graph;
    EXPECT_GE(static_cast<double>(bounds.strongest().count()) / scale, row.strongest) << row.graph;
  }
}

}  // namespace
}  // namespace tutti
