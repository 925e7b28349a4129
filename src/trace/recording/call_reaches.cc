#include "trace/recording/call_reaches.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace sooth {
namespace {

using stream::ReachRow;
using stream::ReachRowKind;

std::vector<ReachRow> rows_of(std::string_view bytes) {
  std::vector<ReachRow> rows(bytes.size() / sizeof(ReachRow));
  if (!rows.empty()) {
    std::memcpy(rows.data(), bytes.data(), rows.size() * sizeof(ReachRow));
  }
  return rows;
}

std::uint64_t hash_of_rows(std::string_view rows) { return XXH3_64bits(rows.data(), rows.size()); }

std::uint64_t last_byte(const MemoryRange& range) { return range.begin + (range.length - 1); }

bool is_range(std::uint64_t begin, std::uint64_t length) { return length != 0 && begin + (length - 1) >= begin; }

// Sorted, disjoint, neighbours merged.
void normalise(std::vector<MemoryRange>& ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const MemoryRange& a, const MemoryRange& b) { return a.begin < b.begin; });
  std::vector<MemoryRange> merged;
  for (const MemoryRange& range : ranges) {
    if (!merged.empty() && range.begin <= last_byte(merged.back())) {
      merged.back().length = std::max(last_byte(range), last_byte(merged.back())) - merged.back().begin + 1;
    } else if (!merged.empty() && range.begin - 1 == last_byte(merged.back())) {
      merged.back().length += range.length;
    } else {
      merged.push_back(range);
    }
  }
  ranges = std::move(merged);
}

// A call remembers no more.
constexpr std::uint64_t kMostLines = std::uint64_t{1} << 20;

// Line by line: one that belongs to nothing is as bad among others as alone.
void append_objects(MemoryRange touched, const MemoryObjects& objects, std::vector<MemoryRange>& set) {
  constexpr std::uint64_t kLine = std::uint64_t{1} << stream::kReachLineBits;
  for (std::uint64_t line = touched.begin; line - touched.begin < touched.length; line += kLine) {
    const std::vector<MemoryRange> around = objects.around({line, kLine});
    set.insert(set.end(), around.begin(), around.end());
  }
}

}  // namespace

Result<CallReaches> CallReaches::parse(std::string_view bytes, const std::string& path, const MemoryObjects& objects) {
  CallReaches reaches;
  if (!is_sealed(bytes)) {
    return reaches;
  }
  const std::vector<ReachRow> rows = rows_of(bytes);
  const auto damaged = [&](std::size_t row) {
    return Status::bad_input(path + ": the recording is damaged: row " + std::to_string(row) +
                             " is not as it was written");
  };
  const ReachRow& head = rows.front();
  if (head.b != rows.size() - 1 || head.set > head.b || bytes.size() % sizeof(ReachRow) != 0 ||
      head.a != hash_of_rows(bytes.substr(sizeof(ReachRow)))) {
    return damaged(0);
  }
  reaches.sets_.resize(std::size_t{head.set} + 1);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const ReachRow& row = rows[i];
    const auto kind = static_cast<ReachRowKind>(row.kind);
    const bool is_call = kind == ReachRowKind::kCall;
    if (row.set >= head.set || (!is_call && !is_range(row.a, row.b))) {
      return damaged(i);
    }
    std::vector<MemoryRange>& set = reaches.sets_[row.set + 1];
    if (is_call) {
      reaches.calls_[{row.a, row.b}] = row.set + 1;
    } else if (kind == ReachRowKind::kWhole) {
      set.push_back({row.a, row.b});
    } else if (kind == ReachRowKind::kTouched && row.b >> stream::kReachLineBits <= kMostLines) {
      append_objects({row.a, row.b}, objects, set);
    } else {
      return damaged(i);
    }
  }
  std::for_each(std::next(reaches.sets_.begin()), reaches.sets_.end(), normalise);
  return reaches;
}

void MemoryObjects::finish() {
  std::erase_if(objects_, [](const MemoryRange& object) { return !is_range(object.begin, object.length); });
  std::sort(objects_.begin(), objects_.end(), [](const MemoryRange& a, const MemoryRange& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.length < b.length;
  });
  objects_.erase(std::unique(objects_.begin(), objects_.end()), objects_.end());
  last_so_far_.clear();
  std::uint64_t last = 0;
  for (const MemoryRange& object : objects_) {
    last = std::max(last, last_byte(object));
    last_so_far_.push_back(last);
  }
}

std::vector<MemoryRange> MemoryObjects::around(MemoryRange range) const {
  std::vector<MemoryRange> found;
  const auto behind = std::upper_bound(objects_.begin(), objects_.end(), last_byte(range),
                                       [](std::uint64_t last, const MemoryRange& o) { return last < o.begin; });
  for (auto i = static_cast<std::size_t>(behind - objects_.begin()); i-- > 0 && last_so_far_[i] >= range.begin;) {
    if (last_byte(objects_[i]) >= range.begin) {
      found.push_back(objects_[i]);
    }
  }
  if (found.empty()) {
    return {kEverything};
  }
  normalise(found);
  return found;
}

bool is_sealed(std::string_view bytes) {
  const std::vector<ReachRow> first = rows_of(bytes.substr(0, sizeof(ReachRow)));
  return !first.empty() && first.front().kind == static_cast<std::uint32_t>(ReachRowKind::kSeal);
}

std::string seal_reaches(std::string bytes) {
  if (is_sealed(bytes)) {
    return bytes;
  }
  std::uint32_t sets = 0;
  std::size_t end = sizeof(ReachRow);  // behind the room for the seal
  for (ReachRow row; end + sizeof row <= bytes.size(); end += sizeof row) {
    std::memcpy(&row, bytes.data() + end, sizeof row);
    if (row.kind == 0) {
      break;
    }
    sets = std::max(sets, row.set + 1);
  }
  bytes.resize(end);
  const std::string_view rows = std::string_view(bytes).substr(sizeof(ReachRow));
  const ReachRow seal{static_cast<std::uint32_t>(ReachRowKind::kSeal), sets, hash_of_rows(rows),
                      rows.size() / sizeof(ReachRow)};
  std::memcpy(bytes.data(), &seal, sizeof seal);
  return bytes;
}

}  // namespace sooth
