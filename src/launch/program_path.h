// Which file the user means by the name of a program.
#pragma once

#include <string>

#include "base/status.h"

namespace sooth {

// As execvp(): a name with a slash is a path, any other is looked for in PATH. The error says why the program cannot be
// started: there is none, it is a directory, or it may not be executed.
Result<std::string> find_program(const std::string& name);

}  // namespace sooth
