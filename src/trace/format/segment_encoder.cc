#include <algorithm>
#include <cstddef>
#include <cstring>

#include "trace/format/segment.h"

namespace sooth {
namespace {

constexpr std::uint32_t kShapeSlots = 2 * format::kMaxShapes;

std::uint64_t zigzag(std::uint64_t delta) { return (delta << 1) ^ (0 - (delta >> 63)); }

// Index into format::kLengthOfCode of the shortest length that holds `value`.
unsigned length_code(std::uint64_t value) {
  const unsigned bytes = value == 0 ? 0 : (71 - static_cast<unsigned>(__builtin_clzll(value))) / 8;
  return bytes > 6 ? 7 : bytes;
}

// What an event has of its shape behind the site. Loaded at once: a struct would be put together on the stack and loaded
// with wider loads, which have to wait for the stores before them.
std::uint64_t last_word_of(const Event& event) {
  static_assert(offsetof(Event, size) == 16 && offsetof(Event, op) == 20 && offsetof(Event, order) == 21 &&
                offsetof(Event, flags) == 22 && sizeof(Event) == 24);
  std::uint64_t word;
  std::memcpy(&word, reinterpret_cast<const std::uint8_t*>(&event) + offsetof(Event, size), sizeof word);
  return word & 0xffffffffffffff;
}

std::uint64_t hash_shape(std::uint32_t site, std::uint64_t last_word) {
  return (site * 0x9e3779b97f4a7c15u ^ last_word * 0xc2b2ae3d27d4eb4fu) >> 32;
}

}  // namespace

SegmentEncoder::SegmentEncoder(ColumnSet columns) : columns_(columns), shape_table_(kShapeSlots) {}

std::uint32_t SegmentEncoder::stream_of(ThreadId thread) {
  if (raw(thread) >= stream_index_.size()) {
    stream_index_.resize(raw(thread) + 1);
  }
  std::uint32_t& slot = stream_index_[raw(thread)];
  if (slot == 0) {
    if (stream_count_ == streams_.size()) {
      streams_.emplace_back();
    }
    ThreadStream& stream = streams_[stream_count_++];
    stream.thread = thread;
    stream.events = stream.delta_bytes = 0;
    stream.predicted.fill(0);
    stream.stack = kNoStack;
    slot = stream_count_;
  }
  return slot - 1;
}

void SegmentEncoder::ThreadStream::make_room(std::size_t more) {
  if (controls.size() < events + more) {
    controls.resize(2 * (events + more));
  }
  if (deltas.size() < delta_bytes + 8 * more) {
    deltas.resize(2 * (delta_bytes + 8 * more));
  }
}

inline std::uint32_t SegmentEncoder::shape_of(const Event& event) {
  const std::uint64_t last_word = last_word_of(event);
  std::uint64_t at = hash_shape(raw(event.site), last_word);
  for (;; ++at) {
    KnownShape& known = shape_table_[at % kShapeSlots];
    if (known.segment != segment_) {
      if (shapes_.size() == format::kMaxShapes) {
        return format::kMaxShapes;
      }
      known = {last_word, raw(event.site), static_cast<std::uint16_t>(shapes_.size()), segment_};
      shapes_.push_back({raw(event.site), event.size, raw(event.op), raw(event.order), event.flags, 0});
      return known.index;
    }
    if (known.last_word == last_word && known.site == raw(event.site)) {
      return known.index;
    }
  }
}

// All of one thread. Returns how many had room.
inline std::size_t SegmentEncoder::add_of_thread(ThreadStream& stream, const Batch& batch, std::size_t from,
                                                 std::size_t to) {
  stream.make_room(to - from);
  std::uint16_t* control = stream.controls.data() + stream.events;
  std::uint8_t* at = stream.deltas.data() + stream.delta_bytes;
  std::size_t i = from;
  for (; i < to; ++i) {
    const Event& event = batch.events[i];
    const std::uint32_t shape = shape_of(event);
    if (shape == format::kMaxShapes) {
      break;
    }
    std::uint64_t& predicted = stream.predicted[shape % format::kPredictorSlots];
    const std::uint64_t delta = zigzag(event.object - predicted);
    predicted = event.object;
    const unsigned code = length_code(delta);
    *control++ = static_cast<std::uint16_t>(shape | code << format::kShapeBits);
    std::memcpy(at, &delta, sizeof delta);
    at += format::kLengthOfCode[code];
    if ((columns_ & kValues) != 0) {
      add_value(batch.values.empty() ? Value{} : batch.values[i]);
    }
    if ((columns_ & kStacks) != 0) {
      add_stack(stream, batch.stack(i));
    }
    ++event_count_;
  }
  stream.events = static_cast<std::size_t>(control - stream.controls.data());
  stream.delta_bytes = static_cast<std::size_t>(at - stream.deltas.data());
  return i - from;
}

void SegmentEncoder::add_to_runs(std::uint32_t stream, std::size_t count) {
  constexpr std::size_t kMost = 0x10000;
  while (count != 0) {
    if (runs_.empty() || runs_.back().thread != stream || runs_.back().length_less_1 == kMost - 1) {
      runs_.push_back({static_cast<std::uint16_t>(stream), 0});
      --count;
    }
    const std::size_t more = std::min(count, kMost - 1 - runs_.back().length_less_1);
    runs_.back().length_less_1 = static_cast<std::uint16_t>(runs_.back().length_less_1 + more);
    count -= more;
  }
}

bool SegmentEncoder::add(const Batch& batch, std::size_t i) {
  return event_count_ < format::kMaxSegmentEvents && add_from(batch, i, event_count_ + 1) == i + 1;
}

std::size_t SegmentEncoder::add_from(const Batch& batch, std::size_t from, std::uint32_t most) {
  most = std::min(most, format::kMaxSegmentEvents);
  const std::size_t room = most - std::min(event_count_, most);
  const std::size_t end = std::min(batch.events.size(), from + room);
  while (from < end) {
    const ThreadId thread = batch.events[from].thread;
    std::size_t to = from + 1;
    while (to < end && batch.events[to].thread == thread) {
      ++to;
    }
    const std::uint32_t stream = stream_of(thread);
    const std::size_t added = add_of_thread(streams_[stream], batch, from, to);
    add_to_runs(stream, added);
    from += added;
    if (from != to) {
      if (streams_[stream].events == 0) {
        --stream_count_;
        stream_index_[raw(thread)] = 0;
      }
      break;
    }
  }
  return from;
}

void SegmentEncoder::add_value(const Value& value) {
  values_.push_back(value.size);
  const std::uint64_t words[2] = {value.low, value.high};
  ByteWriter(values_).put_array(reinterpret_cast<const std::uint8_t*>(words), value.size);
}

void SegmentEncoder::add_stack(ThreadStream& stream, StackId stack) {
  if (stream.stack == stack) {
    return;
  }
  stream.stack = stack;
  ByteWriter out(stacks_);
  out.put_varint(event_count_ - last_stack_event_);
  out.put_varint(raw(stack));
  last_stack_event_ = event_count_;
}

void SegmentEncoder::add_branch(std::uint64_t position, const Branch& branch) {
  ByteWriter out(branches_);
  out.put_varint(position);
  out.put_varint(raw(branch.thread));
  out.put_varint(raw(branch.site));
  out.put_varint(branch.outcome);
}

void SegmentEncoder::add_reach(std::uint64_t call, const Reach& reach) {
  ByteWriter out(reaches_);
  out.put_varint(call);
  out.put_varint(reach.begin);
  out.put_varint(reach.length);
}

const Bytes& SegmentEncoder::events() {
  events_.clear();
  ByteWriter out(events_);
  out.put(format::SegmentHeader{static_cast<std::uint32_t>(shapes_.size()), stream_count_,
                                static_cast<std::uint32_t>(runs_.size())});
  out.put_array(shapes_.data(), shapes_.size());
  for (std::uint32_t i = 0; i < stream_count_; ++i) {
    const ThreadStream& stream = streams_[i];
    out.put(format::ThreadEntry{raw(stream.thread), static_cast<std::uint32_t>(stream.events),
                                static_cast<std::uint32_t>(stream.delta_bytes)});
  }
  out.put_array(runs_.data(), runs_.size());
  for (std::uint32_t i = 0; i < stream_count_; ++i) {
    out.put_array(streams_[i].controls.data(), streams_[i].events);
  }
  for (std::uint32_t i = 0; i < stream_count_; ++i) {
    out.put_array(streams_[i].deltas.data(), streams_[i].delta_bytes);
  }
  return events_;
}

void SegmentEncoder::reset() {
  for (std::uint32_t i = 0; i < stream_count_; ++i) {
    stream_index_[raw(streams_[i].thread)] = 0;
  }
  stream_count_ = 0;
  event_count_ = 0;
  last_stack_event_ = 0;
  shapes_.clear();
  if (++segment_ == 0) {
    shape_table_.assign(kShapeSlots, {});
    segment_ = 1;
  }
  runs_.clear();
  for (Bytes* bytes : {&values_, &stacks_, &branches_, &reaches_}) {
    bytes->clear();
  }
}

}  // namespace sooth
