// State of the process that functions of libc read and change without a lock: the environment, the generator of
// drand48(), the one table of hsearch(). Not the sign that lgamma() leaves behind: nobody who calls std::lgamma asks for it.
#include <search.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/on_behalf.h"

using namespace sooth;
using namespace sooth::rt;

namespace {

// What libc has of its own stands at addresses that only libc knows: these stand for it.
char drand48_state_[8];
char hsearch_table_[8];

KeptByLibc environment_{"environ"};
KeptByLibc drand48_{"state of drand48()"};
KeptByLibc hsearch_{"table of hsearch()"};

}  // namespace

// Family libc_state: the environment, and what generators, tables and functions of numbers keep between calls.
// C and POSIX let threads read the environment together, and none change it meanwhile.
SOOTH_ON_BEHALF(char*, getenv, (const char* name), (name), on.text(name); on.in(&environ, environment_))
SOOTH_ON_BEHALF(char*, secure_getenv, (const char* name), (name), on.text(name); on.in(&environ, environment_))
SOOTH_ON_BEHALF(int, setenv, (const char* name, const char* value, int replace), (name, value, replace), on.text(name);
                on.text(value), on.out(&environ, environment_))
SOOTH_ON_BEHALF(int, unsetenv, (const char* name), (name), on.text(name), on.out(&environ, environment_))
SOOTH_ON_BEHALF(int, putenv, (char* entry), (entry), on.text(entry), on.out(&environ, environment_))
SOOTH_ON_BEHALF(int, clearenv, (), (), (void)0, on.out(&environ, environment_))

#define SOOTH_DRAND48(result, name) SOOTH_ON_BEHALF(result, name, (), (), (void)0, on.out(&drand48_state_, drand48_))
SOOTH_DRAND48(double, drand48)
SOOTH_DRAND48(long, lrand48)
SOOTH_DRAND48(long, mrand48)
#undef SOOTH_DRAND48
SOOTH_REAL static Real<void(long)> real_srand48{"srand48"};
SOOTH_EXPORT void sooth_srand48(long seed) asm("srand48");
void sooth_srand48(long seed) {
  const OnBehalf on(recorded_thread(), SOOTH_CALLER);
  real_srand48(seed);
  on.out(&drand48_state_, drand48_);
}
SOOTH_ON_BEHALF(unsigned short*, seed48, (unsigned short* seed), (seed), on.in(seed, 3 * sizeof *seed),
                on.out(&drand48_state_, drand48_))

// Those with a generator of the caller's change that.
#define SOOTH_RAND48(result, name) \
  SOOTH_ON_BEHALF(result, name, (unsigned short* state), (state), on.in(state, 6), on.out(state, 6))
SOOTH_RAND48(double, erand48)
SOOTH_RAND48(long, nrand48)
SOOTH_RAND48(long, jrand48)
#undef SOOTH_RAND48

SOOTH_ON_BEHALF(int, hcreate, (std::size_t entries), (entries), (void)0, on.out(&hsearch_table_, hsearch_))
SOOTH_ON_BEHALF(ENTRY*, hsearch, (ENTRY entry, ACTION action), (entry, action), on.text(entry.key),
                action == ENTER ? on.out(&hsearch_table_, hsearch_) : on.in(&hsearch_table_, hsearch_))
SOOTH_REAL static Real<void()> real_hdestroy{"hdestroy"};
SOOTH_EXPORT void sooth_hdestroy() asm("hdestroy");
void sooth_hdestroy() {
  const OnBehalf on(recorded_thread(), SOOTH_CALLER);
  real_hdestroy();
  on.out(&hsearch_table_, hsearch_);
}
