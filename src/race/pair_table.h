// The distinct site pairs an analysis found, with what is worth telling about each.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "race/variable_classes.h"
#include "trace/event.h"

namespace sooth {

// An access with all that a report says of it, so that nobody has to look for it in the trace again.
struct AccessRecord {
  Event event;
  EventId id{};
  std::uint32_t time = 0;      // local time of the thread, for analyses that have one
  LockSetId locks = kNoLocks;  // held by the thread, in the table of the analysis
  StackId stack = kNoStack;

  friend bool operator==(const AccessRecord&, const AccessRecord&) = default;
};

// Two conflicting accesses of different threads that somebody believes can happen at the same time.
// `first` comes before `second` in the trace.
struct Candidate {
  EventId first{};
  EventId second{};

  friend bool operator==(const Candidate&, const Candidate&) = default;
};

// How two accesses could be brought together, found by looking at locks and must-order only: whether reads then see
// what they saw is for others to find out. First the events of the trace up to (not including) `moment`, then these
// lock events with all that their threads do before each, then the two threads up to the accesses. Nobody else moves
// after `moment`.
struct RacePlan {
  SiteId low_site{};
  SiteId high_site{};
  Candidate race;
  EventId moment{};
  std::vector<EventId> steps;

  friend bool operator==(const RacePlan&, const RacePlan&) = default;
};

// One unordered pair of sites, on one variable. `low_site` <= `high_site`.
struct SitePair {
  SiteId low_site{};
  SiteId high_site{};
  Candidate example;                  // the first one found; its first access is the latest such before it
  std::uint64_t second_accesses = 0;  // how many second accesses were found unordered with an access of the other site
  std::uint64_t distance = 0;         // smallest id(second) - id(first)
  AccessRecord first;                 // the accesses of the example
  AccessRecord second;
  std::uint32_t variable = VariableClasses::kOne;
};

// Finds are added in trace order of the second access.
class PairTable {
 public:
  // Pairs of sites are from now on told apart by the variable, too, up to kMostVariables for each: the others count as
  // the first. It must live as long as finds are added.
  void tell_apart(VariableClasses* variables) { variables_ = variables; }
  static constexpr std::size_t kMostVariables = 32;

  // The two can race. Cheap for site pairs already known.
  void add(const AccessRecord& first, const AccessRecord& second);

  // In order of discovery.
  const std::vector<SitePair>& pairs() const { return pairs_; }
  // The same pairs, to which nothing is to be added.
  PairTable closed_copy() const {
    PairTable copy;
    copy.pairs_ = pairs_;
    return copy;
  }

 private:
  // What is known of two sites.
  struct Known {
    std::uint32_t first = 0;  // into pairs_
    // The others, by variable, into pairs_; nullptr: there are none.
    std::unique_ptr<std::map<std::uint32_t, std::uint32_t>> others;
  };
  std::uint32_t row_of(Known& known, std::uint32_t variable, const AccessRecord& first, const AccessRecord& second);

  VariableClasses* variables_ = nullptr;
  std::unordered_map<std::uint64_t, Known> index_;  // low << 32 | high
  std::vector<SitePair> pairs_;
  std::vector<EventId> last_second_;  // parallel to pairs_: counts each second access once
};

}  // namespace sooth
