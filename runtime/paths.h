// Names of files as synchronisation: whoever makes, renames or removes a file comes before whoever finds out by its name.
#pragma once

#include "runtime/thread.h"

namespace sooth::rt {

// Before the name is given to a file, or taken from it.
void name_changes(Thread* t, uptr pc, const char* path);
// After somebody has looked whether there is such a file. `found` false: it may look again and again.
void name_seen(Thread* t, uptr pc, const char* path, bool found);
bool is_file(const char* path);

}  // namespace sooth::rt
