#include "recipe/execute/sharing.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/ids.h"

namespace sooth {

Sharing::Sharing(const TraceIndex& index, const TraceView& trace, bool histories) : index_(index), trace_(trace) {
  note_variables();
  if (histories) {
    note_granules();
    past_ = std::make_unique<PastClocks>(index);
  }
}

void Sharing::note_variables() {
  struct Use {
    std::uint32_t user = kNobody;
    bool is_written = false;
  };
  std::vector<Use> uses;
  for (EventIndex e = 0; e < index_.size(); ++e) {
    for (const VariableIndex v : index_.variables(e)) {
      if (v >= uses.size()) {
        uses.resize(v + 1);
      }
      Use& use = uses[v];
      use.is_written = use.is_written || is_write(index_.event(e).op);
      use.user = use.user == kNobody || use.user == index_.thread(e) ? index_.thread(e) : kMany;
    }
  }
  shared_.resize(uses.size());
  std::transform(uses.begin(), uses.end(), shared_.begin(),
                 [](const Use& use) { return static_cast<std::uint8_t>(use.user == kMany && use.is_written); });
}

bool Sharing::is_shared(EventIndex access) const {
  const std::span<const VariableIndex> variables = index_.variables(access);
  return std::any_of(variables.begin(), variables.end(), [&](VariableIndex v) { return shared_[v] != 0; });
}

void Sharing::note(Granule& granule, EventIndex e) {
  const std::uint32_t thread = index_.thread(e);
  granule.user = granule.user == kNobody || granule.user == thread ? thread : kMany;
  if (is_write(index_.event(e).op)) {
    granule.writer = granule.writer == kNobody || granule.writer == thread ? thread : kMany;
  }
}

void Sharing::note_granules() {
  const auto for_each_granule = [&](EventIndex e, auto&& visit) {
    const Event& event = index_.event(e);
    if ((is_access(event.op) || event.op == Op::kFree) && event.size > 0 && event.size <= kLong) {
      for (std::uint64_t g = event.object / kGranule; g <= (event.object + (event.size - 1)) / kGranule; ++g) {
        visit(g);
      }
    }
  };
  for (EventIndex e = 0; e < index_.size(); ++e) {
    for_each_granule(e, [&](std::uint64_t g) { note(granules_[g], e); });
    if ((is_access(index_.event(e).op) || index_.event(e).op == Op::kFree) && index_.event(e).size > kLong) {
      long_.push_back(e);
    }
  }
  std::size_t all = 0;
  for (EventIndex e = 0; e < index_.size(); ++e) {
    for_each_granule(e, [&](std::uint64_t g) {
      ++granules_.find(g)->accesses;
      ++all;
    });
  }
  if (all > kMostAccesses) {
    return;
  }
  std::uint32_t begin = 0;
  for (EventIndex e = 0; e < index_.size(); ++e) {
    for_each_granule(e, [&](std::uint64_t g) {
      Granule& granule = *granules_.find(g);
      if (granule.history == kNoHistory) {
        granule.history = begin;
        begin += std::exchange(granule.accesses, 0);
      }
      histories_.resize(std::max<std::size_t>(histories_.size(), begin));
      histories_[granule.history + granule.accesses++] = e;
    });
  }
}

bool Sharing::others(std::uint32_t Granule::*who, std::uint32_t thread, std::uint64_t address,
                     std::uint64_t size) const {
  for (std::uint64_t g = address / kGranule; g <= (address + (size - 1)) / kGranule; ++g) {
    const Granule* granule = granules_.find(g);
    if (granule != nullptr && granule->*who != kNobody && granule->*who != thread) {
      return true;
    }
  }
  return std::any_of(long_.begin(), long_.end(), [&](EventIndex e) {
    const Event& event = index_.event(e);
    return index_.thread(e) != thread && event.object < address + size && address < event.object + event.size &&
           (who == &Granule::user || is_write(event.op));
  });
}

bool Sharing::others_write(std::uint32_t thread, std::uint64_t address, std::uint64_t size) const {
  return others(&Granule::writer, thread, address, size);
}

bool Sharing::others_touch(std::uint32_t thread, std::uint64_t address, std::uint64_t size) const {
  return others(&Granule::user, thread, address, size);
}

std::span<const EventIndex> Sharing::history(std::uint64_t address) const {
  const Granule* granule = granules_.find(address / kGranule);
  return granule == nullptr || granule->history == kNoHistory
             ? std::span<const EventIndex>()
             : std::span(histories_).subspan(granule->history, granule->accesses);
}

std::optional<std::uint8_t> Sharing::told(EventIndex e, std::uint64_t address) const {
  const Event& event = index_.event(e);
  const Value& value = trace_.values[e];
  const std::uint64_t at = address - event.object;
  if (event.op == Op::kFree || at >= value.size) {
    const std::vector<std::uint8_t>* copied = event.op == Op::kWrite && copied_ != nullptr ? copied_->find(e) : nullptr;
    return copied != nullptr && at < copied->size() ? std::optional((*copied)[at]) : std::nullopt;
  }
  return static_cast<std::uint8_t>((at < 8 ? value.low : value.high) >> (8 * (at % 8)));
}

std::optional<std::uint8_t> Sharing::byte_at(std::uint64_t address, EventIndex before) const {
  const std::span<const EventIndex> all = trace_.values.empty() ? std::span<const EventIndex>() : history(address);
  const auto touches = [&](EventIndex e) { return address - index_.event(e).object < index_.event(e).size; };
  const auto next = std::lower_bound(all.begin(), all.end(), before);
  for (auto at = next; at != all.begin();) {
    const EventIndex e = *--at;
    if (touches(e)) {
      const Op op = index_.event(e).op;
      // What an rmw leaves is not recorded, but for what comes after it.
      const std::optional<std::uint8_t> byte = op == Op::kAtomicRmw ? std::nullopt : told(e, address);
      if (byte || op == Op::kFree) {
        return byte;
      }
      if (is_write(op)) {
        break;
      }
    }
  }
  return told_by_readers(std::span(next, all.end()), address);
}

// What is in the byte in front of these accesses, as the first one tells that does; reads by copies do not.
std::optional<std::uint8_t> Sharing::told_by_readers(std::span<const EventIndex> later, std::uint64_t address) const {
  for (const EventIndex e : later) {
    const Event& event = index_.event(e);
    if (address - event.object >= event.size) {
      continue;
    }
    const std::optional<std::uint8_t> byte = is_read(event.op) ? told(e, address) : std::nullopt;
    if (byte || is_write(event.op)) {
      return byte;
    }
  }
  return std::nullopt;
}

EventIndex Sharing::last_write(std::uint32_t thread, std::uint64_t address, EventIndex cut, EventIndex before) const {
  const std::span<const EventIndex> all = history(address);
  const std::span<const EventIndex> events = index_.events_of(thread);
  const EventIndex begin = events.empty() ? 0 : events.front();
  const auto has_happened = [&](EventIndex e) {
    return e < cut || (past_ != nullptr && e < begin && past_->needs(begin, e));
  };
  const auto last_of = [&](bool is_own, EventIndex end) {
    for (auto at = std::lower_bound(all.begin(), all.end(), end); at != all.begin();) {
      const Event& event = index_.event(*--at);
      if ((index_.thread(*at) == thread) == is_own && address - event.object < event.size &&
          (is_write(event.op) || event.op == Op::kFree) && (is_own || has_happened(*at))) {
        return *at;
      }
    }
    return kNoEvent;
  };
  const EventIndex own = last_of(true, before), others = last_of(false, std::max(cut, begin));
  const bool is_own_last =
      own != kNoEvent && (others == kNoEvent || own > others || past_ == nullptr || !past_->needs(others, own));
  return is_own_last ? own : others;
}

std::optional<std::uint8_t> Sharing::byte_seen(std::uint32_t thread, std::uint64_t address, EventIndex cut,
                                               EventIndex before) const {
  const std::span<const EventIndex> all = trace_.values.empty() ? std::span<const EventIndex>() : history(address);
  const EventIndex last = last_write(thread, address, cut, before);
  if (last != kNoEvent && index_.event(last).op == Op::kFree) {
    return std::nullopt;
  }
  if (const std::optional<std::uint8_t> byte =
          last != kNoEvent && index_.event(last).op != Op::kAtomicRmw ? told(last, address) : std::nullopt) {
    return byte;
  }
  // What nobody has written, and what an rmw leaves, is told by who comes next.
  const auto first = last == kNoEvent ? all.begin() : std::upper_bound(all.begin(), all.end(), last);
  return told_by_readers(std::span(first, all.end()), address);
}

std::optional<std::uint64_t> Sharing::value_at(std::uint64_t address, std::uint32_t size, EventIndex before) const {
  std::uint64_t whole = 0;
  for (std::uint32_t i = 0; i < size; ++i) {
    const std::optional<std::uint8_t> byte = i < 8 ? byte_at(address + i, before) : std::nullopt;
    if (!byte) {
      return std::nullopt;
    }
    whole |= std::uint64_t{*byte} << (8 * i);
  }
  return whole;
}

std::vector<std::uint64_t> Sharing::values_of(std::uint64_t address, std::uint32_t size) const {
  constexpr std::size_t kAtEachEnd = 4;
  std::vector<std::uint64_t> values;
  for (const EventIndex e : trace_.values.empty() || size > 8 ? std::span<const EventIndex>() : history(address)) {
    std::uint64_t whole = 0;
    bool is_known = true;
    for (std::uint32_t i = 0; is_known && i < size; ++i) {
      const std::optional<std::uint8_t> byte = told(e, address + i);
      is_known = byte.has_value();
      whole |= std::uint64_t{byte.value_or(0)} << (8 * i);
    }
    if (is_known && std::find(values.begin(), values.end(), whole) == values.end()) {
      if (values.size() == 2 * kAtEachEnd) {
        values.erase(values.begin() + kAtEachEnd);
      }
      values.push_back(whole);
    }
  }
  return values;
}

bool Sharing::is_written(std::uint64_t address) const {
  const std::span<const EventIndex> all = history(address);
  return std::any_of(all.begin(), all.end(), [&](EventIndex e) { return writes(e, address); }) ||
         is_written_at_length(address);
}

bool Sharing::is_written_at_length(std::uint64_t address) const {
  return std::any_of(long_.begin(), long_.end(), [&](EventIndex e) { return writes(e, address); });
}

bool Sharing::writes(EventIndex e, std::uint64_t address) const {
  const Event& event = index_.event(e);
  return address - event.object < event.size && is_write(event.op);
}

bool Sharing::is_settled(std::uint32_t thread, std::uint64_t address, EventIndex before,
                         const FlatMap<bool>& computed) const {
  const std::span<const EventIndex> own = index_.events_of(thread);
  const auto is_quiet = [&](EventIndex e) {
    const Event& event = index_.event(e);
    if (address - event.object >= event.size || (!is_write(event.op) && event.op != Op::kFree)) {
      return true;
    }
    if (index_.thread(e) == thread) {
      return e >= before;
    }
    const bool is_before = index_.thread(e) < thread && e < own.front() && past_->needs(own.front(), e) &&
                           event.op != Op::kAtomicRmw && !computed.contains(e);
    return is_before || (e > own.back() && past_->needs(e, own.back()));
  };
  const std::span<const EventIndex> all = history(address);
  return past_ != nullptr && !own.empty() && std::all_of(all.begin(), all.end(), is_quiet) &&
         std::all_of(long_.begin(), long_.end(), is_quiet);
}

}  // namespace sooth
