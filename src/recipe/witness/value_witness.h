// A witness whose reads may see other values than in the recorded run: the program computes on with them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "deep/program.h"
#include "trace/event.h"

namespace sooth {

// Beside its recorded path a thread gets the n-th block that it allocates here, where no program has memory. Values of
// witnesses speak of these addresses. At most kLongestFreshBlock bytes each.
inline constexpr std::uint64_t kFreshBlocks = std::uint64_t{1} << 61;
inline constexpr std::uint64_t kLongestFreshBlock = std::uint64_t{1} << 24;
inline constexpr std::uint64_t fresh_block(std::uint32_t thread, std::uint32_t number) {
  return kFreshBlocks + (std::uint64_t{thread % (1u << 16)} << 44) + (std::uint64_t{number % (1u << 20)} << 24);
}
inline constexpr bool is_fresh_block(std::uint64_t address) {
  return address >= kFreshBlocks && address < 2 * kFreshBlocks;
}

// A step of a branch that its thread did not take in the recorded run.
struct DetourEvent {
  ThreadId thread{};
  InstructionRef at{};
  Op op = Op::kRead;                   // an access, or kAcquire, kRelease of a mutex
  std::uint64_t object = 0;            // address, or the lock
  std::uint32_t size = 0;              // bytes; 0 for locks
  std::uint64_t after = 0;             // so many events of ValueWitness::order stand in front of it
  std::optional<std::uint64_t> value;  // what it reads, zero-extended: for reports, the judge computes it again

  friend bool operator==(const DetourEvent&, const DetourEvent&) = default;
};

// One of the two accesses that are next.
struct NextAccess {
  ThreadId thread{};
  std::optional<EventId> event;           // an access of the trace: its thread's next behind `order`, or
  std::optional<DetourEvent> unexecuted;  // one that never happened: the next behind the thread's steps in `detour`
  // With `unexecuted`: the branch or switch that goes another way, the access that touches other memory, or the call that
  // calls something else, right behind the thread's events in `order`.
  std::optional<InstructionRef> branch;

  friend bool operator==(const NextAccess&, const NextAccess&) = default;
};

// What a read of `order` sees instead of what it found in the recorded run.
struct ReadValue {
  EventId event{};
  std::uint64_t value = 0;  // of its bytes in memory, zero-extended

  friend bool operator==(const ReadValue&, const ReadValue&) = default;
};

// A correct reordering (docs/semantics.md section 7, points 1 to 3) in which every thread computes with the values that
// its reads see, takes every branch as recorded, accesses the addresses that were recorded, and hands to whatever is
// not modelled what it was handed in the recorded run; except that a thread whose next access is `unexecuted` then
// leaves its recorded path. After it both accesses, which conflict, are next.
struct ValueWitness {
  std::vector<EventId> order;       // as Witness::order: each thread contributes a prefix of its events
  std::vector<DetourEvent> detour;  // by `after`, in the order in which they happen: of the threads of `next` only
  std::vector<ReadValue> reads;     // in the order of `order`: reads that see another value than the recorded one
  NextAccess next[2];               // of different threads

  friend bool operator==(const ValueWitness&, const ValueWitness&) = default;
};

}  // namespace sooth
