// TREE: hides accesses that repeat what an earlier access has already shown to the detectors.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filter/filter.h"

namespace sooth {

// Chapter 3 of the thesis, Algorithms 1 and 2, with the keys that docs/tree.md derives: an access is hidden when one of
// the same thread, to the same bytes, at the same site, of the same kind and in the same context has passed. Each mode
// says what a context is, and thereby what it preserves.
enum class TreeMode : std::uint8_t { kTree, kHb, kStrict, kData, kSpan };

struct TreeModeInfo {
  std::string_view name;  // as on the command line
  std::string_view summary;
  TreeMode mode;
  Preserves preserves;
  bool first_race_only = false;  // ... but of the pairs only that there is one, and which access completes the first
};
// In ascending order of what they preserve, the one for the first race last.
std::span<const TreeModeInfo> tree_modes();
// nullptr when there is no such mode.
const TreeModeInfo* find_tree_mode(std::string_view name);

struct TreeOptions {
  TreeMode mode = TreeMode::kTree;
  // `lockset` is among the detectors: also what opens the gate of Eraser's state machine tells accesses apart.
  bool for_lockset = false;
  // Only in kTree, and only for detectors that take no notice of must-order: two threads speak for all others
  // (Algorithm 2, lines 8 to 12), and messages do not count.
  bool across_threads = false;
  // Only in kTree: nobody cares for lock events but for the locks held at accesses, so that sections in which no access
  // is left are hidden too.
  bool hide_sections = false;
  // The most recently used so many locations are remembered; at least 2. 32 bytes each.
  std::uint64_t locations = std::uint64_t{1} << 18;
  // After so many looks of which hardly any hid something, most of the trace passes without one for a while, because
  // then it costs more than it saves; a site where that is so is known sooner (SiteYields). 0: never.
  std::uint64_t patience = 8 * 1024;
};

// Something that is remembered: a node of the paper's tries.
struct RememberedAccess {
  std::uint64_t address = 0;
  std::uint32_t size = 0;
  bool is_write = false;
  std::uint32_t site = 0;  // a SiteId; 0 for kSpan
  std::vector<std::uint64_t> locks;
  std::uint64_t stamp = 0;             // the rest of the context
  std::vector<std::uint32_t> threads;  // one, or with across_threads up to two: in order of arrival

  friend bool operator==(const RememberedAccess&, const RememberedAccess&) = default;
};

class TreeFilter : public Filter {
 public:
  // Sorted by site, address, kind, locks and threads. For people and tests.
  virtual std::vector<RememberedAccess> remembered() const = 0;
};
std::unique_ptr<TreeFilter> make_tree_filter(const TreeOptions& options);

}  // namespace sooth
