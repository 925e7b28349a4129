#include "oracle/partial_orders.h"

#include <algorithm>

#include "oracle/oracle.h"

namespace sooth::oracle {
namespace {

enum class Rules : std::uint8_t { kCp, kWcp };

class Fixpoint {
 public:
  Fixpoint(std::span<const Event> trace, Rules rules, const PartialOrderOptions& options)
      : trace_(trace),
        rules_(rules),
        memory_(trace),
        sections_(sections_of(trace)),
        must_(must_order(trace)),
        happens_before_(happens_before(trace)),
        precedes_(trace.size()) {
    add_rule_a();
    if (options.edges_in_sections) {
      add_edges_in_sections();
    }
  }

  // `<<` or must-order.
  Relation run() {
    for (Relation before(0); before != precedes_;) {
      before = precedes_;
      add_rule_c();
      add_rule_b();
    }
    precedes_.include(must_);
    return precedes_;
  }

 private:
  // Sections that the rules may order: `first` is over before `second` is.
  bool related(const Section& first, const Section& second) const {
    return first.lock == second.lock && first.thread != second.thread && (first.exclusive || second.exclusive) &&
           first.release.has_value() && *first.release < second.acquire;
  }

  // CP: release << acquire when the sections contain conflicting events. WCP: release << the conflicting event.
  void add_rule_a() {
    for (const Section& first : sections_) {
      for (const Section& second : sections_) {
        if (!related(first, second)) {
          continue;
        }
        for (Index e = second.acquire; e < trace_.size(); ++e) {
          if (contains(second, trace_, e) && conflicts_with(first, e)) {
            precedes_.add(*first.release, rules_ == Rules::kCp ? second.acquire : e);
          }
        }
      }
    }
  }

  bool conflicts_with(const Section& section, Index e) const {
    for (Index other = section.acquire; other <= *section.release; ++other) {
      if (contains(section, trace_, other) && memory_.conflict(other, e)) {
        return true;
      }
    }
    return false;
  }

  // The sections contain ordered events: then release << acquire (CP) or release << release (WCP).
  void add_rule_b() {
    for (const Section& first : sections_) {
      for (const Section& second : sections_) {
        if (related(first, second) && (rules_ == Rules::kCp || second.release) && have_ordered_events(first, second)) {
          precedes_.add(*first.release, rules_ == Rules::kCp ? second.acquire : *second.release);
        }
      }
    }
  }

  bool have_ordered_events(const Section& first, const Section& second) const {
    for (Index a = first.acquire; a <= *first.release; ++a) {
      for (Index b = second.acquire; b < trace_.size(); ++b) {
        if (precedes_.ordered(a, b) && contains(first, trace_, a) && contains(second, trace_, b)) {
          return true;
        }
      }
    }
    return false;
  }

  // Composition with happens-before on both sides.
  void add_rule_c() {
    precedes_.include(compose(happens_before_, precedes_));
    precedes_.include(compose(precedes_, happens_before_));
  }

  void add_edges_in_sections() {
    for (const Edge& edge : must_edges(trace_)) {
      // The edge from a fork to the join of a thread without events runs through that thread.
      const bool through_thread = edge.kind == EdgeKind::kJoin && trace_[edge.from].op == Op::kFork;
      if (trace_[edge.from].thread == trace_[edge.to].thread && !through_thread) {
        continue;
      }
      // A release that is the last event of its thread holds nothing after it, a first acquire nothing before it.
      if (holds_after(edge.from) || holds_before(edge.to)) {
        precedes_.add(edge.from, edge.to);
      }
    }
  }

  bool holds_after(Index e) const {
    return std::any_of(sections_.begin(), sections_.end(),
                       [&](const Section& s) { return contains(s, trace_, e) && s.release != e; });
  }
  bool holds_before(Index e) const {
    return std::any_of(sections_.begin(), sections_.end(),
                       [&](const Section& s) { return contains(s, trace_, e) && s.acquire != e; });
  }

  const std::span<const Event> trace_;
  const Rules rules_;
  const Memory memory_;
  const std::vector<Section> sections_;
  const Relation must_;
  const Relation happens_before_;
  Relation precedes_;  // `<<`
};

}  // namespace

Relation cp_order(std::span<const Event> trace, const PartialOrderOptions& options) {
  return Fixpoint(trace, Rules::kCp, options).run();
}

Relation wcp_order(std::span<const Event> trace, const PartialOrderOptions& options) {
  return Fixpoint(trace, Rules::kWcp, options).run();
}

std::vector<Candidate> cp_conflicts(std::span<const Event> trace) {
  return unordered_conflicts(trace, cp_order(trace));
}

std::vector<Candidate> wcp_conflicts(std::span<const Event> trace) {
  return unordered_conflicts(trace, wcp_order(trace));
}

}  // namespace sooth::oracle
