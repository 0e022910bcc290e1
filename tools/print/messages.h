// What commands print to standard error, and the exit code that belongs to an error.

#ifndef TUTTI_TOOLS_PRINT_MESSAGES_H_
#define TUTTI_TOOLS_PRINT_MESSAGES_H_

#include <string>

#include "tutti/base/result.h"

namespace tutti {

// Prints "tutti: warning: " and the sentence to standard error.
void print_warning(const std::string& text);
// Prints "tutti: " and the sentence to standard error; nothing if it is empty.
void print_note(const std::string& text);

// Prints "tutti: " and the sentence, as what ends the command.
void print_error(const std::string& text);

// Prints the sentence and gives the exit code that belongs to its kind.
int report(const Error& error);

}  // namespace tutti

#endif  // TUTTI_TOOLS_PRINT_MESSAGES_H_
