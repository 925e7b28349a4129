// The part of a trace that is kept in memory, for whoever has to look at it as a whole: its beginning, or all of it that
// can matter to more than one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pipeline/shared_memory.h"
#include "race/witness.h"
#include "trace/batch.h"

namespace sooth {

// Without SharedMemory: the first events of a trace, kept while the analyses read it.
//
// With it: a *projection*, the first of the events that are left when plain accesses to memory that one thread has to
// itself are dropped. Such a read sees writes of its own thread in every order, and nobody else sees such a write. So
// the correct reorderings (docs/semantics.md section 7) of the projection are those of the trace with the dropped events
// left out: put back in program order they make one of the other, and the same pairs of what is left can be next. An event of the view is then
// named by its position in the projection; original() and position() translate.
class TraceCapture {
 public:
  // A projection; `shared` has seen the whole trace, and outlives this.
  TraceCapture(std::uint64_t max_events, bool values, const SharedMemory& shared)
      : max_events_(max_events), keeps_values_(values), shared_(&shared) {}
  // `values`: keep these too, where batches have them.
  explicit TraceCapture(std::uint64_t max_events, bool values = false)
      : max_events_(max_events), keeps_values_(values) {}

  void consume(const Batch& batch);
  // What comes from now on is not read by anybody.
  void cut() { cut_ = true, whole_ = false; }
  bool is_cut() const { return cut_; }
  // Whether it is the whole trace.
  bool whole() const { return whole_; }
  // `tables` is for the names in the view.
  TraceView view(const Tables& tables) const { return {events_, values_, branches_, &tables, reaches_, deep_}; }
  std::uint64_t size() const { return events_.size(); }
  // Calls that reach something, in all batches.
  std::uint64_t calls() const { return calls_; }
  std::uint64_t unbounded_calls() const { return unbounded_calls_; }  // those of them that may touch everything
  // Every call of what was kept reaches the ranges, too.
  void reach_everywhere(std::span<const Reach> ranges);
  Batch batch() const { return {EventId{0}, events_, values_, stacks_, branches_, {}}; }
  bool is_projection() const { return shared_ != nullptr; }
  // The name that an event of the view has in the trace.
  EventId original(EventId id) const { return shared_ == nullptr ? id : ids_[raw(id)]; }
  ThreadId view_thread(EventId id) const { return events_[raw(id)].thread; }
  // And back; nullopt when the event was dropped, or lies behind what was kept.
  std::optional<EventId> position(EventId id) const;
  // How many events of the view stand in front of that one of the trace.
  EventId position_at_least(EventId id) const;
  // Of a projection: what the thread of an event does between its event before, in the projection, and this one.
  struct Dropped {
    EventId first{}, last{};  // names in the trace
  };
  std::optional<Dropped> dropped_before(EventId id) const;

  StackId stack(EventId id) const { return raw(id) < stacks_.size() ? stacks_[raw(id)] : kNoStack; }

 private:
  void project(const Batch& batch);
  void keep(const Batch& batch, std::size_t i);

  std::uint64_t max_events_;
  bool keeps_values_;
  const SharedMemory* shared_ = nullptr;
  std::vector<EventId> ids_;                     // of a projection, by position
  std::vector<std::optional<Dropped>> dropped_;  // ... as dropped_before() has it
  std::vector<std::optional<Dropped>> open_;     // by thread: dropped since its last event that was kept
  std::vector<Event> events_;
  std::vector<Value> values_;    // empty, or parallel to events_
  std::vector<StackId> stacks_;  // empty, or parallel to events_
  std::vector<Branch> branches_;
  std::vector<Reach> reaches_;
  std::vector<DeepRecord> deep_;
  std::uint64_t calls_ = 0;
  std::uint64_t unbounded_calls_ = 0;
  bool whole_ = true;
  bool cut_ = false;
};

}  // namespace sooth
