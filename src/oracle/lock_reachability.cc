#include "oracle/lock_reachability.h"

#include <algorithm>
#include <map>
#include <optional>

#include "oracle/oracle.h"

namespace sooth::oracle {
namespace {

class LocksetGraph {
 public:
  // Only threads of `among` move.
  LocksetGraph(std::span<const Event> trace, const std::set<ThreadId>& among, std::size_t max_states)
      : trace_(trace), max_states_(max_states), sections_(sections_of(trace)), opens_(trace.size()) {
    std::map<ThreadId, std::size_t> lanes;
    for (const ThreadId thread : among) {
      lanes.try_emplace(thread, lanes.size());
    }
    events_.resize(lanes.size());
    for (Index i = 0; i < trace.size(); ++i) {
      if (among.contains(trace[i].thread)) {
        events_[lanes.at(trace[i].thread)].push_back(i);
      }
    }
    for (const Section& section : sections_) {
      opens_[section.acquire] = &section;
    }
    const Relation must = must_order(trace);
    needs_.assign(trace.size(), std::vector<std::size_t>(lanes.size()));
    for (Index e = 0; e < trace.size(); ++e) {
      for (Index before = 0; before < e; ++before) {
        if (among.contains(trace[before].thread) && must.ordered(before, e)) {
          ++needs_[e][lanes.at(trace[before].thread)];
        }
      }
    }
  }

  LockReachability run() {
    std::vector<State> todo = {State(events_.size())};
    visited_.insert(todo.back());
    while (!todo.empty()) {
      const State state = todo.back();
      todo.pop_back();
      look_at(state);
      for (std::size_t lane = 0; lane < state.size(); ++lane) {
        const std::optional<Index> e = next(state, lane);
        if (!e || !blockers(state, *e).empty()) {
          continue;
        }
        State after = state;
        ++after[lane];
        if (visited_.size() >= max_states_) {
          result_.complete = false;
          return std::move(result_);
        }
        if (visited_.insert(after).second) {
          todo.push_back(after);
        }
      }
    }
    return std::move(result_);
  }

 private:
  using State = std::vector<std::size_t>;  // events done, by lane

  std::optional<Index> next(const State& state, std::size_t lane) const {
    if (state[lane] == events_[lane].size()) {
      return std::nullopt;
    }
    const Index e = events_[lane][state[lane]];
    for (std::size_t other = 0; other < state.size(); ++other) {
      if (state[other] < needs_[e][other]) {
        return std::nullopt;
      }
    }
    return e;
  }

  bool done(const State& state, Index e) const {
    for (std::size_t lane = 0; lane < state.size(); ++lane) {
      if (!events_[lane].empty() && trace_[events_[lane].front()].thread == trace_[e].thread) {
        return state[lane] > static_cast<std::size_t>(std::lower_bound(events_[lane].begin(), events_[lane].end(), e) -
                                                      events_[lane].begin());
      }
    }
    return false;
  }

  // The threads that hold the lock which the acquire wants, in a mode that excludes it.
  std::vector<ThreadId> blockers(const State& state, Index e) const {
    std::vector<ThreadId> threads;
    const Section* wanted = opens_[e];
    for (const Section& section : sections_) {
      if (wanted != nullptr && section.lock == wanted->lock && section.thread != wanted->thread &&
          (section.exclusive || wanted->exclusive) && done(state, section.acquire) &&
          !(section.release && done(state, *section.release))) {
        threads.push_back(section.thread);
      }
    }
    return threads;
  }

  void look_at(const State& state) {
    for (std::size_t x = 0; x < state.size(); ++x) {
      for (std::size_t y = x + 1; y < state.size(); ++y) {
        const std::optional<Index> a = next(state, x);
        const std::optional<Index> b = next(state, y);
        if (!a || !b) {
          continue;
        }
        const std::pair<Index, Index> both = std::minmax(*a, *b);
        result_.meetings.insert(both);
        if (opens_[*a] != nullptr && opens_[*b] != nullptr && opens_[*a]->waits && opens_[*b]->waits &&
            waits_for(state, *a, *b) && waits_for(state, *b, *a)) {
          result_.deadlocks.insert(both);
        }
      }
    }
  }
  bool waits_for(const State& state, Index a, Index b) const {
    const std::vector<ThreadId> threads = blockers(state, a);
    return std::find(threads.begin(), threads.end(), trace_[b].thread) != threads.end();
  }

  const std::span<const Event> trace_;
  const std::size_t max_states_;
  const std::vector<Section> sections_;
  std::vector<const Section*> opens_;            // by event: the section that it opens
  std::vector<std::vector<Index>> events_;       // by lane
  std::vector<std::vector<std::size_t>> needs_;  // by event and lane: how many events must come before it
  std::set<State> visited_;
  LockReachability result_;
};

std::set<ThreadId> threads_of(std::span<const Event> trace) {
  std::set<ThreadId> threads;
  for (const Event& e : trace) {
    threads.insert(e.thread);
  }
  return threads;
}

std::vector<Candidate> conflicts_among(const std::set<std::pair<Index, Index>>& meetings,
                                       std::span<const Event> trace) {
  const Memory memory(trace);
  std::vector<Candidate> conflicts;
  for (const auto& [first, second] : meetings) {
    if (memory.conflict(first, second)) {
      conflicts.push_back({EventId{first}, EventId{second}});
    }
  }
  return conflicts;
}

}  // namespace

LockReachability lock_reachability(std::span<const Event> trace, std::size_t max_states) {
  return LocksetGraph(trace, threads_of(trace), max_states).run();
}

LockReachability lock_reachability_of(std::span<const Event> trace, ThreadId ta, ThreadId tb) {
  return LocksetGraph(trace, {ta, tb}, trace.size() * trace.size() + 1).run();
}

std::vector<Candidate> meeting_conflicts(std::span<const Event> trace) {
  return conflicts_among(lock_reachability(trace).meetings, trace);
}

std::vector<Candidate> pairwise_meeting_conflicts(std::span<const Event> trace) {
  std::set<std::pair<Index, Index>> meetings;
  const std::set<ThreadId> threads = threads_of(trace);
  for (const ThreadId ta : threads) {
    for (const ThreadId tb : threads) {
      if (ta < tb) {
        meetings.merge(lock_reachability_of(trace, ta, tb).meetings);
      }
    }
  }
  return conflicts_among(meetings, trace);
}

}  // namespace sooth::oracle
