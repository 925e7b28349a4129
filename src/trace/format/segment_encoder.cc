#include <cassert>
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

std::uint64_t hash_shape(const format::Shape& shape) {
  std::uint64_t words[2] = {0, 0};
  std::memcpy(words, &shape, sizeof shape);
  return (words[0] * 0x9e3779b97f4a7c15u ^ words[1] * 0xc2b2ae3d27d4eb4fu) >> 32;
}

bool same_shape(const format::Shape& a, const format::Shape& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

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
    stream.controls.clear();
    stream.deltas.clear();
    stream.predicted.fill(0);
    stream.stack = kNoStack;
    slot = stream_count_;
  }
  return slot - 1;
}

std::uint32_t SegmentEncoder::shape_of(const Event& event) {
  const format::Shape shape{raw(event.site), event.size, raw(event.op), raw(event.order), event.flags, 0};
  std::uint64_t at = hash_shape(shape);
  for (;; ++at) {
    std::uint16_t& slot = shape_table_[at % kShapeSlots];
    if (slot == 0) {
      if (shapes_.size() == format::kMaxShapes) {
        return format::kMaxShapes;
      }
      shapes_.push_back(shape);
      slot = static_cast<std::uint16_t>(shapes_.size());
      return slot - 1u;
    }
    if (same_shape(shapes_[slot - 1u], shape)) {
      return slot - 1u;
    }
  }
}

bool SegmentEncoder::add(const Batch& batch, std::size_t i) {
  const Event& event = batch.events[i];
  if (event_count_ == format::kMaxSegmentEvents) {
    return false;
  }
  const std::uint32_t shape = shape_of(event);
  if (shape == format::kMaxShapes) {
    return false;
  }
  const std::uint32_t index = stream_of(event.thread);
  ThreadStream& stream = streams_[index];
  std::uint64_t& predicted = stream.predicted[shape % format::kPredictorSlots];
  const std::uint64_t delta = zigzag(event.object - predicted);
  predicted = event.object;
  const unsigned code = length_code(delta);
  stream.controls.push_back(static_cast<std::uint16_t>(shape | code << format::kShapeBits));
  const std::size_t size = stream.deltas.size();
  stream.deltas.resize(size + 8);
  std::memcpy(stream.deltas.data() + size, &delta, 8);
  stream.deltas.resize(size + format::kLengthOfCode[code]);

  if (!runs_.empty() && runs_.back().thread == index && runs_.back().length_less_1 != 0xffff) {
    ++runs_.back().length_less_1;
  } else {
    runs_.push_back({static_cast<std::uint16_t>(index), 0});
  }
  if ((columns_ & kValues) != 0) {
    add_value(batch.values.empty() ? Value{} : batch.values[i]);
  }
  if ((columns_ & kStacks) != 0) {
    add_stack(stream, batch.stacks.empty() ? kNoStack : batch.stacks[i]);
  }
  ++event_count_;
  return true;
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
    out.put(format::ThreadEntry{raw(stream.thread), static_cast<std::uint32_t>(stream.controls.size()),
                                static_cast<std::uint32_t>(stream.deltas.size())});
  }
  out.put_array(runs_.data(), runs_.size());
  for (std::uint32_t i = 0; i < stream_count_; ++i) {
    out.put_array(streams_[i].controls.data(), streams_[i].controls.size());
  }
  for (std::uint32_t i = 0; i < stream_count_; ++i) {
    out.put_array(streams_[i].deltas.data(), streams_[i].deltas.size());
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
  shape_table_.assign(kShapeSlots, 0);
  runs_.clear();
  for (Bytes* bytes : {&values_, &stacks_, &branches_, &reaches_}) {
    bytes->clear();
  }
}

}  // namespace sooth
