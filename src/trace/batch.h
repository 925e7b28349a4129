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

// Bits that choose side columns.
using ColumnSet = std::uint8_t;
inline constexpr ColumnSet kValues = 1;
inline constexpr ColumnSet kStacks = 2;
inline constexpr ColumnSet kBranches = 4;
inline constexpr ColumnSet kReaches = 8;
inline constexpr ColumnSet kNoColumns = 0;
inline constexpr ColumnSet kAllColumns = kValues | kStacks | kBranches | kReaches;

// Event i of the batch has the id `first + i`, or ids[i] where a filter has hidden events between those of the batch;
// readers leave `ids` empty. `values` and `stacks` are empty or parallel to `events`; `branches` and `reaches` are sorted
// by event. Branches after the last event of a trace have `before` == the number of events. Does not own anything.
struct Batch {
  EventId first{};
  std::span<const Event> events;
  std::span<const Value> values;
  std::span<const StackId> stacks;
  std::span<const Branch> branches;
  std::span<const Reach> reaches;
  std::span<const EventId> ids = {};  // empty, or parallel to `events` and ascending

  bool empty() const { return events.empty() && branches.empty(); }
  EventId id(std::size_t i) const { return ids.empty() ? advance(first, i) : ids[i]; }
  StackId stack(std::size_t i) const { return stacks.empty() ? kNoStack : stacks[i]; }
};

}  // namespace sooth
