// A stretch of consecutive events with their side columns: what readers hand out and writers take.
#pragma once

#include <cstdint>
#include <span>

#include "trace/event.h"

namespace sooth {

// What an access read or wrote, little-endian: its first `size` bytes, at most 16. size 0: not recorded.
// The value of an rmw is what it read; what it wrote is not recorded.
struct Value {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::uint8_t size = 0;

  friend bool operator==(const Value&, const Value&) = default;
};

// A branch that `thread` took just before the event `before` of the whole trace (of any thread) happened.
// Branches are no events: they have no id, and detectors never see them.
struct Branch {
  EventId before{};
  ThreadId thread{};
  SiteId site{};
  std::uint64_t outcome = 0;

  friend bool operator==(const Branch&, const Branch&) = default;
};

// One address range that the call begun by event `call` (Op::kCallBegin) may touch.
struct Reach {
  EventId call{};
  std::uint64_t begin = 0;
  std::uint64_t length = 0;

  friend bool operator==(const Reach&, const Reach&) = default;
};

// What a program that was built with `sooth c++ --deep` writes down between its accesses, so that its code can be
// executed again from the trace: docs/deep.md. Numbers of functions and instructions are those of DeepProgram
// (deep/program.h).
enum class DeepKind : std::uint8_t {
  kEnter = 0,  // `function` of `module` begins
  // `value`: 64 bits of an argument, of what a read whose event has no value has read, or of the rest of a result.
  kWord = 1,
  kAddress = 2,  // `value`: the address that an alloca has just returned
  // `value`: which successor a conditional br or a switch takes; 0 is the one of "true", and the default of a switch.
  kBranch = 3,
  // The call `id` of `function` of `module` has returned normally; `value`: the first word of its result, 0 when it has
  // none.
  kReturn = 4,
  // An exception has reached the landingpad `id` of `function` of `module`: of its innermost run that is in an invoke
  // with that landingpad; or the call `id`, which may return twice, returns: of its innermost run.
  kLanded = 5,
};
inline constexpr int kDeepKindCount = 6;

// `before` is as in Branch. What the kind does not name is 0. Values that are longer than 64 bits are cut into words as
// their bytes lie in memory, the first bytes first; the last word is filled with zeros.
struct DeepRecord {
  EventId before{};
  ThreadId thread{};
  DeepKind kind{};
  std::uint16_t module = 0;
  std::uint32_t function = 0;
  std::uint32_t id = 0;
  std::uint64_t value = 0;

  friend bool operator==(const DeepRecord&, const DeepRecord&) = default;
};
static_assert(sizeof(DeepRecord) == 32);

// Bits that choose side columns.
using ColumnSet = std::uint8_t;
inline constexpr ColumnSet kValues = 1;
inline constexpr ColumnSet kStacks = 2;
inline constexpr ColumnSet kBranches = 4;
inline constexpr ColumnSet kReaches = 8;
// Only recordings have it: what is copied into another format, filtered or cut loses it, so it is not one of
// kAllColumns.
inline constexpr ColumnSet kDeep = 16;
inline constexpr ColumnSet kNoColumns = 0;
inline constexpr ColumnSet kAllColumns = kValues | kStacks | kBranches | kReaches;

// Event i of the batch has the id `first + i`, or ids[i] where a filter has hidden events between those of the batch;
// readers leave `ids` empty. `values` and `stacks` are empty or parallel to `events`; `branches`, `reaches` and `deep`
// are sorted by event. Branches and deep records after the last event of a trace have `before` == the number of events.
// Does not own anything.
struct Batch {
  EventId first{};
  std::span<const Event> events;
  std::span<const Value> values;
  std::span<const StackId> stacks;
  std::span<const Branch> branches;
  std::span<const Reach> reaches;
  std::span<const EventId> ids = {};  // empty, or parallel to `events` and ascending
  std::span<const DeepRecord> deep = {};

  bool empty() const { return events.empty() && branches.empty() && deep.empty(); }
  EventId id(std::size_t i) const { return ids.empty() ? advance(first, i) : ids[i]; }
  StackId stack(std::size_t i) const { return stacks.empty() ? kNoStack : stacks[i]; }
};

}  // namespace sooth
