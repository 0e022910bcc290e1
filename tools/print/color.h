// Colours of what commands print: only on a terminal, and only where they help to find something:
// the best row of a table, warnings, errors.
//
// $TUTTI_COLOR (always, never, auto) decides, which --color sets for this process and those it
// starts; then $NO_COLOR, if it is not empty, against them; then $CLICOLOR_FORCE, unless it is
// empty or 0, for them; then whether the stream is a terminal that is not dumb.

#ifndef TUTTI_TOOLS_PRINT_COLOR_H_
#define TUTTI_TOOLS_PRINT_COLOR_H_

#include <cstdio>
#include <string>
#include <string_view>

namespace tutti {

enum class Color { red, yellow, green, bold };

bool uses_color(std::FILE* stream);

// The text in that colour if the stream takes colours, otherwise as it is. Lines keep their ends.
std::string colored(std::string_view text, Color color, std::FILE* stream);

}  // namespace tutti

#endif  // TUTTI_TOOLS_PRINT_COLOR_H_
