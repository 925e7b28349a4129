#include "trace/recording/stream_decoder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "trace/format/byte_io.h"

namespace sooth {
namespace {

constexpr std::uint32_t kNumberMask = stream::kSlots - 1;
constexpr std::uint32_t kMaxRecordedBytes = 16;

template <typename T>
T load(const std::uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// The first `bytes` of the eight at `at`.
std::uint64_t load_bytes(const std::uint8_t* at, std::uint32_t bytes) {
  const std::uint64_t word = load<std::uint64_t>(at);
  return bytes >= 8 ? word : word & ((std::uint64_t{1} << 8 * bytes) - 1);
}

std::uint64_t unzigzag(std::uint64_t n) { return (n >> 1) ^ (0 - (n & 1)); }

bool takes_thread(const Event& event) {
  return event.op == Op::kFork || event.op == Op::kJoin ||
         (event.op == Op::kMisuse && object_kind(event) == ObjectKind::kThread);
}
bool takes_site(Op op) { return op == Op::kEnter || op == Op::kExit || op == Op::kCallBegin || op == Op::kCallEnd; }

// The bytes of an event behind its thread, put together as SegmentDecoder does: two words, stored at once.
std::uint64_t last_word(std::uint32_t size, std::uint8_t op, std::uint8_t order, std::uint8_t flags) {
  return size | std::uint64_t{op} << 32 | std::uint64_t{order} << 40 | std::uint64_t{flags} << 48;
}

void store_event(Event* out, std::uint64_t object, std::uint64_t middle, std::uint64_t last) {
  auto* bytes = reinterpret_cast<std::uint8_t*>(out);
  std::memcpy(bytes, &object, sizeof object);
  std::memcpy(bytes + 8, &middle, sizeof middle);
  std::memcpy(bytes + 16, &last, sizeof last);
}
static_assert(offsetof(Event, thread) == 8 && offsetof(Event, site) == 12 && offsetof(Event, size) == 16 &&
              offsetof(Event, op) == 20 && offsetof(Event, order) == 21 && offsetof(Event, flags) == 22);

}  // namespace

void StreamDecoder::set_limit(std::uint32_t limit) {
  limit_ = buffer_.get() + limit;
  std::fill_n(buffer_.get() + limit, kSlack, std::uint8_t{0});
}

std::string StreamDecoder::complaint(const std::string& what) const {
  const std::uint64_t byte = stream::kControlBytes + std::uint64_t{chunk_} * stream::kChunkBytes +
                             static_cast<std::uint64_t>(record_ - buffer_.get());
  return "chunk " + std::to_string(chunk_) + " (of stream " + std::to_string(stream_) + "), record at byte " +
         std::to_string(byte) + ": " + what;
}

bool StreamDecoder::fail(const std::string& what) {
  error_ = complaint(what);
  stop_ = Stop::kDamaged;
  return false;
}

template <bool kHasValues>
StreamDecoder::Stop StreamDecoder::run_records(EventSink& out) {
  for (;;) {
    if (kHasValues && run_left_ != 0 && !take_run(out)) {
      return stop_;
    }
    // The short way, with everything that changes in registers.
    const std::uint8_t* at = at_;
    const std::uint8_t* const last_start = limit_ - 2;
    Slot* const slots = slots_.data();
    const std::size_t slot_count = thread_known_ ? slots_.size() : 0;
    const std::uint64_t thread = raw(thread_);
    const StackId stack = thread_known_ ? names_.stack(thread_) : kNoStack;
    std::size_t count = out.count;
    std::uint32_t control = 0;
    Stop stop = Stop::kFull;
    for (; count < out.capacity; ++count) {
      if (at > last_start) {
        stop = Stop::kNoMore;
        break;
      }
      control = load<std::uint16_t>(at);
      const std::uint32_t number = control & kNumberMask;
      const std::uint32_t code = control >> stream::kSlotBits;
      if (number >= slot_count || code == stream::kEscapeCode || slots[number].kind != Kind::kPlain) [[unlikely]] {
        stop = control == 0 ? Stop::kNoMore : Stop::kTicket;  // kTicket: a special record
        break;
      }
      Slot& slot = slots[number];
      slot.step += unzigzag(load_bytes(at + 2, code));
      slot.object += slot.step;
      record_ = at;
      at += 2 + code;
      if constexpr (kHasValues) {
        Value value;
        if (details_[number].valued) {
          at = read_value(at, number, static_cast<std::uint32_t>(slot.last_word), value);
          if (at == nullptr) {
            out.count = count;
            return stop_;
          }
        }
        follow(number);
        if (out.values != nullptr) {
          out.values[count] = value;
        }
      } else if (out.values != nullptr) {
        out.values[count] = Value{};
      }
      store_event(out.events + count, slot.object, thread | slot.site_word, slot.last_word);
      if (out.stacks != nullptr) {
        out.stacks[count] = stack_of(details_[number], stack);
      }
    }
    at_ = at;
    if (at > limit_) {
      --count;  // the last one is none
      out.count = count;
      fail("it runs over the end of its chunk");
      return stop_;
    }
    out.count = count;
    if (stop != Stop::kTicket) {
      return stop;
    }
    if (!special(control, out)) {
      return stop_;
    }
  }
}

StreamDecoder::Stop StreamDecoder::run(EventSink& out) {
  if (buffer_ == nullptr) {
    return Stop::kNoMore;
  }
  return has_values_ ? run_records<true>(out) : run_records<false>(out);
}

const std::uint8_t* StreamDecoder::read_value(const std::uint8_t* at, std::uint32_t slot, std::uint32_t size,
                                              Value& value) {
  const std::uint32_t length = *at++;
  if (length == stream::kNoValue) {
    return at;
  }
  if (length > kMaxRecordedBytes) {
    fail("its value has " + std::to_string(length) + " bytes");
    return nullptr;
  }
  SlotDetails& details = details_[slot];
  details.value_low ^= load_bytes(at, std::min(length, 8u));
  details.value_high ^= length > 8 ? load_bytes(at + 8, length - 8) : 0;
  const bool low_fits = size >= 8 || details.value_low >> 8 * size == 0;
  const bool high_fits = size >= 16 || (size > 8 ? details.value_high >> 8 * (size - 8) == 0 : details.value_high == 0);
  if (!low_fits || !high_fits) {
    fail("its value does not fit into " + std::to_string(size) + " bytes");
    return nullptr;
  }
  value = {details.value_low, details.value_high, static_cast<std::uint8_t>(size)};
  if (size <= 8) {
    remembered_[stream::place_of(slots_[slot].object)] = details.value_low;
  }
  return at + length;
}

bool StreamDecoder::special(std::uint32_t control, EventSink& out) {
  record_ = at_;
  at_ += 2;
  const std::uint32_t number = control & kNumberMask;
  if (control >> stream::kSlotBits == stream::kEscapeCode ? !escape(number, out) : !special_event(control, out)) {
    return false;
  }
  return at_ <= limit_ || fail("it runs over the end of its chunk");
}

bool StreamDecoder::special_event(std::uint32_t control, EventSink& out) {
  const std::uint32_t number = control & kNumberMask;
  const std::uint32_t code = control >> stream::kSlotBits;
  if (number >= slots_.size() || slots_[number].kind == Kind::kUndefined) {
    return fail("its slot " + std::to_string(number) + " was not defined");
  }
  if (!thread_known_) {
    return fail("no thread was named before this event");
  }
  Slot& slot = slots_[number];
  const SlotDetails& details = details_[number];
  slot.step += unzigzag(load_bytes(at_, code));
  slot.object += slot.step;
  at_ += code;
  const bool ticketed = (details.shape & stream::kTicketed) != 0;
  if (ticketed && !next_ticket()) {
    return false;
  }
  std::uint64_t size = static_cast<std::uint32_t>(slot.last_word);
  if ((details.shape & stream::kSized) != 0) {
    size = varint();
    if (size > 0xffffffff) {
      return fail("its size is impossible");
    }
  }
  pending_ = {};
  pending_.slot = number;
  store_event(&pending_.event, slot.object, raw(thread_), slot.last_word | size);
  if (has_values_ && is_access(pending_.event.op) && size <= kMaxRecordedBytes) {
    at_ = read_value(at_, number, static_cast<std::uint32_t>(size), pending_.value);
    if (at_ == nullptr) {
      return false;
    }
  }
  if (!check_object(pending_.event)) {
    return false;
  }
  if (has_values_) {
    follow(number);
  }
  if (ticketed) {
    stop_ = Stop::kTicket;
    return at_ > limit_ && fail("it runs over the end of its chunk");
  }
  if (at_ <= limit_) {
    emit(pending_, out);
  }
  return true;
}

bool StreamDecoder::check_object(const Event& event) {
  if (takes_thread(event) && event.object >= stream::kMaxThreads) {
    return fail("its thread " + std::to_string(event.object) + " is impossible");
  }
  if (takes_site(event.op) && !names_.has_site(event.object)) {
    return fail("its function " + std::to_string(event.object) + " is in no row of `sites`");
  }
  return true;
}

// Puts the event into the sink, with what is only known now: other streams may have changed it since it was decoded.
void StreamDecoder::emit(Pending& pending, EventSink& out) {
  Slot& slot = slots_[pending.slot];
  SlotDetails& details = details_[pending.slot];
  Event& event = pending.event;
  if (slot.kind == Kind::kFresh) {
    slot.site_word = std::uint64_t{raw(names_.site(details.row))} << 32;
    details.inlined = names_.inlined(details.row);
    const bool plain = details.shape == 0 && !takes_thread(event) && !takes_site(event.op);
    slot.kind = plain ? Kind::kPlain : Kind::kSpecial;
  }
  event.site = SiteId(slot.site_word >> 32);
  if (takes_thread(event)) {
    names_.use_thread(event.object);
  } else if (takes_site(event.op)) {
    event.object = raw(names_.site(static_cast<std::uint32_t>(event.object)));
  }
  if (event.op == Op::kCallBegin) {
    names_.name_call(SiteId(event.object));
    if (out.calls != nullptr) {
      out.calls->push_back(out.count);
    }
  }
  out.events[out.count] = event;
  if (out.values != nullptr) {
    out.values[out.count] = pending.value;
  }
  if (out.stacks != nullptr) {
    const StackId stack = names_.stack(event.thread);
    out.stacks[out.count] = stack_of(details, stack);
  }
  ++out.count;
}

void StreamDecoder::take(EventSink& out) {
  if (pending_.slot != 0) {
    emit(pending_, out);
  }
}

bool StreamDecoder::escape(std::uint32_t number, EventSink& out) {
  if (number >= stream::kDeepRecords) {
    return take_deep(number, out);
  }
  if (number > stream::kRuns) {
    run_left_ = number - stream::kRuns;
    return has_values_ && thread_known_ ? true : fail("it is a run, and there is nothing to go on with");
  }
  switch (static_cast<stream::Record>(number)) {
    case stream::Record::kDefine: return define();
    case stream::Record::kStack: names_.set_now(EventId{out.first + out.count}); return change_stack();
    case stream::Record::kFrame:
    case stream::Record::kThreadPointer:
      names_.set_now(EventId{out.first + out.count});
      return take_place(static_cast<stream::Record>(number) == stream::Record::kFrame);
    case stream::Record::kThread: return switch_thread();
    case stream::Record::kName: return take_name();
    case stream::Record::kTurn:
    case stream::Record::kTicket:
      pending_ = {};
      if (!next_ticket()) {
        return false;
      }
      stop_ = Stop::kTicket;
      return at_ > limit_ && fail("it runs over the end of its chunk");
  }
  return fail("its kind " + std::to_string(number) + " is unknown");
}

bool StreamDecoder::define() {
  const std::uint32_t number = load<std::uint16_t>(at_);
  const std::uint8_t op = at_[2];
  const std::uint8_t order = at_[3];
  const std::uint8_t flags = at_[4];
  const std::uint8_t shape = at_[5];
  at_ += 6;
  const std::uint64_t size = varint();
  const std::uint64_t row = varint();
  const bool sized = (shape & stream::kSized) != 0;
  if (number == 0 || number >= stream::kSlots || op >= kOpCount || order >= kMemoryOrderCount ||
      (flags & ~kAllFlags) != 0 || (shape & ~(stream::kTicketed | stream::kSized)) != 0 || size > 0xffffffff ||
      (sized && size != 0)) {
    return fail("it defines a slot that does not exist");
  }
  if (at_ > limit_) {
    return true;  // the caller complains
  }
  if (!names_.has_site(row)) {
    return fail("its site " + std::to_string(row) + " is in no row of `sites`");
  }
  if (has_values_ && remembered_.empty()) {
    remembered_.resize(stream::kPlaces);
  }
  if (number >= slots_.size()) {
    const std::size_t enough = std::bit_ceil(std::size_t{number} + 1);
    slots_.resize(enough);
    details_.resize(enough);
  }
  slots_[number] = {0, 0, 0, last_word(static_cast<std::uint32_t>(size), op, order, flags), Kind::kFresh};
  SlotDetails& details = details_[number];
  details = {};
  details.row = static_cast<std::uint32_t>(row);
  details.shape = shape;
  details.valued = has_values_ && is_access(Op(op)) && (sized || size <= kMaxRecordedBytes);
  return true;
}

bool StreamDecoder::change_stack() {
  if (!thread_known_) {
    return fail("no thread was named before this stack");
  }
  ByteReader in(at_, static_cast<std::size_t>(std::max<std::ptrdiff_t>(limit_ - at_, 0)));
  const std::uint64_t pops = in.get_varint();
  const std::uint64_t pushes = in.get_varint();
  if (!in.ok() || pushes > in.remaining()) {
    return fail("it runs over the end of its chunk");
  }
  if (!names_.pop_calls(thread_, pops)) {
    return fail("it returns from " + std::to_string(pops) + " calls, which are more than there are");
  }
  for (std::uint64_t i = 0; i < pushes; ++i) {
    const std::uint64_t row = in.get_varint();
    if (!in.ok() || !names_.has_site(row)) {
      return fail("a call of it is in no row of `sites`");
    }
    names_.push_call(thread_, static_cast<std::uint32_t>(row));
  }
  at_ = limit_ - in.remaining();
  return true;
}

bool StreamDecoder::switch_thread() {
  const std::uint64_t thread = varint();
  if (at_ > limit_) {
    return true;  // the caller complains
  }
  if (!names_.use_thread(thread)) {
    return fail("its thread " + std::to_string(thread) + " is impossible");
  }
  thread_ = ThreadId(thread);
  thread_known_ = true;
  return true;
}

bool StreamDecoder::take_deep(std::uint32_t number, EventSink& out) {
  const std::uint32_t kind = (number - stream::kDeepRecords) >> stream::kDeepKindShift;
  const std::uint32_t small = number & ((1u << stream::kDeepKindShift) - 1);
  if (kind >= kDeepKindCount) {
    return fail("there is no deep record of kind " + std::to_string(kind));
  }
  if (!thread_known_) {
    return fail("no thread was named before this deep record");
  }
  DeepRecord record;
  record.before = EventId{out.count};
  record.thread = thread_;
  record.kind = DeepKind(kind);
  std::uint32_t value_bytes = 0;
  if (record.kind == DeepKind::kBranch) {
    record.value = small == stream::kLongBranch ? varint() : small;
    if (has_values_ && small != stream::kLongBranch) {
      follow(stream::kEscapeCode << stream::kSlotBits | number);
    }
  } else if (record.kind == DeepKind::kWord || record.kind == DeepKind::kAddress) {
    value_bytes = small;
  } else {
    const std::uint64_t module = varint();
    const std::uint64_t function = varint();
    const std::uint64_t id = record.kind == DeepKind::kEnter ? 0 : varint();
    if (module >= stream::kMaxDeepModules || function > 0xffffffff || id > 0xffffffff) {
      return fail("it names code that is impossible");
    }
    record.module = static_cast<std::uint16_t>(module);
    record.function = static_cast<std::uint32_t>(function);
    record.id = static_cast<std::uint32_t>(id);
    value_bytes = record.kind == DeepKind::kReturn ? small : 0;
  }
  if (value_bytes > sizeof record.value) {
    return fail("its value has " + std::to_string(value_bytes) + " bytes");
  }
  if (value_bytes != 0) {
    record.value = load_bytes(at_, value_bytes);
    at_ += value_bytes;
  }
  if (out.deep == nullptr || at_ > limit_) {
    return true;  // the caller complains
  }
  out.deep->push_back(record);
  stop_ = Stop::kFull;
  return !out.full();
}

// Records of a run, until the sink is full.
bool StreamDecoder::take_run(EventSink& out) {
  const StackId stack = names_.stack(thread_);
  for (; run_left_ != 0; --run_left_) {
    if (out.full()) {
      stop_ = Stop::kFull;
      return false;
    }
    const std::uint32_t word = following_[context_];
    context_ = stream::next_context(context_, word);
    if (word >= stream::kSlots) {
      if (out.deep != nullptr) {
        out.deep->push_back({.before = EventId{out.count},
                             .thread = thread_,
                             .kind = DeepKind::kBranch,
                             .value = word & stream::kLongBranch});
      }
      continue;
    }
    if (word >= slots_.size() || slots_[word].kind != Kind::kPlain) {
      return fail("it is a run that goes on with an event of which there was none");
    }
    Slot& slot = slots_[word];
    SlotDetails& details = details_[word];
    const auto size = static_cast<std::uint32_t>(slot.last_word);
    slot.object += slot.step;
    const std::uint64_t value = remembered_[stream::place_of(slot.object)];
    if (!details.valued || size > 8 || (size < 8 && value >> 8 * size != 0)) {
      return fail("it is a run with an event that cannot have the value that is remembered");
    }
    store_event(out.events + out.count, slot.object, raw(thread_) | slot.site_word, slot.last_word);
    if (out.values != nullptr) {
      out.values[out.count] = {value, 0, static_cast<std::uint8_t>(size)};
    }
    if (out.stacks != nullptr) {
      out.stacks[out.count] = stack_of(details, stack);
    }
    ++out.count;
  }
  return true;
}

bool StreamDecoder::take_name() {
  ByteReader in(at_, static_cast<std::size_t>(std::max<std::ptrdiff_t>(limit_ - at_, 0)));
  const auto kind = in.get<std::uint8_t>();
  const std::uint64_t object = in.get_varint();
  const std::string_view name = in.get_string();
  if (!in.ok()) {
    return fail("it runs over the end of its chunk");
  }
  if (kind >= kObjectKindCount || (ObjectKind(kind) == ObjectKind::kThread && object >= stream::kMaxThreads)) {
    return fail("it names something that does not exist");
  }
  names_.name(ObjectKind(kind), object, name);
  at_ = limit_ - in.remaining();
  return true;
}

// Where the variables of a function or of the thread are.
bool StreamDecoder::take_place(bool is_frame) {
  const std::uint64_t depth = is_frame ? varint() : 0;
  const std::uint64_t row = is_frame ? varint() : 0;
  const std::uint64_t address = varint();
  if (at_ > limit_) {
    return true;  // the caller complains
  }
  if (!thread_known_) {
    return fail("it belongs to no thread");
  }
  if (!is_frame) {
    names_.place_thread_locals(thread_, address);
    return true;
  }
  return names_.place_frame(thread_, depth, row, address) || fail("it tells of a call or a site that does not exist");
}

// Tickets of a stream increase; only the very first of all may be 0.
bool StreamDecoder::next_ticket() {
  const std::uint64_t step = varint();
  const std::uint64_t ticket = last_ticket_ + step;
  if (ticket < last_ticket_ || (step == 0 && ticket_seen_)) {
    return fail("its ticket is not above the one before");
  }
  last_ticket_ = ticket;
  ticket_seen_ = true;
  return true;
}

// Ends within the slack, whatever the bytes are. One that is too long is a number that nothing accepts.
std::uint64_t StreamDecoder::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint8_t byte = *at_++;
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) {
      return value;
    }
  }
  return ~std::uint64_t{0};
}

}  // namespace sooth
