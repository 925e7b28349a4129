// Which places of the C++ library stand for the place that called them.
#pragma once

#include <string>

namespace sooth {

// Headers of the C++ library that only pass a lock, an atomic operation or an allocation on. That a program locks in
// gthr-default.h says nothing, and is the same place for all its locks. `file` is a path as debug information has it.
bool is_library_glue(const std::string& file);

}  // namespace sooth
