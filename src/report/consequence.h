// Races that are what another race leads to.
#pragma once

#include "race/finding.h"
#include "race/user_code.h"

namespace sooth {

// A variable that owns memory (a shared_ptr, a vector) and is changed while another thread uses it: then what it owns is
// freed, counted and filled under that thread's hands, too, and what it calls is code that changes. To the reader that is
// one bug. Fills Finding::follows of such races. Some are on a block of the heap, and
// - the library allocated it, and both threads are in calls of the library from the very lines of the other race, or in
//   these lines themselves where one of them allocates it; or
// - the other race is on a smart pointer, the threads are in the functions of that race, and the library allocated the
//   block or frees it on one of its lines; or
// - the other race is on the pointer to the block, and the block is filled in the line that sets the pointer; or
// - the other race is on the smart pointer that owns the block, or nobody has a name for the block and the threads are in
//   the functions of that race, and a thread makes or drops what the pointer owns.
// Others are on the same variable as the other race, one thread is on a line of that race, and the other in a call that
// the library makes from its other line. A race that only a run under control has shown has no memory that is known: it
// follows from one on the same lines, if the library is between, or from one on a smart pointer that frees it there; of a
// place in the library that nobody knows the callers of, only the line of the other thread counts, and the variable if it
// is known.
// Causes move to where the worst that they lead to would stand. Ids must be filled, and findings sorted by rung. A race that has no `follows` after this follows from none.
void find_consequences(Report& report, const UserCode& user_code);

}  // namespace sooth
