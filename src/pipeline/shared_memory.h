// Which memory more than one thread touches, in a whole trace: for whoever wants to do without the rest.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "trace/event.h"

namespace sooth {

// Memory counts in granules of 8 bytes. One is *shared* when, in some generation of it (docs/semantics.md section 1), accesses
// or a `free` of two threads touch it. An atomic access makes it shared, too: such events are more than accesses. Errs
// to the side of shared only: neighbours in a granule, and generations of a part of one, count as the same memory.
//
// Two bytes a granule, in pages of 4 KB; an access is a lookup of the page, which mostly is that of a recent one.
class SharedMemory {
 public:
  void consume(std::span<const Event> events);
  // Whether the access, of the trace that was consumed, touches shared memory.
  bool has(const Event& access) const;
  std::size_t memory() const { return pages_.size() * sizeof(Page) + numbers_.memory(); }

 private:
  using Owner = std::uint16_t;  // thread + 1
  static constexpr Owner kNobody = 0;
  static constexpr Owner kShared = 0xffff;
  static constexpr unsigned kGranuleBits = 3;
  static constexpr unsigned kPageBits = 9;  // granules
  static constexpr std::size_t kPageGranules = std::size_t{1} << kPageBits;
  static constexpr std::uint64_t kLong = std::uint64_t{64} << 20;  // bytes of a block that are not looked at one by one
  static constexpr std::size_t kRecent = 64;
  struct Page {
    std::array<Owner, kPageGranules> owners{};
  };

  void touch(std::uint64_t begin, std::uint64_t size, Owner owner);
  void forget(std::uint64_t begin, std::uint64_t size);
  Page& page(std::uint64_t number);
  const Page* find(std::uint64_t number) const;

  FlatMap<std::uint32_t> numbers_;  // of a page -> its index and 1
  std::vector<Page> pages_;
  std::vector<std::uint64_t> page_of_;  // by index, the number
  struct Recent {
    std::uint64_t number = ~std::uint64_t{0};
    std::uint32_t index = 0;
  };
  mutable std::array<Recent, kRecent> recent_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> freed_;  // long blocks: all of them counts as shared
};

}  // namespace sooth
