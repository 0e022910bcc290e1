#include "tutti/graph/import/pipedream.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "tutti/graph/builder.h"
#include "tutti/graph/import/incoming.h"
#include "tutti/graph/import/text.h"
#include "tutti/graph/limits.h"
#include "tutti/graph/name_table.h"

namespace tutti {
namespace {

constexpr std::string_view kSeparator = " -- ";
constexpr double kNsPerMillisecond = 1e6;

struct Layer {
  std::string description{};
  Duration forward{};
  Duration backward{};
  int64_t activation_bytes = 0;
  int64_t parameter_bytes = 0;
  bool stated = false;  // an edge may name a layer whose line is yet to come
};

// "Conv2d" of "Conv2d(3, 64)", "op" if nothing is left.
std::string kind_of(std::string_view description) {
  const std::string_view kind = description.substr(0, description.find_first_of("( "));
  return kind.empty() ? "op" : std::string(kind);
}

Result<Duration> read_ms(std::string_view word, const std::string& key) {
  const auto ms = read_real(word, key, static_cast<double>(kLongestTimeNs) / kNsPerMillisecond / 2);
  if (!ms) return ms.error();
  return nanoseconds_of(*ms * kNsPerMillisecond);
}

// "5.0", or the sum of "[5.0; 6.0]".
Result<int64_t> read_sizes(std::string_view word, const std::string& key) {
  double sum = 0;
  for (const std::string_view part : split(word, "[]; ")) {
    const auto size = read_real(part, key, static_cast<double>(kMostBytes));
    if (!size) return size.error();
    sum += *size;
  }
  if (sum > static_cast<double>(kMostBytes)) {
    return invalid_input(key + " adds up to more than 2^60 bytes");
  }
  return static_cast<int64_t>(sum);
}

class PipedreamReader {
 public:
  Result<void> take(const Lines& lines) {
    return lines.text().front() == '\t' ? take_edge(lines) : take_layer(lines);
  }

  bool empty() const { return layers_.empty(); }

  Result<Graph> finish(const std::string& name) {
    for (size_t layer = 0; layer < layers_.size(); ++layer) {
      if (layers_[layer].stated) continue;
      return invalid_input(fmt::format("an edge names '{}', for which there is no line",
                                       shown(names_.name(static_cast<int32_t>(layer)))));
    }
    GraphBuilder builder(name);
    const auto ops = static_cast<int32_t>(layers_.size());
    const std::vector<ValueId> weights = add_weights(builder);
    const int32_t first_value = builder.value_count();
    const Incoming incoming(to_, ops);
    for (int32_t op = 0; op < ops && !builder.too_large(); ++op) {
      std::vector<ValueId> operands;
      for (const size_t edge : incoming.of(op)) {
        operands.push_back(ValueId{first_value + from_[edge]});
      }
      if (weights[op].valid()) operands.push_back(weights[op]);
      add_op(builder, op, operands);
    }
    return std::move(builder).build();
  }

 private:
  Result<void> take_edge(const Lines& lines) {
    const std::string_view text = lines.text().substr(1);
    const size_t middle = text.find(kSeparator);
    if (middle == 0 || middle == std::string_view::npos ||
        middle + kSeparator.size() == text.size()) {
      return lines.error("an edge is a tab, a node, ' -- ' and another node");
    }
    from_.push_back(number_of(text.substr(0, middle)));
    to_.push_back(number_of(text.substr(middle + kSeparator.size())));
    return {};
  }

  Result<void> take_layer(const Lines& lines) {
    const std::string_view text = lines.text();
    const size_t first = text.find(kSeparator);
    const size_t last = text.rfind(kSeparator);
    if (first == 0 || first == std::string_view::npos || first == last) {
      return lines.error("a layer is 'name -- description -- forward_compute_time=..., ...'");
    }
    const int32_t number = number_of(text.substr(0, first));
    if (layers_[number].stated) {
      return lines.error(fmt::format("'{}' stands twice", shown(text.substr(0, first))));
    }
    Layer layer{.stated = true};
    const size_t description = first + kSeparator.size();
    if (description < last) layer.description = text.substr(description, last - description);
    const Result<void> read = read_facts(text.substr(last + kSeparator.size()), layer);
    if (!read) return lines.error(read.error().message);
    layers_[number] = std::move(layer);
    return {};
  }

  // "key=value, key=value"; keys that are not listed, such as stage_id, are passed over.
  static Result<void> read_facts(std::string_view text, Layer& layer) {
    int known = 0;
    for (const std::string_view part : split(text, ",")) {
      const size_t begin = std::min(part.find_first_not_of(' '), part.size());
      const size_t equals = std::min(part.find('=', begin), part.size());
      const std::string key(part.substr(begin, equals - begin));
      const std::string_view word = part.substr(std::min(equals + 1, part.size()));
      if (key == "forward_compute_time" || key == "backward_compute_time") {
        const Result<Duration> time = read_ms(word, key);
        if (!time) return time.error();
        (key == "forward_compute_time" ? layer.forward : layer.backward) = *time;
      } else if (key == "activation_size" || key == "parameter_size") {
        const Result<int64_t> bytes = read_sizes(word, key);
        if (!bytes) return bytes.error();
        (key == "activation_size" ? layer.activation_bytes : layer.parameter_bytes) = *bytes;
      } else {
        continue;
      }
      ++known;
    }
    if (known == 4) return {};
    return invalid_input(
        "a layer needs forward_compute_time, backward_compute_time, activation_size and "
        "parameter_size, each once");
  }

  int32_t number_of(std::string_view name) {
    const int32_t number = names_.add(name);
    if (static_cast<size_t>(number) == layers_.size()) layers_.emplace_back();
    return number;
  }

  std::vector<ValueId> add_weights(GraphBuilder& builder) const {
    std::vector<ValueId> weights(layers_.size());
    for (size_t layer = 0; layer < layers_.size() && !builder.too_large(); ++layer) {
      if (layers_[layer].parameter_bytes == 0) continue;
      const std::string_view name = names_.name(static_cast<int32_t>(layer));
      weights[layer] = builder.add_input({.value = {.name = fmt::format("{}:parameters", name),
                                                    .bytes = layers_[layer].parameter_bytes},
                                          .weight = true});
    }
    return weights;
  }

  void add_op(GraphBuilder& builder, int32_t op, const std::vector<ValueId>& operands) const {
    const Layer& layer = layers_[op];
    const ValueSpec output = {.bytes = layer.activation_bytes};
    const GivenTime run_time = {"", layer.forward + layer.backward};
    const std::pair<std::string, std::string> attributes[] = {
        {"description", layer.description},
        {"forward_time_ns", std::to_string(layer.forward.count())},
        {"backward_time_ns", std::to_string(layer.backward.count())}};
    builder.add_op({.name = names_.name(op),
                    .kind = kind_of(layer.description),
                    .operands = operands,
                    .outputs = {&output, 1},
                    .run_times = {&run_time, 1},
                    .attributes = attributes});
  }

  NameTable names_;
  std::vector<Layer> layers_;
  // By edge.
  std::vector<int32_t> from_;
  std::vector<int32_t> to_;
};

}  // namespace

bool looks_like_pipedream(std::string_view start) {
  start.remove_prefix(std::min(start.find_first_not_of("\r\n"), start.size()));
  const std::string_view line = start.substr(0, start.find('\n'));
  return (line.starts_with("node") || line.starts_with("\tnode")) &&
         line.find(kSeparator) != std::string_view::npos;
}

Result<Imported> read_pipedream(Source& source, const ImportOptions& /*options*/) {
  PipedreamReader reader;
  Lines lines(source);
  for (;;) {
    const Result<bool> more = lines.next();
    if (!more) return more.error();
    if (!*more) break;
    if (lines.blank()) continue;
    if (const Result<void> taken = reader.take(lines); !taken) return taken.error();
  }
  if (reader.empty()) {
    return invalid_input(source.name() +
                         ": there is no layer in it; lines begin with a name such as node1");
  }
  return imported_from(reader.finish(graph_name_of(source)), source);
}

}  // namespace tutti
