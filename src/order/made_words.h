// What one atomic variable or semaphore did so far, as far as it may be a lock (docs/semantics.md section 16).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/flat_map.h"
#include "order/made_locks.h"
#include "order/vector_clock.h"

namespace sooth {

// Writes before a lock is taken for the first time: they have to come first in every reordering.
class FirstWrites {
 public:
  // False: too many threads to remember.
  bool add(ThreadId slot, Time time);
  // Whether hard order has all of them before what the thread of `slot` does now.
  bool known_to(ThreadId slot, const VectorClock& hard) const;

 private:
  struct Write {
    ThreadId slot{};
    Time time = 0;
  };
  std::vector<Write> writes_;  // the latest of each slot
};

// An access to an atomic variable, with its value on record.
struct WordAccess {
  const Event& event;
  EventId id{};
  std::uint64_t value = 0;  // found or stored; of an rmw what it found
  ThreadId slot{};  // of its thread in clocks: threads have one another after the other (trace/tools/thread_slots.h)
  const VectorClock& hard;  // what its thread knows by hard order
};

// An atomic of which one value, what the first rmw found, means *free*.
class FlagLock {
 public:
  void step(const WordAccess& access);
  void rule_out() { out_ = true; }
  bool is_out() const { return out_; }
  bool any() const { return free_.has_value() && !out_; }
  std::size_t size() const { return steps_.size(); }
  // Leaves it empty.
  std::optional<MadeLock> finish();

 private:
  // What the latest write to it was.
  enum class Last : std::uint8_t { kNothing, kTake, kGive, kRmwOfHolder, kOther };
  struct Early {
    EventId event{};
    std::uint64_t value = 0;
  };
  struct Waiter {
    ThreadId slot{}, thread{};
  };

  void before_any_rmw(const WordAccess& access);
  void settle(std::uint64_t found);
  void rmw(const WordAccess& access);
  void load(const WordAccess& access);
  void store(const WordAccess& access);
  void wait(const WordAccess& access);
  void give(EventId event) {
    steps_.push_back({event, MadeLock::Role::kGive});
    held_ = false;
    last_ = Last::kGive;
  }
  bool is_held_by(ThreadId thread) const { return held_ && holder_ == thread; }

  bool out_ = false;
  std::optional<std::uint64_t> free_;
  bool held_ = false;
  ThreadId holder_{};
  Last last_ = Last::kNothing;
  EventId pending_{};  // of Last::kRmwOfHolder: what it leaves is told by who reads it next
  SiteId pending_site_{};
  FirstWrites first_;
  std::vector<Early> early_;       // loads in front of the first rmw
  std::vector<Waiter> waiting_;    // found it taken, by loads; one of a slot, as the one before it is over
  std::vector<SiteId> rmw_gives_;  // sites of rmws that gave it back
  std::size_t gives_by_store_ = 0;
  bool waited_ = false;        // who found it taken took it later on
  bool tried_by_rmw_ = false;  // ... or wrote to it meanwhile
  bool odd_ = false;           // something else was done with it
  std::vector<MadeLock::Step> steps_;
};

// The word of a ticket lock that tells whose turn it is.
class TurnLock {
 public:
  // An rmw of a thread on another word, and what it found there.
  struct Ticket {
    std::uint32_t word = 0;
    std::uint64_t number = 0;
  };

  void step(const WordAccess& access, std::span<const Ticket> tickets);
  void rule_out() { out_ = true; }
  std::size_t size() const { return steps_.size(); }
  // Words that tickets may come from; none: it is no lock.
  std::span<const std::uint32_t> counters() const { return counters_; }
  // Leaves it empty.
  std::optional<MadeLock> finish();

 private:
  struct Look {
    EventId event{};
    std::uint64_t value = 0;
    std::uint64_t writes = 0;  // of the word before it
    ThreadId thread{};
  };

  void write(const WordAccess& access, std::span<const Ticket> tickets);

  bool out_ = false;
  std::uint64_t writes_ = 0;
  FlatMap<Look> looks_;  // by slot: the latest
  FirstWrites first_;
  std::vector<std::uint32_t> counters_;
  std::vector<MadeLock::Step> steps_;
};

// A semaphore that has one at first, so that it lets one thread at a time through.
class SemaphoreLock {
 public:
  void step(const Event& event, EventId id, ThreadId slot, const VectorClock& hard);
  void rule_out() { out_ = true; }
  std::size_t size() const { return steps_.size(); }
  // Leaves it empty.
  std::optional<MadeLock> finish();

 private:
  bool out_ = false;
  std::uint64_t count_ = 0;
  std::uint64_t at_first_ = 0;
  bool held_ = false;
  ThreadId holder_{};
  FirstWrites first_;
  std::vector<MadeLock::Step> steps_;
};

}  // namespace sooth
