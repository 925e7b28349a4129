// Races that are what another race leads to.
#pragma once

#include "race/finding.h"

namespace sooth {

// A variable that owns memory (a shared_ptr, a vector) and is changed while another thread uses it: then what it owns is
// freed, counted and filled under that thread's hands, too. To the reader that is one bug. Fills Finding::follows of such
// races: they are on a block of the heap, and
// - the library allocated it, and both threads are in calls of the library from the very lines of the other race; or
// - the other race is on a smart pointer, the threads are in the functions of that race, and the library allocated the
//   block or frees it on one of its lines; or
// - the other race is on the pointer to the block, and the block is filled in the line that sets the pointer.
// Ids must be filled. A race that has no `follows` after this follows from none.
void find_consequences(Report& report);

}  // namespace sooth
