#include "tutti/trace/channels.h"

namespace tutti {

const Hop* hop_of(const Machine& machine, const TransferSpan& span) {
  if (span.given) return nullptr;
  const Route* route = machine.route(span.from, span.to);
  if (route == nullptr || span.hop < 0) return nullptr;
  const auto hop = static_cast<size_t>(span.hop);
  return hop < route->hops.size() ? &route->hops[hop] : nullptr;
}

std::vector<ChannelUse> channel_use(const Problem& problem, const Trace& trace) {
  std::vector<ChannelUse> channels(static_cast<size_t>(problem.machine.channel_count()));
  for (const TransferSpan& span : trace.transfers) {
    const Hop* hop = hop_of(problem.machine, span);
    if (hop == nullptr) continue;
    for (const ChannelId channel : hop->channels) {
      channels[channel.index].spans.push_back({span.start, span.finish});
      channels[channel.index].bytes.push_back(problem.graph.bytes(span.value));
    }
  }
  return channels;
}

}  // namespace tutti
