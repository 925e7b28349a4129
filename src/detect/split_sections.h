// Split critical sections: a thread takes a lock twice, one after the other, and a section of another thread that fits in
// between makes the two together something that no schedule does in one go. No race is needed: every access is locked, the
// two sections are not. docs/semantics.md, section 17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "order/must_clocks.h"
#include "race/atomicity.h"
#include "trace/event.h"

namespace sooth {

// Two sections S1 and S2 of one lock, neighbours in their thread, and a section O of the lock in another thread are split
// when
//   - O conflicts with S1 and with S2: both touch the same granule, and one of the two writes it. Then S1, O, S2 is not
//     conflict serialisable with S1 and S2 as one block (Flanagan, Freund, Yi: Velodrome, PLDI 2008);
//   - O fits: what must happen in every schedule (forks, joins, messages, not locks) neither puts it behind S2 nor in front
//     of S1;
//   - the thread holds no other lock from S1 to S2 that O needs.
// Programs look in S1 whether S2 is to be done at all, and who came second had nothing to do any more: so they are also
// split when another thread came to where S1 begins, did not go on to S2, and what S2 did would have been such an O of its.
class SplitSections {
 public:
  // `instances`: sections at the same place, or two neighbours at the same places, that are looked at; the first ones.
  explicit SplitSections(std::size_t instances = 4) : instances_(instances) {}

  // In trace order. `block`: the declared block that the thread is in; 0: none.
  void consume(const AccessRecord& record, std::uint64_t block);
  // One for each two places of S1 and S2, which differ; those in declared blocks first, then those that check, then as they
  // were met. Of the three acquires.
  std::vector<AtomicityCandidate> found() const;
  // The sites of all, with those of O; for tests.
  std::vector<std::tuple<SiteId, SiteId, SiteId>> triples() const;

  static constexpr std::size_t kMostPlaces = 2'000;       // of sections, and of neighbours
  static constexpr std::size_t kMostGranules = 512;       // that a section touches; what is more is not looked at
  static constexpr std::uint64_t kMostLooks = 5'000'000;  // at sections that may come between two others

 private:
  // Another lock that a thread holds, and which of its acquires that was.
  struct Held {
    std::uint64_t lock = 0;
    EventId acquire{};
  };
  struct Section {
    AccessRecord acquire;
    std::uint64_t block = 0;
    Epoch begun;
    VectorClock known;                         // at the end
    std::vector<Held> held;                    // besides
    std::vector<std::uint64_t> reads, writes;  // granules; sorted at the end

    void touch(std::uint64_t granule, bool is_write);
    void close();
  };
  using SharedSection = std::shared_ptr<const Section>;
  struct Split {
    SharedSection first, second;
    bool declared() const { return first->block != 0 && first->block == second->block; }
  };
  using Place = std::pair<SiteId, StackId>;

  static bool conflict(const Section& a, const Section& b);
  static bool keeps_out(const Split& split, const Section& other);
  static bool fits(const Split& split, const Section& other);
  static bool could_do_the_same(const Split& split, const Section& other);
  static AtomicityCandidate candidate(const Split& split, const Section& other);
  static Place place_of(const Section& section) { return {section.acquire.event.site, section.acquire.stack}; }
  void begin(const AccessRecord& record, std::uint64_t block);
  void end(const Event& event);
  void forget(ThreadId thread);
  void touch(const Event& event);
  // Calls `take(split, other)` for each split and place of a section that fits; ends after kMostLooks.
  template <typename Take>
  void each_found(const Take& take) const;
  // The same with what another thread that came to the first section would have done.
  template <typename Take>
  void each_twin(const Take& take) const;
  template <typename T>
  void keep(std::vector<T>& kept, T what, std::size_t places) const;

  std::size_t instances_;
  MustClocks must_;
  std::unordered_map<std::uint32_t, std::vector<std::shared_ptr<Section>>> open_;  // by thread, outermost first
  std::map<std::pair<std::uint32_t, std::uint64_t>, SharedSection> before_;        // by thread and lock
  std::map<std::uint64_t, std::map<SiteId, std::vector<SharedSection>>> closed_;   // by lock and site
  // By the two places, and whether that is in a declared block.
  std::map<std::tuple<Place, Place, bool>, std::vector<Split>> splits_;
};

}  // namespace sooth
