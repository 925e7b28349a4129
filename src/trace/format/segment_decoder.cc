#include <algorithm>
#include <cstring>

#include "trace/format/segment.h"

namespace sooth {
namespace {

// Small enough that a batch stays in the nearest caches between the decoder and the detectors.
constexpr std::size_t kDecodedEvents = 1024;

constexpr std::uint64_t kMaskOfCode[8] = {0,          0xff,         0xffff,         0xffffff,
                                          0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffffff};
constexpr std::uint32_t kShapeMask = format::kMaxShapes - 1;

// The decoder stores an Event as three words.
static_assert(offsetof(Event, object) == 0 && offsetof(Event, thread) == 8 && offsetof(Event, site) == 12 &&
              offsetof(Event, size) == 16 && offsetof(Event, op) == 20 && offsetof(Event, order) == 21 &&
              offsetof(Event, flags) == 22);

Status malformed(const char* what) { return Status::bad_input(what); }

std::uint16_t load_control(const std::uint8_t* at) {
  std::uint16_t control;
  std::memcpy(&control, at, sizeof control);
  return control;
}

void store_word(std::uint8_t* at, std::uint64_t word) { std::memcpy(at, &word, sizeof word); }

format::Run load_run(const std::uint8_t* at) {
  format::Run run;
  std::memcpy(&run, at, sizeof run);
  return run;
}

struct ControlSummary {
  std::uint32_t largest_shape = 0;
  std::uint64_t delta_bytes = 0;
};

ControlSummary summarise_controls(const std::uint8_t* controls, std::size_t count) {
  std::uint16_t largest = 0;
  std::uint32_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint16_t control = load_control(controls + 2 * i);
    const auto shape = static_cast<std::uint16_t>(control & kShapeMask);
    largest = largest > shape ? largest : shape;
    const std::uint32_t code = control >> format::kShapeBits;
    bytes += code + (code == 7 ? 1 : 0);
  }
  return {largest, bytes};
}

}  // namespace

Status SegmentDecoder::start(EventId first, std::uint32_t count, const Payloads& payloads, const Limits& limits) {
  first_ = first;
  count_ = count;
  decoded_ = 0;
  has_values_ = payloads.values != nullptr;
  has_stacks_ = payloads.stacks != nullptr;
  branches_.clear();
  reaches_.clear();
  next_branch_ = next_reach_ = 0;
  if (count > format::kMaxSegmentEvents) {
    return malformed("it has too many events");
  }
  SOOTH_RETURN_IF_ERROR(read_events(ByteReader(payloads.events->data(), payloads.events->size() - kSlack), limits));
  const auto reader = [](const Bytes* bytes) { return ByteReader(bytes->data(), bytes->size()); };
  if (has_values_) {
    SOOTH_RETURN_IF_ERROR(read_values(reader(payloads.values)));
  }
  if (has_stacks_) {
    SOOTH_RETURN_IF_ERROR(read_stacks(reader(payloads.stacks), limits));
  }
  if (payloads.branches != nullptr) {
    SOOTH_RETURN_IF_ERROR(read_branches(reader(payloads.branches), limits));
  }
  if (payloads.reaches != nullptr) {
    SOOTH_RETURN_IF_ERROR(read_reaches(reader(payloads.reaches)));
  }
  return {};
}

Status SegmentDecoder::read_events(ByteReader in, const Limits& limits) {
  const auto header = in.get<format::SegmentHeader>();
  if (!in.ok() || header.shapes > format::kMaxShapes || header.threads > count_ || header.runs > count_) {
    return malformed("its counts are impossible");
  }
  SOOTH_RETURN_IF_ERROR(read_shapes(in, header.shapes, limits));
  SOOTH_RETURN_IF_ERROR(read_streams(in, header, limits));
  return in.at_end() ? Status() : malformed("there are bytes behind its streams");
}

Status SegmentDecoder::read_shapes(ByteReader& in, std::uint32_t shapes, const Limits& limits) {
  shapes_.clear();
  for (std::uint32_t i = 0; i < shapes; ++i) {
    const auto shape = in.get<format::Shape>();
    if (!in.ok() || shape.site >= limits.sites || shape.op >= kOpCount || shape.order >= kMemoryOrderCount ||
        (shape.flags & ~kAllFlags) != 0 || shape.reserved != 0) {
      return malformed("it has an event of a shape that does not exist");
    }
    shapes_.push_back({std::uint64_t{shape.site} << 32, shape.size | std::uint64_t{shape.op} << 32 |
                                                            std::uint64_t{shape.order} << 40 |
                                                            std::uint64_t{shape.flags} << 48});
  }
  return {};
}

Status SegmentDecoder::read_streams(ByteReader& in, const format::SegmentHeader& header, const Limits& limits) {
  std::vector<format::ThreadEntry> entries(header.threads);
  for (format::ThreadEntry& entry : entries) {
    entry = in.get<format::ThreadEntry>();
    if (!in.ok() || entry.thread >= limits.threads) {
      return malformed("it has a thread that does not exist");
    }
  }
  run_ = in.get_bytes(header.runs * sizeof(format::Run));
  if (run_ == nullptr) {
    return malformed("its runs are cut");
  }
  run_left_ = 0;
  std::vector<std::uint64_t> expected(header.threads);
  for (std::uint32_t i = 0; i < header.runs; ++i) {
    const format::Run run = load_run(run_ + i * sizeof(format::Run));
    if (run.thread >= header.threads) {
      return malformed("a run names a thread that does not exist");
    }
    expected[run.thread] += run.length_less_1 + std::uint64_t{1};
  }
  streams_.resize(header.threads);
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < header.threads; ++i) {
    const format::ThreadEntry& entry = entries[i];
    const std::uint8_t* controls = in.get_bytes(std::size_t{2} * entry.events);
    if (controls == nullptr || entry.events != expected[i]) {
      return malformed("its runs and streams do not fit");
    }
    const ControlSummary summary = summarise_controls(controls, entry.events);
    if (summary.delta_bytes != entry.delta_bytes || (entry.events != 0 && summary.largest_shape >= shapes_.size())) {
      return malformed("a stream contradicts its table");
    }
    streams_[i].control = controls;
    streams_[i].thread = ThreadId{entry.thread};
    streams_[i].predicted.fill(0);
    total += entry.events;
  }
  for (std::uint32_t i = 0; i < header.threads; ++i) {
    streams_[i].delta = in.get_bytes(entries[i].delta_bytes);
    if (streams_[i].delta == nullptr) {
      return malformed("a stream is cut");
    }
  }
  return total == count_ ? Status() : malformed("it has not as many events as it says");
}

Status SegmentDecoder::read_values(ByteReader in) {
  value_at_ = in.get_bytes(0);
  for (std::uint32_t i = 0; i < count_; ++i) {
    const auto size = in.get<std::uint8_t>();
    if (size > 16 || in.get_bytes(size) == nullptr) {
      return malformed("its values are cut");
    }
  }
  return in.at_end() ? Status() : malformed("there are bytes behind its values");
}

Status SegmentDecoder::read_stacks(ByteReader in, const Limits& limits) {
  stack_changes_.clear();
  next_stack_ = 0;
  std::uint64_t position = 0;
  while (!in.at_end()) {
    const std::uint64_t step = in.get_varint();
    const std::uint64_t stack = in.get_varint();
    const bool again = step == 0 && !stack_changes_.empty();  // one event has one stack
    if (!in.ok() || again || step >= count_ - position || stack >= limits.stacks) {
      return malformed("it has a stack that does not exist");
    }
    position += step;
    stack_changes_.push_back({static_cast<std::uint32_t>(position), StackId(stack)});
  }
  stack_of_thread_.assign(limits.threads, kNoStack);
  return {};
}

Status SegmentDecoder::read_branches(ByteReader in, const Limits& limits) {
  std::uint64_t last = 0;
  while (!in.at_end()) {
    const std::uint64_t position = in.get_varint();
    const std::uint64_t thread = in.get_varint();
    const std::uint64_t site = in.get_varint();
    const std::uint64_t outcome = in.get_varint();
    if (!in.ok() || position < last || position > count_ || thread >= limits.threads || site >= limits.sites) {
      return malformed("it has a branch that does not exist");
    }
    last = position;
    branches_.push_back({advance(first_, position), ThreadId(thread), SiteId(site), outcome});
  }
  return {};
}

Status SegmentDecoder::read_reaches(ByteReader in) {
  std::uint64_t last = 0;
  while (!in.at_end()) {
    const std::uint64_t call = in.get_varint();
    const std::uint64_t begin = in.get_varint();
    const std::uint64_t length = in.get_varint();
    if (!in.ok() || call < last || call >= count_) {
      return malformed("it has the reach of a call that does not exist");
    }
    last = call;
    reaches_.push_back({advance(first_, call), begin, length});
  }
  return {};
}

void SegmentDecoder::decode_events(std::size_t count) {
  events_.resize(count);
  auto* out = reinterpret_cast<std::uint8_t*>(events_.data());
  const ShapeWords* shapes = shapes_.data();
  while (count > 0) {
    if (run_left_ == 0) {
      const format::Run run = load_run(run_);
      run_ += sizeof run;
      run_left_ = run.length_less_1 + 1u;
      run_stream_ = run.thread;
    }
    const std::size_t take = std::min<std::size_t>(count, run_left_);
    run_left_ -= static_cast<std::uint32_t>(take);
    count -= take;
    Stream& stream = streams_[run_stream_];
    const std::uint8_t* control_at = stream.control;
    const std::uint8_t* delta_at = stream.delta;
    const std::uint64_t thread = raw(stream.thread);
    for (const std::uint8_t* end = control_at + 2 * take; control_at != end; control_at += 2) {
      const std::uint32_t control = load_control(control_at);
      const std::uint32_t code = control >> format::kShapeBits;
      const std::uint32_t shape = control & kShapeMask;
      std::uint64_t delta;
      std::memcpy(&delta, delta_at, sizeof delta);
      delta_at += format::kLengthOfCode[code];
      delta &= kMaskOfCode[code];
      std::uint64_t& predicted = stream.predicted[shape % format::kPredictorSlots];
      predicted += (delta >> 1) ^ (0 - (delta & 1));
      // Word by word: a struct would be put together on the stack and copied with wider loads, which have to wait for
      // the stores before them.
      store_word(out, predicted);
      store_word(out + 8, thread | shapes[shape].site_word);
      store_word(out + 16, shapes[shape].last_word);
      out += sizeof(Event);
    }
    stream.control = control_at;
    stream.delta = delta_at;
  }
}

void SegmentDecoder::decode_values(std::size_t count) {
  value_batch_.assign(count, Value{});
  for (Value& value : value_batch_) {
    value.size = *value_at_++;
    std::uint64_t words[2] = {0, 0};
    std::memcpy(words, value_at_, value.size);
    value.low = words[0];
    value.high = words[1];
    value_at_ += value.size;
  }
}

void SegmentDecoder::decode_stacks(std::size_t count) {
  stack_batch_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    StackId& current = stack_of_thread_[raw(events_[i].thread)];
    if (next_stack_ < stack_changes_.size() && stack_changes_[next_stack_].position == decoded_ + i) {
      current = stack_changes_[next_stack_++].stack;
    }
    stack_batch_[i] = current;
  }
}

Batch SegmentDecoder::next() {
  const std::size_t count = std::min<std::size_t>(kDecodedEvents, count_ - decoded_);
  decode_events(count);
  Batch batch{advance(first_, decoded_), events_, {}, {}, {}, {}};
  if (has_values_) {
    decode_values(count);
    batch.values = value_batch_;
  }
  if (has_stacks_) {
    decode_stacks(count);
    batch.stacks = stack_batch_;
  }
  decoded_ += static_cast<std::uint32_t>(count);
  const EventId end = advance(first_, decoded_);
  const std::size_t branch = next_branch_;
  while (next_branch_ < branches_.size() && (branches_[next_branch_].before < end || decoded_ == count_)) {
    ++next_branch_;
  }
  batch.branches = std::span(branches_).subspan(branch, next_branch_ - branch);
  const std::size_t reach = next_reach_;
  while (next_reach_ < reaches_.size() && reaches_[next_reach_].call < end) {
    ++next_reach_;
  }
  batch.reaches = std::span(reaches_).subspan(reach, next_reach_ - reach);
  return batch;
}

}  // namespace sooth
