// Which calls lead to a place of the program, as recordings know it: runs under control keep no stacks.
#pragma once

#include <string>
#include <vector>

#include "race/finding.h"

namespace sooth {

// The accesses of a recording at the sites of the accesses of `findings`, each thread, site and stack once. Empty when the
// recording cannot be read. Time is that of reading it.
std::vector<Access> recorded_accesses(const std::string& trace, const std::vector<Finding>& findings);

}  // namespace sooth
