// Programs built with `sooth c++ --deep` say, between their accesses, which ways they take: docs/deep.md. The hooks
// that they call are in deep.cc. They write into serial recordings only; otherwise their modules are silent.
#pragma once

#include "runtime/sys.h"

namespace sooth::rt {

// Whether code that is recorded says which ways it takes. Then none of its accesses may be missing.
bool is_deep();

// In the child of a fork: its recording needs the code of the modules, too. False: it cannot be written.
bool restart_deep_after_fork();

}  // namespace sooth::rt
