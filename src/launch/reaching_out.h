// Whether runs of a program that overlap could disturb each other, told from what it calls.
#pragma once

#include <string>
#include <vector>

namespace sooth {

// Functions of the system that the program at `path`, or an instrumented library that it needs, calls and that reach
// what its other runs may have, too: ports, files, names of shared memory. In the order of their names, without those
// of the C++ library behind "std::". A program that cannot be looked into, a script for instance, gives the name
// "other programs". That it calls open() does not say that it writes: this errs to the safe side.
std::vector<std::string> calls_that_reach_out(const std::string& path);

}  // namespace sooth
