#include "filter/memory_stamps.h"

namespace sooth {

void LineVersions::change(std::uint64_t address, std::uint64_t size) {
  if (counters_.empty()) {
    counters_.resize(std::size_t{1} << kBits);
  }
  const std::uint64_t first = address / kLine;
  const std::uint64_t last = (address + (size - 1)) / kLine;
  if (last - first >= counters_.size()) {
    for (std::uint64_t& counter : counters_) {
      ++counter;
    }
    return;
  }
  for (std::uint64_t line = first; line <= last; ++line) {
    ++counters_[slot(line)];
  }
}

std::uint64_t LineVersions::sum_of_lines(std::uint64_t first, std::uint64_t last) const {
  std::uint64_t sum = 0;
  for (std::uint64_t line = first; line <= last; ++line) {
    sum += counters_[slot(line)];
  }
  return sum;
}

std::uint64_t EraserGates::access_granules(const Event& e, LockSetId guards, std::uint64_t version,
                                           LockSetTable& table) {
  if (forgotten_ > granules_.size() && granules_.size() < kMostGranules) {
    granules_.assign(4 * granules_.size(), Granule{});
    forgotten_ = 0;
  }
  const std::uint64_t end = e.object + (e.size - 1);
  std::uint64_t sum = 0;
  for (std::uint64_t number = e.object / kGranule; number <= end / kGranule; ++number) {
    Granule& granule = granule_of(number);
    const auto first = static_cast<std::uint8_t>(number == e.object / kGranule ? e.object % kGranule : 0);
    const auto last = static_cast<std::uint8_t>(number == end / kGranule ? end % kGranule : kGranule - 1);
    if (granule.number != number || granule.version != version || granule.first_byte != first ||
        granule.last_byte != last) {
      forgotten_ += granule.number != number && granule.stamp != 0 ? 1 : 0;
      granule = {number, version, ++steps_, e.thread, guards, first, last, false, is_write(e.op)};
    } else {
      touch(granule, e, guards, table);
    }
    sum += granule.stamp;
  }
  return sum;
}

void EraserGates::touch(Granule& granule, const Event& e, LockSetId guards, LockSetTable& table) {
  if (!granule.shared && granule.owner != e.thread) {
    granule.shared = true;
    granule.candidates = guards;
    granule.written = is_write(e.op);
    granule.stamp = ++steps_;
    return;
  }
  const LockSetId left = granule.candidates == guards ? guards : table.intersect(granule.candidates, guards);
  if (left != granule.candidates || (is_write(e.op) && !granule.written)) {
    granule.candidates = left;
    granule.written = granule.written || is_write(e.op);
    granule.stamp = ++steps_;
  }
}

}  // namespace sooth
