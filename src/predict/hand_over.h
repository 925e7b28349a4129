// Whether accesses were apart because one thread handed something to the other: a pointer or a flag under a lock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/flat_map.h"
#include "base/stop_poll.h"
#include "predict/trace_index.h"
#include "race/hand_over.h"

namespace sooth {

// What is looked for (docs/suspicions.md): the first thread accesses, and writes something under a lock then. The second
// thread reads that under the lock, and accesses then. That alone is no reason: two threads that count what they do under
// a lock look the same. What was read has to be why the second access happens:
// - *pointer*: it points into the heap block that is accessed, or into one from which such a pointer was read, and so on;
// - *value*: the second access never came behind a read of this variable in this function that saw what stood there
//   before, and there was such a read.
// Between the two other threads may have passed the pointer on, or counted on under the lock.
//
// That rests on what the recorded run shows. It is no proof that no other run has the race.
class HandOvers {
 public:
  // Events and values of a trace that is exact; both must outlive it.
  HandOvers(const TraceIndex& index, const TraceView& trace);

  // Of all pairs of accesses of the two sites that neither must-order nor a lock keeps apart, or a sample of them when
  // there are many.
  HandOver judge(SiteId low, SiteId high, StopPoll& poll);

 private:
  struct Pair {
    EventIndex first = kNoEvent, second = kNoEvent;
  };
  struct Block {
    std::uint64_t begin = 0, end = 0;
    EventIndex allocated = kNoEvent, freed = kNoEvent;
  };
  using BlockIndex = std::uint32_t;
  static constexpr BlockIndex kNoBlock = ~BlockIndex{0};

  // How an access follows on what reads of a variable in one function saw.
  struct Decision {
    std::vector<std::uint64_t> behind;      // values behind which the access came; sorted
    std::vector<std::uint64_t> not_behind;  // ... did not
  };
  using DecisionKey = std::tuple<VariableIndex, std::uint32_t, SiteId>;
  struct Search {
    Pair pair;
    std::vector<EventIndex> visited = {};  // targets
    bool complete = true;                  // all was looked at
    bool unclear = false;                  // a way was found that needs to be seen to decide
    std::optional<HandOver> found = std::nullopt;
  };

  std::vector<Pair> pairs_of(SiteId low, SiteId high, StopPoll& poll) const;
  HandOver explain(const Pair& pair, StopPoll& poll);
  void explain(EventIndex target, BlockIndex block, Search& search, StopPoll& poll);
  bool passed_on(EventIndex write, BlockIndex block, Search& search, StopPoll& poll);
  bool counted_on(EventIndex write, VariableIndex variable, EventIndex first, std::vector<std::uint64_t>& olds) const;
  const Decision& decision(VariableIndex variable, std::uint32_t function, SiteId site);
  bool comes_behind(SiteId site, std::uint32_t thread, std::uint32_t from, std::uint32_t to) const;

  bool ordered(EventIndex first, EventIndex second) const;
  bool locked_together(EventIndex a, EventIndex b) const;
  BlockIndex block_at(std::uint64_t address, EventIndex when) const;
  bool has_pointer(EventIndex e, BlockIndex block) const;
  bool reads_pointer(EventIndex read, BlockIndex block) const;
  std::optional<std::uint64_t> value_before(EventIndex write, VariableIndex variable) const;
  std::uint32_t function_of(EventIndex e);
  HandOver example(bool by_pointer, EventIndex write, EventIndex read) const;

  void learn_order();
  void learn_block(EventIndex e);

  const TraceIndex& index_;
  const TraceView trace_;
  std::map<SiteId, std::vector<EventIndex>> accesses_;  // frees included
  FlatMap<std::vector<EventIndex>> reads_, writes_;     // by variable
  std::vector<std::vector<EventIndex>> cross_reads_;    // by thread: those that saw a write of another thread
  std::vector<Block> blocks_;
  std::map<std::uint64_t, std::vector<BlockIndex>> blocks_at_;  // by where they begin
  // Must-order: of each thread the positions at which it learns of others, and where in numbers_ what it knows then.
  struct Known {
    std::uint32_t position = 0;
    std::size_t at = 0;
  };
  std::vector<std::vector<Known>> known_;
  std::vector<std::uint32_t> numbers_;  // by thread: how many of its events
  std::map<DecisionKey, Decision> decisions_;
  std::map<std::string, std::uint32_t> functions_;
  std::map<SiteId, std::uint32_t> function_of_site_;
};

}  // namespace sooth
