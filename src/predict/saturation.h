// What every reordering that reaches its targets has in common.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/flat_map.h"
#include "predict/closure.h"
#include "predict/order_graph.h"
#include "predict/trace_index.h"

namespace sooth {

// By thread: how many events every such reordering executes, and how many a shortest one executes at most.
struct Bounds {
  std::vector<std::uint32_t> need;
  std::vector<std::uint32_t> allowed;
  // By thread, under ReadRule::kAdmissible: among the needed, and among the allowed, reads at positions below bind in
  // every, or at all in some, such reordering.
  std::vector<std::uint32_t> binding;
  std::vector<std::uint32_t> may_bind;
  // Inferred: for a needed write or acquire, needed events that come before it in every such reordering.
  FlatMap<std::vector<EventIndex>> before;
  // Needed writes and acquires that are in every such reordering in the same order with all needed ones that compete.
  FlatMap<bool> settled;
  // Of the needed events, when it was inferred.
  std::shared_ptr<const OrderGraph> order;
};

struct SaturationOptions {
  bool end_sections = true;  // false leaves out all rules about locks, and
  bool infer_order = true;   // false those that need clocks
  // kAdmissible is what every correct reordering keeps. kAll is the same while TraceIndex::reads_are_fixed(), else more.
  ReadRule reads = ReadRule::kAll;
  StopPoll* poll = nullptr;  // when it has stopped, the answer says nothing
};

// nullopt: no correct reordering of the window has all targets next. Otherwise, if one has, then one does that executes
// `need` and no more than `allowed`: beyond what the targets need, a thread goes on only to end a section that others
// wait for.
//
// Rules, to a fixpoint. A section whose release needs a target is *final*: nobody gets its lock afterwards. So of two
// needed sections that exclude each other at most one is final, and the other one must end. While the needed part is
// small enough for clocks of all its events, also: sections that exclude each other do not overlap, so if one begins
// before the other ends it ends before the other begins; no write comes between a read and the write that it saw. A
// cycle is a contradiction.
std::optional<Bounds> saturate(const TraceIndex& index, const Window& window, std::span<const EventIndex> targets,
                               const SaturationOptions& options = {});

}  // namespace sooth
