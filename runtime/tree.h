// TREE inside the program: accesses that docs/tree.md calls redundant are not recorded. Free-running recordings only.
//
// A thread remembers what it recorded, in which context, and looks nowhere else, with two exceptions, both of which
// only tell when a context is over: how often a lock changed hands (`tree:hb`; counted by locks.cc), and whether
// anybody allocated memory since the last event of the thread, because what was remembered of reused bytes counts no
// more.
//
// Thread::repeats stays in front of this: it knows what was recorded since the last event of the thread, at the price
// of one comparison.
#pragma once

#include "filter/context_rules.h"
#include "filter/location_set.h"
#include "runtime/thread.h"

namespace sooth::rt {

inline constexpr u64 kUnknownEvents = ~u64{0};

// The memory of one thread: mapped when the thread is made, so that pages that are not needed are not there.
struct Tree {
  // A lock of the thread, and the number of the sequence of locks up to it. Two orders of the same locks are two
  // sequences, so that nothing has to be sorted: that lets an access pass which could be left out, and never the other
  // way round.
  struct Section {
    u64 lock;  // << 1 | shared
    u32 sequence;
    bool counted;  // in tree:hb: its LockCounts is open
  };
  struct Node {  // sequence `before` and this lock
    u64 lock;
    u32 before;
    u32 sequence;  // 0: empty
  };
  struct Use {
    u64 lock;  // 0: empty
    LockCounts use;
  };
  static constexpr u32 kNodes = 1u << 12;
  static constexpr u32 kUses = 1u << 11;
  static constexpr u32 kSets = 1u << 14;
  static constexpr u32 kProbes = 8;

  u64 count;        // with the sequence of locks, the context: TreeContext::count in src/filter
  u64 allocations;  // as of the last event of the thread; kUnknownEvents when one was going on then
  u64 lock_events;  // for the acquire whose event comes next: those of the lock so far, by anybody, or kUnknownEvents
  u32 depth;        // locks held
  u32 valid;        // sections[0 .. valid): their sequences are right, also above `depth`
  u32 sequences;    // handed out so far
  Section sections[kMaxHeld];
  Node nodes[kNodes];
  Use uses[kUses];
  LocationSet locations[kSets];
};

namespace tree {

// nullptr when the recording does not filter.
Tree* make();
// Another thread goes on with the memory: nothing of before counts.
void restart(Tree* tree);
// In the child of a fork, whose locks are counted anew.
void forget(Tree* tree);

// Around an event that is no plain access and the ticket it takes. The first returns what the second wants back.
u64 before_event(Op op);
void after_event(Thread* t, Shape shape, u64 object, u64 allocations);
// A module was unloaded, or what else makes old program counters mean something new.
inline void forget_contexts(Tree* tree) { ++tree->count; }

// Whether an access of the same thread, bytes, place and kind was recorded in the same context; if not, it is from now
// on.
SOOTH_INLINE bool remembers(Tree* tree, uptr address, uptr pc, Shape shape) {
  LocationKey location;
  location.address = address;
  location.site = static_cast<u32>(pc >> 16);
  location.shape = static_cast<u32>(pc << 16 | shape.bits);  // never 0: it has a size
  location.locks = tree->depth == 0 ? 0 : tree->sections[tree->depth - 1].sequence;
  LocationSet& set = tree->locations[location.hash_of_rest() >> 32 & (Tree::kSets - 1)];
  if (Location* known = set.find(location, true)) {
    if (known->stamp == tree->count) return true;
    known->stamp = tree->count;
    return false;
  }
  set.insert(location, tree->count);
  return false;
}

}  // namespace tree
}  // namespace sooth::rt
