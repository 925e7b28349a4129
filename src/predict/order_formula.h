// The question whether two accesses can meet, as clauses for a solver.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "base/stop_poll.h"
#include "predict/saturation.h"
#include "predict/trace_index.h"
#include "predict/window.h"
#include "smt/order_solver.h"
#include "smt/solver_limit.h"

namespace sooth {

// Every event that a clause is about has a place in the order, and so has the end of the reordering: what stands behind
// that is not executed. So the formula is about a part of each thread, and nothing after the accesses is ever ordered:
// asking for an order of more than that would refute races.
//
//   program order and must-order   p before e
//   needed events                  e before the end
//   sections of a lock             (release of a before acquire of b) or (release of b before acquire of a), where executed
//   a failed acquire               in some section of its lock: acquire before it, it before the release
//   a condition wait               some notify between its begin and it, which, if it wakes one, wakes no other
//   a wait for a semaphore         some post before it that lets no other wait through, or one of what it held at first
//   a read that binds              some admissible write before it, and no other write of the variable in between
//   with branches                  a read binds when its thread executes what stands behind a later branch, or when a
//                                  binding read sees a later write of its thread
//
// What saturation has inferred is given to the solver, and what it implies is left out; with SaturationOptions that
// infer nothing the formula stands alone.
class OrderFormula {
 public:
  // Everything must outlive it. `bounds` is what saturation under ReadRule::kAdmissible found.
  // When `poll` has stopped it is half made, and solve() must not be asked.
  OrderFormula(const TraceIndex& index, const Window& window, const Bounds& bounds, const SolverLimit& limit,
               StopPoll* poll = nullptr);

  OrderSolver::Answer solve();
  // After kYes: the events of the window in an order that leads to the targets.
  std::vector<EventIndex> order() const;
  const std::string& why() const { return solver_.why(); }

 private:
  using Literal = OrderSolver::Literal;
  using Clause = std::vector<Literal>;
  struct Mentioned {
    OrderSolver::Node node{};
    bool is = false;
  };
  // The writes of a variable, and the sections of a lock, among the events.
  using Writes = std::vector<EventIndex>;

  bool is_needed(EventIndex e) const { return index_.position(e) < bounds_.need[index_.thread(e)]; }
  bool is_in(EventIndex e) const { return e != kNoEvent && index_.position(e) < bounds_.allowed[index_.thread(e)]; }
  bool is_past(EventIndex e) const { return window_.is_past(index_, e); }
  // Known without asking.
  bool implied(EventIndex a, EventIndex b) const;

  OrderSolver::Node node(EventIndex e);
  Literal before(EventIndex a, EventIndex b) { return Literal::before(node(a), node(b)); }
  // The event is not executed.
  Literal left_out(EventIndex e) { return Literal::before(end_, node(e)); }

  void collect();
  void order_must();
  void order_sections();
  void exclude(const LockSection& a, const LockSection& b);
  void order_failed_acquires();
  void find_taken(EventIndex failed, bool as_recorded);
  void order_waits();
  void wake(const ConditionIndex::Wait& wait, bool as_recorded);
  void order_semaphores();
  void let_through(EventIndex wait, const SemaphoreIndex::Semaphore& semaphore, std::uint32_t spare, bool as_recorded);
  void collect_binding_points();
  void order_reads();
  void order_read(EventIndex read);
  void order_read(EventIndex read, std::size_t variable, const Clause& unless);
  std::uint64_t cost_of_reads() const;
  void see(EventIndex read, EventIndex write, const Writes& writes, const Clause& unless);
  // Reads among the first `length` events of the thread bind. Nothing when that is certain.
  std::optional<OrderSolver::Flag> binding_flag(std::uint32_t thread, std::uint32_t length) const;
  void chain_threads();

  const TraceIndex& index_;
  const Window& window_;
  const Bounds& bounds_;
  StopPoll* const poll_;
  OrderSolver solver_;
  bool sees_as_recorded_ = false;  // every read what it saw in the trace
  bool is_complete_ = true;        // false: it has clauses that not every reordering keeps, so that "no" means nothing
  OrderSolver::Node end_;
  FlatMap<Mentioned> nodes_;                        // by event
  std::vector<std::vector<EventIndex>> mentioned_;  // by thread, sorted once complete
  FlatMap<Writes> writes_;                          // by variable, of those that binding reads may look at
  FlatMap<std::vector<SectionIndex>> sections_;     // by lock
  FlatMap<std::vector<OrderSolver::Flag>> wakes_;   // by notify that wakes one, or post: a wait takes it
  // By thread: lengths of which a clause says that the reads among the first so many events bind, ascending.
  std::vector<std::vector<std::pair<std::uint32_t, OrderSolver::Flag>>> points_;
};

}  // namespace sooth
