// Which memory threads share, in a recorded run.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/flat_map.h"
#include "predict/trace_index.h"

namespace sooth {

// Read-only after construction, which is linear in the events.
class Sharing {
 public:
  // `index` and `trace` must outlive it. Only with `histories` the questions about addresses may be asked.
  Sharing(const TraceIndex& index, const TraceView& trace, bool histories);

  // Whether the access touches a variable that two threads touch and one of them writes.
  bool is_shared(EventIndex access) const;

  // Of 8 aligned bytes each that the bytes are in, whatever their generation. Linear in the accesses of more than kLong
  // bytes.
  bool others_write(std::uint32_t thread, std::uint64_t address, std::uint64_t size) const;
  bool others_touch(std::uint32_t thread, std::uint64_t address, std::uint64_t size) const;
  // What the recorded run had in memory there when `before` was the next event, if a recent access of exactly these
  // bytes, or more, tells. At most 8 bytes.
  std::optional<std::uint64_t> value_at(std::uint64_t address, std::uint32_t size, EventIndex before) const;

 private:
  static constexpr std::uint64_t kGranule = 8;
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  static constexpr std::uint32_t kMany = kNobody - 1;

  static constexpr std::uint32_t kLong = 4096;  // bytes: longer accesses are few, and would fill the table

  struct Granule {
    std::uint32_t writer = kNobody;
    std::uint32_t user = kNobody;
    std::uint32_t history = 0;  // in histories_; 0: none
  };

  void note_variables();
  void note_granules();
  void note(Granule& granule, EventIndex e);
  // Whether one of the granules has somebody else as its user or writer.
  bool others(std::uint32_t Granule::*who, std::uint32_t thread, std::uint64_t address, std::uint64_t size) const;

  const TraceIndex& index_;
  const TraceView trace_;
  std::vector<std::uint8_t> shared_;                // by variable
  FlatMap<Granule> granules_;                       // by address / kGranule
  std::vector<EventIndex> long_;                    // accesses that are not in there
  std::vector<std::vector<EventIndex>> histories_;  // of accesses with values, ascending
};

}  // namespace sooth
