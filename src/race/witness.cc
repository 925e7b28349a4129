#include "race/witness.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

#include "race/witness_calls.h"
#include "race/witness_conditions.h"
#include "race/witness_first_bytes.h"
#include "race/witness_locks.h"
#include "race/witness_memory.h"
#include "race/witness_order.h"
#include "race/witness_semaphores.h"
#include "race/witness_text.h"

namespace sooth {
namespace {

using Number = std::uint32_t;  // of an event
constexpr Number kNoEvent = std::numeric_limits<Number>::max();

// One witness. First what can be said of each event by itself, then a pass over the trace (who must come before
// whom, who saw whose writes), then the sequence is acted out, and last come the reads: which of them bind depends
// on the whole.
class Checker {
 public:
  Checker(const TraceView& trace, const Witness& witness)
      : trace_(trace),
        // What a call does unseen may depend on any read before it.
        branches_(trace.reaches.empty() ? trace.branches : std::span<const Branch>{}),
        witness_(witness),
        edges_(trace.reaches.empty() ? MustEdges::Kept::kHard : MustEdges::Kept::kAll),
        calls_(trace.reaches),
        counts_(trace.events) {}

  Status run() {
    if (trace_.events.size() >= kNextMark) {
      return Status::bad_input("a witness for a trace of " + std::to_string(trace_.events.size()) +
                               " events cannot be checked: they are too many");
    }
    SOOTH_RETURN_IF_ERROR(place_events());
    scan_trace();
    found_taken_ = explained_failures(trace_.events.first(end_));
    woken_ = explained_waits(trace_.events.first(end_));
    SOOTH_RETURN_IF_ERROR(act_out());
    SOOTH_RETURN_IF_ERROR(check_next());
    note_reads();
    find_binding_reads();
    return check_reads();
  }

 private:
  // Position of what comes after the sequence: in play, but never done.
  static constexpr Number kNextMark = std::numeric_limits<Number>::max();

  Status place_events();
  Status place(EventId id, Number position);
  void scan_trace();
  void scan_memory(Number id, const Event& e, LastWrites& writes);
  Status act_out();
  Status check_step(Number id, Number steps_done);
  Status check_lock(Number id, const Event& e);
  Status check_next();
  Status check_race();
  Status check_deadlock();
  void find_binding_reads();
  std::vector<Number> branch_limits() const;
  void note_reads();
  Status check_reads();
  Status check_read(Number id);
  bool found_at_first(Number read, std::uint32_t byte);
  bool has_same_byte(Number read, Number writer, std::uint32_t byte);
  Status sees_another(Number id, std::uint32_t byte, Number sees, Number saw) const;

  Number last_done(ThreadId thread) const {
    return raw(thread) < last_done_.size() ? last_done_[raw(thread)] : kNoEvent;
  }
  std::span<const Stretch> stretches(Number id) const {
    return std::span(stretches_).subspan(first_stretch_[id], first_stretch_[id + 1] - first_stretch_[id]);
  }
  std::span<const Seen> seen(Number id) const {
    return std::span(seen_).subspan(first_seen_[id], first_seen_[id + 1] - first_seen_[id]);
  }
  // What a read of the order sees there.
  std::span<const Seen> now(Number id) const {
    const Number at = position_[id] - 1;
    return std::span(now_).subspan(first_now_[at], first_now_[at + 1] - first_now_[at]);
  }
  std::string text(std::uint64_t id) const { return event_text(trace_, id); }
  Status without(Number id, Number before, const std::string& why) const;

  std::optional<Number> missing(Number id, Number steps_done);

  const TraceView& trace_;
  const std::span<const Branch> branches_;
  const Witness& witness_;
  Number end_ = 0;                // events from here on do not matter
  std::vector<Number> position_;  // by event: from 1 in the order; 0: not in play; kNextMark
  std::vector<Number> previous_;  // by event: the one before it in its thread, or kNoEvent
  MustEdges edges_;
  CallEdges calls_;
  WitnessLocks locks_;
  std::unordered_set<Number> found_taken_;  // failed acquires of a lock that somebody held in the trace
  WitnessConditions conditions_;
  std::unordered_set<Number> woken_;  // condition waits that took a notify in the trace
  SemaphoreCounts counts_;
  std::unordered_set<Number> counted_;  // posts and waits of semaphores that are counters
  std::vector<Number> last_done_;       // by thread, or kNoEvent

  // Of the events in play, the bytes they touch; of the reads in the order, what they saw in the trace.
  Generations generations_;
  std::vector<Stretch> stretches_;
  std::vector<std::size_t> first_stretch_;  // by event, and one more
  std::vector<Seen> seen_;
  std::vector<std::size_t> first_seen_;    // by event, and one more
  std::vector<Seen> now_;                  // of the reads in the order, what they see there
  std::vector<std::size_t> first_now_;     // by position in the order, and one more
  std::vector<Number> binding_limit_;      // by thread: reads with smaller numbers bind
  std::optional<FirstBytes> first_bytes_;  // made when a read asks for it
};

Status Checker::place(EventId id, Number position) {
  if (raw(id) >= trace_.events.size()) {
    return Status::bad_input("event " + std::to_string(raw(id)) + " is not in the trace, which has " +
                             std::to_string(trace_.events.size()) + " events");
  }
  Number& at = position_[raw(id)];
  if (at == kNextMark && position != kNextMark) {
    return Status::bad_input(text(raw(id)) + " stands in the order, though it is what comes next");
  }
  if (at != 0) {
    return Status::bad_input(text(raw(id)) + (at == kNextMark ? " comes next twice" : " stands twice in the order"));
  }
  at = position;
  end_ = std::max(end_, static_cast<Number>(raw(id)) + 1);
  return {};
}

Status Checker::place_events() {
  position_.assign(trace_.events.size(), 0);
  for (const EventId id : witness_.next) {
    SOOTH_RETURN_IF_ERROR(place(id, kNextMark));
  }
  Number position = 0;
  for (const EventId id : witness_.order) {
    SOOTH_RETURN_IF_ERROR(place(id, ++position));
  }
  return {};
}

void Checker::scan_trace() {
  LastWrites writes({});
  std::vector<Number> last_of_thread;
  previous_.resize(end_);
  first_stretch_.reserve(end_ + std::size_t{1});
  first_seen_.reserve(end_ + std::size_t{1});
  for (Number id = 0; id < end_; ++id) {
    const Event& e = trace_.events[id];
    if (raw(e.thread) >= last_of_thread.size()) {
      last_of_thread.resize(raw(e.thread) + std::size_t{1}, kNoEvent);
    }
    previous_[id] = std::exchange(last_of_thread[raw(e.thread)], id);
    if (edges_.add(id, e, position_[id] != 0)) {
      counted_.insert(id);
    }
    calls_.add(id, e, position_[id] != 0);
    scan_memory(id, e, writes);
  }
  first_stretch_.push_back(stretches_.size());
  first_seen_.push_back(seen_.size());
  last_done_.assign(last_of_thread.size(), kNoEvent);
}

void Checker::scan_memory(Number id, const Event& e, LastWrites& writes) {
  first_stretch_.push_back(stretches_.size());
  first_seen_.push_back(seen_.size());
  if (e.op == Op::kAlloc) {
    generations_.alloc(e);
  }
  if (!is_access(e.op) && e.op != Op::kFree) {
    return;
  }
  const std::size_t first = stretches_.size();
  generations_.resolve(e, stretches_);
  for (std::size_t i = first; i < stretches_.size(); ++i) {
    if (is_read(e.op) && position_[id] != 0) {
      writes.read(stretches_[i], first_seen_.back(), seen_);
    }
    if (is_write(e.op)) {
      writes.write(stretches_[i], id);
    }
  }
  if (position_[id] == 0) {
    stretches_.resize(first);
  }
}

// `id` stands where `before` has not happened yet, or is not there at all.
Status Checker::without(Number id, Number before, const std::string& why) const {
  const bool later = position_[before] != 0 && position_[before] != kNextMark;
  return Status::bad_input(text(id) + (later ? " stands before " : " stands there without ") + text(before) + ", " +
                           why);
}

Status Checker::act_out() {
  Number steps_done = 0;
  for (const EventId event : witness_.order) {
    const auto id = static_cast<Number>(raw(event));
    SOOTH_RETURN_IF_ERROR(check_step(id, steps_done));
    last_done_[raw(trace_.events[id].thread)] = id;
    ++steps_done;
  }
  return {};
}

// What must come before the event and is not among the first `steps_done` of the order.
std::optional<Number> Checker::missing(Number id, Number steps_done) {
  const auto done = [&](Number event) { return position_[event] - 1 < steps_done; };  // 0 wraps around
  const std::optional<Number> before = edges_.missing(id, done);
  return before ? before : calls_.missing(id, done);
}

// Whether the event can come after the first `steps_done` of the order.
Status Checker::check_step(Number id, Number steps_done) {
  const Event& e = trace_.events[id];
  if (previous_[id] != last_done(e.thread)) {
    return without(id, previous_[id], "which comes before it in its thread");
  }
  if (const std::optional<Number> before = missing(id, steps_done)) {
    return without(id, *before, "which must come before it");
  }
  if (woken_.contains(id) && !conditions_.take(e)) {
    return Status::bad_input(text(id) + " comes without a notify since its wait began that wakes it");
  }
  conditions_.pass(e);
  if (counted_.contains(id) && !counts_.pass(e)) {
    return Status::bad_input(text(id) + " comes while the semaphore is at 0");
  }
  return check_lock(id, e);
}

Status Checker::check_lock(Number id, const Event& e) {
  if (e.op == Op::kAcquire) {
    if (const std::optional<LockHold> held = locks_.blocker(e)) {
      return Status::bad_input(text(id) + " comes while " + thread_text(trace_, held->thread) + " holds the lock" +
                               (held->shared ? " in reader mode" : "") + " since event " + std::to_string(held->since));
    }
    locks_.acquire(id, e);
  } else if (e.op == Op::kRelease && !locks_.release(e)) {
    return Status::bad_input(text(id) + " comes without an acquire of the lock");
  } else if (found_taken_.contains(id) && !locks_.is_held_against(e)) {
    return Status::bad_input(text(id) + " comes while nobody holds the lock");
  }
  return {};
}

Status Checker::check_next() {
  const Number steps = static_cast<Number>(witness_.order.size());
  for (const EventId event : witness_.next) {
    const auto id = static_cast<Number>(raw(event));
    if (previous_[id] != last_done(trace_.events[id].thread)) {
      return Status::bad_input(text(id) + " cannot come next: " + text(previous_[id]) +
                               " comes before it in its thread");
    }
    if (const std::optional<Number> before = missing(id, steps)) {
      return Status::bad_input(text(id) + " cannot come next: " + text(*before) + " must come before it");
    }
  }
  switch (witness_.kind) {
    case FindingKind::kRace: return check_race();
    case FindingKind::kDeadlock: return check_deadlock();
    case FindingKind::kMisuse: return Status::bad_input("a misuse has no witness: it happened in the recorded run");
    case FindingKind::kAtomicity: return Status::bad_input("a violation of atomicity has no witness that is checked");
    case FindingKind::kCrash:
    case FindingKind::kHang: return Status::bad_input("a failure has no witness: a run ended so");
  }
  return Status::bad_input("a witness of an unknown kind");
}

// Both being next in their threads, they are of different ones.
Status Checker::check_race() {
  if (witness_.next.size() != 2) {
    return Status::bad_input("a race has 2 accesses that come next, this one has " +
                             std::to_string(witness_.next.size()));
  }
  const std::array ids = {static_cast<Number>(raw(witness_.next[0])), static_cast<Number>(raw(witness_.next[1]))};
  const Event& a = trace_.events[ids[0]];
  const Event& b = trace_.events[ids[1]];
  for (const Number id : ids) {
    if (!is_access(trace_.events[id].op) && trace_.events[id].op != Op::kFree) {
      return Status::bad_input(text(id) + " is no access, so it races with nothing");
    }
  }
  const auto no_conflict = [&](const char* why) {
    return Status::bad_input(text(ids[0]) + " and " + text(ids[1]) + " do not conflict: " + why);
  };
  if (!is_write(a.op) && !is_write(b.op)) {
    return no_conflict("neither writes");
  }
  if (is_atomic(a.op) && is_atomic(b.op)) {
    return no_conflict("both are atomic");
  }
  for (const Stretch& of_a : stretches(ids[0])) {
    for (const Stretch& of_b : stretches(ids[1])) {
      if (of_a.overlaps(of_b)) {
        return {};
      }
    }
  }
  return no_conflict("no byte of the same generation belongs to both");
}

// The threads differ, as those of a race do.
Status Checker::check_deadlock() {
  const std::size_t count = witness_.next.size();
  if (count < 2) {
    return Status::bad_input("a deadlock has at least 2 acquires that come next, this one has " +
                             std::to_string(count));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t id = raw(witness_.next[i]);
    const Event& e = trace_.events[id];
    if (e.op != Op::kAcquire) {
      return Status::bad_input(text(id) + " is no acquire, so it waits for nobody");
    }
    if (!may_wait_for_ever(e)) {
      return Status::bad_input(text(id) + " does not wait for ever: it " +
                               ((e.flags & kTry) != 0 ? "only tries" : "has a time limit"));
    }
    if (locks_.hold(e.thread, e.object) != nullptr) {
      return Status::bad_input(text(id) + " waits for nobody: the thread holds the lock already");
    }
    const ThreadId holder = trace_.events[raw(witness_.next[(i + 1) % count])].thread;
    const LockHold* held = locks_.hold(holder, e.object);
    if (held == nullptr || (held->shared && is_shared(e))) {
      return Status::bad_input(text(id) + " does not wait for " + thread_text(trace_, holder) + ", which " +
                               (held == nullptr ? "does not hold the lock" : "holds the lock in reader mode as well"));
    }
  }
  return {};
}

// By thread: the last branch that the reordering contains. It is passed when the thread does something after it, or
// arrives behind it at what comes next.
std::vector<Number> Checker::branch_limits() const {
  std::vector<Number> reached(last_done_.size(), 0);  // a branch before this event, or an earlier one, was passed
  for (std::size_t thread = 0; thread < reached.size(); ++thread) {
    reached[thread] = last_done_[thread] == kNoEvent ? 0 : last_done_[thread];
  }
  for (const EventId next : witness_.next) {
    reached[raw(trace_.events[raw(next)].thread)] = static_cast<Number>(raw(next));
  }
  std::vector<Number> limits(reached.size(), 0);
  for (const Branch& branch : branches_) {
    if (raw(branch.thread) < limits.size() && raw(branch.before) <= reached[raw(branch.thread)]) {
      limits[raw(branch.thread)] = static_cast<Number>(raw(branch.before));
    }
  }
  return limits;
}

void Checker::find_binding_reads() {
  if (branches_.empty()) {
    binding_limit_.assign(last_done_.size(), kNoEvent);
    return;
  }
  binding_limit_ = branch_limits();
  std::vector<std::vector<Number>> reads(last_done_.size());  // of each thread, in program order
  for (const EventId id : witness_.order) {
    const Event& e = trace_.events[raw(id)];
    if (is_read(e.op)) {
      reads[raw(e.thread)].push_back(static_cast<Number>(raw(id)));
    }
  }
  std::vector<std::size_t> next_read(reads.size(), 0);
  std::vector<Number> work(reads.size());  // threads whose limit may be beyond next_read
  for (Number thread = 0; thread < work.size(); ++thread) {
    work[thread] = thread;
  }
  while (!work.empty()) {
    const Number thread = work.back();
    work.pop_back();
    for (std::size_t& at = next_read[thread];
         at < reads[thread].size() && reads[thread][at] < binding_limit_[thread];) {
      for (const Seen& run : now(reads[thread][at++])) {
        if (run.writer == Seen::kNobody) {
          continue;
        }
        const Event& write = trace_.events[run.writer];
        // What an rmw stores depends on what it reads itself, too.
        const Number limit = run.writer + (is_read(write.op) ? 1 : 0);
        if (limit > binding_limit_[raw(write.thread)]) {
          binding_limit_[raw(write.thread)] = limit;
          work.push_back(raw(write.thread));
        }
      }
    }
  }
}

// What every read of the sequence sees in it.
void Checker::note_reads() {
  LastWrites writes(position_);
  first_now_.reserve(witness_.order.size() + 1);
  for (const EventId event : witness_.order) {
    const auto id = static_cast<Number>(raw(event));
    const Event& e = trace_.events[id];
    first_now_.push_back(now_.size());
    for (const Stretch& stretch : stretches(id)) {
      if (is_read(e.op)) {
        writes.read(stretch, first_now_.back(), now_);
      }
      if (is_write(e.op)) {
        writes.write(stretch, id);
      }
    }
  }
  first_now_.push_back(now_.size());
}

Status Checker::check_reads() {
  for (const EventId event : witness_.order) {
    const auto id = static_cast<Number>(raw(event));
    const Event& e = trace_.events[id];
    if (is_read(e.op) && id < binding_limit_[raw(e.thread)]) {
      SOOTH_RETURN_IF_ERROR(check_read(id));
    }
  }
  return {};
}

// Both lists of runs cover all bytes of the read.
Status Checker::check_read(Number id) {
  const std::span<const Seen> now = this->now(id);
  const std::span<const Seen> then = seen(id);
  std::uint32_t byte = 0;
  std::uint32_t now_end = 0;
  std::uint32_t then_end = 0;
  auto sees = now.begin();
  auto saw = then.begin();
  while (sees != now.end()) {
    const std::uint32_t end = std::min(now_end + sees->size, then_end + saw->size);
    if (sees->writer != saw->writer) {
      for (; byte < end && has_same_byte(id, sees->writer, byte); ++byte) {
      }
      if (byte < end) {
        return sees_another(id, byte, sees->writer, saw->writer);
      }
    }
    byte = end;
    if (now_end + sees->size == end) {
      now_end = end;
      ++sees;
    }
    if (then_end + saw->size == end) {
      then_end = end;
      ++saw;
    }
  }
  return {};
}

// Whether the reads that saw no write tell that it was there before all writes.
bool Checker::found_at_first(Number read, std::uint32_t byte) {
  const std::optional<std::uint64_t> found = FirstBytes::told(trace_.events[read], trace_.values[read], byte);
  if (!found || calls_.reaches(trace_.events[read])) {
    return false;
  }
  if (!first_bytes_) {
    first_bytes_.emplace(trace_, end_, [this](const Event& e) { return calls_.reaches(e); });
  }
  for (const Stretch& stretch : stretches(read)) {
    if (byte < stretch.size) {
      return first_bytes_->at(stretch, byte) == found;
    }
    byte -= stretch.size;
  }
  return false;
}

// Whether the record of values says that the writer stored what the read found in this byte of the read.
bool Checker::has_same_byte(Number read, Number writer, std::uint32_t byte) {
  if (trace_.values.empty()) {
    return false;
  }
  if (writer == Seen::kNobody) {
    return found_at_first(read, byte);
  }
  const Event& write = trace_.events[writer];
  if (calls_.reaches(trace_.events[read]) || calls_.reaches(write)) {
    return false;  // what was there in between nobody knows
  }
  if (write.op != Op::kWrite && write.op != Op::kAtomicStore) {
    return false;  // what an rmw or a free leaves is not recorded
  }
  const auto recorded = [this](Number event, std::uint64_t at) -> std::optional<unsigned> {
    const Value& value = trace_.values[event];
    if (at >= value.size) {
      return std::nullopt;
    }
    return static_cast<unsigned>((at < 8 ? value.low >> (8 * at) : value.high >> (8 * (at - 8))) & 0xff);
  };
  const Value& found_value = trace_.values[read];
  const Value& stored_value = trace_.values[writer];
  if (found_value.size > trace_.events[read].size || stored_value.size > write.size) {
    // A variable that is known by name only: its one byte stands for all of it.
    return found_value.size != 0 && stored_value.size != 0 && found_value.low == stored_value.low &&
           found_value.high == stored_value.high;
  }
  const std::optional<unsigned> found = recorded(read, byte);
  return found.has_value() && found == recorded(writer, trace_.events[read].object + byte - write.object);
}

Status Checker::sees_another(Number id, std::uint32_t byte, Number sees, Number saw) const {
  const std::string where = trace_.events[id].size == 1 ? "" : " in byte " + std::to_string(byte);
  return Status::bad_input(text(id) + " sees " +
                           (sees == Seen::kNobody ? "no write" : "the write of event " + std::to_string(sees)) + where +
                           ", in the trace it saw " + (saw == Seen::kNobody ? "none" : "event " + std::to_string(saw)));
}

}  // namespace

Status check_witness(const TraceView& trace, const Witness& witness) { return Checker(trace, witness).run(); }

}  // namespace sooth
