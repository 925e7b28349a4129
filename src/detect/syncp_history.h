// What sync-preserving closures are computed from: how far each thread got, what it had learnt by then, and all
// sections.
#pragma once

#include <cstdint>
#include <deque>
#include <variant>
#include <vector>

#include "base/flat_map.h"
#include "order/packed_clock.h"
#include "order/vector_clock.h"
#include "trace/event.h"

namespace sooth {

// An event with its past. Times count the events of a thread from 1, so a vector clock is a set of events that has a
// prefix of each thread. Versions number the states of what a thread knows; they grow along the thread.
struct PastEvent {
  ThreadId thread{};
  Time time = 0;
  std::uint32_t version = 0;
};

// Every thread has a clock: what must-order and reads-from put before its next event. Messages and reads join clocks;
// a thread's earlier states are kept, so that the past of any event can be looked up. Sections are kept by lock and
// thread.
//
// A set of events is *closed* when it is closed under must-order, reads-from, and the rule for locks: of two sections
// of a lock, at least one of them exclusive, whose acquires are in it, the release of the earlier one is in it. A
// clock is closed under the first two by construction; saturate() adds what the third one asks for.
class SyncpHistory {
 public:
  // What is before the next event of the thread; its own component is the number of its events so far. Lasts until a
  // thread is used for the first time.
  const VectorClock& clock(ThreadId thread) { return of(thread).clock; }
  // The thread makes its next event; its time.
  Time advance(ThreadId thread);
  // The latest event of the thread. Its past is what the thread knows now.
  PastEvent latest(ThreadId thread);
  // The thread comes after everything in the clock, or after the event and its past.
  void learn(ThreadId thread, const VectorClock& message);
  void learn(ThreadId thread, const PastEvent& event);
  // Grows whenever the thread learns something or enters a section. Two events of one segment have the same past but
  // for the thread's own events, which add no sections: whatever holds a closure together in one does so in the
  // other.
  std::uint32_t segment(ThreadId thread) { return of(thread).segment; }

  // The event that advance() just began opens or closes a section of the lock. `id` orders acquires across threads.
  void acquire(ThreadId thread, std::uint64_t lock, bool exclusive, EventId id);
  void release(ThreadId thread, std::uint64_t lock);

  // The closure of clock(thread). Resumed where it was left when the thread was last asked about.
  const VectorClock& closure(ThreadId thread);
  // Adds the past of the event to the set, without the event.
  void include_past(const PastEvent& event, VectorClock& set) const;
  // Grows `set` to its closure. `closed`, a part of it, is known to be closed: only what was added since is looked at.
  // Stops and returns false as soon as the event of `thread` at `time` is in the set.
  bool saturate(VectorClock& set, const VectorClock& closed, ThreadId thread, Time time);
  // Whether the closure of `knower` has an acquire, of another thread than `thread`, that came after the section of
  // `thread` on the lock around `time` and excludes it. Then no closed superset of both ends before that section is
  // released.
  bool overtaken(ThreadId knower, ThreadId thread, Time time, std::uint64_t lock);

  // The thread makes no more events: nobody has to wait for it to learn anything, and its clocks are packed. Who asks
  // for its clock, to join it, says so again.
  void end(ThreadId thread);
  // A thread of this number begins; it will be taught all that one before it knew.
  void restart(ThreadId thread) { of(thread).ended = false; }
  // Forgets what every thread knows that has not ended and, with kIsSkipped, has made an event since
  // begin_idle_period(). Other threads, and those that start later and unforked, are taken to know it too. That keeps
  // closures closed, but may make them larger than they had to be.
  enum class Idle : std::uint8_t { kCounts, kIsSkipped };
  void forget_common_past(Idle idle);
  void begin_idle_period();
  // The events that were forgotten.
  const VectorClock& forgotten() const { return forgotten_; }

  // Kept states of threads and sections, in units of some 100 bytes: a state is one for each 16 threads.
  std::size_t size() const { return size_; }
  std::uint64_t closures() const { return closures_; }
  std::uint64_t locks_visited() const { return locks_visited_; }

 private:
  struct Acquire {
    Time time;
    std::uint32_t lock;  // index into locks_
  };
  struct Section {
    Time acquire = 0;
    Time release = 0;           // 0: open
    std::uint32_t version = 0;  // at the release
    bool exclusive = true;
    std::uint64_t order = 0;            // of the acquire in the trace, from 1
    std::uint64_t exclusive_order = 0;  // of the latest exclusive section of the thread up to this one; 0: none
  };
  struct Sections {
    ThreadId thread{};
    std::vector<Section> list;
  };
  struct Lock {
    std::vector<Sections> by_thread;   // in order of first use
    std::vector<std::uint32_t> index;  // thread -> position in by_thread + 1
    std::uint64_t touched = 0;         // the round of saturate() that has it on its list
  };
  // The latest section, and the latest one of other threads than that one's. Number 0: none.
  struct LatestTwo {
    ThreadId thread{};
    std::uint64_t order = 0;
    std::uint64_t next_order = 0;

    void add(ThreadId by, std::uint64_t number);
    std::uint64_t without(ThreadId other) const { return other == thread ? next_order : order; }
  };
  // The latest sections of a lock that are in the closure of a thread, as of a segment of its.
  struct KnownSections {
    std::uint32_t segment = ~std::uint32_t{0};
    LatestTwo any;
    LatestTwo exclusive;
  };
  struct State {
    Time from;  // the first event of this version; an event that learns by reading may be the last of one, too
    std::variant<VectorClock, PackedClock> clock;
  };
  static std::size_t size_of(const State& state);
  // What is rarely asked for of a thread that has ended.
  struct Packed {
    PackedClock clock;
    PackedClock closure;
  };
  struct Thread {
    VectorClock clock;
    std::deque<State> states;  // the version of states.front() is first_version
    std::uint32_t first_version = 0;
    bool changed = true;  // the clock learnt something since the latest state
    bool ended = false;
    bool packed = false;              // `clock` and `closure` are in packed_
    std::uint32_t unpacked_from = 0;  // the first version whose state may not be packed
    Time idle_since = 0;              // its events at begin_idle_period()
    std::uint32_t segment = 0;
    std::deque<Acquire> acquires;
    std::vector<std::uint32_t> locks;  // those it has ever taken
    VectorClock closure;
    std::uint32_t closure_segment = ~std::uint32_t{0};  // when `closure` was computed
  };

  Thread& of(ThreadId thread) {
    if (raw(thread) >= threads_.size() || threads_[raw(thread)].packed) [[unlikely]] {
      begin(thread);
    }
    return threads_[raw(thread)];
  }
  void begin(ThreadId thread);
  std::uint32_t lock_index(std::uint64_t lock);
  Sections* sections_of(Lock& lock, ThreadId thread);
  // The latest section that the set has the acquire of; nullptr when there is none.
  static const Section* latest(const Sections& sections, Time time);
  const KnownSections& known_sections(ThreadId thread, std::uint32_t lock);
  void touch(std::uint32_t lock);
  void touch_new_sections(const VectorClock& set);
  void settle(const Lock& lock, VectorClock& set);
  void trim(Thread& thread, Time time);
  void trim(Sections& sections, Time time);

  std::vector<Thread> threads_;
  FlatMap<Packed> packed_;  // by thread
  std::vector<Lock> locks_;
  FlatMap<std::uint32_t> lock_ids_;  // lock -> index + 1
  static constexpr std::size_t kMostKnownSections = std::size_t{1} << 18;
  FlatMap<KnownSections> known_sections_;  // by thread << 32 | lock, of those that were asked for last
  VectorClock forgotten_;
  std::size_t size_ = 0;
  std::uint64_t closures_ = 0;
  std::uint64_t locks_visited_ = 0;
  // Scratch of saturate().
  VectorClock done_;  // acquires up to here have been seen
  std::uint64_t round_ = 0;
  std::vector<std::uint32_t> touched_;
  std::vector<const Section*> candidates_;
};

}  // namespace sooth
