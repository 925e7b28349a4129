// The file `reaches` of a recording: what memory calls of code that was left out touched. STREAMS.md, "reaches".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "trace/batch.h"
#include "trace/recording/stream_format.h"

namespace sooth {

struct MemoryRange {
  std::uint64_t begin = 0;
  std::uint64_t length = 0;

  friend bool operator==(const MemoryRange&, const MemoryRange&) = default;
};

// The reach of a call of which nobody knows what it touches (docs/semantics.md, section on calls).
inline constexpr MemoryRange kEverything{0, ~std::uint64_t{0}};

// The objects that the memory of a program is made of: blocks and variables, of any time.
class MemoryObjects {
 public:
  void add(MemoryRange object) { objects_.push_back(object); }
  // No more are added.
  void finish();

  // All objects that share a byte with the range; kEverything alone when there is none. Sorted, disjoint, neighbours
  // merged.
  std::vector<MemoryRange> around(MemoryRange range) const;

 private:
  std::vector<MemoryRange> objects_;        // by begin, then length
  std::vector<std::uint64_t> last_so_far_;  // the largest last byte of those up to here
};

// What a recording knows about its calls; without a file, or with one that nobody sealed, that each may touch
// everything.
class CallReaches {
 public:
  CallReaches() : sets_{{kEverything}} {}

  // `bytes` of the whole file. Whole objects take the place of the lines that were touched: what was touched is all
  // that other orders of the same events need, but code that nobody sees may have touched more of the same object.
  // Damage is an error that names `path`.
  static Result<CallReaches> parse(std::string_view bytes, const std::string& path, const MemoryObjects& objects);

  // What call number `call` (from 0) of the thread may touch; empty: nothing that others see.
  std::span<const MemoryRange> of(ThreadId thread, std::uint64_t call) const {
    const auto set = calls_.find({raw(thread), call});
    return sets_[set == calls_.end() ? 0 : set->second];
  }

 private:
  std::vector<std::vector<MemoryRange>> sets_;  // the first is everything, then those of the file
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> calls_;
};

// Whether somebody has sealed the file.
bool is_sealed(std::string_view bytes);
// What a program has left in `reaches`, with a first row that tells damage; nothing changes if it has one.
std::string seal_reaches(std::string bytes);

}  // namespace sooth
