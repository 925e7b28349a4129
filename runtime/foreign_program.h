// Programs that cannot have this library in them.
#pragma once

#include "runtime/sys.h"

namespace sooth::rt {

// What the program at this path has of its own that does not go with our library: the name of a sanitizer. nullptr: nothing,
// or it is no program that the dynamic loader loads. Allocates nothing and takes no lock: callable between fork and exec.
const char* foreign_sanitizer(const char* path);

}  // namespace sooth::rt
