// What threads surely know of each other however locks are taken: must-order, and what reads saw of writes under one lock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "order/lock_set.h"
#include "order/must_order.h"
#include "order/thread_clocks.h"

namespace sooth {

// A part of each of three orders: happens-before, WCP, and must-order with reads-from, by which syncp judges. What this
// orders, all of them order, so one look at a trace serves the three. The edges beside must-order go from a write to a
// read that saw it, both in sections of a common lock that exclude each other: a release before an acquire
// (happens-before), a conflict of two sections (WCP's rule (a)), and what was read.
//
// Threads have epochs, as everywhere; here one also ends when the thread learns something, and where a section begins or
// ends, so that all of an epoch has one past and one set of locks. Of a write only its epoch is known. So who reads it
// learns what came before that epoch, not the write itself nor the rest of it.
//
// Errs to one side: of threads with many epochs, or many threads, the past is forgotten, and less is learnt from it.
class ReadOrder {
 public:
  ReadOrder() : must_order_(*this) {}
  ReadOrder(const ReadOrder&) = delete;
  ReadOrder& operator=(const ReadOrder&) = delete;

  // What the thread knows. Its own component is the number of its epoch, from 1. References last until a thread is used
  // for the first time.
  const VectorClock& clock(ThreadId thread) { return clocks_.of(thread); }
  bool in_section(ThreadId thread) const { return locks_.of(thread) != kNoLocks; }

  void incoming(const Event& e) { must_order_.incoming(e); }
  void outgoing(const Event& e) { must_order_.outgoing(e); }
  void acquire(const Event& e) {
    if (locks_.acquire(e)) {
      locks_changed(e.thread);
    }
  }
  void release(const Event& e) {
    if (locks_.release(e)) {
      locks_changed(e.thread);
    }
  }
  // The reader has just read what the other thread wrote in that epoch of its.
  void read(ThreadId reader, ThreadId writer, Time epoch);

  // The thread is over.
  void rest(ThreadId thread);

  // MustOrder's host.
  const VectorClock& current(ThreadId thread) { return clocks_.of(thread); }
  void sent(ThreadId thread) { clocks_.advance(thread); }
  void restart(ThreadId thread);
  void receive(ThreadId thread, const VectorClock& message);

 private:
  // States of a thread, each from an epoch on, of which the latest are kept.
  template <typename State>
  class Recent {
   public:
    // Makes room for one more, of so many at most: its place may be that of the oldest one. most > 0.
    State& add(std::size_t most) {
      if (states_.size() < most && oldest_ == 0) {
        return states_.emplace_back();
      }
      State& reused = states_[oldest_];
      oldest_ = oldest_ + 1 == states_.size() ? 0 : oldest_ + 1;
      return reused;
    }
    // The state in that epoch; nullptr when there was none, or it is forgotten.
    const State* at(Time epoch) const {
      std::size_t begin = 0;
      std::size_t end = states_.size();
      while (begin < end) {  // the first one that is later
        const std::size_t middle = begin + (end - begin) / 2;
        if (place(middle).from <= epoch) {
          begin = middle + 1;
        } else {
          end = middle;
        }
      }
      return begin == 0 ? nullptr : &place(begin - 1);
    }
    void clear() {
      states_ = {};
      oldest_ = 0;
    }

   private:
    const State& place(std::size_t i) const {
      const std::size_t at = oldest_ + i;
      return states_[at < states_.size() ? at : at - states_.size()];
    }

    std::vector<State> states_;
    std::size_t oldest_ = 0;
  };
  struct Past {
    Time from = 0;
    VectorClock clock;
  };
  struct Held {
    Time from = 0;
    LockSetId locks = kNoLocks;
  };
  struct Thread {
    Recent<Past> pasts;
    Recent<Held> held;
    VectorClock taken;  // by writer: the latest epoch whose past it has learnt
  };

  static constexpr std::size_t kMostPasts = 1024;
  static constexpr std::size_t kMostTimes = std::size_t{1} << 20;  // components of all of them
  static constexpr std::size_t kMostHeld = std::size_t{1} << 14;
  static constexpr std::size_t kLeastHeld = 64;
  static constexpr std::size_t kMostHeldInAll = std::size_t{1} << 20;
  static constexpr std::size_t kFewThreads = 64;  // of so many all is kept, also when they are over

  Thread& of(ThreadId thread) {
    if (raw(thread) >= threads_.size()) {
      threads_.resize(raw(thread) + 1);
    }
    return threads_[raw(thread)];
  }
  void locks_changed(ThreadId thread);
  void clock_changed(ThreadId thread);

  ThreadClocks clocks_;
  LockSets locks_;
  std::vector<Thread> threads_;
  MustOrder<ReadOrder, VectorClock> must_order_;
};

}  // namespace sooth
