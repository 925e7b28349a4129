#include "run/split_sections.h"

#include <algorithm>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>

#include "order/must_clocks.h"
#include "race/site_key.h"

namespace sooth {
namespace {

constexpr std::uint64_t kGranule = 8;

// Another lock that a thread holds, and which of its acquires that was.
struct Held {
  std::uint64_t lock = 0;
  std::uint64_t acquire = 0;
};

struct Section {
  ThreadId thread{};
  SiteId site{};
  std::uint64_t lock = 0;
  std::uint64_t acquire = 0;  // number of the event
  Epoch begun;
  VectorClock known;                         // at the end
  std::vector<Held> held;                    // besides
  std::vector<std::uint64_t> reads, writes;  // granules; sorted at the end

  void touch(std::uint64_t granule, bool is_write) {
    std::vector<std::uint64_t>& granules = is_write ? writes : reads;
    if (granules.size() < SplitSections::kMostGranules && (granules.empty() || granules.back() != granule)) {
      granules.push_back(granule);
    }
  }
  void close() {
    for (std::vector<std::uint64_t>* granules : {&reads, &writes}) {
      std::sort(granules->begin(), granules->end());
      granules->erase(std::unique(granules->begin(), granules->end()), granules->end());
    }
  }
};

bool have_common(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    if (*i == *j) {
      return true;
    }
    ++(*i < *j ? i : j);
  }
  return false;
}

bool conflict(const Section& a, const Section& b) {
  return have_common(a.writes, b.writes) || have_common(a.writes, b.reads) || have_common(a.reads, b.writes);
}

using SharedSection = std::shared_ptr<const Section>;

struct Split {
  SharedSection first, second;
};

// The thread keeps a lock from one section to the other that the third needs.
bool keeps_out(const Split& split, const Section& other) {
  return std::any_of(split.first->held.begin(), split.first->held.end(), [&](const Held& held) {
    const bool kept = std::any_of(split.second->held.begin(), split.second->held.end(), [&](const Held& each) {
      return each.lock == held.lock && each.acquire == held.acquire;
    });
    return kept &&
           std::any_of(other.held.begin(), other.held.end(), [&](const Held& each) { return each.lock == held.lock; });
  });
}

bool fits(const Split& split, const Section& other) {
  return other.thread != split.first->thread && !other.known.knows(split.second->begun) &&
         !split.first->known.knows(other.begun) && conflict(*split.first, other) && conflict(*split.second, other) &&
         !keeps_out(split, other);
}

// What one recording has.
class Sections {
 public:
  explicit Sections(std::size_t instances) : instances_(instances) {}

  void consume(const Event& event) {
    ++events_;
    switch (event.op) {
      case Op::kAcquire: begin(event); break;
      case Op::kRelease: end(event); break;
      case Op::kRead:
      case Op::kWrite:
      case Op::kAtomicLoad:
      case Op::kAtomicStore:
      case Op::kAtomicRmw: touch(event); break;
      default: break;
    }
    must_.learn(event);
  }

  // Calls `take` for each split and section that fits.
  template <typename Take>
  void each_found(const Take& take) const {
    for (const auto& [places, splits] : splits_) {
      for (const Split& split : splits) {
        const auto others = closed_.find(split.first->lock);
        if (others == closed_.end()) {
          continue;
        }
        for (const auto& [site, sections] : others->second) {
          const auto found =
              std::find_if(sections.begin(), sections.end(), [&](const auto& each) { return fits(split, *each); });
          if (found != sections.end()) {
            take(split, **found);
          }
        }
      }
    }
  }

 private:
  void begin(const Event& event) {
    auto section = std::make_shared<Section>();
    section->thread = event.thread;
    section->site = event.site;
    section->lock = event.object;
    section->acquire = events_;
    section->begun = must_.now(event.thread);
    for (const auto& open : open_[raw(event.thread)]) {
      section->held.push_back({open->lock, open->acquire});
    }
    open_[raw(event.thread)].push_back(std::move(section));
  }

  void end(const Event& event) {
    auto& open = open_[raw(event.thread)];
    const auto last =
        std::find_if(open.rbegin(), open.rend(), [&](const auto& each) { return each->lock == event.object; });
    if (last == open.rend()) {
      return;
    }
    const std::shared_ptr<Section> section = *last;
    open.erase(std::next(last).base());
    section->close();
    section->known = must_.current(event.thread);
    SharedSection& before = before_[{raw(event.thread), event.object}];
    if (before != nullptr) {
      keep(splits_[{before->site, section->site}], Split{before, section}, splits_.size());
    }
    before = section;
    auto& closed = closed_[event.object];
    keep(closed[section->site], before, closed.size());
  }

  void touch(const Event& event) {
    const auto open = open_.find(raw(event.thread));
    if (open == open_.end() || open->second.empty()) {
      return;
    }
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

  template <typename T>
  void keep(std::vector<T>& kept, T what, std::size_t places) const {
    if (kept.size() < instances_ && places <= SplitSections::kMostPlaces) {
      kept.push_back(std::move(what));
    }
  }

  const std::size_t instances_;
  std::uint64_t events_ = 0;
  MustClocks must_;
  std::unordered_map<std::uint32_t, std::vector<std::shared_ptr<Section>>> open_;  // by thread, outermost first
  std::map<std::pair<std::uint32_t, std::uint64_t>, SharedSection> before_;        // by thread and lock
  std::map<std::uint64_t, std::map<SiteId, std::vector<SharedSection>>> closed_;   // by lock and site
  std::map<std::pair<SiteId, SiteId>, std::vector<Split>> splits_;
};

}  // namespace

void SplitSections::add(TraceReader& trace) {
  Sections sections(instances_);
  for (std::uint64_t events = 0; events < kMostEvents;) {
    const Result<Batch> batch = trace.next();
    if (!batch.ok() || batch->empty()) {
      break;
    }
    events += batch->events.size();
    for (const Event& event : batch->events) {
      sections.consume(event);
    }
  }
  sections.each_found([&](const Split& split, const Section& other) {
    const Tables& tables = trace.tables();
    Found found{tables.site(split.first->site), tables.site(split.second->site), tables.site(other.site)};
    found.checks = split.first->writes.empty() && have_common(split.first->reads, split.second->writes);
    const std::string first = site_key(found.first), second = site_key(found.second);
    triples_.try_emplace({first, second, site_key(found.other)}, found_.size());
    const auto [at, is_new] = pairs_.try_emplace({first, second}, found_.size());
    if (is_new) {
      found_.push_back(std::move(found));
    } else if (found.checks && !found_[at->second].checks) {
      found_[at->second] = std::move(found);
    }
  });
}

std::vector<SplitSections::Found> SplitSections::found() const {
  std::vector<Found> sorted = found_;
  std::stable_partition(sorted.begin(), sorted.end(), [](const Found& each) { return each.checks; });
  return sorted;
}

std::vector<std::vector<SiteCode>> SplitSections::code(CodeFinder& finder) const {
  std::vector<std::vector<SiteCode>> all;
  std::set<std::pair<std::string, std::string>> known;
  for (const Found& each : found()) {
    if (all.size() == kMostTried || !known.emplace(site_key(each.second), site_key(each.other)).second) {
      continue;
    }
    const Result<PlaceCode> second = finder.find(each.second), between = finder.find(each.other);
    if (second.ok() && between.ok()) {
      all.push_back(split_code(*second, *between));
    }
  }
  return all;
}

std::vector<std::tuple<std::string, std::string, std::string>> SplitSections::triples() const {
  std::vector<std::tuple<std::string, std::string, std::string>> all;
  for (const auto& [places, at] : triples_) {
    all.push_back(places);
  }
  return all;
}

}  // namespace sooth
