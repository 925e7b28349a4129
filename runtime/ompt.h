// What the callbacks of libomp have to know of the calls that they come from.
#pragma once

#include "runtime/openmp.h"

namespace sooth::rt::openmp {

struct InLibomp {
  uptr pc;         // the last that is known of the program's
  u32 barrier;     // calls, inside of each other, with barriers that are not the one at the end of the region
  u32 dimensions;  // of the doacross loop
  bool reduces;    // a reduction is under way, which has messages of its own
  Team* league;    // that the thread has begun: its first thread may not be told
  void (*combine)(void*, void*);
  u64 handed_on;  // message of what the region's tasks have collected, where the thread hands its part on; 0: nowhere
};
// Whoever is last adds up what all threads have: the order of their messages is that of their coming.
extern SpinLock handing_on_;
extern __thread InLibomp in_libomp_ __attribute__((tls_model("initial-exec")));

}  // namespace sooth::rt::openmp
