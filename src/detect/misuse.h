// Misuse of locks, threads, signals and the heap: no prediction, the recorder saw it.
#pragma once

#include <memory>

#include "detect/detector.h"

namespace sooth {

// Collects the kMisuse events of a trace, counted by kind and site, and uses of memory that was freed, counted by the sites
// of both. A leaked thread counts at the site of its fork,
// because where the program ended says nothing about it. Memory grows with the number of threads and of sites that
// misuse.
std::unique_ptr<Detector> make_misuse_detector();

}  // namespace sooth
