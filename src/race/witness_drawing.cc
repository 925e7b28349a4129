#include "race/witness_drawing.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sooth {
namespace {

bool is_synchronisation(Op op) {
  switch (op) {
    case Op::kRead:
    case Op::kWrite:
    case Op::kAlloc:
    case Op::kFree:
    case Op::kEnter:
    case Op::kExit: return false;
    case Op::kAtomicLoad:
    case Op::kAtomicStore:
    case Op::kAtomicRmw:
    case Op::kFence:
    case Op::kAcquire:
    case Op::kRelease:
    case Op::kNotify:
    case Op::kWait:
    case Op::kBarrierArrive:
    case Op::kBarrierLeave:
    case Op::kSemPost:
    case Op::kSemWait:
    case Op::kFork:
    case Op::kJoin:
    case Op::kBegin:
    case Op::kEnd:
    case Op::kHappensBefore:
    case Op::kHappensAfter:
    case Op::kCallBegin:
    case Op::kCallEnd:
    case Op::kMisuse:
    case Op::kCondNotify:
    case Op::kCondWait:
    case Op::kAcquireFailed: return true;
  }
  return false;
}

bool touches_memory(Op op) { return is_access(op) || op == Op::kAlloc || op == Op::kFree; }

// Chooses events by their position in the order.
class Choice {
 public:
  Choice(const Witness& witness, const WitnessSummary& summary, const TraceView& trace)
      : witness_(witness), trace_(trace), ends_(ends_of(summary)) {
    keep_sections(summary);
    keep_births();
    for (std::size_t i = witness.order.size(); i > 0 && kept_.size() < kMaxDrawnEvents; --i) {
      if (is_worth_it(witness.order[i - 1])) {
        kept_.insert(i - 1);
      }
    }
  }

  const std::set<std::size_t>& positions() const { return kept_; }

 private:
  const Event& event(EventId id) const { return trace_.events[raw(id)]; }

  static std::set<EventId> ends_of(const WitnessSummary& summary) {
    std::set<EventId> ends;
    for (const WitnessSummary::Run& run : summary.runs) {
      ends.insert({run.first, run.last});
    }
    return ends;
  }

  // Outermost acquires with what ends them, if the swaps name them or nothing does.
  void keep_sections(const WitnessSummary& summary) {
    std::set<EventId> swapped;
    for (const SectionSwap& swap : summary.swaps) {
      swapped.insert({swap.now_first.acquire, swap.now_second.acquire});
    }
    struct Open {
      std::size_t position = 0;
      std::uint32_t depth = 0;
    };
    std::map<std::pair<ThreadId, std::uint64_t>, Open> open;
    for (std::size_t i = 0; i < witness_.order.size(); ++i) {
      const Event& e = event(witness_.order[i]);
      if (e.op == Op::kAcquire) {
        Open& section = open[{e.thread, e.object}];
        section.position = section.depth++ == 0 ? i : section.position;
      } else if (e.op == Op::kRelease) {
        const auto section = open.find({e.thread, e.object});
        if (section == open.end() || --section->second.depth > 0) {
          continue;
        }
        if (swapped.contains(witness_.order[section->second.position])) {
          kept_.insert({section->second.position, i});
        }
        open.erase(section);
      }
    }
    for (const auto& [owner, section] : open) {
      if (kept_.size() < kMaxDrawnEvents) {
        kept_.insert(section.position);
      }
    }
  }

  void keep_births() {
    std::set<std::uint64_t> threads;
    for (const EventId id : witness_.next) {
      threads.insert(raw(event(id).thread));
    }
    for (std::size_t i = 0; i < witness_.order.size() && kept_.size() < kMaxDrawnEvents; ++i) {
      const Event& e = event(witness_.order[i]);
      if (e.op == Op::kFork && threads.contains(e.object)) {
        kept_.insert(i);
      }
    }
  }

  bool is_worth_it(EventId id) const {
    const Event& e = event(id);
    return is_synchronisation(e.op) || ends_.contains(id) ||
           std::any_of(witness_.next.begin(), witness_.next.end(),
                       [&](EventId next) { return overlap(e, event(next)); });
  }

  static bool overlap(const Event& a, const Event& b) {
    if (!touches_memory(a.op) || !touches_memory(b.op)) {
      return false;
    }
    // Variables of text traces may have no bytes; differences wrap around when the other one comes first.
    return a.object == b.object || a.object - b.object < b.size || b.object - a.object < a.size;
  }

  const Witness& witness_;
  const TraceView& trace_;
  const std::set<EventId> ends_;
  std::set<std::size_t> kept_;
};

// Gives equal things equal numbers, from 0 in the order of their first use.
template <typename Key, typename Value>
class Numbering {
 public:
  explicit Numbering(std::vector<Value>& values) : values_(values) {}
  template <typename Make>
  std::uint32_t of(const Key& key, Make make) {
    const auto [it, added] = numbers_.try_emplace(key, static_cast<std::uint32_t>(values_.size()));
    if (added) {
      values_.push_back(make());
    }
    return it->second;
  }

 private:
  std::vector<Value>& values_;
  std::map<Key, std::uint32_t> numbers_;
};

std::string object_of(const Event& e, const Tables& tables) {
  const ObjectKind kind = object_kind(e);
  return kind == ObjectKind::kNone ? "" : tables.describe(kind, e.object);
}

}  // namespace

std::optional<WitnessDrawing> draw(const Witness& witness, const WitnessSummary& summary, const TraceView& trace) {
  if (trace.tables == nullptr) {
    return std::nullopt;
  }
  const Tables& tables = *trace.tables;
  WitnessDrawing drawing;
  drawing.length = witness.order.size();
  std::map<ThreadId, std::uint32_t> threads;
  for (const WitnessSummary::Run& run : summary.runs) {
    threads.try_emplace(run.thread, 0);
  }
  for (const EventId id : witness.next) {  // a thread may come there before it has done anything
    threads.try_emplace(trace.events[raw(id)].thread, 0);
  }
  for (auto& [thread, number] : threads) {
    number = static_cast<std::uint32_t>(drawing.threads.size());
    drawing.threads.push_back({thread, tables.thread_name(thread)});
  }
  Numbering<std::pair<Op, bool>, WitnessDrawing::Deed> deeds(drawing.deeds);
  Numbering<std::string, std::string> objects(drawing.objects);
  Numbering<SiteId, Site> sites(drawing.sites);
  const Choice choice(witness, summary, trace);
  for (const std::size_t position : choice.positions()) {
    const EventId id = witness.order[position];
    const Event& e = trace.events[raw(id)];
    const std::string object = object_of(e, tables);
    drawing.rows.push_back({position, id, threads.at(e.thread),
                            deeds.of({e.op, is_shared(e)},
                                     [&] {
                                       return WitnessDrawing::Deed{e.op, is_shared(e)};
                                     }),
                            objects.of(object, [&] { return object; }),
                            sites.of(e.site, [&] { return tables.site(e.site); })});
  }
  return drawing;
}

}  // namespace sooth
