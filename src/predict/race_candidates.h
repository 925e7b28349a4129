// The pairs of accesses of a trace that are worth a question.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "base/stop_poll.h"
#include "predict/past_clocks.h"
#include "predict/trace_index.h"
#include "race/pair_table.h"

namespace sooth {

// The conflicting pairs of which no access needs the other (PastClocks) and no lock protects, be it one that the program
// made (order/made_locks.h), by their sites: others are no race under any reordering. Of accesses that are alike only one
// is kept: of plain writes between which a thread does nothing but write, the last, which is next after all others have
// happened; of plain reads between which it only reads, the first. If any of them can meet an access, the one that is kept
// can.
class RaceCandidates {
 public:
  // `skip` names site pairs that are not wanted. `informed` tells events before which something may keep a thread from
  // going on that the index does not know of: accesses on both sides are not alike.
  // `out_of_time` is asked all the time (StopPoll): when it says so, why_not_all() does, too.
  RaceCandidates(const TraceIndex& index, const std::function<bool(SiteId low, SiteId high)>& skip,
                 const std::function<bool(EventIndex)>& informed = {}, const std::function<bool()>& out_of_time = {});

  struct SitePairIds {
    SiteId low{}, high{};
  };
  // With at least one pair of accesses that conflict; one may always need the other.
  std::size_t size() const { return sites_.size(); }
  SitePairIds sites(std::size_t i) const { return sites_[i].ids; }
  // Why not all pairs of sites were found, nor all accesses of those that were; empty: all were.
  const std::string& why_not_all() const { return why_not_all_; }
  std::uint64_t skipped() const { return skipped_; }
  // Pairs of sites with accesses that conflict, all of which a lock protects.
  std::uint64_t locked() const { return locked_; }

  // The dynamic pairs of one pair of sites. The first round has for every access the latest earlier one that it
  // conflicts with, the following ones those before that.
  class Pairs {
   public:
    // Pairs whose first access stands before `first_allowed(second)` are left out.
    // When `poll` stops, next() has no more.
    Pairs(const RaceCandidates& candidates, std::size_t sites,
          std::function<EventIndex(EventIndex second)> first_allowed, StopPoll* poll = nullptr);
    std::optional<Candidate> next();
    // Whether some were left out.
    bool left_out() const { return left_out_; }

   private:
    struct Cursor {
      EventIndex second;
      std::span<const EventIndex> earlier;  // not asked yet; the latest is the last
    };

    void add_cursors(std::span<const EventIndex> seconds, std::span<const EventIndex> firsts);

    const RaceCandidates& candidates_;
    const std::function<EventIndex(EventIndex)> first_allowed_;
    std::vector<Cursor> cursors_;
    std::size_t at_ = 0, kept_ = 0;
    FlatMap<bool> asked_;  // pairs that share several variables come up several times
    StopPoll* const poll_;
    bool left_out_ = false;
  };

 private:
  // Accesses to one variable that nothing but must-order tells apart, in trace order.
  struct Group {
    std::uint32_t thread = 0;
    SiteId site{};
    bool writes = false, atomic = false;
    std::uint32_t locks = 0;  // LockSetId
    std::vector<EventIndex> accesses;
  };
  struct Sites {
    SitePairIds ids;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> groups;
  };

  void collect(std::vector<std::vector<std::uint32_t>>& by_variable, class LockSets& locks,
               const std::function<bool(EventIndex)>& informed, StopPoll& poll);
  void find_made_locks();
  void follow_made_lock(EventIndex e, class LockSets& locks) const;
  bool always_ordered(const Group& a, const Group& b) const;

  const TraceIndex& index_;
  const PastClocks past_;
  FlatMap<std::uint32_t> made_;  // by event: what it does to a lock that the program made
  std::vector<Group> groups_;
  std::vector<Sites> sites_;  // by low, then high
  std::uint64_t skipped_ = 0, locked_ = 0;
  std::string why_not_all_;
};

}  // namespace sooth
