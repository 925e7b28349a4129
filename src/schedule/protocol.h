// What the tool tells the run time library about a controlled run, and what the library tells back. Freestanding: both
// sides include it. Native byte order; both files live only as long as the run.
//
// A *controlled run* records no trace: one thread runs at a time, a strategy (strategy.h) says which, and only what
// scheduling needs is looked at. The tool writes a control file and an empty log file and names them in the
// environment:
//
//   SOOTH_CONTROL=PATH      the control file: ControlHeader, then the tables that it points to
//   SOOTH_CONTROL_LOG=PATH  the log file: LogHeader, then LogRecords, through a shared mapping, so it survives any death
//
// Positions. How far a thread has come is a pair of numbers: `events`, the operations of synchronisation that it has
// done (whatever a recording would have as an event that is no plain access, but not allocations), and `accesses`, the
// plain accesses since the last of these. Every thread of the same schedule has the same positions at the same places;
// no address plays a part.
//
// A *stretch* is what one thread does from one change of turns to the next. A schedule is a list of stretches.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace/op.h"

namespace sooth::control {

inline constexpr char kControlVariable[] = "SOOTH_CONTROL";
inline constexpr char kLogVariable[] = "SOOTH_CONTROL_LOG";
// How the library learns what a program does that does not call it: not set for programs with hooks.
inline constexpr char kEngineVariable[] = "SOOTH_ENGINE";
inline constexpr char kLocksEngine[] = "locks";        // by wrapped functions alone
inline constexpr char kValgrindEngine[] = "valgrind";  // the program runs under our tool of Valgrind

inline constexpr std::uint64_t kControlMagic = 0x314c52544348544f;  // "OTHCTRL1"
inline constexpr std::uint64_t kLogMagic = 0x31474f4c43544f53;      // "SOTCLOG1"
inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

// Whether an event counts in `events`. Plain accesses count in `accesses`, the others in neither.
constexpr bool is_operation(Op op) {
  return op != Op::kRead && op != Op::kWrite && op != Op::kAlloc && op != Op::kFree && op != Op::kEnter &&
         op != Op::kExit && op != Op::kMisuse;
}

// Bits of ControlHeader::flags.
// SIGTRAP when the race is created, both threads in front of their accesses.
inline constexpr std::uint32_t kStopAtRace = 1;
inline constexpr std::uint32_t kRealTime = 2;  // clocks and sleeps are those of the system
// Each plain access is a scheduling point, not only those at the pair's sites.
inline constexpr std::uint32_t kEveryAccess = 4;
inline constexpr std::uint32_t kLogPoints = 8;  // a kPoint record for each scheduling point
// Each free is a scheduling point, too, and counts in `accesses`.
inline constexpr std::uint32_t kEveryFree = 16;
// Waits for a condition, those without a deadline, may end although nobody notifies: strategies draw that, and with
// kChoices such a thread can be chosen once, while others can go on.
inline constexpr std::uint32_t kSpuriousWakes = 32;
// Atomics may see whatever weak_memory.h allows: strategies draw it, otherwise MemoryChoices say it.
inline constexpr std::uint32_t kWeakMemory = 64;
// The run is over, as RunState::kHung, when all that could go on have for long done nothing but look at the same things
// again. One of them may count how often it does, and give up later: whoever asks for this knows that, or finds out.
inline constexpr std::uint32_t kEndHangs = 128;

enum class Plan : std::uint32_t {
  kStrategy = 0,   // `strategy` decides
  kDirected = 1,   // RaceFuzzer's Algorithm 1 with the sites of the control file; random otherwise
  kStretches = 2,  // follow the stretches, then go on as `strategy` says
  // At the i-th scheduling point with more than one thread to choose from take choices[i], then the thread that runs,
  // or the lowest. Threads that wait for a deadline can be chosen: it fires then.
  kChoices = 3,
};

struct ControlHeader {
  std::uint64_t magic;
  std::uint32_t bytes;  // of the whole file
  std::uint32_t flags;
  Plan plan;
  // Plain accesses from one scheduling point to the next, at most; 0: the library's default.
  std::uint32_t quantum;
  std::uint64_t seed;
  // Hook calls of others (a scheduling point is 32) until a postponed thread is let go; 0: the default.
  std::uint64_t patience;
  std::uint32_t strategy;                  // offset: text for parse_strategy(), ends with 0
  std::uint32_t ranges, range_count;       // offset and number of SiteRange, sorted by module, then begin
  std::uint32_t stretches, stretch_count;  // of Stretch
  std::uint32_t threads, thread_count;     // of ThreadOrigin: whom the stretches mean
  std::uint32_t choices, choice_count;     // of std::uint16_t: thread ids
  std::uint32_t wake_count;                // of WakeChoice, right behind the choices
  std::uint32_t older, older_count;        // of MemoryChoice, by index
};

// With kWeakMemory, and kStretches or kChoices: of the atomic operations that could see or do more than one thing, number
// `index` (from 0) does weak::Done::chosen = `chosen`. Without a row: 0, the newest.
struct MemoryChoice {
  std::uint32_t index, chosen;

  friend bool operator==(const MemoryChoice&, const MemoryChoice&) = default;
};

// With kChoices: the notification of one that `thread` makes as its number `number` (from 0) of those for which several
// threads wait wakes the one that stands behind `place` others, in the order in which they began to wait. Without a row:
// the first.
struct WakeChoice {
  std::uint16_t thread, number, place;
};

// Bits of SiteRange::kinds and of what an access is.
inline constexpr std::uint32_t kReads = 1;
inline constexpr std::uint32_t kWrites = 2;
inline constexpr std::uint32_t kAtomics = 4;
// No access, but a call that waits for a lock, of a thread that holds another: it meets nobody, and waits like any other
// until nobody else can run. So threads that can wait for each other's locks come to do so.
inline constexpr std::uint32_t kAcquires = 8;
// The same of a thread that holds none.
inline constexpr std::uint32_t kFirstAcquires = 16;

// Bits of SiteRange::sites beyond those of a pair: acquires of one lock, of the second of two sections of a thread, and
// of one that is to come between the two.
inline constexpr std::uint32_t kSecondSection = 4;
inline constexpr std::uint32_t kSectionBetween = 8;
// With kSecondSection: the first of the two begins there, too. The first ones that come there, one to three, pass.
inline constexpr std::uint32_t kEitherSection = 16;

// Code that belongs to a site of the pair: an access whose program counter (that of the call of the hook, less one)
// lies in [begin, end) of the module, and which is of the kind. With Plan::kStrategy: a scheduling point. A site may have many ranges, and a range may belong to
// both sites.
struct SiteRange {
  std::uint32_t module;  // offset: path or file name of the module, ends with 0; empty: the program itself
  std::uint32_t sites;   // bit 0: the first site of the pair, bit 1: the second; kSecondSection, ...
  std::uint32_t
      kinds;  // plain accesses: kReads, kWrites or both; with kAtomics, atomic ones; or kAcquires, kFirstAcquires
  std::uint32_t reserved;
  std::uint64_t begin, end;  // as in the ELF file: without the bias
};

// Why a stretch ends.
enum class StretchEnd : std::uint32_t {
  kPreempted = 0,  // the strategy chose another thread at a scheduling point
  kBlocked = 1,    // it waits for a lock, a condition, a thread, ...
  kYielded = 2,
  // It is in a call that may block outside our view. The next stretch of it begins when it has come back.
  kOutside = 3,
  kTaken = 4,      // the monitor took the turn away: blocked in a call that nobody brackets
  kPostponed = 5,  // in front of an access at a site of the pair
  kEnded = 6,      // the thread is over
  kSpun = 7,       // it did nothing but look at the same things again
  kRunEnded = 8,   // the process is over
};
inline constexpr std::uint32_t kStretchEndCount = 9;

// A thread has the turn until it has come to the position, or further if there is no scheduling point in between.
struct Stretch {
  std::uint32_t thread;
  StretchEnd end;
  std::uint64_t events;    // done by the thread when the stretch ends, since the thread began
  std::uint64_t accesses;  // since the last of these; kAnyAccesses: as far as the next operation
  std::uint32_t hash;      // of all operations of the process up to here; 0 is not checked
  // 1: the thread was woken for this stretch by its deadline; or, with kSpuriousWakes, by nobody. One that waits for a deadline, and whose turn the schedule
  // says it is, is woken by it in any case.
  std::uint32_t timed_out;
};
inline constexpr std::uint64_t kAnyAccesses = ~std::uint64_t{0};

// How a thread of a schedule comes about: the child-th thread (from 0) that the parent creates. Thread 0 has no row.
struct ThreadOrigin {
  std::uint32_t thread, parent, child, reserved;
};

// The state of the run, for a tool that finds the process gone.
enum class RunState : std::uint32_t {
  kNotStarted = 0,  // no library of ours came to life
  kRunning = 1,
  kEnded = 2,       // by exit() or by returning from main
  kDeadlocked = 3,  // every thread was blocked, and nobody could come back: ended by us, with kDeadlockStatus
  kDiverged = 4,    // the program did not do what the stretches say; it went on as `strategy` says
  kHung = 5,        // kEndHangs: ended by us, with kDeadlockStatus
};
inline constexpr int kDeadlockStatus = 66;

struct LogHeader {
  std::uint64_t magic;       // by the tool
  std::uint64_t capacity;    // records that fit; by the tool
  std::uint64_t count;       // records taken, atomically; more than capacity: the rest is lost
  RunState state;            // of the first process
  std::uint32_t processes;   // started so far: the first is process 0, then in the order of fork and exec
  std::uint64_t hook_calls;  // at the end of the first process, as far as it got
  std::uint64_t scheduling_points;
  // Equal for runs whose first process did the same operations, and accesses at sites, in the same order at each object.
  std::uint64_t order_hash;
  std::uint64_t reserved;
};

enum class RecordKind : std::uint16_t {
  kNothing = 0,  // taken but not filled: its process died
  kThread = 1,   // `thread` was created: a = parent, b = child as in ThreadOrigin
  kStretch = 2,  // of `thread`: a = events, b = accesses, c = StretchEnd | timed_out << 8 | hash << 32
  // `thread` meets the thread of the kRaceWith record that comes next, both in front of accesses to the same bytes, at
  // least one a write, not both atomic. a = offset of the program counter in its module, b = index of the SiteRange |
  // one more than the offset of the bytes in the program << 32 if they are in a variable of it, c = bytes | kinds << 32
  // | 1 << 40 if it goes first.
  kRace = 3,
  kRaceWith = 4,  // the other one, in the same form; one per postponed thread that it meets
  // A postponed `thread` goes on without a race: a = 0 all others are postponed or blocked, 1 its patience is over.
  kLetGo = 5,
  kTurnTaken = 6,  // the monitor took the turn from `thread`
  kSpin = 7,       // `thread` was found spinning and lost the turn
  kDeadlock = 8,   // followed by one kBlockedThread per thread that is not over
  // A = BlockedOn, b = thread that holds what it waits for, or kNone | one more than the offset of that in the program <<
  // 32 if it is in a variable of it, c = program counter's offset in its module | kInLibrary if that is not the program
  // itself.
  kBlockedThread = 9,
  // `thread` at stretch a of the schedule: b = Divergence, c = what was found instead (see Divergence).
  kDiverged = 10,
  // A scheduling point: the `thread` that had the turn; a = threads that could be chosen as bits 0..63, b = the chosen one, c = kind
  // of point | StretchEnd << 8, by which it stops if another is chosen.
  kPoint = 11,
  // What `thread` is about to do at its next turn: a = Op | is_write << 8 | is_everything << 9 | kWholeGranules or 0 |
  // kInSequentialOrder or 0 | first byte << 16 | bytes << 32, b = first and c = last of the objects it is about, numbered in the order in which they were first met;
  // b > c: of none. Objects are granules of kGranule bytes; the first byte is one of the first granule. A step may have
  // several records, granules in order. Op::kEnd: the thread ends with what it did at its last turn. Op::kCallEnd: that
  // was atomic, and wrote what was there.
  kStep = 12,
  kExternal = 13,  // something from outside took part, so the seed alone does not repeat the run: a = External
  // In front of the kStep records of a step: a = offset of the program counter in its module, or 0, b = events << 32 |
  // module, c = accesses | one more than the offset in the program of what it is about << 32 if that is in a variable of
  // it. Where the thread is; the module is a number, or kNone.
  kStepAt = 14,
  // `thread` is the number of a module: a, b, c = the next 24 bytes of its path, up to a record with a 0 in it; the
  // path of the program itself is empty. A number may be given again.
  kModule = 15,
  // `thread` is about to be killed by the signal a, of its own doing; c = where, as in kBlockedThread; 0: unknown.
  kCrash = 16,
  // The deadline of `thread` fired while others could run: a = by how many nanoseconds of virtual time early. They were
  // delayed for so long. kSpurious: it waited for a condition, had no deadline, and nobody notified it.
  kEarly = 17,
  // A frame of `thread`, behind its kBlockedThread or kCrash, innermost first: a = offset of the program counter in its
  // module, b = number of the module as in kModule, or kNone.
  kFrame = 18,
  // `thread` notified one of several that waited: a = number, b = place, both as in WakeChoice, c = how many waited.
  kWake = 20,
  // `thread` came to a operations and accesses at sites, in front of which others may go first; b = its number, from 0 in
  // the order in which threads were created. When it ends, or the process. Not with kLogPoints.
  kEvents = 21,
  // `thread` did an operation, or an access at a site, right behind another one at the same object, not both looks: a, b =
  // where these are, as offsets in their modules, c = whether the first writes | the second << 1 | the thread of the
  // first << 32. Once in a run. Not with kLogPoints.
  kOrder = 22,
  // An atomic operation of `thread` could see or do more than one thing (kWeakMemory): a = index and chosen of MemoryChoice,
  // index << 32 | chosen << 16 | how many there were << 8 | Op, b = offset of its program counter in its module, c = one more
  // than the offset in the program of what it is about, if that is in a variable of it. Where the newest was chosen only with
  // kLogPoints; else a kMemoryStores comes next.
  kMemory = 23,
  // What it read, or would have written behind: a = the value, b = the newest one's, c = thread of its store | that of the
  // newest one << 16 | number of the store at its location << 32 | that of the newest one << 48; numbers are from 0, what
  // was there at first.
  kMemoryStores = 24,
  // Where these two were made: a, b = offsets of program counters in their modules.
  kMemoryPlaces = 25,
  kStopped = 19,  // the tool asked with kWhereSignal where everybody is: followed by kBlockedThread records
};
// A run that does not end is sent it before it is killed: threads say where they are.
inline constexpr int kWhereSignal = 5;  // SIGTRAP

inline constexpr std::uint64_t kGranule = 8;
inline constexpr std::uint64_t kWholeGranules = 1 << 10;  // of a kStep: all bytes of these
// Of a kStep with kWeakMemory: a sequentially consistent access; or, of Op::kFence, fence.
inline constexpr std::uint64_t kInSequentialOrder = 1 << 11;

enum class BlockedOn : std::uint64_t {
  kUnknown = 0,
  kMutex = 1,
  kRwlock = 2,
  kSpin = 3,
  kCondition = 4,
  kBarrier = 5,
  kSemaphore = 6,
  kJoin = 7,
  kOnce = 8,
  kFutex = 9
};

enum class Divergence : std::uint64_t {
  kNotReady = 0,   // the thread of the stretch cannot run; c = StretchEnd by which it stopped
  kNoThread = 1,   // there is no such thread
  kEarly = 2,      // it stopped before it came to the position; c = StretchEnd by which it stopped
  kOtherHash = 3,  // it did other operations; c = the hash
};

// Of a kEarly record: less likely than any delay.
inline constexpr std::uint64_t kSpurious = ~std::uint64_t{0};

enum class External : std::uint64_t { kReturned = 0, kTurnTaken = 1, kSignal = 2, kDeadline = 3 };

inline constexpr std::uint64_t kInLibrary = std::uint64_t{1} << 63;

struct LogRecord {
  RecordKind kind;
  std::uint16_t process;
  std::uint32_t thread;
  std::uint64_t a, b, c;
};
static_assert(sizeof(LogRecord) == 32 && sizeof(LogHeader) == 64 && sizeof(Stretch) == 32 && sizeof(SiteRange) == 32);

}  // namespace sooth::control
