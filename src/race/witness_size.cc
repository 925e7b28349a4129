#include "race/witness_size.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sooth {
namespace {

using Position = std::uint32_t;  // in the order of the witness
constexpr Position kNowhere = std::numeric_limits<Position>::max();

// A witness beyond these is left as it is.
constexpr std::size_t kLongestOrder = 1u << 22;
constexpr std::uint64_t kWidestAccess = 1u << 20;  // bytes
constexpr std::size_t kMostStretches = 200;        // that are put together one by one

bool writes_memory(Op op) { return is_write(op); }
bool touches_memory(const Event& e) { return is_access(e.op) || e.op == Op::kFree; }

// What an event of the witness is about, other than memory; every two events about the same depend on each other.
// Threads are about themselves: fork and join, begin and end.
std::optional<std::pair<ObjectKind, std::uint64_t>> object_of(const Event& e) {
  switch (e.op) {
    case Op::kBegin:
    case Op::kEnd: return std::pair(ObjectKind::kThread, std::uint64_t{raw(e.thread)});
    case Op::kEnter:
    case Op::kExit:
    case Op::kFence:
    case Op::kAlloc:
    case Op::kMisuse: return std::nullopt;
    default: break;
  }
  if (touches_memory(e)) {
    return std::nullopt;
  }
  return std::pair(object_kind(e), e.object);
}

// The bytes of memory with what the witness does to them, by words of eight.
template <typename Byte>
class ByteTable {
 public:
  template <typename Each>
  void for_each(std::uint64_t begin, std::uint64_t size, Each&& each) {
    for (std::uint64_t at = begin; at < begin + size; ++at) {
      each(words_[at >> 3][at & 7]);
    }
  }

 private:
  std::unordered_map<std::uint64_t, std::array<Byte, 8>> words_;
};

// The order of a witness, and what depends on what in it.
class WitnessGraph {
 public:
  WitnessGraph(const TraceView& trace, const Witness& witness) : trace_(trace), witness_(witness) {}

  const Event& event(Position at) const { return trace_.events[raw(witness_.order[at])]; }
  Position size() const { return static_cast<Position>(witness_.order.size()); }

  // Which events are left when those go that nothing depends on.
  std::vector<bool> needed() {
    find_needs();
    std::vector<bool> kept(size());
    std::set<ThreadId> last;
    for (const EventId id : witness_.next) {
      last.insert(trace_.events[raw(id)].thread);
    }
    std::vector<Position> work;
    const auto keep = [&](Position at) {
      if (at != kNowhere && !kept[at]) {
        kept[at] = true;
        work.push_back(at);
      }
    };
    for (Position at = 0; at < size(); ++at) {
      if (last.contains(event(at).thread)) {
        keep(at);
      }
    }
    for (const EventId id : witness_.next) {
      need_of_next(trace_.events[raw(id)], keep);
    }
    do {
      while (!work.empty()) {
        const Position at = work.back();
        work.pop_back();
        keep(before_in_thread_[at]);
        for (std::size_t i = first_need_[at]; i < first_need_[at + 1]; ++i) {
          keep(needs_[i]);
        }
      }
      keep_releases(kept, keep);
    } while (!work.empty());
    return kept;
  }

  // Edges of the events that are kept, for a schedule: (earlier, later), as positions. Without those of locks the order
  // of critical sections is free.
  std::vector<std::pair<Position, Position>> dependences(const std::vector<bool>& kept, bool with_locks) const;

 private:
  // What each event needs by itself: the ones before it that are about the same object, unless that is a lock; for what
  // it reads, the writes that it sees.
  void find_needs() {
    std::map<std::pair<ObjectKind, std::uint64_t>, Position> latest;
    std::unordered_map<std::uint32_t, Position> last_of_thread;
    std::unordered_map<std::uint64_t, Position> holder;  // by lock, its latest acquire
    ByteTable<Position> writers;                         // one more than the position; 0: none
    before_in_thread_.assign(size(), kNowhere);
    first_need_.reserve(size() + 1);
    for (Position at = 0; at < size(); ++at) {
      first_need_.push_back(needs_.size());
      const Event& e = event(at);
      if (const auto last = last_of_thread.find(raw(e.thread)); last != last_of_thread.end()) {
        before_in_thread_[at] = last->second;
      } else if (const auto fork = latest.find({ObjectKind::kThread, raw(e.thread)}); fork != latest.end()) {
        needs_.push_back(fork->second);
      }
      last_of_thread[raw(e.thread)] = at;
      if (const auto object = object_of(e); object.has_value() && object->first != ObjectKind::kLock) {
        const auto [it, is_first] = latest.try_emplace(*object, at);
        if (!is_first) {
          needs_.push_back(it->second);
          it->second = at;
        }
      }
      if (e.op == Op::kJoin) {
        const auto child = last_of_thread.find(static_cast<std::uint32_t>(e.object));
        needs_.push_back(child != last_of_thread.end() ? child->second : at);
      }
      if (e.op == Op::kAcquireFailed) {
        const auto taken = holder.find(e.object);
        needs_.push_back(taken != holder.end() ? taken->second : at);
      }
      if (e.op == Op::kAcquire) {
        holder[e.object] = at;
      }
      if (touches_memory(e)) {
        see_writes(e, at, writers);
      }
    }
    first_need_.push_back(needs_.size());
    latest_ = std::move(latest);
    last_of_thread_ = std::move(last_of_thread);
  }

  void see_writes(const Event& e, Position at, ByteTable<Position>& writers) {
    Position seen = 0;
    writers.for_each(e.object, e.size, [&](Position& writer) {
      // An atomic write may go on with the release sequence that it finds.
      if ((is_read(e.op) || is_atomic(e.op)) && writer != 0 && writer != seen) {
        needs_.push_back(writer - 1);
        seen = writer;
      }
      writer = writes_memory(e.op) ? at + 1 : writer;
    });
  }

  // An access that is next needs what its thread needs, and its thread must have been started.
  template <typename Keep>
  void need_of_next(const Event& e, Keep&& keep) const {
    if (!last_of_thread_.contains(raw(e.thread))) {
      const auto fork = latest_.find({ObjectKind::kThread, raw(e.thread)});
      keep(fork != latest_.end() ? fork->second : kNowhere);
    }
    // What else must come before it is not known here: everything about its object, if that is no memory.
    if (is_atomic(e.op)) {
      for (Position at = 0; at < size(); ++at) {
        if (is_atomic(event(at).op) && event(at).object == e.object) {
          keep(at);
        }
      }
    }
  }

  // A section that was over before somebody took the lock must be over again.
  template <typename Keep>
  void keep_releases(const std::vector<bool>& kept, Keep&& keep) const {
    struct Open {
      std::uint32_t depth = 0;
      Position release = kNowhere;  // that ended it, and is not kept
    };
    std::map<std::pair<std::uint64_t, ThreadId>, Open> sections;
    for (Position at = 0; at < size(); ++at) {
      const Event& e = event(at);
      if (e.op == Op::kAcquire && kept[at]) {
        for (auto it = sections.lower_bound({e.object, ThreadId{0}});
             it != sections.end() && it->first.first == e.object; ++it) {
          if (it->first.second != e.thread && it->second.depth > 0) {
            keep(it->second.release);
          }
        }
        ++sections[{e.object, e.thread}].depth;
      } else if (e.op == Op::kRelease) {
        Open& open = sections[{e.object, e.thread}];
        if (kept[at]) {
          open.depth -= open.depth > 0 ? 1 : 0;
        } else if (open.depth > 0) {
          open.release = at;
        }
      }
    }
  }

  const TraceView& trace_;
  const Witness& witness_;
  std::vector<Position> before_in_thread_;
  std::vector<Position> needs_;  // of event i those from first_need_[i] to first_need_[i + 1]
  std::vector<std::size_t> first_need_;
  std::map<std::pair<ObjectKind, std::uint64_t>, Position> latest_;
  std::unordered_map<std::uint32_t, Position> last_of_thread_;
};

std::vector<std::pair<Position, Position>> WitnessGraph::dependences(const std::vector<bool>& kept,
                                                                     bool with_locks) const {
  struct Byte {
    Position writer = kNowhere;
    Position reader = kNowhere;  // the latest since; earlier ones stand in front of it by edges of their own
  };
  std::vector<std::pair<Position, Position>> edges;
  std::map<std::pair<ObjectKind, std::uint64_t>, Position> latest;
  std::unordered_map<std::uint32_t, Position> last_of_thread;
  ByteTable<Byte> bytes;
  const auto depend = [&](Position on, Position at) {
    if (on != kNowhere && event(on).thread != event(at).thread) {
      edges.emplace_back(on, at);
    }
  };
  for (Position at = 0; at < size(); ++at) {
    if (!kept[at]) {
      continue;
    }
    const Event& e = event(at);
    if (!last_of_thread.contains(raw(e.thread))) {
      const auto fork = latest.find({ObjectKind::kThread, raw(e.thread)});
      depend(fork != latest.end() ? fork->second : kNowhere, at);
    }
    last_of_thread[raw(e.thread)] = at;
    if (e.op == Op::kJoin) {
      const auto child = last_of_thread.find(static_cast<std::uint32_t>(e.object));
      depend(child != last_of_thread.end() ? child->second : kNowhere, at);
    }
    if (const auto object = object_of(e); object.has_value() && (with_locks || object->first != ObjectKind::kLock)) {
      const auto [it, is_first] = latest.try_emplace(*object, at);
      if (!is_first) {
        depend(it->second, at);
        it->second = at;
      }
    }
    if (touches_memory(e)) {
      bytes.for_each(e.object, e.size, [&](Byte& byte) {
        depend(byte.writer, at);
        // Reads of the same byte keep their order, too: that is more than needed, and costs one edge only.
        depend(byte.reader, at);
        (writes_memory(e.op) ? byte.writer : byte.reader) = at;
        byte.reader = writes_memory(e.op) ? kNowhere : byte.reader;
      });
    }
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

// Rules for who runs next when a thread cannot go on.
enum class Rule : std::uint8_t { kFirstInOrder, kLongest, kShortest, kMostWaiting };
constexpr std::array kRules = {Rule::kFirstInOrder, Rule::kLongest, Rule::kShortest, Rule::kMostWaiting};

// Lets each thread run for as long as it can.
class Scheduler {
 public:
  Scheduler(const WitnessGraph& graph, const std::vector<bool>& kept,
            const std::vector<std::pair<Position, Position>>& edges)
      : graph_(graph), edges_(edges), blockers_(graph.size()) {
    for (Position at = 0; at < graph.size(); ++at) {
      if (kept[at]) {
        threads_[raw(graph.event(at).thread)].push_back(at);
      }
    }
  }

  // Positions in the new order; nothing when threads come to wait for each other's locks.
  std::vector<Position> run(Rule rule) {
    std::fill(blockers_.begin(), blockers_.end(), 0);
    locks_.clear();
    for (const auto& [earlier, later] : edges_) {
      ++blockers_[later];
    }
    std::map<std::uint32_t, std::size_t> next;
    std::size_t left = 0;
    for (const auto& [thread, events] : threads_) {
      next[thread] = 0;
      left += events.size();
    }
    std::vector<Position> order;
    order.reserve(left);
    while (order.size() < left) {
      const std::optional<std::uint32_t> thread = choose(rule, next);
      if (!thread.has_value()) {
        return {};
      }
      const std::vector<Position>& events = threads_[*thread];
      for (std::size_t& at = next[*thread]; at < events.size() && can_run(events[at]); ++at) {
        order.push_back(events[at]);
        follow_lock(events[at]);
        unblock(events[at]);
      }
    }
    return order;
  }

 private:
  struct LockState {
    std::map<std::uint32_t, std::uint32_t> depth;  // by thread that has it
    bool is_shared = false;                        // by all of them
  };

  bool can_run(Position at) const {
    if (blockers_[at] != 0) {
      return false;
    }
    const Event& e = graph_.event(at);
    const auto lock = e.op == Op::kAcquire ? locks_.find(e.object) : locks_.end();
    return lock == locks_.end() || lock->second.depth.empty() || lock->second.depth.contains(raw(e.thread)) ||
           (lock->second.is_shared && is_shared(e));
  }

  void follow_lock(Position at) {
    const Event& e = graph_.event(at);
    if (e.op == Op::kAcquire) {
      LockState& lock = locks_[e.object];
      lock.is_shared = lock.depth.empty() ? is_shared(e) : lock.is_shared;
      ++lock.depth[raw(e.thread)];
    } else if (e.op == Op::kRelease) {
      LockState& lock = locks_[e.object];
      const auto own = lock.depth.find(raw(e.thread));
      if (own != lock.depth.end() && --own->second == 0) {
        lock.depth.erase(own);
      }
    }
  }

  void unblock(Position done) {
    auto edge = std::lower_bound(edges_.begin(), edges_.end(), std::pair(done, Position{0}));
    for (; edge != edges_.end() && edge->first == done; ++edge) {
      --blockers_[edge->second];
    }
  }

  // How far it comes: looked at no farther than this.
  static constexpr std::size_t kLookAhead = 256;

  std::optional<std::uint32_t> choose(Rule rule, const std::map<std::uint32_t, std::size_t>& next) const {
    std::optional<std::uint32_t> best;
    std::tuple<std::int64_t, Position> best_score{std::numeric_limits<std::int64_t>::max(), kNowhere};
    for (const auto& [thread, at] : next) {
      const std::vector<Position>& events = threads_.at(thread);
      if (at == events.size() || !can_run(events[at])) {
        continue;
      }
      std::tuple<std::int64_t, Position> score{0, events[at]};
      if (rule != Rule::kFirstInOrder) {
        std::size_t end = at;
        while (end < events.size() && end - at < kLookAhead && blockers_[events[end]] == 0) {
          ++end;
        }
        const auto length = static_cast<std::int64_t>(end - at);
        const auto rest = static_cast<std::int64_t>(events.size() - end);
        std::get<0>(score) = rule == Rule::kLongest ? -length : rule == Rule::kShortest ? length : rest;
      }
      if (score < best_score) {
        best_score = score;
        best = thread;
      }
    }
    return best;
  }

  const WitnessGraph& graph_;
  const std::vector<std::pair<Position, Position>>& edges_;  // by the earlier one
  std::vector<std::uint32_t> blockers_;                      // by position: edges from what is not done
  std::map<std::uint32_t, std::vector<Position>> threads_;   // kept events of each
  std::unordered_map<std::uint64_t, LockState> locks_;
};

class Shrinker {
 public:
  Shrinker(const TraceView& trace, const Witness& witness, std::uint64_t work)
      : trace_(trace), best_(witness), work_(work) {}

  Witness run() {
    if (best_.order.size() > kLongestOrder || !is_narrow()) {
      return best_;
    }
    cut();
    reschedule();
    join_stretches();
    return best_;
  }

 private:
  bool is_narrow() const {
    std::uint64_t bytes = 0;
    for (const EventId id : best_.order) {
      const Event& e = trace_.events[raw(id)];
      bytes += touches_memory(e) ? e.size : 0;
      if (touches_memory(e) && e.size > kWidestAccess) {
        return false;
      }
    }
    return bytes <= 64 * std::uint64_t{kLongestOrder};
  }

  // Takes it if it is smaller in one respect and larger in none, and the checker accepts it.
  bool offer(std::vector<EventId> order) {
    const WitnessSize now = size_of(trace_, best_);
    Witness other{best_.kind, std::move(order), best_.next};
    const WitnessSize size = size_of(trace_, other);
    const bool is_smaller =
        size.threads <= now.threads && size.switches <= now.switches && size.events <= now.events &&
        std::tie(size.threads, size.switches, size.events) < std::tie(now.threads, now.switches, now.events);
    if (!is_smaller || work_ < trace_.events.size()) {
      return false;
    }
    work_ -= trace_.events.size();
    if (!check_witness(trace_, other).ok()) {
      return false;
    }
    best_ = std::move(other);
    return true;
  }

  void cut() {
    WitnessGraph graph(trace_, best_);
    const std::vector<bool> kept = graph.needed();
    std::vector<EventId> order;
    for (Position at = 0; at < graph.size(); ++at) {
      if (kept[at]) {
        order.push_back(best_.order[at]);
      }
    }
    // Fewer events may stand in more stretches when what stood between them is gone: then another order helps.
    if (!offer(order)) {
      offer(best_schedule(graph, kept, true));
    }
  }

  std::vector<EventId> best_schedule(const WitnessGraph& graph, const std::vector<bool>& kept, bool with_locks) const {
    const std::vector<std::pair<Position, Position>> edges = graph.dependences(kept, with_locks);
    Scheduler scheduler(graph, kept, edges);
    std::vector<EventId> best;
    std::uint64_t fewest = std::numeric_limits<std::uint64_t>::max();
    for (const Rule rule : kRules) {
      std::vector<EventId> order;
      for (const Position at : scheduler.run(rule)) {
        order.push_back(best_.order[at]);
      }
      if (order.empty()) {
        continue;
      }
      if (const std::uint64_t switches = size_of(trace_, {best_.kind, order, best_.next}).switches; switches < fewest) {
        fewest = switches;
        best = std::move(order);
      }
    }
    return best;
  }

  void reschedule() {
    for (const bool with_locks : {false, true}) {
      const WitnessGraph graph(trace_, best_);
      offer(best_schedule(graph, std::vector<bool>(graph.size(), true), with_locks));
    }
  }

  struct Stretch {
    std::size_t begin, end;
    ThreadId thread;
  };
  std::vector<Stretch> stretches() const {
    std::vector<Stretch> found;
    for (std::size_t i = 0; i < best_.order.size(); ++i) {
      const ThreadId thread = trace_.events[raw(best_.order[i])].thread;
      if (found.empty() || found.back().thread != thread) {
        found.push_back({i, i, thread});
      }
      found.back().end = i + 1;
    }
    return found;
  }

  // Moves a stretch to the one of the same thread before it, or that one to it.
  std::vector<EventId> moved(const Stretch& first, const Stretch& second, bool down) const {
    std::vector<EventId> order = best_.order;
    const auto at = [&](std::size_t i) { return order.begin() + static_cast<std::ptrdiff_t>(i); };
    if (down) {
      std::rotate(at(first.begin), at(first.end), at(second.begin));
    } else {
      std::rotate(at(first.end), at(second.begin), at(second.end));
    }
    return order;
  }

  void join_stretches() {
    for (bool is_better = true; is_better;) {
      is_better = false;
      const std::vector<Stretch> all = stretches();
      if (all.size() > kMostStretches) {
        return;
      }
      for (std::size_t i = 0; i < all.size() && !is_better; ++i) {
        const auto next = std::find_if(all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end(),
                                       [&](const Stretch& other) { return other.thread == all[i].thread; });
        is_better = next != all.end() && (offer(moved(all[i], *next, false)) || offer(moved(all[i], *next, true)));
      }
    }
  }

  const TraceView& trace_;
  Witness best_;
  std::uint64_t work_;
};

}  // namespace

WitnessSize size_of(const TraceView& trace, const Witness& witness) {
  WitnessSize size;
  std::set<ThreadId> threads;
  for (const EventId id : witness.next) {
    threads.insert(trace.events[raw(id)].thread);
  }
  std::optional<ThreadId> last;
  std::uint64_t stretches = 0;
  for (const EventId id : witness.order) {
    const ThreadId thread = trace.events[raw(id)].thread;
    if (last != thread) {
      threads.insert(thread);
      ++stretches;
    }
    last = thread;
  }
  size.threads = threads.size();
  size.switches = stretches > 0 ? stretches - 1 : 0;
  size.events = witness.order.size();
  return size;
}

Witness shrink(const TraceView& trace, const Witness& witness, std::uint64_t work) {
  return Shrinker(trace, witness, work).run();
}

}  // namespace sooth
