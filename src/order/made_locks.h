// Locks that a program made of atomics and semaphores, recognised from what they did in one run.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "trace/batch.h"

namespace sooth {

// docs/semantics.md section 16 has the rules, and what each analysis may conclude from which of them.
struct MadeLock {
  enum class Role : std::uint8_t {
    kTake,
    kGive,
    kFailed,  // somebody else had it
    kFree,    // found it free, and did not take it
  };
  struct Step {
    EventId event{};
    Role role{};

    friend bool operator==(const Step&, const Step&) = default;
  };
  // Atomic accesses to it, from one event to another, say nothing about order beyond what the lock does.
  struct Word {
    std::uint64_t address = 0;
    EventId first{}, last{};
  };

  std::uint64_t object = 0;  // address of the atomic or semaphore
  bool semaphore = false;
  bool excludes = false;    // in no correct reordering are two threads between take and give
  bool reversible = false;  // ... and its sections may change places or be left out as those of a mutex may
  bool meant = false;       // it is used as a lock
  std::vector<Step> steps;  // ascending by event
  std::vector<Word> words;  // none of a semaphore
};

// Follows a trace from its beginning, batch by batch, with values. Without values there are semaphores only.
//
// A word is followed from its first atomic access on. What plain accesses did to it before that is known only of words that
// were announced (watch()); of others it is taken for initialisation.
//
// Costs a look-up for each access to memory, and memory for each atomic variable and each step of what may be a lock. When
// those are more than `max_steps` nothing is recognised.
class MadeLockFinder {
 public:
  explicit MadeLockFinder(std::size_t max_steps = std::size_t{1} << 22);
  ~MadeLockFinder();
  MadeLockFinder(const MadeLockFinder&) = delete;
  MadeLockFinder& operator=(const MadeLockFinder&) = delete;

  // Atomics of these events are followed from the beginning.
  void watch(std::span<const Event> events);
  void consume(const Batch& batch) { consume(batch, batch); }
  // The same, and with slots in the place of threads (trace/tools/thread_slots.h): memory is that of live threads then.
  void consume(const Batch& batch, const Batch& slotted);
  // Something may become a lock yet: an rmw or a semaphore was seen.
  bool any_candidates() const;
  // In order of their first steps. Once, after the last batch.
  std::vector<MadeLock> finish();

 private:
  class Follower;
  std::unique_ptr<Follower> follower_;
};

// Of a whole trace, or of its beginning, in memory.
std::vector<MadeLock> find_made_locks(std::span<const Event> events, std::span<const Value> values);

}  // namespace sooth
