// Which places of the C++ library stand for the place that called them.
#pragma once

#include <string>
#include <vector>

#include "trace/tables.h"

namespace sooth {

// Headers of the C++ library that only pass a lock, an atomic operation or an allocation on. That a program locks in
// gthr-default.h says nothing, and is the same place for all its locks. `file` is a path as debug information has it.
bool is_library_glue(const std::string& file);
// The same of a site; code of the C and C++ run time libraries without debug information counts, too.
bool is_library_glue(const Site& site);
// Takes such sites off the inner end, unless there is nothing else.
void trim_glue(std::vector<Site>& stack);

}  // namespace sooth
