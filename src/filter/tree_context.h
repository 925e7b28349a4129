// The concurrency contexts of TREE: what two accesses of a thread must have in common for one to speak for the other.
#pragma once

#include <cstdint>
#include <vector>

#include "base/flat_map.h"
#include "filter/context_rules.h"
#include "filter/lock_stack.h"
#include "order/lock_set.h"
#include "trace/event.h"

namespace sooth {

// A context is a set of locks and a count: of two moments of a thread with the same set, the count is the same exactly
// when the context is. That is enough because everything a context is made of only ever grows while the set is the
// same, so that sums say as much as their parts. What goes into the count:
//
//   kSends         messages sent (must-order edges that may start here).
//   kUncontended   ... and for each lock that is held, how often other threads have acquired or released it up to its
//                  acquire, and if it is held shared, how often the thread has released it exclusively: other readers
//                  may come and learn of that. For each lock that is not held, how often the thread has released it.
//                  So a loop over a lock that nobody else takes comes back to its contexts, and what is outside the
//                  lock does not.
//   kStretches     messages sent, and all acquires and releases: the same until the next of them. The set is then not
//                  needed, as it cannot have changed.
//   kLocksOnly     nothing.
enum class ContextKind : std::uint8_t { kSends, kUncontended, kStretches, kLocksOnly };

// The context of one thread. Everything here belongs to its thread, so that each may keep its own.
struct TreeContext {
  struct Use : LockCounts {
    std::uint32_t lock = 0;  // its place in TreeContexts
  };

  std::uint64_t count = 0;
  LockStack locks;
  ThreadId thread{~0u};  // nobody
  // For TreeFilter: the episode of the thread in the batch of that number.
  std::uint32_t episode = 0;
  std::uint64_t episode_batch = 0;
  // For kUncontended. LockStack::Entry::note is the place in `uses`, + 1.
  std::vector<Use> uses;
  FlatMap<std::uint32_t> use_of;  // lock -> place in `uses`, + 1
};

// The contexts of all threads that are not over; four bytes for each of the others.
class TreeContexts {
 public:
  // `track_sets`: the sets are asked for although the kind of context does not need them.
  explicit TreeContexts(ContextKind kind, bool track_sets = false)
      : kind_(kind), tracks_sets_(track_sets || kind != ContextKind::kStretches) {}

  // Lasts until the next thread is seen for the first time.
  TreeContext& of(ThreadId thread) {
    const std::uint32_t place = raw(thread) < places_.size() ? places_[raw(thread)] : 0;
    return place != 0 ? threads_[place - 1] : start(thread);
  }
  // Nothing follows of the thread.
  void forget(ThreadId thread);
  LockSetId set(TreeContext& context) { return context.locks.set(table_); }
  LockSetTable& table() { return table_; }
  // Whether it matters to it that locks are followed even where nobody asks for contexts.
  bool tracks_locks() const { return tracks_sets_; }
  const LockSetTable& table() const { return table_; }

  // Takes an event that is no access into account; also the atomic ones may send.
  [[gnu::always_inline]] void follow(const Event& e) {
    // Most of them; an indirect jump would be harder to predict.
    if (e.op == Op::kAcquire) {
      return acquire(e);
    }
    if (e.op == Op::kRelease) {
      return release(e);
    }
    follow_rarely(e);
  }
  [[gnu::noinline]] void follow_rarely(const Event& e) {
    if (sends_message(e.op, e.order)) {
      send(e.thread);
    }
    follow_end(e);
  }
  // The thread that an end or a join is about has no further events.
  void follow_end(const Event& e) {
    if (e.op == Op::kEnd || e.op == Op::kJoin) {
      forget(e.op == Op::kEnd ? e.thread : ThreadId(e.object));
    }
  }

  // Instead of follow(), while nobody asks for contexts: keeps up with the locks held, and with nothing else.
  void follow_locks(const Event& e) {
    if (e.op == Op::kAcquire) {
      of(e.thread).locks.acquire(e.object, is_shared(e));
    } else if (e.op == Op::kRelease) {
      of(e.thread).locks.release(e.object);
    } else {
      follow_end(e);
    }
  }
  // After that. All counts start anew; returns the largest there was.
  std::uint64_t restart();

  std::uint64_t memory() const;

 private:
  TreeContext& start(ThreadId thread);
  void send(ThreadId thread) { of(thread).count += kind_ != ContextKind::kLocksOnly ? 1 : 0; }
  [[gnu::always_inline]] void acquire(const Event& e) {
    TreeContext& context = of(e.thread);
    context.count += kind_ == ContextKind::kStretches ? 1 : 0;
    if (!tracks_sets_) {
      return;
    }
    LockStack::Entry* entry = context.locks.acquire(e.object, is_shared(e));
    if (kind_ == ContextKind::kUncontended && entry != nullptr) {
      open_section(context, *entry);
    }
  }
  [[gnu::always_inline]] void release(const Event& e) {
    TreeContext& context = of(e.thread);
    context.count += kind_ == ContextKind::kStretches ? 1 : 0;
    if (!tracks_sets_) {
      return;
    }
    LockStack::Entry* entry = context.locks.release(e.object);
    if (kind_ == ContextKind::kUncontended && entry != nullptr) {
      close_section(context, *entry);
    }
  }
  void open_section(TreeContext& context, LockStack::Entry& entry);
  void close_section(TreeContext& context, LockStack::Entry& entry);
  std::uint32_t note_use(TreeContext& context, std::uint64_t lock);

  const ContextKind kind_;
  const bool tracks_sets_;
  std::vector<std::uint32_t> places_;  // by thread: in threads_, + 1; 0: none
  std::vector<TreeContext> threads_;
  std::vector<std::uint32_t> free_;  // places in threads_ that nobody has
  std::uint64_t largest_ = 0;        // count of those that are forgotten
  LockSetTable table_;
  // For kUncontended.
  std::vector<std::uint64_t> lock_events_;  // outermost acquires and releases of each lock
  FlatMap<std::uint32_t> lock_place_;       // lock -> place in lock_events_, + 1
};

}  // namespace sooth
