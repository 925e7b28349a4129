// How far threads may have to go beyond what every reordering needs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/flat_map.h"
#include "predict/closure.h"
#include "predict/trace_index.h"
#include "predict/window.h"

namespace sooth {

// If a correct reordering executes all of `need` and none of its targets, then one does that executes nothing but these
// events: `need`, the ends of sections that others wait for, notifies that may wake waits among them, posts of semaphores
// that they wait for, the writes that binding reads among them may see, and what
// those need. Anything else can be left out of a reordering without harm.
class AllowedEvents {
 public:
  // `rules` are those of `need`, with its poll: when that has stopped, the result is of no use. Under ReadRule::kAll
  // reads see nothing but what they saw.
  AllowedEvents(const TraceIndex& index, const Window& window, const PrefixClosure& need, ClosureRules rules);

  // By thread: the first so many events.
  const std::vector<std::uint32_t>& lengths() const { return length_; }
  // By thread: no other reads than those among the first so many events bind when no other events are executed.
  const std::vector<std::uint32_t>& may_bind() const { return may_bind_; }

 private:
  struct Users {  // of a lock
    std::uint32_t first_thread = 0;
    bool any = false;
    bool several = false;    // threads
    bool exclusive = false;  // in exclusive mode, by whomever
  };

  bool include(EventIndex e);
  void raise_binding(std::uint32_t thread, std::uint32_t length);
  void follow_reads();
  void allow_write(EventIndex write);
  void end_sections();
  void begin_sections();
  void wake_waits();
  void let_through();
  void include_first(std::vector<std::vector<EventIndex>> events);
  FlatMap<Users> users_of_locks() const;

  const TraceIndex& index_;
  const Window& window_;
  const PrefixClosure& need_;
  const bool has_branches_;  // that matter
  std::vector<std::uint32_t> length_, may_bind_;
  std::vector<std::uint32_t> followed_;  // by thread: of how many events the reads are done
  std::vector<std::uint32_t> refused_;   // by thread: the first position that would need a target
  StopPoll* const poll_;
  bool changed_ = false;
};

}  // namespace sooth
