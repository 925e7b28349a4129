// Split critical sections: a thread takes a lock twice, one after the other, and a section of another thread that fits in
// between makes the two together something that no schedule does in one go. No race is needed: every access is locked, the
// two sections are not.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "confirm/site_code.h"
#include "trace/reader.h"
#include "trace/tables.h"

namespace sooth {

// Two sections S1 and S2 of one lock, neighbours in their thread, and a section O of the lock in another thread are
// reported when
//   - O conflicts with S1 and with S2: both touch the same granule, and one of the two writes it. Then S1, O, S2 is not
//     conflict serialisable with S1 and S2 as one block (Flanagan, Freund, Yi: Velodrome, PLDI 2008);
//   - O fits: what must happen in every schedule (forks, joins, messages, not locks) neither puts it behind S2 nor in front
//     of S1;
//   - the thread holds no other lock from S1 to S2 that O needs.
// Whether the program means the two to be one is not known: these are places worth to be tried, not findings.
class SplitSections {
 public:
  struct Found {
    Site first, second;   // acquires of S1 and S2
    Site other;           // ... of one O
    bool checks = false;  // S1 only reads, and S2 writes some of that: a look, and a deed that goes by it

    friend bool operator==(const Found&, const Found&) = default;
  };

  // `instances`: sections at the same place, or two neighbours at the same places, that are looked at; the first ones.
  explicit SplitSections(std::size_t instances = 4) : instances_(instances) {}

  // Of one recording. Looks at the first kMostEvents of it; an error ends it there. Time and memory grow with the sections
  // that are kept and what they touch.
  void add(TraceReader& trace);
  // One for each two places of S1 and S2, of all recordings; those that check first, then as they were met.
  std::vector<Found> found() const;
  // split_code() of the first kMostTried of found().
  std::vector<std::vector<SiteCode>> code(CodeFinder& finder) const;
  // All places, with those of O, as site_key(); for tests.
  std::vector<std::tuple<std::string, std::string, std::string>> triples() const;

  static constexpr std::uint64_t kMostEvents = 1'000'000;
  static constexpr std::size_t kMostPlaces = 2'000;  // of sections, and of neighbours
  static constexpr std::size_t kMostTried = 16;
  static constexpr std::size_t kMostGranules = 512;  // that a section touches; what is more is not looked at

 private:
  std::size_t instances_;
  std::vector<Found> found_;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> triples_;  // into found_
  std::map<std::pair<std::string, std::string>, std::size_t> pairs_;                  // likewise
};

}  // namespace sooth
