#include "oracle/explorer.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>

#include "oracle/call_order.h"
#include "oracle/oracle.h"

namespace sooth::oracle {
namespace {

constexpr int kNoWrite = -1;

// Bytes (of one generation) that the same events touch behave alike: one cell stands for all of them.
class ExplorerCells {
 public:
  ExplorerCells(const TraceView& view, const Memory& memory)
      : view_(view), of_event_(view.events.size()), seen_(view.events.size()) {
    const std::span<const Event> trace = view.events;
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::vector<Index>> users;
    for (Index i = 0; i < trace.size(); ++i) {
      const Event& e = trace[i];
      for (std::uint64_t byte = e.object; memory.is_access(i) && byte - e.object < e.size; ++byte) {
        users[{byte, memory.generation(i, byte)}].push_back(i);
      }
    }
    std::map<std::vector<Index>, std::size_t> cells;
    for (const auto& [byte, events] : users) {
      const bool read = std::any_of(events.begin(), events.end(), [&](Index i) { return is_read(trace[i].op); });
      if (read && cells.try_emplace(events, cells.size()).second) {  // what nobody reads need not be remembered
        for (Index i : events) {
          of_event_[i].push_back(cells.size() - 1);
        }
        bytes_.emplace_back();
      }
      if (read) {
        bytes_[cells.at(events)].push_back(byte.first);
      }
    }
    saw_none_.resize(cells.size());
    std::vector<int> last(cells.size(), kNoWrite);
    for (Index i = 0; i < trace.size(); ++i) {
      for (std::size_t cell : of_event_[i]) {
        seen_[i].push_back(last[cell]);
        if (is_read(trace[i].op) && last[cell] == kNoWrite) {
          saw_none_[cell].push_back(i);
        }
        last[cell] = is_write(trace[i].op) ? static_cast<int>(i) : last[cell];
      }
    }
    count_ = cells.size();
  }

  std::size_t count() const { return count_; }
  const std::vector<std::size_t>& of(Index event) const { return of_event_[event]; }
  // Whether the read may see `write`, an event or kNoWrite, in the i-th of its cells.
  bool admissible(Index read, std::size_t i, int write) const {
    if (write == seen_[read][i]) {
      return true;
    }
    const auto stores = [](Op op) { return op == Op::kWrite || op == Op::kAtomicStore; };
    if (write == kNoWrite) {
      return found_at_first(read, i);
    }
    if (!stores(view_.events[static_cast<Index>(write)].op)) {
      return false;
    }
    const Index writer = static_cast<Index>(write);
    const auto is_longer = [this](Index e) {
      return !view_.values.empty() && view_.values[e].size > view_.events[e].size;
    };
    if (is_longer(read) || is_longer(writer)) {
      const Value& found = view_.values[read];
      const Value& stored = view_.values[writer];
      return found.size != 0 && stored.size != 0 && found.low == stored.low && found.high == stored.high;
    }
    const std::vector<std::uint64_t>& bytes = bytes_[of_event_[read][i]];
    return std::all_of(bytes.begin(), bytes.end(), [&](std::uint64_t byte) {
      const int found = recorded(read, byte);
      return found >= 0 && found == recorded(writer, byte);
    });
  }

 private:
  // Whether the reads that saw no write found what the read found, as far as records tell.
  bool found_at_first(Index read, std::size_t i) const {
    const std::size_t cell = of_event_[read][i];
    const auto agree = [&](std::uint64_t byte) {
      bool any = false;
      for (const Index other : saw_none_[cell]) {
        const std::optional<std::uint64_t> then = told(other, byte);
        if (then && then != told(read, byte)) {
          return false;
        }
        any = any || then;
      }
      return any;
    };
    return std::all_of(bytes_[cell].begin(), bytes_[cell].end(), agree);
  }

  // The same, or all of the value of a variable that is known by name only.
  std::optional<std::uint64_t> told(Index e, std::uint64_t byte) const {
    if (recorded(e, byte) < 0) {
      return std::nullopt;
    }
    if (view_.values[e].size > view_.events[e].size) {
      return view_.values[e].high == 0 ? std::optional(view_.values[e].low) : std::nullopt;
    }
    return static_cast<std::uint64_t>(recorded(e, byte));
  }

  // The byte as the record of the access has it; -1: it has not.
  int recorded(Index e, std::uint64_t byte) const {
    const std::uint64_t at = byte - view_.events[e].object;
    if (view_.values.empty() || at >= view_.values[e].size || reached_by_a_call(view_.reaches, view_.events[e])) {
      return -1;
    }
    const std::uint64_t half = at < 8 ? view_.values[e].low : view_.values[e].high;
    return static_cast<int>(half >> (8 * (at % 8)) & 0xff);
  }

  const TraceView view_;
  std::vector<std::vector<std::uint64_t>> bytes_;  // by cell
  std::vector<std::vector<Index>> saw_none_;       // by cell: reads
  std::vector<std::vector<std::size_t>> of_event_;
  std::vector<std::vector<int>> seen_;
  std::size_t count_ = 0;
};

class Explorer {
 public:
  Explorer(const TraceView& view, std::size_t max_states)
      : trace_(view.events),
        branches_(view.reaches.empty() ? view.branches : std::span<const Branch>{}),
        max_states_(max_states),
        memory_(trace_),
        cells_(view, memory_),
        must_(kept_order(trace_, view.reaches)),
        sections_(sections_of(trace_)),
        executed_(trace_.size()),
        last_write_(cells_.count()),
        notified_(notifies_taken(trace_)),
        counted_(view.reaches.empty() ? counted_by_semaphores(trace_) : std::vector<bool>(trace_.size())),
        first_counts_(first_counts(trace_)) {
    const std::span<const Event> trace = trace_;
    for (Index i = 0; i < trace.size(); ++i) {
      needs_holder_.push_back(holder_found_by(trace, i).has_value());
      begins_.push_back(begin_of_wait(trace, i));
      const auto [it, added] = thread_of_.try_emplace(trace[i].thread, threads_.size());
      if (added) {
        threads_.emplace_back();
      }
      threads_[it->second].push_back(i);
    }
    done_.resize(threads_.size());
    astray_.resize(threads_.size());
  }

  Exploration run(std::size_t past) {
    for (Index e = 0; e < past; ++e) {
      execute(e);
      if (notified_[e] && !notifies_everybody(trace_[*notified_[e]])) {
        taken_.insert(*notified_[e]);
      }
    }
    visit();
    return std::move(result_);
  }

 private:
  void visit() {
    if (result_.states == max_states_) {
      result_.complete = false;
      return;
    }
    if (!visited_.insert(key()).second) {
      return;
    }
    ++result_.states;
    note_races();
    note_deadlocks();
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      const std::optional<Index> e = next(t);
      const bool misread = e && !reads_match(*e);
      if (!e || (misread && branches_.empty()) || !blockers(*e).empty() || (needs_holder_[*e] && !is_taken(*e)) ||
          !may_go_on(*e)) {
        continue;
      }
      if (!notified_[*e]) {
        go_on(t, *e, misread);
      }
      for (const Index notify : notified_[*e] ? may_wake(*e) : std::vector<Index>{}) {
        const bool one = !notifies_everybody(trace_[notify]);
        if (one) {
          taken_.insert(notify);
        }
        go_on(t, *e, misread);
        if (one) {
          taken_.erase(notify);
        }
      }
    }
  }

  void go_on(std::size_t t, Index e, bool misread) {
    const std::vector<LastWrite> before = last_write_;
    const bool was_astray = astray_[t];
    astray_[t] = was_astray || misread;
    execute(e);
    visit();
    order_.pop_back();
    --done_[t];
    executed_[e] = false;
    astray_[t] = was_astray;
    last_write_ = before;
  }

  // A wait for a semaphore finds it above 0.
  bool may_go_on(Index e) const {
    if (!counted_[e] || trace_[e].op != Op::kSemWait) {
      return true;
    }
    const auto first = first_counts_.find(trace_[e].object);
    std::ptrdiff_t count = first == first_counts_.end() ? 0 : static_cast<std::ptrdiff_t>(first->second);
    for (Index other = 0; other < trace_.size(); ++other) {
      if (executed_[other] && counted_[other] && trace_[other].object == trace_[e].object) {
        count += trace_[other].op == Op::kSemPost ? 1 : -1;
      }
    }
    return count > 0;
  }

  // Notifies since the begin of the wait that nobody has taken.
  std::vector<Index> may_wake(Index wait) const {
    std::vector<Index> notifies;
    bool begun = !begins_[wait];
    for (const EventId id : order_) {
      const Index e = raw(id);
      begun = begun || e == *begins_[wait];
      if (begun && trace_[e].op == Op::kCondNotify && trace_[e].object == trace_[wait].object && !taken_.contains(e)) {
        notifies.push_back(e);
      }
    }
    return notifies;
  }

  void execute(Index e) {
    const std::size_t t = thread_of_.at(trace_[e].thread);
    for (std::size_t cell : cells_.of(e)) {
      last_write_[cell] = is_write(trace_[e].op) ? LastWrite{static_cast<int>(e), astray_[t]} : last_write_[cell];
    }
    executed_[e] = true;
    ++done_[t];
    order_.push_back(EventId{e});
  }

  // The state: how far each thread is, what reads would see, and what may wake waits. The locks held follow from the
  // first.
  std::string key() const {
    std::string text;
    for (std::size_t t = 0; t < done_.size(); ++t) {
      text += std::to_string(done_[t]) + (astray_[t] ? '!' : ' ');
    }
    for (const LastWrite& write : last_write_) {
      text += std::to_string(write.event) + (write.in_doubt ? '!' : ' ');
    }
    for (Index wait = 0; wait < trace_.size(); ++wait) {
      if (notified_[wait] && !executed_[wait] && (!begins_[wait] || executed_[*begins_[wait]])) {
        text += '|';
        for (const Index notify : may_wake(wait)) {
          text += std::to_string(notify) + ' ';
        }
      }
    }
    return text;
  }

  // Whether the thread takes a branch between its previous event and this one.
  bool behind_a_branch(std::size_t thread, Index e) const {
    const Index after = done_[thread] == 0 ? 0 : threads_[thread][done_[thread] - 1] + 1;
    return std::any_of(branches_.begin(), branches_.end(), [&](const Branch& branch) {
      return branch.thread == trace_[e].thread && raw(branch.before) >= after && raw(branch.before) <= e;
    });
  }

  // The next event of the thread, when all that must come before it has happened.
  std::optional<Index> next(std::size_t thread) const {
    if (done_[thread] == threads_[thread].size()) {
      return std::nullopt;
    }
    const Index e = threads_[thread][done_[thread]];
    if (astray_[thread] && behind_a_branch(thread, e)) {
      return std::nullopt;
    }
    for (Index before = 0; before < trace_.size(); ++before) {
      if (must_.ordered(before, e) && !executed_[before]) {
        return std::nullopt;
      }
    }
    return e;
  }

  bool reads_match(Index e) const {
    const std::vector<std::size_t>& cells = cells_.of(e);
    for (std::size_t i = 0; i < cells.size() && is_read(trace_[e].op); ++i) {
      const LastWrite& last = last_write_[cells[i]];
      if (last.in_doubt || !cells_.admissible(e, i, last.event)) {
        return false;
      }
    }
    return true;
  }

  // The threads that hold the lock which the acquire wants, in a mode that excludes it. Re-entrant acquires and
  // everything else wait for nobody.
  std::vector<ThreadId> blockers(Index e) const {
    std::vector<ThreadId> threads;
    const auto own = std::find_if(sections_.begin(), sections_.end(), [&](const Section& s) { return s.acquire == e; });
    if (own == sections_.end()) {
      return threads;
    }
    for (const Section& other : sections_) {
      if (is_held(other) && other.lock == own->lock && other.thread != own->thread &&
          (other.exclusive || own->exclusive)) {
        threads.push_back(other.thread);
      }
    }
    return threads;
  }

  bool is_held(const Section& section) const {
    return executed_[section.acquire] && !(section.release && executed_[*section.release]);
  }
  // Somebody holds the lock that the failed acquire wants, in a mode that excludes it.
  bool is_taken(Index failed) const {
    return std::any_of(sections_.begin(), sections_.end(),
                       [&](const Section& s) { return is_held(s) && keeps_out(s, trace_[failed]); });
  }

  void note_races() {
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      for (std::size_t u = t + 1; u < threads_.size(); ++u) {
        const std::optional<Index> a = next(t);
        const std::optional<Index> b = next(u);
        if (a && b && memory_.conflict(*a, *b)) {
          result_.races.try_emplace({EventId{std::min(*a, *b)}, EventId{std::max(*a, *b)}}, order_);
        }
      }
    }
  }

  void note_deadlocks() {
    std::map<ThreadId, std::pair<Index, std::vector<ThreadId>>> blocked;
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      const std::optional<Index> e = next(t);
      if (e && may_wait_for_ever(trace_[*e]) && !blockers(*e).empty()) {
        blocked[trace_[*e].thread] = {*e, blockers(*e)};
      }
    }
    for (const auto& [start, wait] : blocked) {
      std::vector<ThreadId> path{start};
      follow(blocked, path);
    }
  }

  // Extends a path of threads that wait for each other; a cycle is noted from its smallest thread only.
  void follow(const std::map<ThreadId, std::pair<Index, std::vector<ThreadId>>>& blocked, std::vector<ThreadId>& path) {
    for (ThreadId holder : blocked.at(path.back()).second) {
      if (holder == path.front()) {
        std::vector<EventId> acquires;
        for (ThreadId thread : path) {
          acquires.push_back(EventId{blocked.at(thread).first});
        }
        std::sort(acquires.begin(), acquires.end());
        result_.deadlocks.try_emplace(acquires, order_);
      } else if (holder > path.front() && blocked.contains(holder) &&
                 std::find(path.begin(), path.end(), holder) == path.end()) {
        path.push_back(holder);
        follow(blocked, path);
        path.pop_back();
      }
    }
  }

  struct LastWrite {
    int event = kNoWrite;
    bool in_doubt = false;  // its thread was astray
  };

  const std::span<const Event> trace_;
  const std::span<const Branch> branches_;
  const std::size_t max_states_;
  const Memory memory_;
  const ExplorerCells cells_;
  const Relation must_;
  const std::vector<Section> sections_;
  std::map<ThreadId, std::size_t> thread_of_;         // into the following
  std::vector<std::vector<Index>> threads_;           // their events
  std::vector<std::size_t> done_;                     // by thread: how many of them
  std::vector<bool> executed_;                        // by event
  std::vector<bool> needs_holder_;                    // by event: a failed acquire, the lock of which others held
  std::vector<LastWrite> last_write_;                 // by cell
  std::vector<std::optional<Index>> begins_;          // by event, of condition waits
  const std::vector<std::optional<Index>> notified_;  // by event: the notify that it took in the trace
  std::set<Index> taken_;                             // notifies, in the sequence
  const std::vector<bool> counted_;                   // by event: posts and waits of counters
  const std::map<std::uint64_t, std::size_t> first_counts_;
  std::vector<bool> astray_;  // by thread
  std::vector<EventId> order_;
  std::unordered_set<std::string> visited_;
  Exploration result_;
};

}  // namespace

std::vector<Candidate> Exploration::candidates() const {
  std::vector<Candidate> pairs;
  for (const auto& [pair, witness] : races) {
    pairs.push_back({pair.first, pair.second});
  }
  return pairs;
}

Exploration explore(const TraceView& trace, std::size_t max_states, std::size_t past) {
  return Explorer(trace, max_states).run(past);
}

Exploration explore(std::span<const Event> trace, std::size_t max_states) {
  return explore(TraceView{trace, {}, {}}, max_states);
}

}  // namespace sooth::oracle
