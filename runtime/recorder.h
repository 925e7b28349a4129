// The recording of this process: its files, its chunks, its tickets.
#pragma once

#include "runtime/sys.h"
#include "runtime/thread.h"

namespace sooth::rt {

inline constexpr int kNoDescriptor = -1'000'000;  // what no program closes

struct Recorder {
  stream::Control* control;  // nullptr: nothing is recorded
  bool serial;
  bool controlled;  // nothing is recorded, though recording() says so: hooks schedule instead. Implies `serial`
  bool drop_repeats;
  bool locks_only;            // what is not synchronisation is not recorded: the program has no hooks
  bool under_engine;          // calls and accesses come from engine.h, not from hooks
  bool watches_calls;         // of code that is left out: calls.h
  stream::FilterMode filter;  // what else is left out; kNone in serial recordings
  int streams_fd, sites_fd, process_fd;
  int reaches_fd = kNoDescriptor;  // of calls.h
  const char* directory;           // nullptr: live, into descriptors
};
extern Recorder recorder;

SOOTH_INLINE bool recording() { return recorder.control != nullptr; }
SOOTH_INLINE u64 take_ticket() { return __atomic_fetch_add(&recorder.control->next_ticket, 1, __ATOMIC_ACQ_REL); }

// From __tsan_init, once: reads the environment, creates the files and makes the calling thread the first one.
// Without SOOTH_RECORD or SOOTH_RECORD_FDS nothing happens, for ever.
void start_recording();
// In the child of a fork: a recording of its own, beside the parent's.
void restart_recording_after_fork();
// A new file of that name in the directory of the recording; negative when there can be none.
long open_recording_file(const char* name);
// The same to write behind what is there, if it is there. The caller closes it.
long append_recording_file(const char* name);
// The program reached its end.
void finish_recording();
// Nothing from now on counts. The first reason wins.
void stop_recording(stream::StopReason reason);
// The same after reserve_file(), or a mapping of a file of the recording, has failed: says why.
void stop_for_lack_of_room();

// The open chunk of `t` is full or missing: gives it the next one (or, after the recording has stopped, a place where
// writing does no harm). Also sends what waits: called by hooks whenever cursor > limit.
SOOTH_NOINLINE void attend(Thread* t);
// For hooks that have nothing to write: a handler may wait all the same.
SOOTH_INLINE void heed(Thread* t) {
  if (SOOTH_UNLIKELY(t->limit == nullptr)) attend(t);
}
// Closes the thread's chunk for good (the child of a fork must not write into the parent's).
void drop_chunk(Thread* t);
// Blocks on the disk for the bytes of the file from `from` on until `to`, so that a full disk is an error here and no
// SIGBUS at a store. False: there is no room, or the process may not write files of that size.
bool reserve_file(int fd, u64 from, u64 to);
// May the process write a file of so many bytes? Trying to write more is a signal that ends the program.
bool is_file_size_allowed(u64 bytes);

// One of our files: not the program's to close, though it may try (a daemon closes all there are).
SOOTH_INLINE bool is_own_descriptor(int fd) {
  return recording() && (fd == recorder.streams_fd || fd == recorder.sites_fd || fd == recorder.process_fd ||
                         fd == recorder.reaches_fd);
}
// The program wants this number for a file of its own: if it is one of ours, ours gets another, or the recording ends.
void vacate_descriptor(int fd);
// The number of another stream.
u32 new_stream();

// The number of a program counter in `sites`; ~0u when its module is excluded.
u32 intern_site(uptr pc);
// Whether it has a number, or is excluded. Takes no lock and makes none.
bool is_known_site(uptr pc);
// A row of its own (stream::kFrameRow), for a function whose frame is told of; ~0u when it is excluded.
u32 intern_frame(uptr pc);
// The same for the name of a function, whoever it is excluded by; ~0u when there is no room.
u32 intern_function(uptr pc);
// dlclose returned: program counters may mean something else now.
void modules_unloaded();
u32 module_generation();

}  // namespace sooth::rt
