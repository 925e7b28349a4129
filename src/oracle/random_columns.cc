#include "oracle/random_columns.h"

#include <algorithm>
#include <map>

#include "oracle/random.h"

namespace sooth::oracle {
namespace {

constexpr std::uint32_t kMostBytes = 16;  // of an access that have a value

}  // namespace

std::vector<Value> random_values(std::span<const Event> trace, std::uint32_t kinds, std::uint64_t seed) {
  Random random(seed ^ 0x76616c756573);
  std::map<std::uint64_t, std::uint8_t> memory;
  std::vector<Value> values;
  for (const Event& e : trace) {
    Value value;
    if (is_access(e.op)) {
      value.size = static_cast<std::uint8_t>(std::min(e.size, kMostBytes));
    }
    const std::uint8_t stored = static_cast<std::uint8_t>(random.below(kinds));
    const bool changes = is_write(e.op) || e.op == Op::kAlloc;
    for (std::uint32_t i = 0; i < e.size && (is_access(e.op) || changes); ++i) {
      std::uint8_t& byte = memory[e.object + i];
      const bool shows_what_was = is_read(e.op);
      const std::uint8_t before = byte;
      byte = changes ? stored : byte;
      if (i < value.size) {
        (i < 8 ? value.low : value.high) |= std::uint64_t{shows_what_was ? before : byte} << (8 * (i % 8));
      }
    }
    values.push_back(random.percent(85) ? value : Value{});
  }
  return values;
}

std::vector<Branch> random_branches(std::span<const Event> trace, std::uint32_t every, std::uint64_t seed) {
  Random random(seed ^ 0x6272616e6368);
  std::vector<Branch> branches;
  for (std::uint64_t before = random.below(every); before <= trace.size(); before += random.between(1, 2 * every)) {
    const ThreadId thread = trace.empty() ? ThreadId{0} : trace[random.below(trace.size())].thread;
    branches.push_back({EventId{before}, thread, SiteId{0}, 0});
  }
  return branches;
}

std::vector<Reach> random_reaches(std::span<const Event> trace, std::uint64_t seed) {
  Random random(seed ^ 0x7265616368);
  std::vector<Reach> reaches;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    if (trace[i].op != Op::kCallBegin) {
      continue;
    }
    for (std::uint32_t ranges = random.below(4); ranges > 0; --ranges) {
      const Event& other = trace[random.below(trace.size())];
      if (random.percent(4)) {
        reaches.push_back({EventId{i}, 0, ~std::uint64_t{0}});
      } else if (is_access(other.op) || other.op == Op::kFree) {
        const std::uint64_t skip = random.percent(30) ? random.below(other.size) : 0;
        reaches.push_back(
            {EventId{i}, other.object + skip, random.percent(50) ? 1 : other.size - skip + random.below(8)});
      } else if (random.percent(30)) {
        reaches.push_back({EventId{i}, random.below(2), 1});
      }
    }
  }
  return reaches;
}

}  // namespace sooth::oracle
