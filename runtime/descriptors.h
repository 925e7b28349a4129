// File descriptors as synchronisation: bytes put in at one end happen before they are taken out at the other.
//
// Each open end belongs to a *channel*, a message of the trace. The two ends of a pipe or socket pair share one; so do
// the two ends of a connection, which are recognised by their addresses; duplicates share their original's; and so do
// all descriptors of one file. What has no descriptor has a channel by its *name*: a path, a System V queue.
#pragma once

#include "runtime/thread.h"

namespace sooth::rt {

enum class Named : u64 { kFile = 1, kFileLock, kPath, kSemaphore, kMessages, kRing };
// The channel of something that is known by a number or two, or by a text.
u64 channel_named(Named kind, u64 name, u64 more = 0);
u64 channel_named(Named kind, const char* name);
// The lock that flock() takes, of whatever descriptor of the file; 0: no such descriptor.
u64 lock_channel_of(int fd);
// As descriptor_sends() and descriptor_received(), below.
void channel_sends(Thread* t, uptr pc, u64 channel);
void channel_received(Thread* t, uptr pc, u64 channel);

// Forgets what was known: the descriptor is new, or was closed.
void descriptor_opened(int fd);
void descriptor_closed(int fd);
void descriptors_closed(unsigned first, unsigned last);
void descriptors_paired(int a, int b);
void descriptor_copied(int from, int to);
// A descriptor is a variable, too: whoever uses it reads it, whoever closes it writes it, and a new one of the same number
// is another one.
void descriptor_used(Thread* t, uptr pc, int fd);
void descriptor_closes(Thread* t, uptr pc, int fd);
// It is one of signalfd().
void descriptor_hands_out_signals(int fd);
bool hands_out_signals(int fd);

// Before bytes are put in, before an end is closed; and after bytes, or the end of the input, came out. Bytes come
// after those who sent, the end of the input comes after those who closed, too.
void descriptor_sends(Thread* t, uptr pc, int fd);
void descriptor_ends(Thread* t, uptr pc, int fd);
void descriptor_received(Thread* t, uptr pc, int fd, bool end = false);
// False for regular files: they are quick, and a serial recording need not give the turn up.
bool descriptor_may_block(int fd);

}  // namespace sooth::rt
