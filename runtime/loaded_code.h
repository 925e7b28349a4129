// What the loader says of the module that code is in. Without its locks, which another thread may hold while it runs
// constructors.
#pragma once

#include <link.h>

#include "runtime/sys.h"

namespace sooth::rt {

struct LoadedCode {
  uptr bias, begin, end;        // of all its segments
  const char* name;             // as the loader has it; nullptr: the program itself
  const ElfW(Phdr) * segments;  // nullptr: unknown
  u32 segment_count;
};

// False when no module is there: code that was made at run time.
bool find_loaded_code(uptr pc, LoadedCode& code);

}  // namespace sooth::rt
