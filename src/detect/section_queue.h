// The critical sections of a lock in the order of their releases, for rule (b) of WCP.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "order/clock_pool.h"
#include "order/vector_clock.h"
#include "trace/event.h"

namespace sooth {

// Threads have numbers that may be used again (trace/tools/thread_slots.h), and local times go on along a number. So a
// thread is a number and the time at which it began: what its number did before that, others did.
struct ThreadLife {
  ThreadId thread{};
  Time began = 0;

  bool did(ThreadId by, Time at) const { return by == thread && at >= began; }
};

// Sections of one lock that follow each other (all its exclusive sections, or the shared sections of one thread). This
// is Acq(t) and Rel(t) of Algorithm 1 for all threads t at once: one list, and for each thread how far it has come.
//
// Rule (b) has something to teach about a section only to a clock that knows its acquire and not its release, that is,
// to one that got a message from inside the section. A section from inside which nothing was sent (its two local times
// are equal) never does and need not be pushed. Of the others forget() drops those that no clock asks for any more.
class SectionQueue {
 public:
  struct Section {
    ThreadId thread{};
    Time acquired = 0;  // local times of the acquire and of the release
    Time released = 0;
    ClockId said = kNoClock;
    bool needed = false;  // scratch of whoever calls forget()
  };

  // The list holds section.said from now on.
  void push(const Section& section) { sections_.push_back(section); }

  // Rule (b) for a release by `own` that is preceded by what `known` knows: passes the sections whose acquire is
  // known, and `known` learns what the release of the last of them said (which includes the others). Whether it passed
  // any.
  bool pass(const ThreadLife& own, VectorClock& known, const ClockPool& clocks) {
    if (sections_.empty()) {
      return false;
    }
    std::size_t& cursor = cursor_of(own);
    const std::size_t before = cursor;
    for (bool learnt = true; learnt;) {
      learnt = false;
      const Section* last = nullptr;
      const Section* const stop = sections_.data() + sections_.size();
      const Section* section = sections_.data() + cursor;
      for (const ClockView view(known); section != stop; ++section) {
        // One branch for both: which sections are the thread's own cannot be predicted.
        const unsigned others = own.did(section->thread, section->acquired) ? 0 : 1;
        if ((others & (section->acquired > view[section->thread] ? 1u : 0u)) != 0) {
          break;
        }
        last = others != 0 ? section : last;
      }
      cursor = static_cast<std::size_t>(section - sections_.data());
      if (last != nullptr && !known.knows(Epoch(last->thread, last->released))) {
        clocks.join_to(last->said, known);
        learnt = true;
      }
    }
    return cursor != before;
  }

  // Calls visit(Section&) for all sections.
  template <typename Visit>
  void for_each(Visit&& visit) {
    std::for_each(sections_.begin(), sections_.end(), visit);
  }
  // Drops the sections that are not `needed`.
  void forget(ClockPool& clocks) {
    std::vector<std::size_t> kept_before(sections_.size() + 1);  // by place: how many before it stay
    std::size_t kept = 0;
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      kept_before[i] = kept;
      if (sections_[i].needed) {
        sections_[kept++] = sections_[i];
      } else {
        clocks.drop(sections_[i].said);
      }
    }
    kept_before.back() = kept;
    sections_.resize(kept);
    if (sections_.capacity() > 4 * kept) {
      sections_.shrink_to_fit();
    }
    for (Cursor& cursor : cursors_) {
      cursor.next = kept_before[cursor.next];
    }
  }

  std::size_t size() const { return sections_.size(); }

 private:
  struct Cursor {
    Time began = 0;        // of the thread that it belongs to
    std::size_t next = 0;  // the first section that the thread has not passed
  };

  std::size_t& cursor_of(const ThreadLife& own) {
    if (raw(own.thread) >= cursors_.size()) {
      cursors_.resize(raw(own.thread) + 1);
    }
    Cursor& cursor = cursors_[raw(own.thread)];
    if (cursor.began != own.began) [[unlikely]] {
      cursor = {own.began, 0};
    }
    return cursor.next;
  }

  std::vector<Section> sections_;
  std::vector<Cursor> cursors_;  // by thread
};

}  // namespace sooth
