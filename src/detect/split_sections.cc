#include "detect/split_sections.h"

#include <algorithm>
#include <set>

namespace sooth {
namespace {

constexpr std::uint64_t kGranule = 8;

bool have_common(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    if (*i == *j) {
      return true;
    }
    ++(*i < *j ? i : j);
  }
  return false;
}

}  // namespace

void SplitSections::Section::touch(std::uint64_t granule, bool is_write) {
  std::vector<std::uint64_t>& granules = is_write ? writes : reads;
  if (granules.size() < kMostGranules && (granules.empty() || granules.back() != granule)) {
    granules.push_back(granule);
  }
}

void SplitSections::Section::close() {
  for (std::vector<std::uint64_t>* granules : {&reads, &writes}) {
    std::sort(granules->begin(), granules->end());
    granules->erase(std::unique(granules->begin(), granules->end()), granules->end());
  }
}

bool SplitSections::conflict(const Section& a, const Section& b) {
  return have_common(a.writes, b.writes) || have_common(a.writes, b.reads) || have_common(a.reads, b.writes);
}

// The thread keeps a lock from one section to the other that the third needs.
bool SplitSections::keeps_out(const Split& split, const Section& other) {
  return std::any_of(split.first->held.begin(), split.first->held.end(), [&](const Held& held) {
    const bool kept = std::any_of(split.second->held.begin(), split.second->held.end(), [&](const Held& each) {
      return each.lock == held.lock && each.acquire == held.acquire;
    });
    return kept &&
           std::any_of(other.held.begin(), other.held.end(), [&](const Held& each) { return each.lock == held.lock; });
  });
}

bool SplitSections::fits(const Split& split, const Section& other) {
  return other.acquire.event.thread != split.first->acquire.event.thread && !other.known.knows(split.second->begun) &&
         !split.first->known.knows(other.begun) && conflict(*split.first, other) && conflict(*split.second, other) &&
         !keeps_out(split, other);
}

bool SplitSections::could_do_the_same(const Split& split, const Section& other) {
  return other.acquire.event.thread != split.first->acquire.event.thread && !other.known.knows(split.second->begun) &&
         !split.first->known.knows(other.begun) && !keeps_out(split, other);
}

AtomicityCandidate SplitSections::candidate(const Split& split, const Section& other) {
  AtomicityCandidate found{.first = split.first->acquire, .other = other.acquire, .second = split.second->acquire};
  found.declared = split.declared();
  found.checks = split.first->writes.empty() && have_common(split.first->reads, split.second->writes);
  return found;
}

void SplitSections::consume(const AccessRecord& record, std::uint64_t block) {
  const Event& event = record.event;
  switch (event.op) {
    case Op::kAcquire: begin(record, block); break;
    case Op::kRelease: end(event); break;
    case Op::kEnd: forget(event.thread); break;
    case Op::kRead:
    case Op::kWrite:
    case Op::kAtomicLoad:
    case Op::kAtomicStore:
    case Op::kAtomicRmw: touch(event); return;
    default: break;
  }
  must_.learn(event);
}

void SplitSections::begin(const AccessRecord& record, std::uint64_t block) {
  auto section = std::make_shared<Section>();
  const Event& event = record.event;
  section->acquire = record;
  section->block = block;
  section->begun = must_.now(event.thread);
  for (const auto& open : open_[raw(event.thread)]) {
    section->held.push_back({open->acquire.event.object, open->acquire.id});
  }
  open_[raw(event.thread)].push_back(std::move(section));
}

// No section of the thread follows.
void SplitSections::forget(ThreadId thread) {
  open_.erase(raw(thread));
  before_.erase(before_.lower_bound({raw(thread), 0}), before_.lower_bound({raw(thread) + 1, 0}));
}

void SplitSections::end(const Event& event) {
  auto& open = open_[raw(event.thread)];
  const auto last = std::find_if(open.rbegin(), open.rend(),
                                 [&](const auto& each) { return each->acquire.event.object == event.object; });
  if (last == open.rend()) {
    return;
  }
  const std::shared_ptr<Section> section = *last;
  open.erase(std::next(last).base());
  section->close();
  section->known = must_.current(event.thread);
  SharedSection& before = before_[{raw(event.thread), event.object}];
  if (before != nullptr) {
    const Split split{before, section};
    keep(splits_[{place_of(*before), place_of(*section), split.declared()}], split, splits_.size());
  }
  before = section;
  auto& closed = closed_[event.object];
  keep(closed[section->acquire.event.site], before, closed.size());
}

void SplitSections::touch(const Event& event) {
  const auto open = open_.find(raw(event.thread));
  if (open != open_.end() && !open->second.empty()) {
    const std::uint64_t last = (event.object + std::max<std::uint64_t>(event.size, 1) - 1) / kGranule;
    for (std::uint64_t granule = event.object / kGranule; granule <= last; ++granule) {
      for (const auto& section : open->second) {
        if (is_read(event.op)) {
          section->touch(granule, false);
        }
        if (is_write(event.op)) {
          section->touch(granule, true);
        }
      }
    }
  }
  if (is_atomic(event.op)) {
    must_.learn(event);
  }
}

template <typename T>
void SplitSections::keep(std::vector<T>& kept, T what, std::size_t places) const {
  if (kept.size() < instances_ && places <= kMostPlaces) {
    kept.push_back(std::move(what));
  }
}

template <typename Take>
void SplitSections::each_found(const Take& take) const {
  std::uint64_t looks = 0;
  for (const auto& [places, splits] : splits_) {
    for (const Split& split : splits) {
      const auto others = closed_.find(split.first->acquire.event.object);
      if (others == closed_.end()) {
        continue;
      }
      for (const auto& [site, sections] : others->second) {
        if (looks > kMostLooks) {
          return;
        }
        looks += sections.size();
        const auto found =
            std::find_if(sections.begin(), sections.end(), [&](const auto& each) { return fits(split, *each); });
        if (found != sections.end()) {
          take(split, **found);
        }
      }
    }
  }
}

template <typename Take>
void SplitSections::each_twin(const Take& take) const {
  for (const auto& [places, splits] : splits_) {
    for (const Split& split : splits) {
      const auto others = closed_.find(split.first->acquire.event.object);
      const bool in_vain = split.second->writes.empty() || !conflict(*split.first, *split.second);
      if (in_vain || others == closed_.end()) {
        continue;
      }
      const auto there = others->second.find(split.first->acquire.event.site);
      for (std::size_t i = 0; there != others->second.end() && i < there->second.size(); ++i) {
        if (could_do_the_same(split, *there->second[i])) {
          Section twin = *split.second;
          twin.acquire.event.thread = there->second[i]->acquire.event.thread;
          take(split, twin);
          break;
        }
      }
    }
  }
}

std::vector<AtomicityCandidate> SplitSections::found() const {
  std::vector<AtomicityCandidate> all;
  std::map<std::tuple<SiteId, SiteId, bool>, std::size_t> known;  // into all
  std::set<const Split*> counted;
  const auto take = [&](const Split& split, const Section& other) {
    if (place_of(*split.first) == place_of(*split.second) && !split.declared()) {
      return;  // a loop
    }
    AtomicityCandidate found = candidate(split, other);
    const auto [at, is_new] = known.try_emplace(
        {split.first->acquire.event.site, split.second->acquire.event.site, split.declared()}, all.size());
    if (is_new) {
      counted.insert(&split);
      all.push_back(found);
      return;
    }
    AtomicityCandidate& before = all[at->second];
    found.times = before.times + (counted.insert(&split).second ? 1 : 0);
    if (found.checks && !before.checks) {
      before = found;
    }
    before.times = found.times;
  };
  each_found(take);
  each_twin(take);
  const auto rank = [](const AtomicityCandidate& each) { return each.declared ? 0 : each.checks ? 1 : 2; };
  std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
    return std::pair(rank(a), a.first.id) < std::pair(rank(b), b.first.id);
  });
  return all;
}

std::vector<std::tuple<SiteId, SiteId, SiteId>> SplitSections::triples() const {
  std::set<std::tuple<SiteId, SiteId, SiteId>> all;
  each_found([&](const Split& split, const Section& other) {
    all.emplace(split.first->acquire.event.site, split.second->acquire.event.site, other.acquire.event.site);
  });
  return {all.begin(), all.end()};
}

}  // namespace sooth
