#include "recipe/execute/sharing.h"

#include <algorithm>
#include <iterator>

#include "base/ids.h"

namespace sooth {

Sharing::Sharing(const TraceIndex& index, const TraceView& trace, bool histories) : index_(index), trace_(trace) {
  histories_.emplace_back();
  note_variables();
  if (histories) {
    note_granules();
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
  for (EventIndex e = 0; e < index_.size(); ++e) {
    for_each_granule(e, [&](std::uint64_t g) {
      Granule& granule = *granules_.find(g);
      if (granule.user != kMany) {
        return;
      }
      if (granule.history == 0) {
        granule.history = static_cast<std::uint32_t>(histories_.size());
        histories_.emplace_back();
      }
      histories_[granule.history].push_back(e);
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

std::optional<std::uint64_t> Sharing::value_at(std::uint64_t address, std::uint32_t size, EventIndex before) const {
  const Granule* granule = granules_.find(address / kGranule);
  if (granule == nullptr || size > 8 || trace_.values.empty()) {
    return std::nullopt;
  }
  const std::vector<EventIndex>& history = histories_[granule->history];
  auto at = std::lower_bound(history.begin(), history.end(), before);
  while (at != history.begin()) {
    const EventIndex e = *--at;
    const Event& event = index_.event(e);
    const bool overlaps = event.object < address + size && address < event.object + event.size;
    if (!overlaps) {
      continue;
    }
    // What an rmw leaves is not recorded.
    const Value& value = trace_.values[e];
    if (event.op == Op::kAtomicRmw || value.size == 0 || event.object > address ||
        event.object + std::min<std::uint32_t>(8, value.size) < address + size) {
      return std::nullopt;
    }
    const std::uint64_t bits = value.low >> (8 * (address - event.object));
    return size == 8 ? bits : bits & ((std::uint64_t{1} << (8 * size)) - 1);
  }
  return std::nullopt;
}

}  // namespace sooth
