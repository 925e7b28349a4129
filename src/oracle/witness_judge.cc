#include "oracle/witness_judge.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "oracle/call_order.h"
#include "oracle/must_order.h"
#include "oracle/oracle.h"

namespace sooth::oracle {
namespace {

class Judge {
 public:
  Judge(const TraceView& trace, const Witness& witness)
      : events_(trace.events),
        values_(trace.values),
        reaches_(trace.reaches),
        branches_(trace.reaches.empty() ? trace.branches : std::span<const Branch>{}),
        witness_(witness),
        memory_(trace.events),
        must_(kept_order(trace.events, trace.reaches)),
        sections_(sections_of(trace.events)) {}

  std::string verdict() {
    if (!ids_are_fine()) {
      return "an event is not in the trace, or there twice";
    }
    if (!prefixes()) {
      return "a thread does not contribute a prefix";
    }
    if (!must_order_kept()) {
      return "must-order is not kept";
    }
    if (!locks_respected()) {
      return "sections overlap";
    }
    if (!failed_acquires_fail()) {
      return "a failed acquire finds the lock free";
    }
    if (!waits_are_notified()) {
      return "a condition wait has no notify of its own";
    }
    if (reaches_.empty() && !semaphores_let_through()) {
      return "a wait finds its semaphore at 0";
    }
    if (!next_in_thread() || !(witness_.kind == FindingKind::kRace ? race_is_next() : deadlock_is_next())) {
      return "what should come next does not";
    }
    return reads_see_what_they_may() ? "" : "a binding read sees a write that is not admissible";
  }

 private:
  bool in_order(Index e) const { return position_.contains(e); }

  bool ids_are_fine() {
    std::set<EventId> all;
    for (const std::vector<EventId>& list : {witness_.order, witness_.next}) {
      for (EventId id : list) {
        if (raw(id) >= events_.size() || !all.insert(id).second) {
          return false;
        }
      }
    }
    for (std::size_t i = 0; i < witness_.order.size(); ++i) {
      position_[raw(witness_.order[i])] = i;
    }
    return true;
  }

  bool prefixes() const {
    for (Index e = 0; e < events_.size(); ++e) {
      for (Index before = 0; before < e; ++before) {
        if (events_[before].thread == events_[e].thread && in_order(e) &&
            !(in_order(before) && position_.at(before) < position_.at(e))) {
          return false;
        }
      }
    }
    return true;
  }

  bool must_order_kept() const {
    for (Index e = 0; e < events_.size(); ++e) {
      for (Index before = 0; before < events_.size(); ++before) {
        if (in_order(e) && must_.ordered(before, e) && !(in_order(before) && position_.at(before) < position_.at(e))) {
          return false;
        }
      }
    }
    return true;
  }

  // The section is in the order, at least in part.
  bool begun(const Section& section) const { return in_order(section.acquire); }
  bool over(const Section& section) const { return section.release && in_order(*section.release); }
  // All of `a` stands before `b`.
  bool precedes(const Section& a, const Section& b) const {
    return over(a) && position_.at(*a.release) < position_.at(b.acquire);
  }

  bool locks_respected() const {
    for (const Section& a : sections_) {
      for (const Section& b : sections_) {
        if (a.acquire != b.acquire && a.lock == b.lock && begun(a) && begun(b) && (a.exclusive || b.exclusive) &&
            !precedes(a, b) && !precedes(b, a)) {
          return false;
        }
      }
    }
    return true;
  }

  bool failed_acquires_fail() const {
    for (Index e = 0; e < events_.size(); ++e) {
      if (in_order(e) && holder_found_by(events_, e) &&
          std::none_of(sections_.begin(), sections_.end(), [&](const Section& s) {
            return keeps_out(s, events_[e]) && begun(s) && position_.at(s.acquire) < position_.at(e) &&
                   !(over(s) && position_.at(*s.release) < position_.at(e));
          })) {
        return false;
      }
    }
    return true;
  }

  // Every wait that took a notify in the trace is given one, all at once: a matching, by augmenting paths.
  bool waits_are_notified() const {
    const std::vector<std::optional<Index>> taken = notifies_taken(events_);
    std::map<Index, Index> owner;  // of notifies that wake one
    const std::function<bool(Index, std::set<Index>&)> give = [&](Index wait, std::set<Index>& asked) {
      const std::optional<Index> begin = begin_of_wait(events_, wait);
      for (Index n = 0; n < events_.size(); ++n) {
        const bool between = events_[n].op == Op::kCondNotify && events_[n].object == events_[wait].object &&
                             in_order(n) && position_.at(n) < position_.at(wait) &&
                             !(begin && position_.at(n) < position_.at(*begin));
        if (!between || !asked.insert(n).second) {
          continue;
        }
        const auto other = owner.find(n);
        if (notifies_everybody(events_[n]) || other == owner.end() || give(other->second, asked)) {
          owner[n] = wait;
          return true;
        }
      }
      return false;
    };
    for (Index wait = 0; wait < events_.size(); ++wait) {
      std::set<Index> asked;
      if (taken[wait] && in_order(wait) && !give(wait, asked)) {
        return false;
      }
    }
    return true;
  }

  bool semaphores_let_through() const {
    const std::vector<bool> counted = counted_by_semaphores(events_);
    std::map<std::uint64_t, std::size_t> counts = first_counts(events_);
    for (EventId id : witness_.order) {
      const Event& e = events_[raw(id)];
      if (counted[raw(id)] && e.op == Op::kSemPost) {
        ++counts[e.object];
      } else if (counted[raw(id)] && counts[e.object]-- == 0) {
        return false;
      }
    }
    return true;
  }

  bool next_in_thread() const {
    for (EventId id : witness_.next) {
      for (Index before = 0; before < events_.size(); ++before) {
        const bool earlier = before < raw(id) && events_[before].thread == events_[raw(id)].thread;
        if ((earlier || must_.ordered(before, raw(id))) && !in_order(before)) {
          return false;
        }
      }
    }
    return true;
  }

  bool race_is_next() const {
    return witness_.next.size() == 2 && memory_.conflict(raw(witness_.next[0]), raw(witness_.next[1]));
  }

  bool deadlock_is_next() const {
    const std::size_t count = witness_.next.size();
    std::set<ThreadId> threads;
    for (std::size_t i = 0; i < count; ++i) {
      const Index wanted = raw(witness_.next[i]);
      const ThreadId holder = events_[raw(witness_.next[(i + 1) % count])].thread;
      // A re-entrant acquire begins no section.
      const auto own =
          std::find_if(sections_.begin(), sections_.end(), [&](const Section& s) { return s.acquire == wanted; });
      if (own == sections_.end() || !own->waits || !threads.insert(own->thread).second ||
          std::none_of(sections_.begin(), sections_.end(), [&](const Section& s) {
            return s.thread == holder && s.lock == own->lock && begun(s) && !over(s) && (s.exclusive || own->exclusive);
          })) {
        return false;
      }
    }
    return count >= 2;
  }

  // The last write to the byte that `read` reads, of its generation, among the events of `sequence` before it.
  std::optional<Index> last_write(const std::vector<Index>& sequence, Index read, std::uint64_t byte) const {
    std::optional<Index> last;
    for (Index e : sequence) {
      if (e == read) {
        break;
      }
      const bool touches =
          memory_.is_access(e) && byte >= events_[e].object && byte - events_[e].object < events_[e].size;
      if (touches && is_write(events_[e].op) && memory_.generation(e, byte) == memory_.generation(read, byte)) {
        last = e;
      }
    }
    return last;
  }

  // A branch follows the read in what its thread does, up to what it does next.
  bool before_a_branch(Index read) const {
    return std::any_of(branches_.begin(), branches_.end(), [&](const Branch& branch) {
      const auto passed = [&](Index e) { return events_[e].thread == branch.thread && e >= raw(branch.before); };
      return branch.thread == events_[read].thread && raw(branch.before) > read &&
             (std::any_of(witness_.order.begin(), witness_.order.end(), [&](EventId e) { return passed(raw(e)); }) ||
              std::any_of(witness_.next.begin(), witness_.next.end(), [&](EventId e) { return passed(raw(e)); }));
    });
  }

  // What the record says that the access found or left in the byte.
  std::optional<unsigned> recorded(Index e, std::uint64_t byte) const {
    const std::uint64_t at = byte - events_[e].object;
    if (values_.empty() || at >= values_[e].size || reached_by_a_call(reaches_, events_[e])) {
      return std::nullopt;
    }
    return static_cast<unsigned>((at < 8 ? values_[e].low >> (8 * at) : values_[e].high >> (8 * (at - 8))) & 0xff);
  }

  // The same, or all of the value of a variable that is known by name only.
  std::optional<std::uint64_t> told(Index e, std::uint64_t byte) const {
    if (!recorded(e, byte) || values_[e].size <= events_[e].size) {
      return recorded(e, byte);
    }
    return values_[e].high == 0 ? std::optional(values_[e].low) : std::nullopt;
  }

  // Whether all records of reads that saw no write in the byte have there what that of the read has, and there are some.
  bool found_at_first(Index read, std::uint64_t byte) const {
    std::vector<Index> trace(events_.size());
    std::iota(trace.begin(), trace.end(), Index{0});
    bool any = false;
    for (Index e = 0; e < events_.size(); ++e) {
      const bool same = memory_.is_access(e) && is_read(events_[e].op) && byte >= events_[e].object &&
                        byte - events_[e].object < events_[e].size &&
                        memory_.generation(e, byte) == memory_.generation(read, byte);
      if (same && told(e, byte) && !last_write(trace, e, byte)) {
        if (told(e, byte) != told(read, byte)) {
          return false;
        }
        any = true;
      }
    }
    return any;
  }

  // Whether `read` may see `write` in the byte, when in the trace it saw `saw`.
  bool admissible(Index read, std::uint64_t byte, std::optional<Index> write, std::optional<Index> saw) const {
    if (write == saw) {
      return true;
    }
    if (!write) {
      return found_at_first(read, byte);
    }
    const bool stores = events_[*write].op == Op::kWrite || events_[*write].op == Op::kAtomicStore;
    if (!stores || !recorded(read, byte) || !recorded(*write, byte)) {
      return false;
    }
    const bool longer = values_[read].size > events_[read].size || values_[*write].size > events_[*write].size;
    const bool same = values_[read].low == values_[*write].low && values_[read].high == values_[*write].high;
    return longer ? same : recorded(read, byte) == recorded(*write, byte);
  }

  std::set<Index> binding_reads(const std::vector<Index>& order) const {
    std::set<Index> binding;
    for (EventId id : witness_.order) {
      if (is_read(events_[raw(id)].op) && (branches_.empty() || before_a_branch(raw(id)))) {
        binding.insert(raw(id));
      }
    }
    for (std::size_t before = 0; before != binding.size();) {
      before = binding.size();
      for (Index read : std::set<Index>(binding)) {
        for (std::uint64_t byte = events_[read].object; byte - events_[read].object < events_[read].size; ++byte) {
          const std::optional<Index> write = last_write(order, read, byte);
          for (Index e = 0; write && e <= *write; ++e) {
            if (events_[e].thread == events_[*write].thread && is_read(events_[e].op) && in_order(e)) {
              binding.insert(e);
            }
          }
        }
      }
    }
    return binding;
  }

  bool reads_see_what_they_may() const {
    std::vector<Index> trace;
    for (Index e = 0; e < events_.size(); ++e) {
      trace.push_back(e);
    }
    std::vector<Index> order;
    for (EventId id : witness_.order) {
      order.push_back(raw(id));
    }
    for (Index read : binding_reads(order)) {
      for (std::uint64_t byte = events_[read].object; byte - events_[read].object < events_[read].size; ++byte) {
        if (!admissible(read, byte, last_write(order, read, byte), last_write(trace, read, byte))) {
          return false;
        }
      }
    }
    return true;
  }

  const std::span<const Event> events_;
  const std::span<const Value> values_;
  const std::span<const Reach> reaches_;
  const std::span<const Branch> branches_;
  const Witness& witness_;
  const Memory memory_;
  const Relation must_;
  const std::vector<Section> sections_;
  std::map<Index, std::size_t> position_;  // in the order
};

}  // namespace

std::string why_no_witness(const TraceView& trace, const Witness& witness) { return Judge(trace, witness).verdict(); }

}  // namespace sooth::oracle
