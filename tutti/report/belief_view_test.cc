#include "tutti/report/belief_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tutti/base/file/document.h"
#include "tutti/report/page.h"

namespace tutti {
namespace {

using Role = ReportedBelief::Role;

// A CPU of two cores; a GPU behind a switch.
Machine small() {
  MachineSpec spec{.name = "small"};
  spec.hosts.push_back({.name = "host"});
  spec.devices.push_back({.device = {.name = "cpu", .kind = "cpu", .units = 2, .bytes_per_s = 1e10},
                          .uses_host_memory = true});
  spec.devices.push_back({.device = {.name = "gpu", .kind = "gpu"}});
  spec.switches.push_back({.name = "pcs", .bytes_per_s = 24e9});
  spec.links.push_back(
      {.name = "host-pcs", .ends = {"host", "pcs"}, .sharing = Sharing::unlimited});
  spec.links.push_back({.name = "pcie", .ends = {"pcs", "gpu"}, .bytes_per_s = 12e9});
  return Machine::build(std::move(spec)).value();
}

// Core 0, the GPU, and waiting for the switch; nothing else.
std::vector<Counter> few(const Machine& machine) {
  const auto named = [&](const std::string& name) {
    for (int32_t i = 0; i < machine.channel_count(); ++i) {
      if (machine.channel(ChannelId{i}).name == name) return resource_of(ChannelId{i});
    }
    ADD_FAILURE() << name;
    return Resource{};
  };
  return {{"core0.busy", "share", core_of(DeviceId{0}, 0), Quantity::busy},
          {"gpu.busy", "share", resource_of(DeviceId{1}), Quantity::busy},
          {"pcs.waiting", "share", named("pcs"), Quantity::waiting}};
}

struct Made {
  Machine machine = small();
  std::vector<Counter> counters = few(machine);
  Belief belief{machine, counters};
  std::vector<double> constants = belief.network().start();
  ReportedBelief view = view_of(machine, counters, belief.built(), constants);

  const ReportedBelief::VariableRow& row(const std::string& name) const {
    const auto found = std::find_if(view.variables.begin(), view.variables.end(),
                                    [&](const auto& one) { return one.name == name; });
    EXPECT_NE(found, view.variables.end()) << name;
    return *found;
  }
  std::pair<std::string, std::string> part(const std::string& name) const {
    const ReportedBelief::Part& part = view.parts[row(name).part];
    return {part.sort, part.name};
  }
};

TEST(BeliefView, HasEveryVariableEdgeAndConstantOfTheNetwork) {
  const Made made;
  const MachineNetwork& built = made.belief.built();
  ASSERT_EQ(made.view.variables.size(), static_cast<size_t>(built.network.size()));
  const auto count = [&](Role role) {
    return std::count_if(made.view.variables.begin(), made.view.variables.end(),
                         [&](const auto& row) { return row.role == role; });
  };
  EXPECT_EQ(count(Role::measured), static_cast<int64_t>(built.measured.size()));
  EXPECT_EQ(count(Role::launched), static_cast<int64_t>(built.launched.size()));
  EXPECT_EQ(count(Role::observed), static_cast<int64_t>(built.observed.size()));
  std::set<std::string> counted;
  for (const VariableId id : built.network.variables()) {
    const Variable& variable = built.network.variable(id);
    const ReportedBelief::VariableRow& row = made.view.variables[id.index];
    EXPECT_EQ(row.name, variable.name);
    ASSERT_EQ(row.parents.size(), variable.parents.size());
    for (size_t p = 0; p < row.parents.size(); ++p)
      EXPECT_EQ(row.parents[p], variable.parents[p].index);
    EXPECT_EQ(row.constants.size(), variable.constants.size());
    EXPECT_EQ(row.law.empty(), variable.law == nullptr) << row.name;
    if (!row.counter.empty()) counted.insert(row.counter);
  }
  EXPECT_EQ(counted, (std::set<std::string>{"core0.busy", "gpu.busy", "pcs.waiting"}));
  EXPECT_EQ(made.view.constants.size(), built.network.constants().size());
}

TEST(BeliefView, PutsVariablesAtTheHardwareTheyAreAbout) {
  using Place = std::pair<std::string, std::string>;
  const Made made;
  EXPECT_EQ(made.part("link[pcie>]"), Place("link", "pcie>"));
  EXPECT_EQ(made.part("traffic[pcie>]"), Place("link", "pcie>"));
  EXPECT_EQ(made.part("switch[pcs]"), Place("switch", "pcs"));
  EXPECT_EQ(made.part("waiting[pcs]"), Place("switch", "pcs"));
  EXPECT_EQ(made.part("root[host]").first, "root");
  EXPECT_EQ(made.part("load[host]").first, "memory");  // which it leads to
  EXPECT_EQ(made.part("load[host]"), made.part("memory[host]"));
  EXPECT_EQ(made.part("backend[cpu.core1]"), Place("core", "cpu.core1"));
  EXPECT_EQ(made.part("launched[cpu]"), Place("launch", "cpu"));  // leads to cores, not to the CPU
  EXPECT_EQ(made.part("device[cpu]"), Place("device", "cpu"));
  EXPECT_EQ(made.part("launched[gpu]"), Place("device", "gpu"));
}

TEST(BeliefView, SaysWhatIsCountedAndWhatIsBelieved) {
  const Made made;
  EXPECT_EQ(made.row("issued[cpu.core0]").counter, "core0.busy");
  EXPECT_EQ(made.row("issued[cpu.core1]").counter, "");  // it could be counted
  EXPECT_EQ(made.row("issued[cpu.core1]").role, Role::measured);
  EXPECT_EQ(made.row("waiting[pcs]").role, Role::observed);
  EXPECT_TRUE(made.row("switch[pcs]").believed);
  EXPECT_FALSE(made.row("backend[cpu.core0]").believed);
  EXPECT_EQ(made.row("device[cpu]").law, "mean of parents + noise");
}

TEST(BeliefView, ShowsLearntConstantsBesideWhatTheyStartedAt) {
  const Made made;
  std::vector<double> learnt = made.constants;
  learnt[0] = raw_value(made.belief.network().constants()[0].range, 0.625);
  const ReportedBelief view = view_of(made.machine, made.counters, made.belief.built(), learnt);
  EXPECT_EQ(view.constants[0].name, made.belief.network().constants()[0].name);
  EXPECT_NEAR(view.constants[0].value, 0.625, 1e-12);
  EXPECT_NEAR(view.constants[0].start, 1, 1e-12);  // the capacity of the first link
}

TEST(BeliefView, IsOnThePageWithItsMomentsAndTheTruth) {
  Made made;
  Observation observation;
  observation.readings = {{0.5, 0.01, 8}, {0.25, 0.01, 8}, {}};
  const Inferred inferred = made.belief.infer(made.constants, observation, {.samples = 64});
  made.view.moments.push_back(moment_of(made.belief.network(), inferred, Duration(7)));
  auto& truth = made.view.moments[0].truth;
  truth.resize(made.view.variables.size());
  truth.back() = 0.125;
  made.view.model = "</script>";
  const std::string text = page_data(Page{.beliefs = {made.view}});
  EXPECT_EQ(text.find('<'), std::string::npos);
  Source source = Source::from_text("data", text);
  const Result<Document> data = read_json(source);
  ASSERT_TRUE(data) << data.error().message;
  const Document& shown = data->find("beliefs")->items.at(0);
  EXPECT_EQ(shown.find("machine")->text, "small");
  EXPECT_EQ(shown.find("model")->text, "</script>");
  const Document& moment = shown.find("moments")->items.at(0);
  EXPECT_EQ(moment.find("time_ns")->integer, 7);
  EXPECT_EQ(moment.find("samples")->integer, 64);
  EXPECT_NEAR(moment.find("effective")->number, 64, 1e-6);  // nothing was observed below the roots
  const size_t size = made.view.variables.size();
  ASSERT_EQ(moment.find("mean")->items.size(), size);
  ASSERT_EQ(shown.find("variables")->items.size(), size);
  for (size_t i = 0; i < size; ++i) {
    if (made.view.variables[i].name != "issued[cpu.core0]") continue;
    EXPECT_EQ(shown.find("variables")->items[i].find("role")->text, "measured");
    EXPECT_NEAR(moment.find("mean")->items[i].number, 0.5, 0.01);
  }
  for (size_t r = 0; r < made.belief.resources().size(); ++r) {
    const int32_t i = made.belief.resources()[r].variable.index;
    EXPECT_NEAR(moment.find("mean")->items[i].number, inferred.mean[r], 1e-3);
    EXPECT_NEAR(moment.find("spread")->items[i].number, inferred.spread[r], 1e-3);
  }
  EXPECT_EQ(moment.find("truth")->items[0].kind, Document::Kind::null);
  EXPECT_EQ(moment.find("truth")->items[size - 1].number, 0.125);
}

}  // namespace
}  // namespace tutti
