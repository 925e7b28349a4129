#include "predict/barrier_order.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <utility>

#include "base/flat_map.h"
#include "race/range_map.h"

namespace sooth {
namespace {

// Events of different threads, of each the latest.
class Frontier {
 public:
  struct Entry {
    ThreadId thread;
    EventIndex event;
  };

  void raise(ThreadId thread, EventIndex event) {
    for (Entry& entry : entries_) {
      if (entry.thread == thread) {
        entry.event = std::max(entry.event, event);
        return;
      }
    }
    entries_.push_back({thread, event});
  }
  void join(const Frontier& other) {
    for (const Entry& entry : other.entries_) {
      raise(entry.thread, entry.event);
    }
  }
  void assign(ThreadId thread, EventIndex event) { entries_.assign(1, {thread, event}); }
  void clear() { entries_.clear(); }
  bool empty() const { return entries_.empty(); }
  std::span<const Entry> all() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

// Regions from `first` to `last`, both included.
struct Run {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

bool meet(std::span<const Run> a, std::span<const Run> b) {
  const std::span<const Run> few = a.size() < b.size() ? a : b;
  const std::span<const Run> many = a.size() < b.size() ? b : a;
  return std::any_of(few.begin(), few.end(), [&](const Run& run) {
    const auto at =
        std::partition_point(many.begin(), many.end(), [&](const Run& other) { return other.last < run.first; });
    return at != many.end() && at->first <= run.last;
  });
}

// A well-formed one is not empty and does not wrap around.
std::uint64_t last_byte(const Reach& reach) { return reach.begin + (reach.length - 1); }

// Signals and their like hand on what they were given in turn: which wait a post lets through depends on all that came
// before, also on what a call did unseen.
bool takes_turns(const Event& e) {
  const ObjectKind kind = object_kind(e);
  return kind == ObjectKind::kSignal || kind == ObjectKind::kBarrier || kind == ObjectKind::kSemaphore ||
         kind == ObjectKind::kMessage;
}

// Memory cut at the ends of all reaches, and around what takes turns. Region 0 is no memory: every event touches it,
// and of the calls those that reach everything.
class Regions {
 public:
  Regions(std::span<const Event> events, std::span<const Reach> reaches) {
    for (const Reach& reach : reaches) {
      everything_ = everything_ || is_everything(reach);
      cut(reach.begin, last_byte(reach));
    }
    for (const Event& e : events) {
      if (takes_turns(e)) {
        cut(e.object, e.object);  // it counts alone, whatever else is in the same reaches
      }
    }
    std::sort(starts_.begin(), starts_.end());
    starts_.erase(std::unique(starts_.begin(), starts_.end()), starts_.end());
    mark_covered(reaches);
  }

  std::uint32_t count() const { return static_cast<std::uint32_t>(starts_.size() + 1); }

  static bool is_everything(const Reach& reach) {
    return reach.begin == 0 && reach.length == std::numeric_limits<std::uint64_t>::max();
  }

  // Sorted, without overlaps.
  std::vector<Run> of_call(std::span<const Reach> reaches) const {
    std::vector<Run> runs;
    for (const Reach& reach : reaches) {
      if (is_everything(reach)) {
        return {{0, count() - 1}};
      }
      runs.push_back({at(reach.begin), at(last_byte(reach))});
    }
    std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.first < b.first; });
    std::vector<Run> merged;
    for (const Run& run : runs) {
      if (!merged.empty() && run.first <= merged.back().last + 1) {
        merged.back().last = std::max(merged.back().last, run.last);
      } else {
        merged.push_back(run);
      }
    }
    return merged;
  }

  // Of an event by itself; nothing where no call ever gets to.
  void of_event(const Event& e, std::vector<Run>& runs) const {
    runs.clear();
    if (everything_) {
      runs.push_back({0, 0});
    }
    const std::optional<std::uint64_t> last = last_touched(e);
    if (!last.has_value() || starts_.empty() || *last < starts_.front()) {
      return;
    }
    const Run run{at(std::max(e.object, starts_.front())), at(*last)};
    if (covered_before_[run.last + 1] > covered_before_[run.first]) {
      runs.push_back(run);
    }
  }

 private:
  void cut(std::uint64_t first, std::uint64_t last) {
    starts_.push_back(first);
    if (last != std::numeric_limits<std::uint64_t>::max()) {
      starts_.push_back(last + 1);
    }
  }

  // What an event touches: the bytes of an access or a free, the first byte of what it synchronises on.
  static std::optional<std::uint64_t> last_touched(const Event& e) {
    switch (object_kind(e)) {
      case ObjectKind::kMemory: return e.op == Op::kAlloc ? std::nullopt : std::optional(e.object + (e.size - 1));
      case ObjectKind::kLock: return e.op == Op::kMisuse ? std::nullopt : std::optional(e.object);
      case ObjectKind::kSignal:
      case ObjectKind::kBarrier:
      case ObjectKind::kSemaphore:
      case ObjectKind::kMessage: return e.object;
      case ObjectKind::kNone:
      case ObjectKind::kThread:
      case ObjectKind::kFunction:
      case ObjectKind::kCall: return std::nullopt;
    }
    return std::nullopt;
  }

  // The region of an address that is not in front of all of them.
  std::uint32_t at(std::uint64_t address) const {
    return static_cast<std::uint32_t>(std::upper_bound(starts_.begin(), starts_.end(), address) - starts_.begin());
  }

  void mark_covered(std::span<const Reach> reaches) {
    std::vector<std::int64_t> change(count() + std::size_t{1});
    for (const Reach& reach : reaches) {
      ++change[at(reach.begin)];
      --change[at(last_byte(reach)) + std::size_t{1}];
    }
    std::int64_t open = 0;
    covered_before_.push_back(0);
    for (std::uint32_t region = 0; region < count(); ++region) {
      open += change[region];
      covered_before_.push_back(covered_before_.back() + (open > 0 ? 1 : 0));
    }
  }

  bool everything_ = false;
  std::vector<std::uint64_t> starts_;          // of the regions from 1 on
  std::vector<std::uint32_t> covered_before_;  // by region, and one more: how many in front of it some call reaches
};

// By region the latest events of each thread. Marking and asking cost a logarithm in the regions, however many the run
// has.
class RegionHistory {
 public:
  explicit RegionHistory(std::uint32_t regions) : leaves_(std::bit_ceil(regions)), nodes_(2 * leaves_) {}

  void mark(const Run& run, ThreadId thread, EventIndex event) { mark(1, {0, leaves_ - 1}, run, thread, event); }
  void collect(const Run& run, Frontier& out) const { collect(1, {0, leaves_ - 1}, run, out); }

 private:
  struct Node {
    Frontier all;   // marked for all of its regions
    Frontier some;  // marked for some of them
  };

  void mark(std::uint32_t node, const Run& span, const Run& run, ThreadId thread, EventIndex event) {
    if (run.first <= span.first && span.last <= run.last) {
      nodes_[node].all.raise(thread, event);
      return;
    }
    nodes_[node].some.raise(thread, event);
    const std::uint32_t middle = span.first + (span.last - span.first) / 2;
    if (run.first <= middle) {
      mark(2 * node, {span.first, middle}, run, thread, event);
    }
    if (run.last > middle) {
      mark(2 * node + 1, {middle + 1, span.last}, run, thread, event);
    }
  }

  void collect(std::uint32_t node, const Run& span, const Run& run, Frontier& out) const {
    out.join(nodes_[node].all);
    if (nodes_[node].some.empty()) {
      return;
    }
    if (run.first <= span.first && span.last <= run.last) {
      out.join(nodes_[node].some);
      return;
    }
    const std::uint32_t middle = span.first + (span.last - span.first) / 2;
    if (run.first <= middle) {
      collect(2 * node, {span.first, middle}, run, out);
    }
    if (run.last > middle) {
      collect(2 * node + 1, {middle + 1, span.last}, run, out);
    }
  }

  std::uint32_t leaves_;
  std::vector<Node> nodes_;  // a complete binary tree, the root at 1
};

class Sweep {
 public:
  Sweep(std::span<const Event> events, std::span<const Reach> reaches)
      : events_(events),
        reaches_(reaches),
        regions_(events, reaches),
        touched_(regions_.count()),
        reached_(regions_.count()) {}

  std::vector<ExtraOrder> run() {
    for (EventIndex e = 0; e < events_.size(); ++e) {
      step(e);
    }
    return std::move(edges_);
  }

 private:
  static constexpr std::uint32_t kNoGroup = std::numeric_limits<std::uint32_t>::max();
  struct OpenCall {
    ThreadId thread;
    EventIndex begin;
    std::vector<Run> runs;
    std::vector<EventIndex> meets;  // begins of open calls of other threads whose reaches overlap with this one's
    std::uint32_t group = kNoGroup;
  };
  struct ThreadState {
    std::vector<std::pair<std::uint64_t, EventIndex>> calls;  // open: which, and its begin; innermost last
    FlatMap<EventIndex> known;                                // by thread: its latest event, + 1, that an edge led here
  };

  ThreadState& of(ThreadId thread) {
    if (raw(thread) >= threads_.size()) {
      threads_.resize(raw(thread) + std::size_t{1});
    }
    return threads_[raw(thread)];
  }

  void step(EventIndex id) {
    const Event& e = events_[id];
    regions_.of_event(e, runs_);
    incoming_.clear();
    if (e.op == Op::kCallBegin) {
      begin_call(id);
    }
    for (const Run& run : runs_) {
      reached_.collect(run, incoming_);
    }
    const bool in_turn = takes_turns(e) && !incoming_.empty();
    if (in_turn) {
      touched_.collect(runs_.back(), incoming_);
    }
    join_groups(id);
    send(id);
    for (const Run& run : runs_) {
      touched_.mark(run, e.thread, id);
    }
    if (in_turn) {
      reached_.mark(runs_.back(), e.thread, id);
    }
    if (e.op == Op::kCallEnd) {
      end_call(id);
    }
  }

  void begin_call(EventIndex id) {
    const Event& e = events_[id];
    of(e.thread).calls.emplace_back(e.object, id);
    while (next_reach_ < reaches_.size() && raw(reaches_[next_reach_].call) < id) {
      ++next_reach_;
    }
    const std::size_t first = next_reach_;
    while (next_reach_ < reaches_.size() && raw(reaches_[next_reach_].call) == id) {
      ++next_reach_;
    }
    OpenCall call{e.thread, id, regions_.of_call(reaches_.subspan(first, next_reach_ - first)), {}, kNoGroup};
    if (call.runs.empty()) {
      return;
    }
    for (const Run& run : call.runs) {
      reached_.collect(run, incoming_);
      touched_.collect(run, incoming_);
      reached_.mark(run, e.thread, id);
    }
    for (OpenCall& other : open_) {
      if (other.thread != e.thread && meet(other.runs, call.runs)) {
        other.meets.push_back(id);
        call.meets.push_back(other.begin);
      }
    }
    open_.push_back(std::move(call));
    // Until now the groups that the call unites knew different things; together they know what comes before it.
    regroup();
  }

  void end_call(EventIndex id) {
    const Event& e = events_[id];
    auto& calls = of(e.thread).calls;
    const auto it =
        std::find_if(calls.rbegin(), calls.rend(), [&](const auto& call) { return call.first == e.object; });
    if (it == calls.rend()) {
      return;
    }
    const EventIndex begin = it->second;
    calls.erase(std::next(it).base());
    const auto call =
        std::find_if(open_.begin(), open_.end(), [&](const OpenCall& open) { return open.begin == begin; });
    if (call == open_.end()) {
      return;  // it reaches nothing
    }
    for (const Run& run : call->runs) {
      reached_.mark(run, e.thread, id);
    }
    open_.erase(call);
    for (OpenCall& open : open_) {
      std::erase(open.meets, begin);
    }
    regroup();
  }

  // Calls that can hand on to each other, in any number of steps, what they have learned.
  void regroup() {
    std::vector<Frontier> knew = std::move(groups_);
    groups_.clear();
    std::vector<bool> placed(open_.size());
    std::vector<std::size_t> work;
    for (std::size_t first = 0; first < open_.size(); ++first) {
      if (placed[first]) {
        continue;
      }
      Frontier together;
      placed[first] = true;
      work.assign(1, first);
      while (!work.empty()) {
        OpenCall& call = open_[work.back()];
        work.pop_back();
        if (call.group != kNoGroup) {
          together.join(knew[call.group]);
        }
        call.group = static_cast<std::uint32_t>(groups_.size());
        for (std::size_t i = 0; i < open_.size(); ++i) {
          const bool linked = open_[i].thread == call.thread ||
                              std::find(call.meets.begin(), call.meets.end(), open_[i].begin) != call.meets.end();
          if (linked && !placed[i]) {
            placed[i] = true;
            work.push_back(i);
          }
        }
      }
      groups_.push_back(std::move(together));
    }
  }

  // The event takes its place among the steps of the calls that are open and reach what it touches, and of its own.
  void join_groups(EventIndex id) {
    const Event& e = events_[id];
    met_.clear();
    for (const OpenCall& call : open_) {
      const bool known = std::find(met_.begin(), met_.end(), call.group) != met_.end();
      if (!known && (call.thread == e.thread || meet(call.runs, runs_))) {
        met_.push_back(call.group);
        incoming_.join(groups_[call.group]);
      }
    }
    for (const std::uint32_t group : met_) {
      groups_[group].assign(e.thread, id);
    }
  }

  void send(EventIndex id) {
    const ThreadId thread = events_[id].thread;
    FlatMap<EventIndex>& known = of(thread).known;
    for (const Frontier::Entry& from : incoming_.all()) {
      if (from.thread == thread || from.event == id) {
        continue;
      }
      EventIndex& latest = known[raw(from.thread)];
      if (latest <= from.event) {
        latest = from.event + 1;
        edges_.push_back({from.event, id});
      }
    }
  }

  const std::span<const Event> events_;
  const std::span<const Reach> reaches_;
  const Regions regions_;
  std::size_t next_reach_ = 0;
  RegionHistory touched_;  // by events themselves
  RegionHistory reached_;  // by calls: their begins and ends; while they are open, groups_ knows more
  std::vector<OpenCall> open_;
  std::vector<Frontier> groups_;  // what the unseen steps of each come behind
  std::vector<ThreadState> threads_;
  std::vector<ExtraOrder> edges_;
  std::vector<Run> runs_;           // of the event at hand
  Frontier incoming_;               // ... what comes before it
  std::vector<std::uint32_t> met_;  // ... groups
};

}  // namespace

std::vector<ExtraOrder> barrier_order(std::span<const Event> events, std::span<const Reach> reaches) {
  const auto behind = std::find_if(reaches.begin(), reaches.end(),
                                   [&](const Reach& reach) { return raw(reach.call) >= events.size(); });
  reaches = reaches.first(static_cast<std::size_t>(behind - reaches.begin()));
  return reaches.empty() ? std::vector<ExtraOrder>{} : Sweep(events, reaches).run();
}

BarrierTrace::BarrierTrace(const TraceView& trace) : view_(trace) {
  if (trace.reaches.empty()) {
    return;
  }
  order_ = barrier_order(trace.events, trace.reaches);
  view_.branches = {};
  values_.assign(trace.values.begin(), trace.values.end());
  RangeMap<bool> reached;
  for (const Reach& reach : trace.reaches) {
    reached.assign(reach.begin, last_byte(reach), true);
  }
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const Event& e = trace.events[i];
    if (values_[i].size == 0) {
      continue;
    }
    reached.for_each(e.object, e.object + (e.size - 1), [&](std::uint64_t, std::uint64_t, const bool* there) {
      values_[i] = there != nullptr ? Value{} : values_[i];
    });
  }
  view_.values = values_;
}

Result<std::vector<Reach>> find_globals(const Tables& tables, std::span<const Event> events,
                                        std::span<const std::string> names) {
  std::vector<Reach> globals;
  for (const std::string& name : names) {
    const std::size_t before = globals.size();
    for (const ObjectName& object : tables.names()) {
      if (object.kind != ObjectKind::kMemory || object.name != name) {
        continue;
      }
      std::uint64_t length = std::max<std::uint64_t>(object.length, 1);
      for (const Event& e : events) {
        if (object.length == 0 && is_access(e.op) && e.object == object.object) {
          length = std::max<std::uint64_t>(length, e.size);
        }
      }
      globals.push_back({EventId{0}, object.object, length});
    }
    if (globals.size() == before) {
      return Status::usage("the trace has no variable `" + name + "` (--barrier-global)");
    }
  }
  return globals;
}

std::vector<Reach> with_globals(std::span<const Event> events, std::span<const Reach> reaches,
                                std::span<const Reach> globals) {
  std::vector<Reach> all;
  auto own = reaches.begin();
  for (std::size_t i = 0; i < events.size() && !globals.empty(); ++i) {
    if (events[i].op != Op::kCallBegin) {
      continue;
    }
    for (; own != reaches.end() && raw(own->call) <= i; ++own) {
      all.push_back(*own);
    }
    for (const Reach& global : globals) {
      all.push_back({EventId{i}, global.begin, global.length});
    }
  }
  all.insert(all.end(), own, reaches.end());
  return all;
}

}  // namespace sooth
