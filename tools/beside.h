// Programs that stand beside tutti because they need libraries that tutti itself shall not need.

#ifndef TUTTI_TOOLS_BESIDE_H_
#define TUTTI_TOOLS_BESIDE_H_

#include <string>
#include <vector>

#include "tutti/base/result.h"

namespace tutti {

// Goes on as that program, which sees itself called `name`. Returns only if that fails; `needs`
// then says what it is built with.
Error go_on_as(const std::string& program, const std::string& name,
               const std::vector<std::string>& arguments, const std::string& needs);

// Whether that program stands beside this one.
bool is_beside(const std::string& program);

// What that program prints when it is run with these arguments; empty if it is not there or fails.
std::string output_of(const std::string& program, const std::vector<std::string>& arguments);

// What this program was called with.
std::vector<std::string> own_arguments();

// Goes on as tutti-starpu with the same command line. Returns only if that fails.
Error go_on_with_starpu();

}  // namespace tutti

#endif  // TUTTI_TOOLS_BESIDE_H_
