// Where the things in findings come from: the memory of a race, the threads, the locks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/flat_map.h"
#include "base/packed_column.h"
#include "base/status.h"
#include "order/held_locks.h"
#include "race/finding.h"
#include "race/pair_table.h"
#include "trace/batch.h"
#include "trace/reader.h"

namespace sooth {

// Recorders announce the stack of a thread as a block right behind its begin. The smallest that Linux allows: a short
// block there is an ordinary one.
inline constexpr std::uint32_t kSmallestStack = 16 * 1024;

// Who started which thread. Memory grows by ten bytes or so with each thread.
class ForkLog {
 public:
  // `tables` resolves the ids of the batch. The trace may be malformed.
  void consume(const Batch& batch, const Tables& tables);
  // The fork of it; nothing when nobody was seen to start it.
  std::optional<AccessRecord> of(ThreadId thread) const;

  void add(const AccessRecord& fork, const Tables& tables);

 private:
  std::vector<std::uint32_t> place_;  // by the new thread: in the columns, + 1; 0: nobody was seen to start it
  PackedColumn ids_, by_, sites_, stacks_;
};

// Follows a trace once more, up to the last event that a finding names, and keeps what explains the findings: the
// latest alloc around the bytes of each race, the forks, and the first acquire of each lock. Time is that of decoding
// and a little for lock events; memory grows with the number of threads, locks and findings. The trace may be
// malformed, and may even be another one than the findings come from: events that are not what a finding says are not
// explained.
class ContextCollector {
 public:
  // Does not keep the findings.
  explicit ContextCollector(const std::vector<Finding>& findings);

  // Batches in trace order, from the start of the trace, with stacks.
  void consume(const Batch& batch, const Tables& tables);
  // Nothing that follows matters.
  bool done() const { return next_ == stops_.size(); }
  // Fills the contexts of the findings that the constructor got and whose events the trace had, all of them.
  void explain(std::vector<Finding>& findings, const Tables& tables) const;

 private:
  // An event that a finding names, with what was the case there once the trace has come by.
  struct Stop {
    EventId event{};
    std::size_t finding = 0;
    std::size_t access = 0;
    Op op{};
    std::uint64_t object = 0;
    bool reached = false;
    ThreadId thread{};
    std::vector<std::uint64_t> locks;  // held, and the one that the event is about
  };
  // A byte of which we want to know what it belongs to when `until` happens.
  struct Byte {
    std::uint64_t address = 0;
    EventId until{};
    std::size_t finding = 0;
    std::optional<AccessRecord> alloc = {};
    bool stack = false;    // ... announces the stack of its thread
    bool is_lock = false;  // that an access holds: nobody counts accesses to it
    // The first variable that got the address of the block, in a trace with values.
    std::optional<NamedPart> owner = {};
    // Memory that got it and had no name then: the frame of a function is known once it has started a thread.
    std::vector<std::uint64_t> holders = {};
    std::uint64_t accesses = 0;
    std::map<std::uint64_t, std::uint64_t> holding = {};  // accesses by lock
  };

  void step(const Batch& batch, std::size_t i, const Tables& tables);
  void allocate(const AccessRecord& alloc, bool right_behind_begin);
  void stop(const Event& event);
  void note_words(const Event& access, EventId id, const Value& value, const Tables& tables);
  void note_pointer(const Event& access, EventId id, std::uint64_t value, const Tables& tables);
  void note_holder(std::uint64_t holder, std::uint64_t value, EventId id);
  std::optional<NamedPart> owner_of(const Byte& byte, const Tables& tables) const;
  void explain_heap(const Byte& byte, std::uint64_t size, Finding& finding, const Tables& tables) const;
  void count_access(const Event& event);
  void explain_habit(const Byte& byte, Finding& finding, const Tables& tables) const;
  void explain_memory(const Byte& byte, Finding& finding, const Tables& tables) const;
  void explain_access(const Stop& stop, Finding& finding, const Tables& tables) const;
  void name_locks(const Stop& stop, Finding& finding, const Tables& tables) const;
  std::string lock_name(std::uint64_t lock, const Stop& stop, const Finding& finding, const Tables& tables) const;

  std::vector<Stop> stops_;  // by event
  std::size_t next_ = 0;     // the first stop that was not reached
  std::vector<Byte> bytes_;  // by address
  // Those that some of them are in: address -> size, of the largest that was there.
  std::unordered_map<std::uint64_t, std::uint64_t> blocks_;
  std::unordered_map<std::uint64_t, std::uint64_t>
      holders_;  // memory without a name -> the block whose address is there
  ForkLog forks_;
  HeldLocks held_;
  FlatMap<AccessRecord> first_acquires_;  // by lock
  std::vector<bool> begun_;               // by thread: its latest event is its begin
  std::size_t begun_count_ = 0;           // how many of these
};

// The contexts of all findings, from a trace that is read again from its start.
Status add_context(std::vector<Finding>& findings, TraceReader& reader);
// The same from the beginning of the trace, which may be all that there is.
void add_context(std::vector<Finding>& findings, const Batch& beginning, const Tables& tables);
// Only who created the threads of findings that have no context yet, found by name: threads that share theirs with
// others are left out. For traces that cannot be read again.
void add_thread_context(std::vector<Finding>& findings, const ForkLog& forks, const Tables& tables);

// The number of events from the start of the trace that contain all that findings name.
std::uint64_t events_named(const std::vector<Finding>& findings);

}  // namespace sooth
