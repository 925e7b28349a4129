#include "oracle/lock_cycles.h"

#include <algorithm>

namespace sooth::oracle {
namespace {

class Enumeration {
 public:
  explicit Enumeration(std::span<const Event> trace) : sections_(sections_of(trace)), must_(must_order(trace)) {}

  std::set<std::vector<Index>> run() {
    for (const Section& start : sections_) {
      if (start.waits) {
        path_ = {&start};
        extend();
      }
    }
    return std::move(cycles_);
  }

 private:
  // Held by the thread of `acquire` just before it.
  bool holds(const Section& held, const Section& acquire) const {
    return held.thread == acquire.thread && held.acquire < acquire.acquire &&
           (!held.release || *held.release > acquire.acquire);
  }
  static bool exclude(const Section& a, const Section& b) { return a.lock == b.lock && (a.exclusive || b.exclusive); }

  bool waits_for(const Section& waiting, const Section& other) const {
    return std::any_of(sections_.begin(), sections_.end(),
                       [&](const Section& held) { return holds(held, other) && exclude(waiting, held); });
  }

  // Both can be next in their threads at the same time, as far as must-order and the locks held say.
  bool compatible(const Section& a, const Section& b) const {
    if (a.thread == b.thread || must_.either(a.acquire, b.acquire)) {
      return false;
    }
    for (const Section& mine : sections_) {
      for (const Section& theirs : sections_) {
        if (holds(mine, a) && holds(theirs, b) && exclude(mine, theirs)) {
          return false;
        }
      }
    }
    return true;
  }

  void extend() {
    if (path_.size() >= 2 && waits_for(*path_.back(), *path_.front())) {
      note();
    }
    for (const Section& next : sections_) {
      if (next.waits && next.acquire > path_.front()->acquire && waits_for(*path_.back(), next) &&
          std::all_of(path_.begin(), path_.end(), [&](const Section* s) { return compatible(*s, next); })) {
        path_.push_back(&next);
        extend();
        path_.pop_back();
      }
    }
  }

  // Unless it contains a shorter one: then somebody waits for two of its threads.
  void note() {
    std::vector<Index> acquires;
    for (const Section* section : path_) {
      const auto waits =
          std::count_if(path_.begin(), path_.end(), [&](const Section* other) { return waits_for(*section, *other); });
      if (waits != 1) {
        return;
      }
      acquires.push_back(section->acquire);
    }
    cycles_.insert(acquires);
  }

  const std::vector<Section> sections_;
  const Relation must_;
  std::vector<const Section*> path_;
  std::set<std::vector<Index>> cycles_;
};

}  // namespace

std::set<std::vector<Index>> lock_cycles(std::span<const Event> trace) { return Enumeration(trace).run(); }

std::set<CycleSites> lock_cycle_sites(std::span<const Event> trace) {
  std::set<CycleSites> all;
  for (const std::vector<Index>& cycle : lock_cycles(trace)) {
    CycleSites sites;
    for (const Index acquire : cycle) {
      sites.push_back(trace[acquire].site);
    }
    std::sort(sites.begin(), sites.end());
    all.insert(sites);
  }
  return all;
}

}  // namespace sooth::oracle
