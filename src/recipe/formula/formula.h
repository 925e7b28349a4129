// The question whether two accesses can meet when reads may see other values than recorded, as clauses for a solver.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "recipe/formula/model.h"
#include "recipe/formula/scope.h"
#include "recipe/witness/value_witness.h"
#include "smt/value_solver.h"

namespace sooth {

// As predict/order_formula.h: every step that a clause is about has a place in the order, and so has the end of the
// reordering; what stands behind that is not executed.
//
//   program order and must-order   p before e
//   needed steps                   e before the end
//   sections of a lock             (release of a before acquire of b) or (release of b before acquire of a), where executed
//   path conditions                hold where the thread comes to their event
//   reads                          for each piece: some write before it with no other in between, of the value that is read; or none
//                                  before it, and the value from before the window
//   detours                        the branch goes the other way, and all conditions on the way hold
//
// (RECIPE, Section III.B, prints an "or" behind O_n < O_m in the third but last; it is an "and".)
class RecipeFormula {
 public:
  // `table` is a copy of the program's expressions that may grow; it serves one formula at a time. Everything must
  // outlive it. When `poll` has stopped it is half made, and its answers say nothing.
  RecipeFormula(const RecipeModel& model, ExprTable& table, const Window& window, const RaceTarget (&targets)[2],
                const SolverLimit& limit, StopPoll* poll = nullptr);

  // False: no reordering has the targets next, whatever the values; solve() need not be asked and must not be.
  bool is_possible() const { return scope_.is_possible() && possible_; }
  // Whether one of simple_orders() is an answer: then as after kYes. Not behind solve().
  bool try_out();
  ValueSolver::Answer solve() { return solver_.solve(); }
  const std::string& why() const { return solver_.why(); }
  std::uint64_t clauses() const { return solver_.clauses(); }
  // After kYes.
  ValueWitness witness() const;
  // ... and the steps of the window, in that order.
  std::vector<StepId> order() const;
  const Steps& steps() const { return steps_; }

 private:
  using Literal = ValueSolver::Literal;
  using Clause = std::vector<Literal>;
  struct Mentioned {
    ValueSolver::Node node{};
    bool is = false;
  };
  struct Section {
    StepId acquire = kNoEvent;
    StepId release = kNoEvent;  // kNoEvent: never
    bool shared = false;
  };
  // A write that a read may see, with what it leaves; kNoEvent: what was there before the window.
  struct Source {
    StepId write = kNoEvent;
    ExprId value = kNoExpr;  // kNoExpr: nobody knows
  };

  ValueSolver::Node node(StepId s);
  Literal before(StepId a, StepId b) { return Literal::before(node(a), node(b)); }
  // The step is not executed.
  Literal left_out(StepId s) { return Literal::before(end_, node(s)); }
  // What must be true unless the step is not executed.
  Clause unless_left_out(StepId s);
  // Leaves out what is always true.
  void require_value(Clause clause, ExprId condition);
  ExprId equal(ExprId a, ExprId b) { return table_.make(ExprOp::kEq, a, b); }

  void order_must();
  void collect_sections();
  void collect_detour_sections(const RaceTarget& target);
  void order_sections();
  void exclude(const Section& a, const Section& b);
  void order_failed_acquires();
  void order_waits();
  void fulfil_conditions();
  void keep_recorded_behind_end(std::uint32_t thread);
  void take_detour(const RaceTarget& target);
  void fix_past();
  void order_reads();
  void order_read(StepId read);
  void order_read(StepId read, PieceIndex piece, EventIndex saw, const Clause& unless);
  void keep_private(StepId read, PieceIndex piece, const Clause& unless);
  std::vector<Source> sources(StepId read, PieceIndex piece, const std::vector<StepId>& writes);
  bool is_seen(StepId read, const Source& source, PieceIndex piece, EventIndex saw) const;
  bool follows(StepId read, const Source& source) const;
  ExprId keeps_recorded(const Source& source, PieceIndex piece);
  ExprId value_read(StepId read, PieceIndex piece);
  ExprId value_written(StepId write, PieceIndex piece);
  ExprId part(ExprId whole, StepId step, PieceIndex piece);
  void see(StepId read, StepId write, const std::vector<StepId>& writes, const Clause& unless);
  void chain_threads();

  const RecipeModel& model_;
  ExprTable& table_;
  const Window& window_;
  const RaceTarget targets_[2];
  StopPoll* const poll_;
  const Steps steps_;
  const Scope scope_;
  bool possible_ = true;
  ValueSolver solver_;
  ValueSolver::Node end_;
  FlatMap<Mentioned> nodes_;                    // by step
  std::vector<std::vector<StepId>> mentioned_;  // by thread, sorted once complete
  FlatMap<std::vector<Section>> sections_;      // by lock
};

}  // namespace sooth
