// Puts begins and ends of calls that were not recorded into a trace.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/batch.h"
#include "trace/recording/call_reaches.h"

namespace sooth {

// A place between events: in front of this event, and of this deep record among those that stand in front of it. Both
// count from 0 in the whole trace; behind the last they are the number of events and records.
struct CallSpot {
  std::uint64_t event = 0;
  std::uint64_t record = 0;

  friend auto operator<=>(const CallSpot&, const CallSpot&) = default;
};

// The begin or the end of a call.
struct CallMark {
  CallSpot spot;
  bool begins = true;
  ThreadId thread{};
  SiteId site{};
  std::uint64_t object = 0;        // names the call among those that its thread is in
  std::vector<MemoryRange> reach;  // of a begin
};

// Events get new numbers, and all side columns with them. Batches in trace order, all of them, then finish().
class CallInserter {
 public:
  // Marks at the same spot stand in the order in which they come here.
  explicit CallInserter(std::vector<CallMark> marks);

  // What becomes of the batch, valid until the next call.
  Batch rewrite(const Batch& batch);
  // What comes behind the last event; may be empty.
  Batch finish();

  // The new number of an event, and the old one of an event that was not put in. Of all events, at any time; O(log
  // marks).
  EventId renumbered(EventId old) const;
  EventId original(EventId renumbered) const;
  bool is_put_in(EventId renumbered) const;
  const std::vector<EventId>& put_in() const { return put_in_; }

 private:
  void put_marks(const CallSpot& up_to);
  void begin_batch();
  Batch made() const;

  std::vector<CallMark> marks_;  // by spot
  std::vector<EventId> put_in_;  // by mark: its number
  std::size_t next_mark_ = 0;
  std::uint64_t records_ = 0;  // deep records of earlier batches
  std::uint64_t written_ = 0;  // events, before the batch
  bool with_values_ = false, with_stacks_ = false;
  std::vector<Event> events_;
  std::vector<Value> values_;
  std::vector<StackId> stacks_;
  std::vector<Branch> branches_;
  std::vector<Reach> reaches_;
  std::vector<DeepRecord> deep_;
};

}  // namespace sooth
