// A trace as if the functions that synchronise had not been recorded: the evaluation of incomplete traces starts here.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "trace/batch.h"
#include "trace/tables.h"

namespace sooth {

struct HideSyncCounts {
  std::uint64_t read = 0;     // events
  std::uint64_t dropped = 0;  // of those
  std::uint64_t calls = 0;    // that were put in
  std::uint64_t ranges = 0;   // of their reaches
};

// Drops the events of locks, signals, barriers, semaphores and messages, and puts a call (Op::kCallBegin, Op::kCallEnd)
// around each run of a function that contains one; what else it does stays in the trace. Its reach is what the events
// in it touch, whole blocks where that is allocated, and what was dropped. Of functions that nobody called as far as
// stacks tell, main and those that threads start in, each dropped event is a call by itself, which reaches what it is
// about: else the whole thread would be one call. Threads are started and joined in the open.
//
// Stacks tell which function is running, so two runs from one place with no other event of the caller in between are
// taken for one. Two passes: scan() for all batches, finish_scan(), then rewrite() for all batches, in trace order, of
// a well-formed trace. Memory grows with the calls and their ranges, not with the events.
class SyncHider {
 public:
  void scan(const Batch& batch, const Tables& tables);
  void finish_scan();

  // What becomes of the batch, numbered as in the copy, valid until the next call.
  Batch rewrite(const Batch& batch);
  const HideSyncCounts& counts() const { return counts_; }

 private:
  struct Bytes {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
  };
  // A run of a function.
  struct Frame {
    StackId stack{};
    SiteId call{};  // where it was called
    EventId first{};
    bool synchronises = false;
    std::vector<Bytes> touched;
  };
  struct Thread {
    StackId stack = kNoStack;  // of its latest event
    EventId latest{};
    bool at_begin = false;  // its latest event is its begin
    bool over = false;
    std::vector<Frame> frames;  // outermost first
  };
  struct Call {
    EventId first{};
    EventId last{};
    SiteId site{};
    bool open = false;  // its thread ends in it
    std::vector<Bytes> reach;
  };

  Thread& of(ThreadId thread);
  void follow_stack(Thread& thread, EventId id, StackId stack, const Tables& tables);
  void leave(Thread& thread);
  void touch(Thread& thread, const Event& e, bool at_begin);
  Bytes block_around(const Event& e) const;
  void add_call(const Event& like, StackId stack, Op op, SiteId site, const std::vector<Bytes>& reach);
  void copy_event(const Batch& batch, std::size_t i);

  std::vector<Thread> threads_;
  std::map<std::uint64_t, std::uint64_t> blocks_;  // by first byte: the last one
  std::vector<Call> calls_;                        // by first event, the outer one first
  std::vector<std::size_t> by_end_;                // into calls_: by last event, the inner one first
  std::vector<EventId> alone_;                     // synchronisation of functions that nobody called
  HideSyncCounts counts_;

  std::size_t next_call_ = 0, next_end_ = 0, next_alone_ = 0, next_branch_ = 0, next_reach_ = 0;
  std::uint64_t written_ = 0;  // events, before the batch
  std::vector<Event> events_;
  std::vector<Value> values_;
  std::vector<StackId> stacks_;
  std::vector<Branch> branches_;
  std::vector<Reach> reaches_;
  bool with_values_ = false, with_stacks_ = false;
};

}  // namespace sooth
