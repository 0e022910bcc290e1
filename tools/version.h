// Which tutti this is: its version, what compiled it, and which optional parts were built in.

#ifndef TUTTI_TOOLS_VERSION_H_
#define TUTTI_TOOLS_VERSION_H_

#include <span>
#include <string>
#include <string_view>

namespace tutti {

struct BuildFeature {
  std::string_view name;  // as a person reads it: "CUDA"
  std::string_view key;   // in JSON: "cuda"
  bool built_in;
};

struct BuildFacts {
  std::string_view version;   // "0.2.0"
  std::string_view compiler;  // "gcc 12.2.0"
  std::string_view processor;
  std::string_view build_type;
  std::span<const BuildFeature> features;
};

// Made by the build (tools/CMakeLists.txt).
const BuildFacts& build_facts();

// Of --version: several lines, the first of which is "tutti 0.2.0". Also looks for the programs
// that are installed next to this one.
std::string version_text();
std::string version_json();

}  // namespace tutti

#endif  // TUTTI_TOOLS_VERSION_H_
