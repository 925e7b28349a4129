#include "runtime/weak.h"

#include "runtime/control.h"
#include "schedule/random.h"

namespace sooth::rt::weak_run {

using sooth::control::MemoryChoice;
using sooth::control::Plan;
using sooth::control::RecordKind;
using sooth::weak::Done;
using sooth::weak::kSlots;
using sooth::weak::Location;
using sooth::weak::Memory;
using sooth::weak::Store;
using sooth::weak::View;

bool is_on_ = false;

namespace {

// Locations by address; those that lie in the same block are in one chain. Open addressing; `size` 0: free.
struct Entry {
  uptr address;
  u32 size;
  Location location;  // without stores: it is not known what is there
};
constexpr u32 kLocations = 1u << 13, kMostProbes = 64;
constexpr uptr kBlock = 16;
Entry* locations_ = nullptr;

// What threads hand on by other means than atomics: by lock, message, ... Open addressing; key 0: free.
struct Handed {
  u64 key;
  View view;
};
constexpr u32 kHanded = 1u << 14;
Handed* handed_ = nullptr;
View handed_by_others_;  // of all for which there is no room

// Threads by slot. When there is none left another goes on with that of one that has ended, as if it were the same; and if
// there is no such one, with the last.
constexpr u32 kNobody = ~0u;
enum class SlotState : u8 { kFree, kUsed, kEnded };
sooth::weak::Thread threads_[kSlots];
u32 ids_[kSlots];
SlotState states_[kSlots];

// Memory that was written by accesses that we saw, by blocks: such writes hand nothing on. Bits by hash.
constexpr u32 kWrittenBits = 1u << 20;
u64* written_ = nullptr;

Memory memory_;
SeededRandom random_;
u32 rarity_ = 1;  // one of so many loads is not of the newest
u32 asked_ = 0;   // choices so far
u32 next_row_ = 0;

u64 hash_of(u64 key) { return key * 0x9e3779b97f4a7c15 >> 32; }

u64& written_word(uptr address, u64& bit) {
  u64 at = hash_of(address / kBlock) & (kWrittenBits - 1);
  bit = u64{1} << at % 64;
  return written_[at / 64];
}

sooth::weak::Thread& thread_of(u32 id) {
  u32 free = 0, ended = 0;
  for (u32 i = 1; i < kSlots; ++i) {
    if (states_[i] == SlotState::kUsed && ids_[i] == id) return threads_[i];
    if (states_[i] == SlotState::kFree && free == 0) free = i;
    if (states_[i] == SlotState::kEnded && ended == 0) ended = i;
  }
  u32 slot = free != 0 ? free : ended != 0 ? ended : kSlots - 1;
  if (free != 0 || ended != 0) {
    states_[slot] = SlotState::kUsed;
    ids_[slot] = id;
  }
  threads_[slot].slot = slot;
  return threads_[slot];
}

View everybody() {
  View all;
  for (const sooth::weak::Thread& thread : threads_) all.join(thread.now);
  return all;
}

View& handed(u64 kind, u64 object) {
  u64 key = (object ^ kind << 58) + 1;
  u32 at = static_cast<u32>(hash_of(key)) & (kHanded - 1);
  for (u32 probes = 0; probes < kMostProbes; ++probes, at = (at + 1) & (kHanded - 1)) {
    if (handed_[at].key == 0) handed_[at].key = key;
    if (handed_[at].key == key) return handed_[at].view;
  }
  return handed_by_others_;
}

// Calls `f` for each known location that overlaps with the bytes.
template <typename F>
void for_each_in(uptr address, u64 bytes, F f) {
  constexpr u64 kMostBlocks = 4096;
  uptr first = address / kBlock, last = (address + bytes - 1) / kBlock;
  auto visit = [&](Entry& e) {
    if (e.size != 0 && e.address < address + bytes && address < e.address + e.size) f(e);
  };
  if (last - first >= kMostBlocks) {
    for (u32 i = 0; i < kLocations; ++i) visit(locations_[i]);
    return;
  }
  for (uptr block = first; block <= last; ++block) {
    u32 at = static_cast<u32>(hash_of(block)) & (kLocations - 1);
    for (u32 probes = 0; probes < kMostProbes && locations_[at].size != 0; ++probes, at = (at + 1) & (kLocations - 1))
      if (locations_[at].address / kBlock == block) visit(locations_[at]);
  }
}

// nullptr: there are too many.
Entry* entry_of(uptr address, u32 size) {
  u32 at = static_cast<u32>(hash_of(address / kBlock)) & (kLocations - 1);
  for (u32 probes = 0; probes < kMostProbes; ++probes, at = (at + 1) & (kLocations - 1)) {
    Entry& e = locations_[at];
    if (e.size == 0) {
      e.address = address;
      e.size = size;
    }
    if (e.address == address && e.size == size) return &e;
  }
  return nullptr;
}

// The location, of which memory holds the newest; nullptr: nothing is kept of it.
Location* find(const Access& access) {
  bool is_mixed = false;
  for_each_in(access.address, access.size, [&](Entry& e) {
    if (e.address == access.address && e.size == access.size) return;
    // The same bytes in another size: what they hold now, with all that may have come with it.
    is_mixed = is_mixed || e.location.count != 0;
    e.location.count = 0;
  });
  Entry* e = entry_of(access.address, access.size);
  if (e == nullptr) return nullptr;
  Location& location = e->location;
  if (location.count != 0 && location.newest().value == access.memory && !is_mixed) return &location;
  u64 bit = 0;
  // By a write that we saw, by the loader, or by nobody.
  bool is_plain = (written_word(access.address, bit) & bit) != 0 || access.memory == Value{} ||
                  controlled::is_in_program(access.address);
  // Somebody whom we do not see wrote it, perhaps after all that others have done.
  bool is_known = location.count == 0 && is_plain && !is_mixed;
  location.restart(access.memory, is_known ? View{} : everybody());
  location.stores[0].writer = kNobody;
  return &location;
}

u32 chosen_by_schedule(u32 index) {
  u32 count = 0;
  const MemoryChoice* rows = controlled::older(count);
  while (next_row_ < count && rows[next_row_].index < index) ++next_row_;
  return next_row_ < count && rows[next_row_].index == index ? rows[next_row_].chosen : 0;
}

u32 choose(u32 count) {
  u32 index = asked_++;
  Plan plan = controlled::plan();
  if (plan == Plan::kStretches || plan == Plan::kChoices) {
    u32 chosen = chosen_by_schedule(index);
    return chosen < count ? chosen : 0;
  }
  return random_.below(rarity_) != 0 ? 0 : 1 + static_cast<u32>(random_.below(count - 1));
}

// For who wants to know what the choice was.
void tell(const Access& access, Op op, const Done& done, const Store& seen, const Store& newest) {
  if (done.choices < 2) return;
  bool is_older = done.chosen != 0;
  if (!is_older && !controlled::has_flag(sooth::control::kLogPoints)) return;
  u32 id = access.thread->id;
  controlled::log(RecordKind::kMemory, id,
                  u64{asked_ - 1} << 32 | u64{done.chosen} << 16 | u64{done.choices} << 8 | static_cast<u64>(op),
                  controlled::module_offset(access.pc), controlled::variable_offset(access.address));
  if (!is_older) return;
  controlled::log(RecordKind::kMemoryStores, id, seen.value.low, newest.value.low,
                  u64{seen.writer & 0xffff} | u64{newest.writer & 0xffff} << 16 | u64{seen.number & 0xffff} << 32 |
                      u64{newest.number & 0xffff} << 48);
  controlled::log(RecordKind::kMemoryPlaces, id, seen.place == 0 ? 0 : controlled::module_offset(seen.place),
                  newest.place == 0 ? 0 : controlled::module_offset(newest.place));
}

void sign(Location& location, const Done& done, const Access& access) {
  location.stores[done.written].writer = access.thread->id;
  location.stores[done.written].place = access.pc;
}

// Of a location of which nothing is kept: whoever reads it learns of everybody.
void learn_all(Thread* t) { thread_of(t->id).now.join(everybody()); }

bool never(void*, const Value&, Value&) { return false; }

}  // namespace

void start() {
  is_on_ = (controlled::header().flags & sooth::control::kWeakMemory) != 0;
  if (!is_on_) return;
  if (locations_ == nullptr) {
    locations_ = static_cast<Entry*>(map_memory(kLocations * sizeof(Entry)));
    handed_ = static_cast<Handed*>(map_memory(kHanded * sizeof(Handed)));
    written_ = static_cast<u64*>(map_memory(kWrittenBits / 8));
    if (locations_ == nullptr || handed_ == nullptr || written_ == nullptr) fatal("out of memory for weak memory");
  }
  // A process that a fork has made begins with what memory holds.
  for (u32 i = 0; i < kLocations; ++i)
    if (locations_[i].size != 0) locations_[i].location.count = 0;
  for (SlotState& state : states_) state = SlotState::kFree;
  asked_ = next_row_ = 0;
  random_ = SeededRandom(controlled::header().seed ^ 0x5eed0fa6e5ULL);
  rarity_ = 2u << random_.below(4);
}

Seen load(const Access& access, Order order) { return modify(access, order, order, never, nullptr); }

Seen store(const Access& access, Order order, const Value& value) {
  Location* location = find(access);
  if (location == nullptr) return {value, true, value, true};
  const Store newest = location->newest();
  Done done = memory_.store(thread_of(access.thread->id), *location, order, value, choose);
  sign(*location, done, access);
  tell(access, Op::kAtomicStore, done, location->stores[done.written], newest);
  return {value, done.is_newest, value, true};
}

Seen modify(const Access& access, Order order, Order otherwise, Change change, void* context) {
  Location* location = find(access);
  if (location == nullptr) {
    learn_all(access.thread);
    Value next;
    bool wrote = change(context, access.memory, next);
    return {access.memory, wrote, next, wrote};
  }
  const Store newest = location->newest();
  Done done = memory_.modify(
      thread_of(access.thread->id), *location, order, otherwise,
      [&](const Value& old, Value& next) { return change(context, old, next); },
      [&](u32 count) { return choose(count); });
  Value next;
  if (done.wrote) {
    sign(*location, done, access);
    next = location->stores[done.written].value;
  }
  if (done.chosen != 0 || controlled::has_flag(sooth::control::kLogPoints)) {
    // What it read may have been forgotten just now, to make room for what it wrote.
    u32 at = done.wrote ? (done.written == 0 ? 0 : done.written - 1) : done.place;
    tell(access, done.wrote ? Op::kAtomicRmw : Op::kAtomicLoad, done, location->stores[at], newest);
  }
  return {done.read, done.wrote && done.is_newest, next, done.wrote};
}

void fence(Thread* t, Order order) { memory_.fence(thread_of(t->id), order); }

void happened(Thread* t, Op op, u64 object, u64 size) {
  enum Kind : u64 { kLock = 1, kSignal, kBarrier, kSemaphore, kMessage, kThread, kCall };
  View& now = thread_of(t->id).now;
  auto hand_on = [&](u64 kind, u64 what) { handed(kind, what).join(now); };
  auto take = [&](u64 kind, u64 what) { now.join(handed(kind, what)); };
  switch (op) {
    case Op::kAcquire: return take(kLock, object);
    case Op::kRelease: return hand_on(kLock, object);
    case Op::kNotify: return hand_on(kSignal, object);
    case Op::kWait: return take(kSignal, object);
    case Op::kBarrierArrive: return hand_on(kBarrier, object);
    case Op::kBarrierLeave: return take(kBarrier, object);
    case Op::kSemPost: return hand_on(kSemaphore, object);
    case Op::kSemWait: return take(kSemaphore, object);
    case Op::kHappensBefore: return hand_on(kMessage, object);
    case Op::kHappensAfter: return take(kMessage, object);
    case Op::kFork: return hand_on(kThread, object);
    case Op::kBegin: return take(kThread, t->id);
    case Op::kJoin: return take(kThread, object);
    case Op::kEnd:
      hand_on(kThread, t->id);
      for (u32 i = 1; i < kSlots; ++i)
        if (states_[i] == SlotState::kUsed && ids_[i] == t->id) states_[i] = SlotState::kEnded;
      return;
    case Op::kCallBegin:
    case Op::kCallEnd:  // what is not seen may order anything
      hand_on(kCall, 0);
      return take(kCall, 0);
    case Op::kAlloc:
    case Op::kFree: return before_write(object, size);
    case Op::kRead:
    case Op::kWrite:
    case Op::kAtomicLoad:
    case Op::kAtomicStore:
    case Op::kAtomicRmw:
    case Op::kFence:
    case Op::kEnter:
    case Op::kExit:
    case Op::kMisuse:
    case Op::kAcquireFailed:
    case Op::kCondNotify:
    case Op::kCondWait: return;
  }
}

void before_write(uptr address, u64 bytes) {
  if (bytes == 0) return;
  for_each_in(address, bytes, [](Entry& e) { e.location.count = 0; });
  constexpr u64 kMostMarked = 4096;
  uptr end = address + (bytes < kMostMarked ? bytes : kMostMarked);
  for (uptr at = address / kBlock * kBlock; at < end; at += kBlock) {
    u64 bit = 0;
    u64& word = written_word(at, bit);
    word |= bit;
  }
}

}  // namespace sooth::rt::weak_run
