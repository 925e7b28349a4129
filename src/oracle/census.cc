// What random traces contain, decided from the trace alone and not from what the generator meant to do.
#include <iomanip>
#include <ostream>

#include "oracle/oracle.h"
#include "oracle/random_trace.h"

namespace sooth::oracle {
namespace {

using Trace = std::span<const Event>;
using Features = std::map<std::string, bool>;

void count_locks(Trace trace, Features& has) {
  const std::vector<Section> sections = sections_of(trace);
  std::size_t acquires = 0;
  for (const Event& e : trace) {
    acquires += e.op == Op::kAcquire ? 1 : 0;
    has["try lock"] |= e.op == Op::kAcquire && !may_wait_for_ever(e);
    has["failed acquire"] |= e.op == Op::kAcquireFailed;
    has["condition wait timed out"] |= e.op == Op::kCondWait && !was_woken(e);
  }
  for (const std::optional<Index>& notify : notifies_taken(trace)) {
    has["condition wait notified"] |= notify.has_value();
  }
  has["re-entrant lock"] = acquires > sections.size();
  for (const Section& outer : sections) {
    has["reader lock"] |= !outer.exclusive;
    has["open section"] |= !outer.release;
    for (const Section& inner : sections) {
      if (inner.acquire > outer.acquire && contains(outer, trace, inner.acquire)) {
        has["nesting"] = true;
        has["released out of order"] |= outer.release && (!inner.release || *inner.release > *outer.release);
      }
    }
  }
}

void count_edges(Trace trace, Features& has) {
  for (const Edge& edge : must_edges(trace)) {
    if (trace[edge.from].thread != trace[edge.to].thread) {
      has["must-order edge"] = true;
      has["edge: " + std::string(edge_kind_name(edge.kind))] = true;
    }
  }
}

void count_memory(Trace trace, Features& has) {
  const Memory memory(trace);
  for (Index a = 0; a < trace.size(); ++a) {
    has["atomics"] |= is_atomic(trace[a].op);
    has["fence"] |= trace[a].op == Op::kFence;
    has["free"] |= trace[a].op == Op::kFree;
    for (Index b = a + 1; b < trace.size() && memory.is_access(a); ++b) {
      if (!memory.is_access(b)) {
        continue;
      }
      const bool same = trace[a].object == trace[b].object && trace[a].size == trace[b].size;
      const std::size_t shared = memory.shared_bytes(a, b).size();
      has["overlapping ranges"] |= !same && shared > 0;
      has["re-used memory"] |= same && shared < trace[a].size;
    }
  }
}

}  // namespace

void Census::count(Trace trace) {
  Features has;
  // Every feature is listed even when no trace has it: a zero is what this is for.
  for (const char* feature : {"race: hb", "race: hybrid", "race: lockset", "race: hybrid, not hb", "reader lock",
                              "open section", "nesting", "released out of order", "re-entrant lock", "try lock",
                              "failed acquire", "condition wait notified", "condition wait timed out",
                              "must-order edge", "atomics", "fence", "free", "overlapping ranges", "re-used memory"}) {
    has[feature] = false;
  }
  for (EdgeKind kind : {EdgeKind::kFork, EdgeKind::kJoin, EdgeKind::kSignal, EdgeKind::kBarrier, EdgeKind::kSemaphore,
                        EdgeKind::kMessage, EdgeKind::kAtomic, EdgeKind::kFence}) {
    has["edge: " + std::string(edge_kind_name(kind))] = false;
  }
  count_locks(trace, has);
  count_edges(trace, has);
  count_memory(trace, has);
  const std::vector<Candidate> hb = hb_conflicts(trace);
  const std::vector<Candidate> hybrid = hybrid_conflicts(trace);
  has["race: hb"] = !hb.empty();
  has["race: hybrid"] = !hybrid.empty();
  has["race: lockset"] = !lockset_conflicts(trace).empty();
  has["race: hybrid, not hb"] = hybrid.size() > hb.size();
  ++traces_;
  for (const auto& [feature, present] : has) {
    features_[feature] += present ? 1 : 0;
  }
}

void Census::print(std::ostream& out) const {
  out << "census of " << traces_ << " traces:\n";
  for (const auto& [feature, count] : features_) {
    out << "  " << std::setw(6) << count << "  " << feature << '\n';
  }
}

}  // namespace sooth::oracle
