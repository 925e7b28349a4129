#include "detect/needed_sections.h"

#include <algorithm>
#include <iterator>

namespace sooth {

void NeededSections::add(SectionQueue::Section& section) {
  section.needed = false;
  if (raw(section.thread) >= threads_.size()) {
    threads_.resize(raw(section.thread) + 1);
  }
  threads_[raw(section.thread)].push_back({&section});
  ++work_;
}

void NeededSections::prepare() {
  for (std::vector<Entry>& entries : threads_) {
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.section->acquired < b.section->acquired; });
    Time latest = 0;
    for (Entry& entry : entries) {
      latest = std::max(latest, entry.section->released);
      entry.latest_release = latest;
    }
  }
}

void NeededSections::need(const VectorClock& clock) {
  ++round_;
  const auto threads = std::min(clock.times().size(), threads_.size());
  for (std::size_t i = 0; i < threads; ++i) {
    ask(i, clock.times()[i]);
  }
  work_ += threads;
  while (!found_.empty()) {
    const std::span<const Time> said = clocks_[found_.back()->said].times();
    found_.pop_back();
    for (std::size_t i = 0; i < std::min(said.size(), threads_.size()); ++i) {
      if (said[i] > clock[ThreadId(i)]) {
        ask(i, said[i]);
      }
    }
    work_ += said.size();
  }
}

void NeededSections::ask(std::size_t thread, Time time) {
  std::vector<Entry>& entries = threads_[thread];
  auto entry = std::upper_bound(entries.begin(), entries.end(), time,
                                [](Time t, const Entry& e) { return t < e.section->acquired; });
  while (entry != entries.begin() && (--entry)->latest_release > time) {
    ++work_;
    if (entry->section->released > time && entry->looked_at != round_) {
      entry->looked_at = round_;
      entry->section->needed = true;
      found_.push_back(entry->section);
    }
  }
}

}  // namespace sooth
