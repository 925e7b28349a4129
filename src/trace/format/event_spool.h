// Events on their way from one reader to another, however far the second is behind the first.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "base/status.h"
#include "trace/format/segment.h"

namespace sooth {

// A queue of events with their stacks, for a trace that comes by only once and is to be looked at again. What is in it lies
// in a file without a name, some 4 bytes an event; what was taken out is given back to the disk. Ids must follow on each
// other. Not thread safe.
class EventSpool {
 public:
  // `folder`: where the file is to be, when the first segment is full. The disk must be able to give back parts of files.
  // `segment_events`: at most so many are in one; for tests.
  explicit EventSpool(std::string folder, std::uint32_t segment_events = format::kMaxSegmentEvents);
  ~EventSpool();
  EventSpool(const EventSpool&) = delete;
  EventSpool& operator=(const EventSpool&) = delete;

  // Other columns than stacks are left out. Fails when the file cannot be written: what does not fit there is kept in
  // memory, so nothing is lost, but it should not be used for long any more.
  Status add(const Batch& batch);
  // The oldest events that were not taken out yet, at most those of one call of add() or some thousand; empty: there are
  // none. Valid until the next call of anything.
  Result<Batch> next();

  // Of the file, that are still needed.
  std::uint64_t bytes() const { return bytes_; }
  // Of the next event that comes out, if there is one.
  EventId first() const { return first_; }

 private:
  struct Segment {
    std::uint64_t offset = 0;
    std::uint32_t events_bytes = 0;
    std::uint32_t stacks_bytes = 0;
    std::uint32_t count = 0;
    Bytes events = {}, stacks = {};  // what could not be written
  };

  Status open();
  Status write_segment();
  Status write(const Bytes& events, const Bytes& stacks);
  Status read_segment();

  const std::string folder_;
  const std::uint32_t segment_events_;
  int fd_ = -1;
  SegmentEncoder encoder_{kStacks};
  std::uint64_t threads_ = 0;  // their ids are below
  std::uint64_t end_ = 0;      // of the file
  std::uint64_t bytes_ = 0;
  std::deque<Segment> segments_;  // written and not taken out
  bool decoding_ = false;         // the first of them
  SegmentDecoder decoder_;
  Bytes events_, stacks_;
  EventId first_{};
};

}  // namespace sooth
