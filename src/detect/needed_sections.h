// Which critical sections rule (b) of WCP can still be asked about.
#pragma once

#include <cstdint>
#include <vector>

#include "detect/section_queue.h"
#include "order/clock_pool.h"

namespace sooth {

// A section teaches something to clocks that know its acquire and not its release: those whose component for its thread
// is in [acquired, released). What a thread will ever know of events that have happened is in clocks that exist now,
// because clocks only grow by joining others, component by component. So a section is needed if a clock that can become
// part of a P asks for it, or would ask for it after it has learnt what sections said that it asks for. Whatever a
// thread learns that has the clock c, it knows no less than c: what a section said leads on only where it is beyond c.
class NeededSections {
 public:
  explicit NeededSections(const ClockPool& clocks) : clocks_(clocks) {}

  // All sections, before the first need(). Not needed so far. Must stay where they are.
  void add(SectionQueue::Section& section);
  void prepare();
  // Marks the sections that are needed because there is this clock. Linear in the number of threads, for the clock and
  // for each section that it leads to.
  void need(const VectorClock& clock);

  std::uint64_t work() const { return work_; }

 private:
  struct Entry {
    SectionQueue::Section* section = nullptr;
    Time latest_release = 0;      // of it and all before it
    std::uint64_t looked_at = 0;  // the need() that came by last
  };

  // The sections of one thread.
  struct Sections {
    std::vector<Entry> entries;  // ordered by acquire
    Time end = 0;                // of the latest release
    // For times from `base` to `end`: 0 if no section is around the time, else the number of sections acquired by then.
    Time base = 0;
    std::vector<std::uint32_t> around;

    void prepare();
    std::size_t count_until(Time time) const;
  };

  void ask(std::size_t thread, Time time) {
    const Sections& sections = threads_[thread];
    if (time < sections.end && (time < sections.base || sections.around[time - sections.base] != 0)) [[unlikely]] {
      find(thread, time);
    }
  }
  void find(std::size_t thread, Time time);

  const ClockPool& clocks_;
  std::vector<Sections> threads_;  // by thread
  std::uint64_t round_ = 0;
  std::vector<const SectionQueue::Section*> found_;
  VectorClock unpacked_;  // scratch
  std::uint64_t work_ = 0;
};

}  // namespace sooth
