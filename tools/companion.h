// Companion programs (tutti-train, tutti-starpu), installed in the folder of tutti. They need
// libraries that tutti itself must not need.

#ifndef TUTTI_TOOLS_COMPANION_H_
#define TUTTI_TOOLS_COMPANION_H_

#include <string>
#include <vector>

#include "tutti/base/result.h"

namespace tutti {

// Replaces this process by that program, called `name`. Returns only if that fails; `needs` then
// says what it is built with.
Error become(const std::string& program, const std::string& name,
             const std::vector<std::string>& arguments, const std::string& needs);

// Whether that program is installed.
bool has_companion(const std::string& program);

// What that program prints, run with these arguments; empty if it is not installed or fails.
std::string output_of(const std::string& program, const std::vector<std::string>& arguments);

// The arguments of this process.
std::vector<std::string> own_arguments();

// Becomes tutti-starpu with the same command line. Returns only if that fails.
Error become_starpu();

}  // namespace tutti

#endif  // TUTTI_TOOLS_COMPANION_H_
