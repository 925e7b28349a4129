// Decodes one stream of a recording, record by record. STREAMS.md, "Records".
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "trace/batch.h"
#include "trace/recording/recording_names.h"
#include "trace/recording/stream_format.h"

namespace sooth {

// Where decoded events go: arrays of `capacity`, of which `count` are filled. `values` and `stacks` may be nullptr.
struct EventSink {
  Event* events = nullptr;
  Value* values = nullptr;
  StackId* stacks = nullptr;
  std::size_t count = 0;
  std::size_t capacity = 0;
  std::vector<std::size_t>* calls = nullptr;  // where kCallBegin stand in `events`
  // Deep records; `before` counts from the first event of the sink. nullptr: they are skipped. The sink is also full when there are `capacity` of them.
  std::vector<DeepRecord>* deep = nullptr;
  std::uint64_t first = 0;  // the id of the first event

  bool full() const { return count >= capacity || (deep != nullptr && deep->size() >= capacity); }
};

// The bytes come from outside: whatever they are, the decoder stays inside them and says what is wrong. It copies
// nothing but what a chunk holds, and remembers 8192 slots at most. Not thread safe.
class StreamDecoder {
 public:
  enum class Stop : std::uint8_t {
    kFull,     // the sink has no room
    kTicket,   // the next record is ticketed: ticket() is its number, and take() decodes it
    kNoMore,   // the bytes so far are used up
    kDamaged,  // error() says why
  };

  // `names` is shared by the streams of a recording and must outlive them.
  StreamDecoder(std::uint32_t stream, bool has_values, RecordingNames& names)
      : stream_(stream), has_values_(has_values), names_(names), following_(has_values ? stream::kContexts : 0) {}

  std::uint32_t stream() const { return stream_; }

  // The bytes of the stream's next chunk (number `chunk` of the file) up to `limit`, header included, are those that
  // `read(buffer, from, to)` fills in: Status of reading bytes [from, to) of the chunk to buffer + from.
  template <typename Read>
  Status start_chunk(std::uint32_t chunk, std::uint32_t limit, Read&& read) {
    if (buffer_ == nullptr) {
      buffer_ = std::make_unique<std::uint8_t[]>(stream::kChunkBytes + kSlack);
    }
    chunk_ = chunk;
    at_ = buffer_.get() + sizeof(stream::ChunkHeader);
    limit_ = at_;
    return extend_chunk(limit, read);
  }
  // More bytes of the same chunk are there now.
  template <typename Read>
  Status extend_chunk(std::uint32_t limit, Read&& read) {
    const auto from = static_cast<std::uint32_t>(limit_ - buffer_.get());
    if (limit > from) {
      SOOTH_RETURN_IF_ERROR(read(buffer_.get(), from, limit));
      set_limit(limit);
    }
    return {};
  }
  std::uint32_t limit() const { return static_cast<std::uint32_t>(limit_ - buffer_.get()); }
  // The stream is over: its buffer is not needed any more.
  void finish() { buffer_.reset(); }

  // Decodes until one of the reasons to stop. Not to be called while a ticket is pending.
  Stop run(EventSink& out);
  std::uint64_t ticket() const { return last_ticket_; }
  // The event of the ticketed record, if it has one. The sink must have room.
  void take(EventSink& out);
  // A sentence without the name of the file.
  const std::string& error() const { return error_; }
  // The same for what only the reader of all streams can know about the pending record.
  std::string complaint(const std::string& what) const;

 private:
  // Zeros behind the bytes: a record can be decoded without looking for the end at every step; whether it ended in
  // time is checked afterwards.
  static constexpr std::size_t kSlack = 2 * stream::kMaxRecordBytes;

  enum class Kind : std::uint64_t {
    kUndefined,
    kFresh,    // no event of it was seen yet
    kPlain,    // the object is all that changes: the short way
    kSpecial,  // ticketed, sized, or with an object that needs care
  };
  // What the short way needs, in one place.
  struct Slot {
    std::uint64_t object = 0;     // the last one
    std::uint64_t step = 0;       // the last one less the one before
    std::uint64_t site_word = 0;  // bytes 8 to 15 of the event, without its thread
    std::uint64_t last_word = 0;  // bytes 16 to 23
    Kind kind = Kind::kUndefined;
  };
  struct SlotDetails {
    std::uint64_t value_low = 0;  // the last value
    std::uint64_t value_high = 0;
    std::uint32_t row = 0;  // of `sites`
    std::uint8_t shape = 0;
    bool valued = false;  // records have a value
    bool inlined = false;
    // Inlined: the stack that its events had last, without and with the frames that are inlined there.
    StackId callers = kNoStack;
    StackId with_inlined = kNoStack;
  };
  StackId stack_of(SlotDetails& details, StackId callers) {
    if (!details.inlined) {
      return callers;
    }
    if (details.with_inlined == kNoStack || details.callers != callers) [[unlikely]] {
      details.callers = callers;
      details.with_inlined = names_.with_inlined(callers, details.row);
    }
    return details.with_inlined;
  }
  struct Pending {
    Event event;
    Value value;
    std::uint32_t slot = 0;  // 0: there is no event
  };

  void set_limit(std::uint32_t limit);
  template <bool kHasValues>
  Stop run_records(EventSink& out);
  // A record that is not a plain event: true when decoding goes on behind it, else stop_ says why not.
  bool special(std::uint32_t control, EventSink& out);
  bool special_event(std::uint32_t control, EventSink& out);
  bool escape(std::uint32_t number, EventSink& out);
  bool take_deep(std::uint32_t number, EventSink& out);
  bool take_run(EventSink& out);
  // See stream::kRuns.
  void follow(std::uint32_t word) {
    following_[context_] = static_cast<std::uint16_t>(word);
    context_ = stream::next_context(context_, word);
  }
  bool define();
  bool change_stack();
  bool switch_thread();
  bool take_name();
  bool take_place(bool is_frame);
  bool next_ticket();
  bool check_object(const Event& event);
  void emit(Pending& pending, EventSink& out);
  std::uint64_t varint();
  // The value of the record at at_; nothing when it is not one.
  const std::uint8_t* read_value(const std::uint8_t* at, std::uint32_t slot, std::uint32_t size, Value& value);
  bool fail(const std::string& what);

  const std::uint32_t stream_;
  const bool has_values_;
  RecordingNames& names_;
  std::unique_ptr<std::uint8_t[]> buffer_;
  std::uint32_t chunk_ = 0;
  const std::uint8_t* at_ = nullptr;  // the next record
  const std::uint8_t* limit_ = nullptr;
  const std::uint8_t* record_ = nullptr;  // the record being decoded, for errors
  std::vector<Slot> slots_;               // as many as were defined: most streams need few
  std::vector<SlotDetails> details_;
  // What the stream remembers: see stream::kRuns. Empty without values.
  std::vector<std::uint16_t> following_;   // by context
  std::vector<std::uint64_t> remembered_;  // by place, from the first event on
  std::uint32_t context_ = 0;
  std::uint32_t run_left_ = 0;  // records of the run at record_ that were not decoded yet
  std::uint64_t last_ticket_ = 0;
  bool ticket_seen_ = false;
  bool thread_known_ = false;
  ThreadId thread_{};
  Pending pending_;
  Stop stop_ = Stop::kNoMore;
  std::string error_;
};

}  // namespace sooth
