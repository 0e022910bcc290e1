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

constexpr int kRounds = 20;
constexpr size_t kLongMessage = size_t{1} << 20;

// A way there and back, of that many bytes each.
Duration round_trip(StarpuRanks& ranks, int other, const std::string& text) {
  Duration shortest = kNever;
  for (int round = 0; round < kRounds; ++round) {
    const Duration begin = ranks.now();
    ranks.send(other, text);
    (void)ranks.receive(other);
    shortest = std::min(shortest, ranks.now() - begin);
  }
  return shortest;
}

struct Network {
  Duration latency{0};     // one way
  double bytes_per_s = 0;  // one way
};

double rounded(double number) {
  if (number <= 0) return 0;
  const double unit = std::pow(10.0, std::floor(std::log10(number)) - 1);
  return std::round(number / unit) * unit;
}

// Between rank 0 and another, at rank 0.
Network measure(StarpuRanks& ranks, int other) {
  const std::string little(8, 'x');
  const std::string much(kLongMessage, 'x');
  if (ranks.rank() == other) {
    for (int round = 0; round < 2 * kRounds; ++round) ranks.send(0, ranks.receive(0));
  }
  if (ranks.rank() != 0) return {};
  const Duration there = round_trip(ranks, other, little) / 2;
  const Duration longer = round_trip(ranks, other, much) / 2;
  const double seconds = std::max(1e-9, static_cast<double>((longer - there).count()) / 1e9);
  return {.latency = nanoseconds_of(rounded(static_cast<double>(there.count()))),
          .bytes_per_s = rounded(static_cast<double>(kLongMessage) / seconds)};
}

struct Facts {
  int cores = 1;
  double flops_per_s = 0;  // of a core
  double bytes_per_s = 0;
  int64_t memory_bytes = 0;
  Duration launch_overhead{0};
};

Result<Facts> own_facts(const StarpuRanks& ranks) {
  const Result<Machine> host = discover_machine();
  if (!host) return host.error();
  const Device& cpu = host->device(DeviceId{0});
  const double units = std::max(1, cpu.units);
  return Facts{
      .cores = static_cast<int>(ranks.cores().size()),
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

void add_host(MachineSpec& spec, const std::string& name, const Facts& facts) {
  spec.hosts.push_back({.name = name, .memory_bytes = facts.memory_bytes});
  const int devices = std::min(facts.cores, most_starpu_workers());
  for (int i = 0; i < devices; ++i) {
    const int cores = facts.cores * (i + 1) / devices - facts.cores * i / devices;
    spec.devices.push_back({.device = {.name = fmt::format("{}.cpu{}", name, i),
                                       .kind = cores == 1 ? "cpu" : fmt::format("cpu-{}", cores),
                                       .units = cores,
                                       .flops_per_s = cores * facts.flops_per_s,
                                       .bytes_per_s = cores * facts.bytes_per_s,
                                       .launch_overhead = facts.launch_overhead},
                            .host = name,
                            .uses_host_memory = true});
  }
}

}  // namespace

Result<Machine> discover_ranks(StarpuRanks& ranks) {
  const Result<Facts> own = own_facts(ranks);
  const Result<void> known = own ? Result<void>() : Result<void>(own.error());
  if (Result<void> good = ranks.agree(known); !good) return good.error();
  const std::vector<std::string> all = ranks.gather_all(to_text(*own));
  MachineSpec spec{.name = "ranks"};
  const std::vector<std::string> names = names_of_hosts(ranks);
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const auto at = static_cast<size_t>(rank);
    add_host(spec, names[at], facts_from(all[at]));
  }
  if (ranks.several()) spec.switches.push_back({.name = "network"});
  Network best;  // of rank 0's own link: as good as the best of the others
  for (int rank = 1; rank < ranks.size(); ++rank) {
    const Network network = measure(ranks, rank);
    best.latency = rank == 1 ? network.latency : std::min(best.latency, network.latency);
    best.bytes_per_s = std::max(best.bytes_per_s, network.bytes_per_s);
    spec.links.push_back({.name = names[static_cast<size_t>(rank)] + "-network",
                          .ends = {names[static_cast<size_t>(rank)], "network"},
                          .latency = network.latency / 2,
                          .bytes_per_s = network.bytes_per_s,
                          .sharing = Sharing::shared});
  }
  if (ranks.several()) {
    spec.links.push_back({.name = names[0] + "-network",
                          .ends = {names[0], "network"},
                          .latency = best.latency / 2,
                          .bytes_per_s = best.bytes_per_s,
                          .sharing = Sharing::shared});
  }
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
