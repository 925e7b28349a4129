#include "race/witness_first_bytes.h"

#include <vector>

namespace sooth {

FirstBytes::FirstBytes(const TraceView& trace, std::uint32_t end, const std::function<bool(const Event&)>& is_unclear) {
  Generations generations;
  LastWrites writes({});
  std::vector<Stretch> stretches;
  std::vector<Seen> seen;
  for (std::uint32_t id = 0; id < end; ++id) {
    const Event& e = trace.events[id];
    const Value& value = trace.values[id];
    if (e.op == Op::kAlloc) {
      generations.alloc(e);
    }
    if (!is_access(e.op) && e.op != Op::kFree) {
      continue;
    }
    stretches.clear();
    generations.resolve(e, stretches);
    const bool tells = is_read(e.op) && value.size != 0 && !is_unclear(e);
    std::uint32_t before = 0;  // bytes of the access in front of the stretch
    for (const Stretch& stretch : stretches) {
      seen.clear();
      if (tells) {
        writes.read(stretch, 0, seen);
      }
      std::uint32_t byte = 0;  // of the stretch
      for (const Seen& run : seen) {
        for (const std::uint32_t run_end = byte + run.size; byte < run_end; ++byte) {
          const std::optional<std::uint64_t> told = this->told(e, value, before + byte);
          if (run.writer == Seen::kNobody && told) {
            First& first = bytes_[stretch.allocated ? 1 : 0][stretch.begin + byte];
            const bool agrees = first.state == First::State::kUnknown || first.told == *told;
            first = {*told,
                     agrees && first.state != First::State::kInDoubt ? First::State::kKnown : First::State::kInDoubt};
          }
        }
      }
      before += stretch.size;
      if (is_write(e.op)) {
        writes.write(stretch, id);
      }
    }
  }
}

std::optional<std::uint64_t> FirstBytes::at(const Stretch& stretch, std::uint32_t byte) const {
  const First* first = bytes_[stretch.allocated ? 1 : 0].find(stretch.begin + byte);
  return first == nullptr || first->state != First::State::kKnown ? std::nullopt : std::optional(first->told);
}

std::optional<std::uint64_t> FirstBytes::told(const Event& access, const Value& value, std::uint32_t byte) {
  if (value.size > access.size) {
    return value.high == 0 ? std::optional(value.low) : std::nullopt;
  }
  if (byte >= value.size) {
    return std::nullopt;
  }
  return (byte < 8 ? value.low >> (8 * byte) : value.high >> (8 * (byte - 8))) & 0xff;
}

}  // namespace sooth
