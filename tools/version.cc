#include "tools/version.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

#include "tools/companion.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/report/template.h"

namespace tutti {
namespace {

// Programs of their own, which need libraries that tutti must not need.
constexpr std::string_view kCompanions[] = {"tutti-train", "tutti-starpu"};

// The page is bundled by node, which a build need not have.
bool has_report_page() {
  return !page_template().before_data.empty();
}

std::vector<std::pair<BuildFeature, bool>> all_features() {
  std::vector<std::pair<BuildFeature, bool>> features;
  for (const BuildFeature& feature : build_facts().features) {
    features.emplace_back(feature, feature.built_in);
  }
  features.emplace_back(BuildFeature{"report page", "report_page", true}, has_report_page());
  return features;
}

std::string listed(const std::vector<std::string_view>& names) {
  return names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string version_text() {
  const BuildFacts& facts = build_facts();
  std::vector<std::string_view> with;
  std::vector<std::string_view> without;
  for (const auto& [feature, built_in] : all_features()) {
    (built_in ? with : without).push_back(feature.name);
  }
  for (const std::string_view program : kCompanions) {
    (has_companion(std::string(program)) ? with : without).push_back(program);
  }
  return fmt::format("tutti {}\ncompiled by {} for {} ({})\nwith {}\nwithout {}", facts.version,
                     facts.compiler, facts.processor, facts.build_type, listed(with),
                     listed(without));
}

std::string version_json() {
  const BuildFacts& facts = build_facts();
  JsonWriter writer;
  writer.open_object().field("schema_version", 1).field("version", facts.version);
  writer.field("compiler", facts.compiler).field("processor", facts.processor);
  writer.field("build_type", facts.build_type).key("features").open_object();
  for (const auto& [feature, built_in] : all_features()) writer.field(feature.key, built_in);
  writer.close_object().key("companions").open_object();
  for (const std::string_view program : kCompanions) {
    writer.field(program, has_companion(std::string(program)));
  }
  writer.close_object().close_object();
  return writer.text();
}

}  // namespace tutti
