// Encodes a stretch of the interleaving with its side columns into block payloads, and back. FORMAT.md, "Segments".
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "trace/batch.h"
#include "trace/format/byte_io.h"
#include "trace/format/format.h"

namespace sooth {

// Takes events one after the other; encodes as it goes, so a segment costs its encoded size in memory.
class SegmentEncoder {
 public:
  explicit SegmentEncoder(ColumnSet columns);

  std::uint32_t event_count() const { return event_count_; }
  bool empty() const { return event_count_ == 0 && branches_.empty(); }

  // Adds event `i` of the batch with its values and stacks. False when the segment is full: write it,
  // reset() and add again.
  bool add(const Batch& batch, std::size_t i);
  // Adds the events from `from` on, at most up to `most` in the segment; returns the first that it has not added.
  std::size_t add_from(const Batch& batch, std::size_t from, std::uint32_t most);
  // `position` and `call` count from the segment's first event.
  void add_branch(std::uint64_t position, const Branch& branch);
  void add_reach(std::uint64_t call, const Reach& reach);

  // The payload of each block; empty ones need not be written, but for events(). Valid until the next reset().
  const Bytes& events();
  const Bytes& values() const { return values_; }
  const Bytes& stacks() const { return stacks_; }
  const Bytes& branches() const { return branches_; }
  const Bytes& reaches() const { return reaches_; }
  // Starts the next segment.
  void reset();

 private:
  struct ThreadStream {
    ThreadId thread{};
    // As long as they ever were; so much of them counts.
    std::vector<std::uint16_t> controls;
    Bytes deltas;
    std::size_t events = 0;
    std::size_t delta_bytes = 0;
    std::array<std::uint64_t, format::kPredictorSlots> predicted{};
    StackId stack = kNoStack;

    void make_room(std::size_t more);
  };
  // Open addressing. What other segments have left there does not count.
  struct KnownShape {
    std::uint64_t last_word = 0;  // bytes 16 to 23 of the event
    std::uint32_t site = 0;
    std::uint16_t index = 0;
    std::uint16_t segment = 0;
  };

  std::uint32_t stream_of(ThreadId thread);
  // kMaxShapes when there is no room for another.
  std::uint32_t shape_of(const Event& event);
  std::size_t add_of_thread(ThreadStream& stream, const Batch& batch, std::size_t from, std::size_t to);
  void add_to_runs(std::uint32_t stream, std::size_t count);
  void add_value(const Value& value);
  void add_stack(ThreadStream& stream, StackId stack);

  ColumnSet columns_;
  std::uint32_t event_count_ = 0;
  std::vector<ThreadStream> streams_;  // the first stream_count_ are in use; the rest keep their memory
  std::uint32_t stream_count_ = 0;
  std::vector<std::uint32_t> stream_index_;  // by thread: index into streams_ + 1, 0 for none
  std::vector<format::Shape> shapes_;
  std::vector<KnownShape> shape_table_;
  std::uint16_t segment_ = 1;  // of shape_table_; 0 is none
  std::vector<format::Run> runs_;
  std::uint32_t last_stack_event_ = 0;
  Bytes events_, values_, stacks_, branches_, reaches_;
};

// Decodes one segment, a batch at a time. start() checks every length and index once, in loops that vectorise, so that
// decoding itself needs no check per event.
class SegmentDecoder {
 public:
  // Bytes that must follow the events payload, so that deltas can be loaded eight bytes at a time.
  static constexpr std::size_t kSlack = 8;
  // How many rows each table of the trace has: ids at or above are errors.
  struct Limits {
    std::uint64_t threads = 0;
    std::uint64_t sites = 0;
    std::uint64_t stacks = 0;
  };
  // Payloads of the segment's blocks. `events` has kSlack behind it; nullptr: no such column, or not wanted.
  struct Payloads {
    const Bytes* events = nullptr;
    const Bytes* values = nullptr;
    const Bytes* stacks = nullptr;
    const Bytes* branches = nullptr;
    const Bytes* reaches = nullptr;
  };

  // The payloads must outlive the decoding. The error is a sentence without the name of the file.
  Status start(EventId first, std::uint32_t count, const Payloads& payloads, const Limits& limits);

  bool done() const { return decoded_ == count_ && next_branch_ == branches_.size(); }
  // A batch of events with the columns given; only when !done(). Spans live until the next call.
  Batch next();

 private:
  struct Stream {
    const std::uint8_t* control;
    const std::uint8_t* delta;
    ThreadId thread;
    std::array<std::uint64_t, format::kPredictorSlots> predicted;
  };
  // A shape as it stands in an Event: the word that holds the site, and the word behind it.
  struct ShapeWords {
    std::uint64_t site_word;
    std::uint64_t last_word;
  };

  Status read_events(ByteReader in, const Limits& limits);
  Status read_shapes(ByteReader& in, std::uint32_t shapes, const Limits& limits);
  Status read_streams(ByteReader& in, const format::SegmentHeader& header, const Limits& limits);
  Status read_values(ByteReader in);
  Status read_stacks(ByteReader in, const Limits& limits);
  Status read_branches(ByteReader in, const Limits& limits);
  Status read_reaches(ByteReader in);
  void decode_events(std::size_t count);
  void decode_values(std::size_t count);
  void decode_stacks(std::size_t count);

  EventId first_{};
  std::uint32_t count_ = 0;
  std::uint32_t decoded_ = 0;
  std::vector<ShapeWords> shapes_;
  std::vector<Stream> streams_;
  const std::uint8_t* run_ = nullptr;  // the next format::Run
  std::uint32_t run_left_ = 0;         // events left of the current run
  std::uint32_t run_stream_ = 0;
  std::vector<Event> events_;

  bool has_values_ = false;
  const std::uint8_t* value_at_ = nullptr;
  std::vector<Value> value_batch_;
  struct StackChange {
    std::uint32_t position;
    StackId stack;
  };
  bool has_stacks_ = false;
  std::vector<StackChange> stack_changes_;
  std::size_t next_stack_ = 0;
  std::vector<StackId> stack_of_thread_;
  std::vector<StackId> stack_batch_;
  std::vector<Branch> branches_;
  std::size_t next_branch_ = 0;
  std::vector<Reach> reaches_;
  std::size_t next_reach_ = 0;
};

}  // namespace sooth
