// The bytes that the run time library leaves behind: a recording. Freestanding, shared by the writer inside the
// recorded program (runtime/) and the reader (recording_reader.h). STREAMS.md is the specification in words.
// Little-endian.
//
// A recording is a directory with
//   streams   one page of Control, then chunks of kChunkBytes: what the threads did, in a compact code
//   sites     SiteRow after SiteRow: the program counters that the streams name by their index
//   process   text: the command and the modules that were loaded
// all written by the program itself through shared mappings, so that they survive its death at any moment; and, once
// the program is over, with
//   symbols   what the sites are called (symbol_file.h)
//   version   the stage file: nothing is missing, and a checksum of each chunk
//
// A *stream* is a sequence of chunks written by one operating system thread at a time; a thread that starts may go on
// with the stream of one that has ended. Records in a stream belong to the thread that the latest kThread record names.
//
// Order. *Ticketed* records carry a number from one counter of the process. The events of the trace are those of all
// streams, merged so that tickets increase; what stands between two ticketed records of a stream may be placed anywhere
// between them (a reader places it right behind the first). Every number is used once, so a ticket that is in no
// stream is one whose owner died holding it: the trace ends in front of it. It also ends in front of
// Control::stop_ticket. In a serial recording only the records kTurn are ticketed: the thread that wrote one ran alone
// until the next.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sooth::stream {

inline constexpr char kStreamsFile[] = "streams";
inline constexpr char kSitesFile[] = "sites";
inline constexpr char kProcessFile[] = "process";
inline constexpr char kSymbolsFile[] = "symbols";
inline constexpr char kDeepFile[] = "deep";        // the code of a program built with --deep; may be missing
inline constexpr char kEndFile[] = "end";          // how the process ended, if not by exit(); may be missing
inline constexpr char kReachesFile[] = "reaches";  // what calls that were left out touched; may be missing

inline constexpr std::uint64_t kControlMagic = 0x3152545348544f53;  // "SOTHSTR1"
inline constexpr std::uint32_t kChunkMagic = 0x4b4e4843;            // "CHNK"
inline constexpr std::uint32_t kControlBytes = 4096;
inline constexpr std::uint32_t kChunkBytes = 64 * 1024;
inline constexpr std::uint32_t kMaxSites = 1u << 20;
inline constexpr std::uint32_t kMaxThreads = 1u << 20;
inline constexpr std::uint64_t kNeverStopped = ~std::uint64_t{0};

// Bits of Control::flags.
inline constexpr std::uint32_t kExactOrder = 1;  // a serial recording
inline constexpr std::uint32_t kWithValues = 2;  // accesses carry what they read or wrote

inline constexpr std::uint32_t kWithDeep = 32;  // there are deep records
// There may be calls of code that was left out (kCallBegin, kCallEnd).
inline constexpr std::uint32_t kWithCalls = 16;

// Bits 2 and 3 of Control::flags: accesses that a mode of TREE (docs/tree.md) calls redundant were not recorded.
// Free-running recordings only: an exact one keeps every event.
enum class FilterMode : std::uint32_t { kNone = 0, kTree = 1, kTreeHb = 2, kTreeStrict = 3 };
inline constexpr unsigned kFilterShift = 2;
inline constexpr std::uint32_t kFilterBits = 3u << kFilterShift;
// By mode, as `sooth analyze --filter` calls them.
inline constexpr const char* kFilterNames[] = {"", "tree", "tree:hb", "tree:strict"};

// Why Control::stop_ticket was set.
enum class StopReason : std::uint32_t {
  kNone = 0,
  kDiskFull = 1,
  kSizeLimit = 2,
  kSignal = 3,
  kTooManySites = 4,
  kTooManyThreads = 5,
  kFileTooLarge = 6,         // EFBIG, or RLIMIT_FSIZE
  kQuota = 7,                // EDQUOT
  kInputOutput = 8,          // EIO
  kNoMemory = 9,             // for a mapping: ENOMEM, RLIMIT_AS
  kNoDescriptor = 10,        // RLIMIT_NOFILE
  kSignalUnderValgrind = 11  // a handler ran at a moment that is not known for certain
};

// In a recording that leaves accesses out (docs/recording.md, "Thinning"), messages between kFirstMark and kLastMark tell
// how far a thread had come that did: a kHappensBefore of that thread, and a kHappensAfter of whoever touches the same
// memory later.
inline constexpr std::uint64_t kFirstMark = std::uint64_t{3} << 44;  // beside those of runtime/descriptors.cc
inline constexpr std::uint64_t kLastMark = kFirstMark + (std::uint64_t{1} << 42) - 1;
constexpr bool is_mark(std::uint64_t message) { return kFirstMark <= message && message <= kLastMark; }

// A free chunk of a live recording goes back to the program through this ring: the reader puts, the program takes.
inline constexpr std::uint32_t kRingSlots = 512;

// The first page of `streams`. Fields that change are accessed atomically by both sides.
struct Control {
  std::uint64_t magic;
  std::uint32_t version;      // kStreamVersion of who wrote it
  std::uint32_t chunk_bytes;  // kChunkBytes
  std::uint32_t flags;
  std::uint32_t pid;
  std::uint64_t left_out;     // accesses to memory that one thread has to itself, so far
  std::uint64_t handed_over;  // granules of 8 bytes of it that other threads touched later
  std::uint64_t reserved0[3];
  // Its own cache line: every synchronisation of every thread adds to it.
  alignas(64) std::uint64_t next_ticket;
  alignas(64) std::uint64_t stop_ticket;  // kNeverStopped, or no record with this ticket or a later one counts
  std::uint32_t stop_reason;              // StopReason
  std::uint32_t chunks;                   // chunks handed out so far, with those being written
  std::uint32_t threads;                  // threads so far: ids below this
  std::uint32_t sites;                    // rows of `sites` so far
  std::uint32_t ended;                    // 1 when the program reached its end in an orderly way
  // Live recordings only (chunk_limit != 0): at most so many chunks exist; freed ones come back through the ring.
  std::uint32_t chunk_limit;
  alignas(64) std::uint32_t ring_put;  // written by the reader
  std::uint32_t starving;              // threads that wait for a chunk; the reader wakes them (futex on ring_put)
  alignas(64) std::uint32_t ring_taken;
  std::uint32_t ring[kRingSlots];
};
static_assert(sizeof(Control) <= kControlBytes);

// In front of each chunk; records follow at once. The records of a chunk end at `committed` when that is not 0 and the
// program lives, else at the first 16 bits of zeros: records never start with them, and a record appears whole or not
// at all.
struct ChunkHeader {
  std::uint32_t magic;      // written last
  std::uint32_t stream;     // dense, from 0
  std::uint32_t sequence;   // number of the chunk within its stream, from 0
  std::uint32_t committed;  // bytes, with this header, that a reader may look at while the program runs
  std::uint32_t closed;     // 1: the stream goes on in its next chunk
  std::uint32_t reserved[3];
};
static_assert(sizeof(ChunkHeader) == 32);

struct SiteRow {
  std::uint64_t pc;          // address of the last byte of the call instruction: return address less one
  std::uint32_t generation;  // how many times modules had been unloaded: modules are looked up as of then
  std::uint32_t use;         // 0, or kFrameRow
};
static_assert(sizeof(SiteRow) == 16);
inline constexpr std::uint32_t kFrameRow = 1;  // in a function whose variables matter, behind its prologue
// The pc of events that belong to no place in the program: the first thread begins, a module that was left out
// synchronises.
inline constexpr std::uint64_t kNoSite = 1;

// `reaches`: which memory calls touched, in rows of 24 bytes.
enum class ReachRowKind : std::uint32_t {
  kNone = 0,  // the end of the rows
  // Set `set` has lines of 2^kReachLineBits bytes that were touched: [a, a + b). What they belong to is not known yet.
  kTouched = 1,
  kWhole = 2,  // set `set` has the bytes [a, a + b)
  kCall = 3,   // call number b (from 0) of thread a may touch set `set`, and nothing else
  kSeal = 4,   // the first row, zeros until `sooth record` seals: there are `set` sets, and b rows behind it, XXH3 a
};
struct ReachRow {
  std::uint32_t kind;
  std::uint32_t set;  // dense, from 0
  std::uint64_t a, b;
};
static_assert(sizeof(ReachRow) == 24);
inline constexpr unsigned kReachLineBits = 4;
inline constexpr std::uint32_t kMaxReachRows = 1u << 24;

// `deep`: a seal, then module after module: a DeepModule, the addresses of its globals (8 bytes each), its bitcode.
inline constexpr std::uint64_t kDeepSealMagic = 0x3150454448544f53;  // "SOTHDEP1"
inline constexpr std::uint32_t kDeepModuleMagic = 0x4c444f4d;        // "MODL"
struct DeepSeal {  // zeros until `sooth record` has seen the end of the program
  std::uint64_t magic;
  std::uint64_t bytes;     // behind the seal
  std::uint64_t checksum;  // XXH3 of them
};
struct DeepModule {
  std::uint32_t magic;
  std::uint32_t module;  // dense, from 0
  std::uint64_t addresses;
  std::uint64_t bitcode_bytes;
};
static_assert(sizeof(DeepSeal) == 24 && sizeof(DeepModule) == 24);
inline constexpr std::uint32_t kMaxDeepModules = 1u << 16;

// A record starts with a control word of 16 bits: bits 0 to 12 a number, bits 13 to 15 a code.
//
// Code 0 to 6: one event. The number, never 0, is a *slot* of the stream, which a kDefine record has filled with the
// event's shape. Then
//   - so many bytes as the code says: the object less the prediction, which is the slot's last object plus the slot's last step (the last object less the one before), modulo 2^64, zigzag;
//     a writer defines the slot again when that would need more than 6 bytes (objects have at most 47 bits);
//   - if the shape is kTicketed: varint, the ticket less the stream's last ticket;
//   - if the shape is kSized: varint, the size in bytes;
//   - if the recording is kWithValues and the event is an access of at most 16 bytes: a byte n and, unless n is kNoValue, n bytes: the value XOR the
//     slot's last value, without leading zero bytes.
// The slot's last object, step and value are 0 when it is defined (so the first event's step is its object); a value
// that was not recorded leaves the last one as it was.
//
// Code 7: the number is a Record. A string is a varint, its length, and its bytes.
inline constexpr unsigned kSlotBits = 13;
inline constexpr std::uint32_t kSlots = 1u << kSlotBits;
inline constexpr unsigned kEscapeCode = 7;
inline constexpr std::uint8_t kNoValue = 0xff;

enum class Record : std::uint16_t {
  kDefine = 1,  // u16 slot; u8 op; u8 memory order; u8 flags; u8 shape bits; varint size (0 when kSized); varint site
  // Varint n: calls to take off the thread's stack; varint m; m varints: sites of calls to put on it, outermost first.
  kStack = 2,
  kTurn = 3,  // varint ticket less the stream's last ticket: a serial recording goes on here
  // Varint thread: what follows is of this thread; its stack is what it was when a stream last left the thread.
  kThread = 4,
  kName = 5,    // u8 ObjectKind; varint object; string: the name of a thread, lock, ...; sent again when it changes
  kTicket = 6,  // varint ticket less the stream's last ticket: no event; orders a kThread record that follows
  // Varint depth; varint site, of a kFrameRow; varint address. The function that was called as the depth-th, from 1, has
  // its frame there (the canonical frame address of DWARF: above its return address).
  kFrame = 7,
  kThreadPointer = 8,  // varint address: what thread-local variables of the program itself are reckoned from
};

// Numbers from kDeepRecords on are deep records: bits 9 to 11 the DeepKind (trace/batch.h), bits 0 to 8 a small number
// s.
//   kEnter    varint module; varint function
//   kWord     s bytes: the value without leading zero bytes
//   kAddress  likewise
//   kBranch   the successor is s, or, when s is kLongBranch, a varint that follows
//   kReturn   varint module; varint function; varint instruction; s bytes: the value
//   kLanded   varint module; varint function; varint instruction
inline constexpr std::uint32_t kDeepRecords = 4096;
inline constexpr unsigned kDeepKindShift = 9;
inline constexpr std::uint32_t kLongBranch = 511;

// Numbers from kRuns + 1 up to kDeepRecords - 1 are *runs*, of recordings that are kWithValues: so many records are
// what a reader expects anyhow.
//
// Of each *context* a stream remembers which record came behind it the last time: an event, by its slot, or a kBranch
// that is not long, by its control word. What else stands between these makes no difference. The context is 0 at first,
// and next_context() after each of them. A stream also remembers the last value of at most 8 bytes that one of its
// events has had at a place, of which several addresses share one: place_of(). Nothing is remembered at first, which is
// 0.
//
// A record of a run is the one that is remembered for the context: that kBranch, or an event of that slot with the
// object that is predicted and the value that is remembered for its place. The slot must be one of accesses of at most
// 8 bytes without shape bits, of which there was a record before. Its last value stays what it was. A writer may count
// up a run that is the last record, until it publishes it.
inline constexpr std::uint32_t kRuns = 2048;
inline constexpr std::uint32_t kContexts = kSlots;
inline constexpr std::uint32_t kPlaces = 1u << 15;
// `word`: a slot or the control word of a kBranch.
inline constexpr std::uint32_t next_context(std::uint32_t context, std::uint32_t word) {
  return word < kSlots ? word : (33 * context + (word & kLongBranch) + 1) & (kContexts - 1);
}
// Neighbouring words have neighbouring places, and the bytes of a word have places far apart.
inline constexpr std::uint32_t place_of(std::uint64_t address) {
  return static_cast<std::uint32_t>(address >> 3 ^ address << 12) & (kPlaces - 1);
}

// Shape bits of kDefine.
inline constexpr std::uint8_t kTicketed = 1;
inline constexpr std::uint8_t kSized = 2;

inline constexpr std::uint32_t kMaxRecordBytes = 64;  // of all but kStack and kName, which are cut to fit

}  // namespace sooth::stream
