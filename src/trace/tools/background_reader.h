// Reads a trace in a thread of its own, so that decoding overlaps with what is done with the events.
#pragma once

#include <memory>

#include "trace/reader.h"

namespace sooth {

// A reader that gives what `reader` gives: equal batches in equal order, then the same end or the same error, for good.
// After each next() its info(), tables() and byte counts are those that `reader` had after the same call, however far
// that one is ahead. It is ahead by a bounded number of events: about 8 times 4096, or 8 batches when those are larger.
//
// Costs a copy of each event and its columns, about 1 ns per event in the thread, and a lock every few thousand events,
// far less than 1 ns per event in the caller. An exception in the thread, such as no memory, becomes an error of
// next(). Destroying it before the end waits for the call of reader->next() that is under way, and for no more; on a
// pipe that stays silent that call takes as long as the pipe does. When the system grants no thread, `reader` itself is
// returned.
std::unique_ptr<TraceReader> read_in_background(std::unique_ptr<TraceReader> reader);

}  // namespace sooth
