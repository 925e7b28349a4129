// A report that can be shown to others.
#pragma once

#include <string>

#include "race/finding.h"

namespace sooth {

// Strips what tells of the machine and of the data: folders of files and modules, arguments of the program, values that
// reads see and what was printed, source lines, and the schedules, which name the program with its arguments. Names of
// functions, variables and threads stay: they are the finding. Ids stay, so that it can be compared.
void redact(Report& report);

// Paths in the text without their folders: "cannot open x.cc" for "cannot open /home/u/x.cc".
std::string without_folders(const std::string& text);

}  // namespace sooth
