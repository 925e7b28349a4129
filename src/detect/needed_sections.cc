#include "detect/needed_sections.h"

#include <algorithm>

namespace sooth {

void NeededSections::add(SectionQueue::Section& section) {
  section.needed = false;
  if (raw(section.thread) >= threads_.size()) {
    threads_.resize(raw(section.thread) + 1);
  }
  threads_[raw(section.thread)].entries.push_back({&section});
  ++work_;
}

void NeededSections::prepare() {
  for (Sections& sections : threads_) {
    sections.prepare();
  }
}

void NeededSections::Sections::prepare() {
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.section->acquired < b.section->acquired; });
  for (Entry& entry : entries) {
    end = std::max(end, entry.section->released);
    entry.latest_release = end;
  }
  if (entries.empty()) {
    return;
  }
  // A table for the latest times, which most clocks end in. Old sections may be far away from them.
  const std::uint64_t size =
      std::min<std::uint64_t>(end - entries.front().section->acquired, 16 * entries.size() + 1'024);
  base = static_cast<Time>(end - size);
  around.resize(size);
  std::size_t count = 0;
  for (Time time = base; time < end; ++time) {
    while (count < entries.size() && entries[count].section->acquired <= time) {
      ++count;
    }
    const bool inside = count != 0 && entries[count - 1].latest_release > time;
    around[time - base] = inside ? static_cast<std::uint32_t>(count) : 0;
  }
}

std::size_t NeededSections::Sections::count_until(Time time) const {
  if (time >= base) {
    return around[time - base];
  }
  const auto next = std::upper_bound(entries.begin(), entries.end(), time,
                                     [](Time t, const Entry& e) { return t < e.section->acquired; });
  return static_cast<std::size_t>(next - entries.begin());
}

void NeededSections::need(const VectorClock& clock) {
  ++round_;
  const auto threads = std::min(clock.times().size(), threads_.size());
  for (std::size_t i = 0; i < threads; ++i) {
    ask(i, clock.times()[i]);
  }
  work_ += threads;
  while (!found_.empty()) {
    const std::span<const Time> said = clocks_.whole(found_.back()->said, unpacked_).times();
    found_.pop_back();
    for (std::size_t i = 0; i < std::min(said.size(), threads_.size()); ++i) {
      if (said[i] > clock[ThreadId(i)]) {
        ask(i, said[i]);
      }
    }
    work_ += said.size();
  }
}

void NeededSections::find(std::size_t thread, Time time) {
  std::vector<Entry>& entries = threads_[thread].entries;
  for (std::size_t i = threads_[thread].count_until(time); i > 0 && entries[i - 1].latest_release > time; --i) {
    Entry& entry = entries[i - 1];
    ++work_;
    if (entry.section->released > time && entry.looked_at != round_) {
      entry.looked_at = round_;
      entry.section->needed = true;
      found_.push_back(entry.section);
    }
  }
}

}  // namespace sooth
