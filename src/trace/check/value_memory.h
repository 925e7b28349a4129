// What the bytes of the recorded program hold, as far as recorded values tell.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/flat_map.h"
#include "trace/batch.h"

namespace sooth {

// Bytes are unknown until a write with a recorded value reaches them, and again after alloc, free and writes without
// one. Ranges must not wrap around. Memory: 4.5 KiB for each page of 4 KiB that is written to.
class ValueMemory {
 public:
  // The first value.size bytes of the range are known from now on, the others are not.
  void write(std::uint64_t begin, std::uint64_t length, const Value& value);
  void forget(std::uint64_t begin, std::uint64_t length);

  // Code that is not recorded may write to the range at any time until `close_reach` of the same owner:
  // its bytes stay unknown.
  void open_reach(EventId owner, std::uint64_t begin, std::uint64_t length);
  void close_reach(EventId owner);

  // One event of the trace, with its value if that was recorded: a conflict, or else its effect on the bytes. Calls and
  // their reach are left to the caller.
  std::optional<Value> consume(const Event& event, const Value& value);

  // Nothing when the recorded bytes of a read agree with what is known; else what the memory holds at the place of
  // the value, with the read's own bytes where it is unknown.
  std::optional<Value> conflict(std::uint64_t begin, const Value& read) const;

 private:
  static constexpr std::uint64_t kPageBits = 12;
  static constexpr std::uint64_t kPageBytes = std::uint64_t{1} << kPageBits;
  struct Page {
    std::array<std::uint8_t, kPageBytes> bytes{};
    std::bitset<kPageBytes> known;
  };
  struct OpenReach {
    EventId owner{};
    std::uint64_t begin = 0;
    std::uint64_t length = 0;
  };

  void forget_in_page(Page& page, std::uint64_t number, std::uint64_t begin, std::uint64_t last);
  bool reached(std::uint64_t address) const;

  FlatMap<std::unique_ptr<Page>> pages_;  // by address >> kPageBits
  std::vector<OpenReach> open_;           // few: the calls that are running right now
};

// "0x2a", most significant byte first.
std::string to_string(const Value& value);

}  // namespace sooth
