// Names of functions and variables as people read them.
#pragma once

#include <string>
#include <string_view>

namespace sooth {

// The C++ name behind a mangled one, spelled as c++filt does: qualified, with parameters, without the return type of
// ordinary functions ("ns::Queue<int>::push(int const&)"). Everything else is returned as it is, but for a symbol
// version ("stdout@GLIBC_2.2.5"), which is cut off. A part of a variable keeps its number ("ns::point.0"). The functions that compilers make of regions
// and tasks of OpenMP are named so ("main, OpenMP region").
std::string demangle(std::string_view name);

}  // namespace sooth
