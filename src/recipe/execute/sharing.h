// Which memory threads share, in a recorded run.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/flat_map.h"
#include "predict/past_clocks.h"
#include "predict/trace_index.h"

namespace sooth {

// Read-only after construction, which is linear in the events.
class Sharing {
 public:
  // `index` and `trace` must outlive it. Only with `histories` the questions about addresses may be asked.
  Sharing(const TraceIndex& index, const TraceView& trace, bool histories);

  // What is in these and not in the trace is told as well (SymbolicProgram::copied); must outlive it.
  void set_copied(const FlatMap<std::vector<std::uint8_t>>& copied) { copied_ = &copied; }

  std::uint32_t thread(EventIndex e) const { return index_.thread(e); }

  // Whether the access touches a variable that two threads touch and one of them writes.
  bool is_shared(EventIndex access) const;

  // Of 8 aligned bytes each that the bytes are in, whatever their generation. Linear in the accesses of more than kLong
  // bytes.
  bool others_write(std::uint32_t thread, std::uint64_t address, std::uint64_t size) const;
  bool others_touch(std::uint32_t thread, std::uint64_t address, std::uint64_t size) const;
  // What the recorded run had in memory there when `before` was the next event, if the access before or behind that
  // tells.
  std::optional<std::uint8_t> byte_at(std::uint64_t address, EventIndex before) const;
  // The same if other threads had made their events in front of `cut` and those that the thread cannot begin without,
  // and nothing else, and the thread all of its own in front of `before`, behind those of others that do not have to
  // come later.
  std::optional<std::uint8_t> byte_seen(std::uint32_t thread, std::uint64_t address, EventIndex cut,
                                        EventIndex before) const;
  // The write or free that left what is there then; kNoEvent: nobody has written there.
  EventIndex last_write(std::uint32_t thread, std::uint64_t address, EventIndex cut, EventIndex before) const;
  // As byte_at(), of at most 8 bytes.
  std::optional<std::uint64_t> value_at(std::uint64_t address, std::uint32_t size, EventIndex before) const;
  // Distinct values of these at most 8 bytes in the recorded run, as accesses of all of them tell: some of the first and
  // some of the last ones.
  std::vector<std::uint64_t> values_of(std::uint64_t address, std::uint32_t size) const;
  // Whether the recorded run ever writes to the byte; does so with a long access, which last_write() does not know of.
  bool is_written(std::uint64_t address) const;
  bool is_written_at_length(std::uint64_t address) const;
  // Whether what is in the byte while the thread runs does not depend on what others do meanwhile: all writes of others
  // must come before the thread begins, by threads of lower numbers, or after it ends; and it has not written there
  // itself before `before`. `computed` are events that may write something else than they did.
  bool is_settled(std::uint32_t thread, std::uint64_t address, EventIndex before, const FlatMap<bool>& computed) const;

 private:
  static constexpr std::uint64_t kGranule = 8;
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  static constexpr std::uint32_t kMany = kNobody - 1;

  static constexpr std::uint32_t kLong = 4096;  // bytes: longer accesses are few, and would fill the table

  static constexpr std::uint32_t kNoHistory = ~std::uint32_t{0};
  static constexpr std::size_t kMostAccesses = std::size_t{1} << 28;  // more: there are no histories

  struct Granule {
    std::uint32_t writer = kNobody;
    std::uint32_t user = kNobody;
    std::uint32_t history = kNoHistory;  // first in histories_
    std::uint32_t accesses = 0;
  };

  void note_variables();
  void note_granules();
  void note(Granule& granule, EventIndex e);
  // Accesses that touch the 8 bytes around that one.
  std::span<const EventIndex> history(std::uint64_t address) const;
  bool writes(EventIndex e, std::uint64_t address) const;
  // What the byte was then, as the event tells: what a read found, and a write left.
  std::optional<std::uint8_t> told(EventIndex e, std::uint64_t address) const;
  std::optional<std::uint8_t> told_by_readers(std::span<const EventIndex> later, std::uint64_t address) const;
  // Whether one of the granules has somebody else as its user or writer.
  bool others(std::uint32_t Granule::*who, std::uint32_t thread, std::uint64_t address, std::uint64_t size) const;

  const TraceIndex& index_;
  const TraceView trace_;
  const FlatMap<std::vector<std::uint8_t>>* copied_ = nullptr;
  std::vector<std::uint8_t> shared_;   // by variable
  FlatMap<Granule> granules_;          // by address / kGranule
  std::vector<EventIndex> long_;       // accesses that are not in there
  std::vector<EventIndex> histories_;  // of each granule's accesses, ascending
  std::unique_ptr<PastClocks> past_;   // only with histories
};

}  // namespace sooth
