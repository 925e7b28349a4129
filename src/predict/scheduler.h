// Runs the events of a trace in another order, one step at a time, and takes steps back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/flat_map.h"
#include "base/stop_poll.h"
#include "predict/saturation.h"
#include "predict/trace_index.h"

namespace sooth {

// A correct reordering (docs/semantics.md section 7, every read seeing the write that it saw) under construction. It is
// to execute at least the first `need` events of each thread and may execute up to `allowed`; events beyond are never
// executed. Nor is any reordering tried that goes against the inferred order, see saturation.h.
//
// A step is *safe* when no completion is lost by taking it at once: any completion without it, or with it later, is one
// with it now. Reads and releases are safe whenever possible. A write is not when somebody may still want to read what
// it overwrites, or when it has readers and other writes of the variable are to come, unless it is inferred to come
// before them. An acquire is not when others want the lock, unless it is inferred to come before them, or the thread
// can run at once to where all it has acquired is released. A release is not while a failed acquire is to come that
// may need the lock taken; such an acquire is possible only then, and safe. A notify is not while a wait is to come that
// has not begun; nor is a wait that takes what another one may need, of a notify or of the count of a semaphore.
class Scheduler {
 public:
  // All must outlive it. What comes before the window has happened, and is not in order().
  Scheduler(const TraceIndex& index, const Window& window, const Bounds& bounds, StopPoll* poll = nullptr);

  // Takes safe steps until none is left or the goal is reached, or `poll` has stopped it.
  void advance();
  // All that is needed has been executed.
  bool reached() const { return missing_ == 0; }
  // The threads whose next step is possible but not safe, those that the trace took first first; acquires of locks that
  // are then never released come last. Meaningful after advance().
  std::vector<std::uint32_t> choices() const;
  void execute(std::uint32_t thread);

  // The events executed, in order.
  std::span<const EventIndex> order() const { return order_; }
  // Takes back all but the first `count` events.
  void undo_to(std::size_t count);

  // Equal for equal states: how far threads are, who may be woken, and what reads that are not needed would see. What needed reads see
  // follows, because no step overwrites what one of them still waits for. 128 bits, so that different states do not
  // meet.
  struct Key {
    std::uint64_t low = 0, high = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  Key key() const { return key_; }
  // Events executed so far, also those taken back: what the work was.
  std::uint64_t steps() const { return steps_; }

 private:
  enum class Step : std::uint8_t { kBlocked, kChoice, kSafe };
  struct Readers {
    std::uint32_t needed = 0;
    std::uint32_t optional = 0;
  };
  struct Variable {
    EventIndex last_write = kNoEvent;
    Readers waiting;           // for last_write, not executed
    std::uint32_t writes = 0;  // not executed
    bool optional_writes = false;
    bool in_key = false;  // has optional readers
  };
  struct Lock {
    std::uint32_t held_exclusive = 0, held_shared = 0;
    std::uint32_t coming_exclusive = 0, coming_shared = 0;  // sections not begun
    std::uint32_t needed_exclusive = 0, needed_shared = 0;  // ... that are needed
    std::uint32_t coming_failed = 0;                        // failed acquires not executed
  };
  // What may wake the waits of a vigil since it began. Whoever takes a notify takes it from all vigils that contain it:
  // these have as many that wake one or more, because they contain all that a later vigil does.
  struct VigilState {
    bool is_on = false;  // begun, and some wait is to come
    bool all = false;    // a notify that wakes everybody
    std::uint32_t ones = 0;
    std::uint32_t coming = 0;  // its waits that are not executed
  };
  struct Condition {
    std::vector<VigilIndex> vigils;
    std::uint32_t coming = 0;     // waits that are not executed
    std::uint32_t not_begun = 0;  // vigils
  };
  struct Semaphore {
    std::uint32_t count = 0;
    std::uint32_t coming = 0;  // waits that are not executed
  };
  struct SavedVigil {
    VigilIndex vigil;
    VigilState before;
  };
  struct Saved {  // of a variable, before an event
    EventIndex last_write;
    Readers waiting;
  };

  bool is_needed(EventIndex e) const { return index_.position(e) < need_[index_.thread(e)]; }
  bool is_executed(EventIndex e) const { return index_.position(e) < done_[index_.thread(e)]; }
  bool is_final(const LockSection& section) const {
    return section.release == kNoEvent || index_.position(section.release) >= allowed_[index_.thread(section.release)];
  }
  // Of the next step of the thread, as StopPoll counts.
  std::uint64_t cost_of_next(std::uint32_t thread) const {
    return done_[thread] == allowed_[thread] ? 1 : 1 + index_.variables(next_event(thread)).size();
  }
  EventIndex next_event(std::uint32_t thread) const { return index_.events_of(thread)[done_[thread]]; }
  const Readers* readers(EventIndex write, VariableIndex v) const { return readers_.find(reader_key(write, v)); }
  static std::uint64_t reader_key(EventIndex write, VariableIndex v) { return std::uint64_t{write} << 32 | v; }

  // What counts for the reads of the window: kNoEvent is what was there before it.
  EventIndex in_window(EventIndex write) const {
    return write == kNoEvent || window_.is_past(index_, write) ? kNoEvent : write;
  }

  void count(EventIndex e);
  Step next_step(std::uint32_t thread) const;
  bool may_execute(EventIndex e) const;
  Step access_step(EventIndex e) const;
  Step acquire_step(const LockSection& section) const;
  bool finds_taken(EventIndex failed) const;
  void count_wait(const ConditionIndex::Wait& wait);
  void begin_vigils();
  Step wait_step(const ConditionIndex::Wait& wait) const;
  Step semaphore_step(EventIndex e) const;
  void change_semaphore(EventIndex e, bool forward);
  void execute_condition(EventIndex e);
  void undo_condition(EventIndex e);
  bool is_about_condition(EventIndex e) const;
  void change_vigil(VigilIndex vigil, const VigilState& to);
  static std::uint64_t hash_of(const VigilState& state);
  bool run(std::uint32_t thread);
  bool run_section(std::uint32_t thread);
  void execute_access(EventIndex e);
  void undo_access(EventIndex e);
  void change_lock(EventIndex e, bool forward);
  void toggle_key(std::uint64_t what, std::uint64_t value);

  const TraceIndex& index_;
  const Window& window_;
  const std::span<const std::uint32_t> need_, allowed_;  // by thread
  const Bounds& bounds_;
  std::vector<std::uint32_t> done_;  // by thread
  std::uint64_t missing_ = 0;        // needed events not executed
  std::uint64_t steps_ = 0;
  std::vector<EventIndex> order_;
  std::vector<Saved> saved_;  // for each variable of each access in order_
  FlatMap<Variable> variables_;
  FlatMap<Readers> readers_;  // of a write (kNoEvent: the initial value) and variable
  FlatMap<Lock> locks_;
  std::vector<Semaphore> semaphores_;
  FlatMap<VigilState> vigils_;                // of waits that may be executed
  std::vector<Condition> conditions_;         // empty when there are none
  std::vector<SavedVigil> saved_vigils_;      // of events about conditions in order_
  std::vector<std::size_t> condition_marks_;  // of each of these events: where in saved_vigils_ it begins
  Key key_;
  StopPoll* const poll_;
};

}  // namespace sooth
