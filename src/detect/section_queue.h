// The critical sections of a lock in the order of their releases, for rule (b) of WCP.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "order/clock_pool.h"
#include "order/vector_clock.h"
#include "trace/event.h"

namespace sooth {

// Sections of one lock that follow each other (all its exclusive sections, or the shared sections of one thread). This
// is Acq(t) and Rel(t) of Algorithm 1 for all threads t at once: one list, and for each thread how far it has come.
class SectionQueue {
 public:
  struct Section {
    ThreadId thread{};
    Time acquired = 0;  // local times of the acquire and of the release
    Time released = 0;
    ClockId said = kNoClock;
  };

  // The list holds section.said from now on.
  void push(const Section& section) { sections_.push_back(section); }

  // Rule (b) for a release by `thread` that is preceded by what `known` knows: passes the sections whose acquire is
  // known, and `known` learns what the release of the last of them said (which includes the others). Returns the number
  // of sections of other threads passed.
  std::uint64_t pass(ThreadId thread, VectorClock& known, const ClockPool& clocks) {
    std::uint64_t& cursor = cursor_of(thread);
    if (!forgotten_.empty()) {
      learn_forgotten(thread, known, clocks);
    }
    std::uint64_t passed = 0;
    for (bool learnt = true; learnt;) {
      learnt = false;
      const Section* last = nullptr;
      const Section* const stop = sections_.data() + sections_.size();
      const Section* section = sections_.data() + (cursor - begin_);
      for (const ClockView view(known); section != stop; ++section) {
        // One branch for both: which sections are the thread's own cannot be predicted.
        const unsigned others = section->thread != thread ? 1 : 0;
        if ((others & (section->acquired > view[section->thread] ? 1u : 0u)) != 0) {
          break;
        }
        last = others != 0 ? section : last;
        passed += others;
      }
      cursor = begin_ + static_cast<std::uint64_t>(section - sections_.data());
      if (last != nullptr && !known.knows(Epoch(last->thread, last->released))) {
        known.join(clocks[last->said]);
        learnt = true;
      }
    }
    return passed;
  }

  // Forgets sections that all `threads` have passed or own. A thread that starts later may still learn of the acquire
  // of such a section alone, through a message that was sent from inside it. For it the forgotten sections of a thread
  // count as one: knowing the first acquire, it learns the last release. That may order too much, never too little.
  void trim(const std::vector<ThreadId>& threads, ClockPool& clocks) {
    std::uint64_t passed_by_all = end();
    for (const ThreadId thread : threads) {
      std::uint64_t& cursor = cursor_of(thread);
      while (cursor < end() && sections_[cursor - begin_].thread == thread) {
        ++cursor;
      }
      passed_by_all = std::min(passed_by_all, cursor);
    }
    const auto first_kept = sections_.begin() + static_cast<std::ptrdiff_t>(passed_by_all - begin_);
    for (auto it = sections_.begin(); it != first_kept; ++it) {
      forget(*it, clocks);
    }
    sections_.erase(sections_.begin(), first_kept);
    begin_ = passed_by_all;
  }

  // Sections of others that `thread` has not passed.
  std::uint64_t waiting_for(ThreadId thread) {
    std::uint64_t count = 0;
    for (std::uint64_t i = cursor_of(thread); i < end(); ++i) {
      count += sections_[i - begin_].thread != thread ? 1 : 0;
    }
    return count;
  }

  std::size_t size() const { return sections_.size(); }

 private:
  // The forgotten sections of one thread.
  struct Forgotten {
    ThreadId thread{};
    Time first_acquired = 0;
    Time last_released = 0;
    ClockId said = kNoClock;  // by the last release
  };

  void forget(const Section& section, ClockPool& clocks) {
    for (Forgotten& forgotten : forgotten_) {
      if (forgotten.thread == section.thread) {
        clocks.drop(forgotten.said);
        forgotten.last_released = section.released;
        forgotten.said = section.said;
        return;
      }
    }
    forgotten_.push_back({section.thread, section.acquired, section.released, section.said});
  }

  // Cheap for threads that have passed what was forgotten: they know the last releases.
  void learn_forgotten(ThreadId thread, VectorClock& known, const ClockPool& clocks) const {
    for (const Forgotten& forgotten : forgotten_) {
      if (forgotten.thread != thread && known.knows(Epoch(forgotten.thread, forgotten.first_acquired)) &&
          !known.knows(Epoch(forgotten.thread, forgotten.last_released))) {
        known.join(clocks[forgotten.said]);
      }
    }
  }

  std::uint64_t end() const { return begin_ + sections_.size(); }
  std::uint64_t& cursor_of(ThreadId thread) {
    if (raw(thread) >= cursors_.size()) {
      cursors_.resize(raw(thread) + 1);
    }
    std::uint64_t& cursor = cursors_[raw(thread)];
    cursor = cursor < begin_ ? begin_ : cursor;
    return cursor;
  }

  std::vector<Section> sections_;
  std::vector<Forgotten> forgotten_;    // at most one per thread
  std::uint64_t begin_ = 0;             // sections forgotten so far: the number of sections_[0]
  std::vector<std::uint64_t> cursors_;  // by thread: the number of the first section it has not passed
};

}  // namespace sooth
