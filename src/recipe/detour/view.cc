#include "recipe/detour/view.h"

#include <algorithm>

namespace sooth {

std::optional<std::uint8_t> View::byte(std::uint64_t address, EventIndex before) const {
  if (const Own* own = own_.find(address); own != nullptr && own->is) {
    return own->byte;
  }
  const std::optional<std::uint8_t> told = x_->sharing.byte_seen(thread_, address, cut_, before);
  return told || !x_->options.initial || x_->sharing.is_written(address) ? told : x_->options.initial(address);
}

std::optional<std::uint64_t> View::value(std::uint64_t address, std::uint32_t size, EventIndex before) const {
  std::uint64_t whole = 0;
  for (std::uint32_t i = 0; i < size; ++i) {
    const std::optional<std::uint8_t> part = byte(address + i, before);
    if (!part) {
      return std::nullopt;
    }
    whole |= std::uint64_t{*part} << (8 * i);
  }
  return whole;
}

std::vector<EventIndex> find_cuts(const SharedExecution& execution, std::uint32_t thread) {
  constexpr std::size_t kMost = 24;
  const TraceIndex& index = execution.index;
  const std::span<const EventIndex> own = index.events_of(thread);
  std::vector<EventIndex> cuts;
  if (own.empty()) {
    return cuts;
  }
  const auto add = [&](EventIndex cut) {
    if (cuts.empty() || cuts.back() != cut) {
      cuts.push_back(cut);
    }
  };
  for (std::uint32_t other = 0; other < index.thread_count(); ++other) {
    if (other != thread && !index.events_of(other).empty()) {
      add(index.events_of(other).front());
    }
  }
  for (EventIndex e = 0; e < index.size(); ++e) {
    const Op op = index.event(e).op;
    const bool matters = op == Op::kRelease || op == Op::kFork || (is_atomic(op) && is_write(op));
    if (index.thread(e) != thread && matters) {
      add(e + 1);
    }
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  // Some of the first and some of the last ones: what happens in between is like them most of the time.
  if (cuts.size() > kMost) {
    cuts.erase(cuts.begin() + kMost / 2, cuts.end() - kMost / 2);
  }
  return cuts;
}

}  // namespace sooth
