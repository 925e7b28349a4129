#include "runtime/tree.h"

#include "runtime/recorder.h"

namespace sooth::rt::tree {
namespace {

using stream::FilterMode;

// Allocations so far << kGoingOnBits, and how many of them are between before_event() and after_event(). Own line:
// threads that allocate write it.
constexpr unsigned kGoingOnBits = 20;
constexpr u64 kGoingOn = (u64{1} << kGoingOnBits) - 1;
constexpr u64 kOneBegins = (u64{1} << kGoingOnBits) + 1;
alignas(64) u64 allocations_ = 0;

u64 hash(u64 number) { return (number ^ number >> 29) * 0x9e3779b97f4a7c15; }

// The number of the sequence, or 0 when there is no room.
u32 find_sequence(Tree* tree, u32 before, u64 lock) {
  u64 place = hash(lock + before * u64{0xd6e8feb86659fd93}) >> 40;
  for (u32 i = 0; i < Tree::kProbes; ++i) {
    Tree::Node& node = tree->nodes[(place + i) & (Tree::kNodes - 1)];
    if (node.sequence == 0) {
      node = {lock, before, ++tree->sequences};
      return node.sequence;
    }
    if (node.lock == lock && node.before == before) return node.sequence;
  }
  return 0;
}

// The sequences of sections[from .. depth). When the table is full it starts again from nothing, with numbers that were
// never used before.
void number_sections(Tree* tree, u32 from) {
  bool emptied = false;
  for (u32 i = from; i < tree->depth; ++i) {
    u32 sequence = find_sequence(tree, i == 0 ? 0 : tree->sections[i - 1].sequence, tree->sections[i].lock);
    if (sequence == 0 && !emptied) {
      zero_memory(tree->nodes, sizeof tree->nodes);
      emptied = true;
      i = ~0u;  // all of them, from the first
      continue;
    }
    // More locks than the empty table can tell apart: a number of its own that nobody will find again.
    tree->sections[i].sequence = sequence != 0 ? sequence : ++tree->sequences;
  }
  tree->valid = tree->depth;
}

LockCounts* find_use(Tree* tree, u64 lock) {
  u64 place = hash(lock) >> 40;
  for (u32 i = 0; i < Tree::kProbes; ++i) {
    Tree::Use& entry = tree->uses[(place + i) & (Tree::kUses - 1)];
    if (entry.lock == 0) entry.lock = lock;
    if (entry.lock == lock) return &entry.use;
  }
  return nullptr;
}

// Whatever cannot be followed makes a new context, which is always right.
void acquire(Tree* tree, u64 lock, bool shared) {
  u64 events = tree->lock_events;
  tree->lock_events = kUnknownEvents;
  if (tree->depth == kMaxHeld) {
    ++tree->count;
    return;
  }
  Tree::Section& section = tree->sections[tree->depth++];
  u64 wanted = lock << 1 | (shared ? 1 : 0);
  if (tree->valid < tree->depth || section.lock != wanted) {
    section.lock = wanted;
    number_sections(tree, tree->depth - 1);
  }
  section.counted = false;
  if (recorder.filter != FilterMode::kTreeHb) return;
  LockCounts* use = events == kUnknownEvents ? nullptr : find_use(tree, lock);
  section.counted = use != nullptr;
  tree->count += use != nullptr ? use->open(events, shared) : 1;
}

void release(Tree* tree, u64 lock) {
  u32 place = tree->depth;
  while (place > 0 && tree->sections[place - 1].lock >> 1 != lock) --place;
  if (place == 0) {
    ++tree->count;
    return;
  }
  Tree::Section section = tree->sections[--place];
  --tree->depth;
  if (place < tree->depth) {
    for (u32 i = place; i < tree->depth; ++i) tree->sections[i] = tree->sections[i + 1];
    number_sections(tree, place);
  }
  if (recorder.filter != FilterMode::kTreeHb) return;
  LockCounts* use = section.counted ? find_use(tree, lock) : nullptr;
  tree->count += use != nullptr ? use->close() : 1;
}

}  // namespace

Tree* make() {
  if (recorder.filter == FilterMode::kNone) return nullptr;
  auto* tree = static_cast<Tree*>(map_memory(sizeof(Tree)));
  if (tree == nullptr) fatal("out of memory for another thread");
  tree->lock_events = tree->allocations = kUnknownEvents;
  return tree;
}

void restart(Tree* tree) {
  ++tree->count;
  tree->depth = tree->valid = 0;
}

void forget(Tree* tree) {
  restart(tree);
  zero_memory(tree->uses, sizeof tree->uses);
  tree->lock_events = tree->allocations = kUnknownEvents;
  __atomic_store_n(&allocations_, 0, __ATOMIC_RELAXED);
}

// Accesses stand in the trace right behind the last event of their thread, so an allocation of others comes between two
// of them exactly when its ticket is between those of two events of the thread. Those with a smaller ticket than this
// event's began before this event's ticket was taken, and are seen behind it. Those that were over before it was taken
// have a smaller one; so when none is going on in front of the ticket, all that are counted there have been taken into
// account, and all others will be counted at the next event.
u64 before_event(Op op) {
  bool allocates = op == Op::kAlloc;
  u64 now = allocates ? __atomic_fetch_add(&allocations_, kOneBegins, __ATOMIC_ACQ_REL)
                      : __atomic_load_n(&allocations_, __ATOMIC_ACQUIRE);
  return (now & kGoingOn) != 0 ? kUnknownEvents : (now >> kGoingOnBits) + (allocates ? 1 : 0);
}

void after_event(Thread* t, Shape shape, u64 object, u64 allocations) {
  Tree* tree = t->tree;
  Op op = shape.op();
  u64 now = op == Op::kAlloc ? __atomic_sub_fetch(&allocations_, 1, __ATOMIC_ACQ_REL)
                             : __atomic_load_n(&allocations_, __ATOMIC_ACQUIRE);
  if (now >> kGoingOnBits != tree->allocations) ++tree->count;
  tree->allocations = allocations;
  bool is_section = op == Op::kAcquire || op == Op::kRelease;
  // What a call that is left out sends is not known.
  if (sends_message(op, shape.order()) || op == Op::kCallBegin || op == Op::kCallEnd)
    ++tree->count;
  else if (is_section && recorder.filter == FilterMode::kTreeStrict)
    ++tree->count;
  else if (op == Op::kAcquire)
    acquire(tree, object, (shape.flags() & kShared) != 0);
  else if (op == Op::kRelease)
    release(tree, object);
}

}  // namespace sooth::rt::tree
