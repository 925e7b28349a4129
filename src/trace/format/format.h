// The bytes of a trace directory. FORMAT.md is the specification; this is its C++ side. Freestanding: only
// fixed-size integers, so that whatever writes traces can include it. All numbers are little-endian.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sooth::format {

inline constexpr char kIncompleteFile[] = "incomplete";  // life stage: being written, or its writer died
inline constexpr char kVersionFile[] = "version";        // life stage: whole
inline constexpr char kEventsFile[] = "events";          // the blocks

inline constexpr std::uint32_t kBlockMagic = 0x4b4c4253;  // "SBLK"

enum class BlockKind : std::uint8_t {
  kNames = 1,   // rows of the tables
  kValues = 2,  // side columns of the events block that follows
  kStacks = 3,
  kBranches = 4,
  kReaches = 5,
  kEvents = 6,  // one segment: a stretch of the interleaving
};

enum class Codec : std::uint8_t { kRaw = 0, kZstd = 1 };

struct BlockHeader {
  std::uint32_t magic;
  std::uint8_t kind;           // BlockKind
  std::uint8_t codec;          // Codec
  std::uint16_t sequence;      // low half of the block's number in the file, from 0: none is missing, doubled or moved
  std::uint32_t stored;        // bytes of payload that follow in the file
  std::uint32_t raw;           // bytes of payload once decompressed
  std::uint64_t first;         // id of the segment's first event; 0 for names
  std::uint32_t count;         // events in the segment; rows for names
  std::uint32_t header_check;  // low half of the XXH3-64 of the 28 bytes before it: is the header whole?
  std::uint64_t checksum;      // XXH3-64 of the stored payload, seeded with that of the 32 bytes before this field
};
static_assert(sizeof(BlockHeader) == 40);
inline constexpr std::size_t kHeaderCheckOffset = offsetof(BlockHeader, header_check);
inline constexpr std::size_t kChecksumOffset = offsetof(BlockHeader, checksum);

// Limits that a reader may rely on and a writer must keep.
inline constexpr std::uint32_t kMaxRawBytes = 1u << 28;
// Four stored bytes hold no more than this: a run-length block of Zstandard. So a header cannot ask for more memory
// than the file justifies.
inline constexpr std::uint32_t kMaxRawPer4Stored = 1u << 17;
inline constexpr std::uint32_t kMaxSegmentEvents = 1u << 16;
inline constexpr std::uint32_t kMaxShapes = 1u << 13;  // 13 bits of a control word

// What a control word names besides the length of its delta: all of an event but its thread and object.
struct Shape {
  std::uint32_t site;
  std::uint32_t size;
  std::uint8_t op;
  std::uint8_t order;
  std::uint8_t flags;
  std::uint8_t reserved;  // 0
};
static_assert(sizeof(Shape) == 12);

struct ThreadEntry {
  std::uint32_t thread;
  std::uint32_t events;
  std::uint32_t delta_bytes;
};
static_assert(sizeof(ThreadEntry) == 12);

struct Run {
  std::uint16_t thread;  // index into the segment's thread entries
  std::uint16_t length_less_1;
};
static_assert(sizeof(Run) == 4);

struct SegmentHeader {
  std::uint32_t shapes;
  std::uint32_t threads;
  std::uint32_t runs;
};
static_assert(sizeof(SegmentHeader) == 12);

// Control word: low 13 bits the shape, high 3 bits the length code of the delta.
inline constexpr unsigned kShapeBits = 13;
inline constexpr std::uint8_t kLengthOfCode[8] = {0, 1, 2, 3, 4, 5, 6, 8};
// The last object seen with a shape is predicted per thread, in so many slots.
inline constexpr std::uint32_t kPredictorSlots = 64;

}  // namespace sooth::format
