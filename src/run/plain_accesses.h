// Races in the machine code of programs that were not built for us: docs/semantics.md, "Plain programs".
#pragma once

#include "race/finding.h"

namespace sooth {

// Loads and stores of machine code do not tell whether they are atomic to the compiler. Takes out of the report, which is
// of one recording, races between accesses that are: by a locked instruction, by the type of the variable, by the
// function they are in. The others stay, marked may_be_atomic unless debug information says that the variable is none;
// and an order that hangs on such an access is not known, so only a witness, which keeps what reads saw, is a proof.
void judge_plain_accesses(Report& report);

// What may be atomic is only suspected, whatever controlled runs made of it, unless that was a failure.
void hold_back_atomics(Report& report);

}  // namespace sooth
