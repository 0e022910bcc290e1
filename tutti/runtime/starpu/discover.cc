#include "tutti/runtime/starpu/discover.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "tutti/base/file/source.h"
#include "tutti/machine/discover.h"
#include "tutti/machine/file.h"
#include "tutti/runtime/starpu/session.h"

namespace tutti {
namespace {

double rounded(double number) {
  if (number <= 0) return 0;
  const double unit = std::pow(10.0, std::floor(std::log10(number)) - 1);
  return std::round(number / unit) * unit;
}

struct Facts {
  int cores = 1;
  double flops_per_s = 0;  // of a core
  double bytes_per_s = 0;
  int64_t memory_bytes = 0;
  Duration launch_overhead{0};
};

Result<Facts> own_facts(const StarpuRanks& ranks, int reserved) {
  const Result<Machine> host = discover_machine();
  if (!host) return host.error();
  const Device& cpu = host->device(DeviceId{0});
  const double units = std::max(1, cpu.units);
  return Facts{
      .cores = static_cast<int>(ranks.cores().size()) - reserved,
      .flops_per_s = cpu.flops_per_s / units,
      .bytes_per_s = cpu.bytes_per_s / units,
      .memory_bytes = host->memory(host->host_memory()).capacity_bytes / ranks.neighbours(),
      .launch_overhead = cpu.launch_overhead};
}

std::string to_text(const Facts& facts) {
  return fmt::format("{} {} {} {} {}", facts.cores, facts.flops_per_s, facts.bytes_per_s,
                     facts.memory_bytes, facts.launch_overhead.count());
}

Facts facts_from(const std::string& text) {
  Facts facts;
  int64_t overhead = 0;
  std::sscanf(text.c_str(), "%d %lf %lf %ld %ld", &facts.cores, &facts.flops_per_s,
              &facts.bytes_per_s, &facts.memory_bytes, &overhead);
  facts.launch_overhead = Duration(overhead);
  return facts;
}

// StarpuRanks of one host are hosts of their own.
std::vector<std::string> names_of_hosts(const StarpuRanks& ranks) {
  std::map<std::string, int> ranks_of;
  for (const std::string& name : ranks.host_names()) ++ranks_of[name];
  std::vector<std::string> names;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const std::string& name = ranks.host_name(rank);
    names.push_back(ranks_of[name] == 1 ? name : fmt::format("{}.{}", name, rank));
  }
  return names;
}

int reserved_cores(const DiscoverOptions& options, const StarpuRanks& ranks) {
  const auto cores = static_cast<int>(ranks.cores().size());
  if (options.reserved_cores < 0) return ranks.several() && cores >= 3 ? 1 : 0;
  return std::min(options.reserved_cores, cores - 1);
}

void add_host(MachineSpec& spec, const std::string& name, const Facts& facts,
              const DiscoverOptions& options) {
  spec.hosts.push_back({.name = name, .memory_bytes = facts.memory_bytes});
  const int workers = std::min(facts.cores, most_starpu_workers());
  const auto add = [&](const std::string& device, int slots, int cores) {
    const int team = cores / slots;  // rates are those of one op
    spec.devices.push_back({.device = {.name = device,
                                       .kind = team == 1 ? "cpu" : fmt::format("cpu-{}", team),
                                       .slots = slots,
                                       .units = cores,
                                       .flops_per_s = team * facts.flops_per_s,
                                       .bytes_per_s = team * facts.bytes_per_s,
                                       .launch_overhead = facts.launch_overhead},
                            .host = name,
                            .uses_host_memory = true});
  };
  if (!options.device_for_each_core) {
    return add(name + ".cpu", workers, facts.cores / workers * workers);
  }
  for (int i = 0; i < workers; ++i) {
    const int cores = facts.cores * (i + 1) / workers - facts.cores * i / workers;
    add(fmt::format("{}.cpu{}", name, i), 1, cores);
  }
}

void add_network(MachineSpec& spec, const std::vector<std::string>& names,
                 const MeasuredNetwork& network) {
  spec.switches.push_back(
      {.name = "network", .bytes_per_s = rounded(network.together_bytes_per_s)});
  for (size_t i = 0; i < names.size(); ++i) {
    const auto latency = static_cast<double>(network.links[i].latency.count());
    spec.links.push_back({.name = names[i] + "-network",
                          .ends = {names[i], "network"},
                          .latency = nanoseconds_of(rounded(latency)) / 2,
                          .bytes_per_s = rounded(network.links[i].bytes_per_s),
                          .sharing = Sharing::shared});
  }
}

}  // namespace

Result<Machine> discover_ranks(StarpuRanks& ranks, const DiscoverOptions& options) {
  const int reserved = reserved_cores(options, ranks);
  const Result<Facts> own = own_facts(ranks, reserved);
  const Result<void> known = own ? Result<void>() : Result<void>(own.error());
  if (Result<void> good = ranks.agree(known); !good) return good.error();
  const std::vector<std::string> all = ranks.gather_all(to_text(*own));
  MachineSpec spec{.name = "ranks"};
  const std::vector<std::string> names = names_of_hosts(ranks);
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const auto at = static_cast<size_t>(rank);
    add_host(spec, names[at], facts_from(all[at]), options);
  }
  if (ranks.several()) add_network(spec, names, measure_network(ranks, reserved));
  // Rank 0 measured; the others take its machine.
  std::string text;
  Result<void> made;
  if (ranks.rank() == 0) {
    const Result<Machine> machine = Machine::build(std::move(spec));
    if (machine) {
      text = machine_to_json(*machine);
    } else {
      made = machine.error();
    }
  }
  if (made = ranks.agree(made); !made) return made.error();
  Source source = Source::from_text("the ranks' machine", ranks.broadcast(std::move(text)));
  return read_machine(source);
}

}  // namespace tutti
