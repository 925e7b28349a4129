// File descriptors as synchronisation: bytes put in at one end happen before they are taken out at the other.
//
// Each open end belongs to a *channel*, a message of the trace. The two ends of a pipe or socket pair share one; so do
// the two ends of a connection, which are recognised by their addresses; duplicates share their original's.
#pragma once

#include "runtime/thread.h"

namespace sooth::rt {

// Forgets what was known: the descriptor is new, or was closed.
void descriptor_opened(int fd);
void descriptor_closed(int fd);
void descriptors_closed(unsigned first, unsigned last);
void descriptors_paired(int a, int b);
void descriptor_copied(int from, int to);

// Before bytes are put in, before an end is closed; and after bytes, or the end of the input, came out. Bytes come
// after those who sent, the end of the input comes after those who closed, too.
void descriptor_sends(Thread* t, uptr pc, int fd);
void descriptor_ends(Thread* t, uptr pc, int fd);
void descriptor_received(Thread* t, uptr pc, int fd, bool end = false);
// False for regular files: they are quick, and a serial recording need not give the turn up.
bool descriptor_may_block(int fd);

}  // namespace sooth::rt
