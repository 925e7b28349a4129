#include "oracle/completions.h"

#include <algorithm>
#include <limits>
#include <set>

#include "oracle/random.h"

namespace sooth::oracle {
namespace {

constexpr std::uint64_t kEverything = std::numeric_limits<std::uint64_t>::max();

// Calls that are open behind an event, with the ranges that they reach.
class OpenCalls {
 public:
  explicit OpenCalls(const CallTrace& trace) : trace_(trace) {}

  void pass(Index i) {
    const Event& e = trace_.events[i];
    std::vector<Index>& open = open_[e.thread];
    if (e.op == Op::kCallBegin) {
      open.push_back(i);
    } else if (e.op == Op::kCallEnd) {
      const auto it =
          std::find_if(open.rbegin(), open.rend(), [&](Index b) { return trace_.events[b].object == e.object; });
      open.erase(std::next(it).base());
    }
  }

  // Of the thread, all together.
  std::vector<Reach> reach(ThreadId thread) const {
    std::vector<Reach> ranges;
    const auto open = open_.find(thread);
    for (const Reach& reach : trace_.reaches) {
      if (open != open_.end() &&
          std::find(open->second.begin(), open->second.end(), raw(reach.call)) != open->second.end()) {
        ranges.push_back(reach);
      }
    }
    return ranges;
  }

  std::vector<ThreadId> inside() const {
    std::vector<ThreadId> threads;
    for (const auto& [thread, open] : open_) {
      if (!reach(thread).empty()) {
        threads.push_back(thread);
      }
    }
    return threads;
  }

 private:
  const CallTrace& trace_;
  std::map<ThreadId, std::vector<Index>> open_;
};

Event make(ThreadId thread, Op op, std::uint64_t object, std::uint32_t size = 0,
           MemoryOrder order = MemoryOrder::kNotAtomic) {
  Event e;
  e.thread = thread;
  e.op = op;
  e.object = object;
  e.size = size;
  e.order = order;
  return e;
}

bool is_memory(const Event& e) { return is_access(e.op) || e.op == Op::kFree; }

// What may be hidden: not what starts and ends threads, not what changes generations.
bool may_hide(Op op) {
  switch (op) {
    case Op::kFork:
    case Op::kJoin:
    case Op::kBegin:
    case Op::kEnd:
    case Op::kAlloc:
    case Op::kCallBegin:
    case Op::kCallEnd: return false;
    default: return true;
  }
}

// Stretches of threads, by their first and last event.
std::map<Index, Index> draw_stretches(std::span<const Event> trace, Random& random) {
  std::map<ThreadId, std::vector<Index>> by_thread;
  for (Index i = 0; i < trace.size(); ++i) {
    by_thread[trace[i].thread].push_back(i);
  }
  std::map<Index, Index> stretches;
  for (const auto& [thread, events] : by_thread) {
    for (std::size_t at = random.below(4); at < events.size(); at += random.between(1, 4)) {
      const std::size_t last = std::min<std::size_t>(events.size() - 1, at + random.below(4));
      if (trace[events[at]].op != Op::kBegin && trace[events[last]].op != Op::kEnd) {
        stretches[events[at]] = events[last];
      }
      at = last;
    }
  }
  return stretches;
}

// Of the stretch from `first` to `last` of one thread. A lock is hidden only from its acquire to its release.
std::set<Index> draw_hidden(std::span<const Event> trace, std::span<const Section> sections, Index first, Index last,
                            Random& random) {
  std::set<Index> hidden;
  const bool all = random.percent(50);
  for (Index i = first; i <= last; ++i) {
    const bool lock = trace[i].op == Op::kAcquire || trace[i].op == Op::kRelease;
    if (trace[i].thread == trace[first].thread && may_hide(trace[i].op) && !lock && (all || random.percent(50))) {
      hidden.insert(i);
    }
  }
  for (const Section& section : sections) {
    const bool within = section.thread == trace[first].thread && section.acquire >= first && section.release &&
                        *section.release <= last;
    if (!within || !(all || random.percent(50))) {
      continue;
    }
    for (Index i = section.acquire; i <= *section.release; ++i) {
      const bool lock = trace[i].op == Op::kAcquire || trace[i].op == Op::kRelease;
      if (trace[i].thread == section.thread && lock && trace[i].object == section.lock) {
        hidden.insert(i);
      }
    }
  }
  return hidden;
}

// Cells: bytes that no event and no reach tells apart, by number from 1. Cell 0 is touched by all, and reached by
// what reaches everything.
class Cells {
 public:
  explicit Cells(const CallTrace& trace) {
    for (const Event& e : trace.events) {
      if (is_memory(e)) {
        cut(e.object, e.size);
      }
    }
    for (const Reach& reach : trace.reaches) {
      cut(reach.begin, reach.length);
    }
  }

  std::set<std::uint64_t> touched(const Event& e, bool everything) const {
    std::set<std::uint64_t> cells;
    if (is_memory(e)) {
      cells = of(e.object, e.size);
    } else if (e.op == Op::kAcquire || e.op == Op::kRelease) {
      cells = of(e.object, 1);
    }
    if (everything) {
      cells.insert(0);
    }
    return cells;
  }
  std::set<std::uint64_t> reached(std::span<const Reach> reaches) const {
    std::set<std::uint64_t> cells;
    for (const Reach& reach : reaches) {
      cells.merge(of(reach.begin, reach.length));
      if (reach.begin == 0 && reach.length == kEverything) {
        cells.insert(0);
      }
    }
    return cells;
  }

 private:
  void cut(std::uint64_t begin, std::uint64_t length) {
    starts_.insert(begin);
    starts_.insert(begin + length);
  }
  std::set<std::uint64_t> of(std::uint64_t begin, std::uint64_t length) const {
    std::set<std::uint64_t> cells;
    std::uint64_t number = 1;
    for (auto start = starts_.begin(); start != starts_.end(); ++start, ++number) {
      const auto next = std::next(start);
      if (*start < begin + length && (next == starts_.end() || *next > begin)) {
        cells.insert(number);
      }
    }
    return cells;
  }

  std::set<std::uint64_t> starts_;
};

class Fullest {
 public:
  explicit Fullest(const CallTrace& trace) : trace_(trace), cells_(trace), open_(trace) {
    everything_ = std::any_of(trace.reaches.begin(), trace.reaches.end(),
                              [](const Reach& r) { return r.begin == 0 && r.length == kEverything; });
    for (const Reach& reach : trace.reaches) {
      for (const std::uint64_t cell : cells_.reached(std::span(&reach, 1))) {
        matter_.insert(cell);  // what no call reaches passes nothing on
      }
    }
  }

  Completion run() {
    for (Index i = 0; i < trace_.events.size(); ++i) {
      observe(i);
      const std::vector<ThreadId> inside = open_.inside();
      for (std::size_t round = 0; round < inside.size(); ++round) {
        for (const ThreadId thread : inside) {
          const std::set<std::uint64_t> reach = cells_.reached(open_.reach(thread));
          hear(thread, reach, reach);
          tell(thread, kUnseen, reach);
        }
      }
    }
    return std::move(result_);
  }

 private:
  static constexpr std::uint64_t kOpen = 1'000'000'000;
  static constexpr std::uint64_t kUnseen = 2'000'000'000;

  void observe(Index i) {
    const Event& e = trace_.events[i];
    const bool ends = e.op == Op::kCallEnd;
    std::set<std::uint64_t> reach;
    if (!ends) {
      open_.pass(i);  // a begin reaches what its call does
    }
    reach = cells_.reached(open_.reach(e.thread));
    if (ends) {
      open_.pass(i);
    }
    std::set<std::uint64_t> own;
    for (const std::uint64_t cell : cells_.touched(e, everything_)) {
      if (matter_.contains(cell) && !reach.contains(cell)) {
        own.insert(cell);
      }
    }
    std::set<std::uint64_t> both = own;
    both.insert(reach.begin(), reach.end());
    const auto put = [&] {
      if (e.op != Op::kCallBegin && e.op != Op::kCallEnd) {
        result_.events.push_back(e);
        result_.observed.emplace_back(i);
      }
    };
    if (e.op == Op::kBegin) {
      put();
    }
    hear(e.thread, reach, both);
    if (e.op != Op::kBegin && e.op != Op::kEnd) {
      put();
    }
    tell(e.thread, kUnseen, reach);
    tell(e.thread, kOpen, own);
    if (e.op == Op::kEnd) {
      put();
    }
  }

  void hear(ThreadId thread, const std::set<std::uint64_t>& from_open, const std::set<std::uint64_t>& from_unseen) {
    for (const std::uint64_t cell : from_open) {
      add(make(thread, Op::kHappensAfter, kOpen + cell));
    }
    for (const std::uint64_t cell : from_unseen) {
      add(make(thread, Op::kHappensAfter, kUnseen + cell));
    }
  }
  void tell(ThreadId thread, std::uint64_t who, const std::set<std::uint64_t>& cells) {
    for (const std::uint64_t cell : cells) {
      add(make(thread, Op::kHappensBefore, who + cell));
    }
  }
  void add(const Event& e) {
    result_.events.push_back(e);
    result_.observed.emplace_back(std::nullopt);
  }

  const CallTrace& trace_;
  const Cells cells_;
  OpenCalls open_;
  bool everything_ = false;
  std::set<std::uint64_t> matter_;
  Completion result_;
};

void add_unseen(ThreadId thread, const Reach& reach, Random& random, Completion& result) {
  constexpr MemoryOrder kOrders[] = {MemoryOrder::kRelaxed, MemoryOrder::kAcqRel, MemoryOrder::kSeqCst};
  const auto add = [&](const Event& e) {
    result.events.push_back(e);
    result.observed.emplace_back(std::nullopt);
  };
  const auto size = static_cast<std::uint32_t>(std::min<std::uint64_t>(reach.length, 16));
  const std::uint64_t at = reach.begin;
  switch (random.below(5)) {
    case 0: add(make(thread, Op::kRead, at, size)); break;
    case 1: add(make(thread, Op::kWrite, at, size)); break;
    case 2: add(make(thread, Op::kAtomicRmw, at, size, random.pick(kOrders))); break;
    case 3: add(make(thread, Op::kAtomicStore, at, size, MemoryOrder::kRelease)); break;
    default:
      add(make(thread, Op::kAcquire, at));
      add(make(thread, Op::kWrite, at, size));
      add(make(thread, Op::kRelease, at));
  }
}

}  // namespace

std::vector<std::pair<EventId, EventId>> Completion::observed_races(const Exploration& exploration) const {
  std::vector<std::pair<EventId, EventId>> races;
  for (const auto& [pair, witness] : exploration.races) {
    const std::optional<Index> first = observed[raw(pair.first)];
    const std::optional<Index> second = observed[raw(pair.second)];
    if (first && second) {
      races.emplace_back(EventId{*first}, EventId{*second});
    }
  }
  return races;
}

CallTrace hide(std::span<const Event> complete_trace, std::uint64_t seed, Completion& complete) {
  Random random(seed ^ 0x68696465);
  const std::vector<Section> sections = sections_of(complete_trace);
  const std::map<Index, Index> stretches = draw_stretches(complete_trace, random);
  CallTrace trace;
  std::set<Index> hidden;
  std::map<Index, std::uint64_t> ends;  // behind this event the call of this number ends
  complete = {};
  for (Index i = 0; i < complete_trace.size(); ++i) {
    if (const auto stretch = stretches.find(i); stretch != stretches.end()) {
      const std::set<Index> inside = draw_hidden(complete_trace, sections, i, stretch->second, random);
      const EventId begin{trace.events.size()};
      trace.events.push_back(make(complete_trace[i].thread, Op::kCallBegin, i));
      bool everything = false;
      for (const Index h : inside) {
        everything = everything || complete_trace[h].op == Op::kFence;
        trace.reaches.push_back({begin, complete_trace[h].object, std::max(complete_trace[h].size, 1u)});
      }
      if (everything) {
        trace.reaches.push_back({begin, 0, kEverything});
      } else if (random.percent(20)) {
        trace.reaches.push_back({begin, 0x1000 + 16 * random.below(3), 4});
      }
      hidden.insert(inside.begin(), inside.end());
      ends[stretch->second] = i;
    }
    complete.events.push_back(complete_trace[i]);
    complete.observed.emplace_back(hidden.contains(i) ? std::nullopt : std::optional(trace.events.size()));
    if (!hidden.contains(i)) {
      trace.events.push_back(complete_trace[i]);
    }
    if (const auto end = ends.find(i); end != ends.end()) {
      trace.events.push_back(make(complete_trace[i].thread, Op::kCallEnd, end->second));
    }
  }
  return trace;
}

Completion random_completion(const CallTrace& trace, std::uint64_t seed) {
  Random random(seed ^ 0x636f6d706c657465);
  OpenCalls open(trace);
  Completion result;
  for (Index i = 0; i < trace.events.size(); ++i) {
    open.pass(i);
    if (trace.events[i].op != Op::kCallBegin && trace.events[i].op != Op::kCallEnd) {
      result.events.push_back(trace.events[i]);
      result.observed.emplace_back(i);
    }
    std::vector<ThreadId> inside = open.inside();
    for (std::uint32_t steps = inside.empty() ? 0 : random.below(3); steps > 0; --steps) {
      const ThreadId thread = random.pick(inside);
      const std::vector<Reach> reach = open.reach(thread);
      add_unseen(thread, reach[random.below(reach.size())], random, result);
    }
  }
  return result;
}

Completion fullest_completion(const CallTrace& trace) { return Fullest(trace).run(); }

}  // namespace sooth::oracle
