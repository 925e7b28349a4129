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

}  // namespace sooth::oracle
