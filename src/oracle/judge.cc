#include "oracle/judge.h"

#include <algorithm>

namespace sooth::oracle {
namespace {

// The latest write to the byte, of the generation that it has for event `reader`, among the first `end` of `order`.
std::optional<Index> last_write(std::span<const Event> trace, const Memory& memory, std::span<const Index> order,
                                std::size_t end, Index reader, std::uint64_t byte) {
  for (std::size_t i = end; i-- > 0;) {
    const Event& w = trace[order[i]];
    if (is_write(w.op) && byte >= w.object && byte - w.object < w.size &&
        memory.generation(order[i], byte) == memory.generation(reader, byte)) {
      return order[i];
    }
  }
  return std::nullopt;
}

std::vector<Index> in_trace_order(std::span<const Event> trace) {
  std::vector<Index> all(trace.size());
  for (Index i = 0; i < all.size(); ++i) {
    all[i] = i;
  }
  return all;
}

bool has(std::span<const Index> order, Index e) { return std::find(order.begin(), order.end(), e) != order.end(); }

}  // namespace

Judge::Judge(std::span<const Event> trace)
    : trace_(trace), memory_(trace), must_(must_order(trace)), recorded_(in_trace_order(trace)) {}

std::string Judge::object_to(const Witness& witness) const {
  std::vector<Index> order;
  for (const EventId id : witness.order) {
    order.push_back(raw(id));
  }
  const std::string wrong = object_to_order(order);
  if (!wrong.empty()) {
    return wrong;
  }
  for (const EventId next : witness.next) {
    if (!may_follow(order, raw(next))) {
      return "event " + std::to_string(raw(next)) + " is not next";
    }
  }
  return witness.kind == FindingKind::kRace ? object_to_race(witness) : object_to_deadlock(witness, order);
}

// Not executed, and all that must come before it is.
bool Judge::may_follow(std::span<const Index> order, Index e) const {
  for (Index before = 0; before < trace_.size(); ++before) {
    if (must_.ordered(before, e) && !has(order, before)) {
      return false;
    }
  }
  return !has(order, e);
}

std::string Judge::object_to_order(std::span<const Index> order) const {
  std::vector<Event> events;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Event& e = trace_[order[i]];
    if (!may_follow(order.first(i), order[i])) {
      return "event " + std::to_string(order[i]) + " comes too early or twice";
    }
    for (std::uint64_t b = e.object; is_read(e.op) && b - e.object < e.size; ++b) {
      if (last_write(trace_, memory_, order, i, order[i], b) !=
          last_write(trace_, memory_, recorded_, order[i], order[i], b)) {
        return "event " + std::to_string(order[i]) + " sees another write";
      }
    }
    events.push_back(e);
  }
  const std::vector<Section> sections = sections_of(events);
  for (const Section& a : sections) {
    for (const Section& b : sections) {
      const bool overlap = a.acquire < b.acquire && (!a.release || *a.release > b.acquire);
      if (a.lock == b.lock && a.thread != b.thread && overlap && (a.exclusive || b.exclusive)) {
        return "sections of one lock overlap";
      }
    }
  }
  return "";
}

std::string Judge::object_to_race(const Witness& witness) const {
  const bool two = witness.next.size() == 2;
  return two && memory_.conflict(raw(witness.next[0]), raw(witness.next[1])) ? "" : "the two do not conflict";
}

std::string Judge::object_to_deadlock(const Witness& witness, std::span<const Index> order) const {
  const std::vector<Section> sections = sections_of(trace_);
  for (std::size_t i = 0; i < witness.next.size(); ++i) {
    const Index waiter = raw(witness.next[i]);
    const Index holder = raw(witness.next[(i + 1) % witness.next.size()]);
    const auto own =
        std::find_if(sections.begin(), sections.end(), [&](const Section& s) { return s.acquire == waiter; });
    const bool blocked = own != sections.end() && std::any_of(sections.begin(), sections.end(), [&](const Section& s) {
      return s.thread == trace_[holder].thread && s.thread != own->thread && s.lock == own->lock &&
             has(order, s.acquire) && !(s.release && has(order, *s.release)) && (s.exclusive || own->exclusive);
    });
    if (!blocked) {
      return "event " + std::to_string(waiter) + " does not wait for the next thread";
    }
  }
  return witness.next.size() < 2 ? "nobody to wait for" : "";
}

std::optional<std::set<Index>> sync_preserving_closure(std::span<const Event> trace, std::span<const Index> targets) {
  const Relation must = must_order(trace);
  const Memory memory(trace);
  const std::vector<Index> recorded = in_trace_order(trace);
  const std::vector<Section> sections = sections_of(trace);
  std::set<Index> set;
  const auto add_predecessors = [&](Index e) {
    for (Index before = 0; before < trace.size(); ++before) {
      if (must.ordered(before, e)) {
        set.insert(before);
      }
    }
  };
  std::for_each(targets.begin(), targets.end(), add_predecessors);
  for (std::size_t size = trace.size() + 1; size != set.size();) {
    size = set.size();
    for (const Index e : std::set<Index>(set)) {
      add_predecessors(e);
      for (std::uint64_t b = trace[e].object; is_read(trace[e].op) && b - trace[e].object < trace[e].size; ++b) {
        if (const std::optional<Index> w = last_write(trace, memory, recorded, e, e, b)) {
          set.insert(*w);
        }
      }
    }
    for (const Section& a : sections) {
      for (const Section& b : sections) {
        if (a.lock == b.lock && a.acquire < b.acquire && (a.exclusive || b.exclusive) && a.thread != b.thread &&
            set.contains(a.acquire) && set.contains(b.acquire)) {
          if (!a.release) {
            return std::nullopt;
          }
          set.insert(*a.release);
        }
      }
    }
  }
  const bool hit = std::any_of(targets.begin(), targets.end(), [&](Index t) { return set.contains(t); });
  return hit ? std::nullopt : std::optional(set);
}

}  // namespace sooth::oracle
