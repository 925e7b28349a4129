// What OrderSolver and ValueSolver share: z3 with a deadline, and clauses of which most wait until an order violates
// them. For their .cc files only: z3's header takes its time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <z3++.h>

#include "base/stop_poll.h"
#include "smt/interrupter.h"
#include "smt/solver_limit.h"

namespace sooth {

template <typename Literal>
class LazySolver {
 public:
  using Clause = std::span<const Literal>;

  // `arithmetic`: which of z3's solvers for integers.
  LazySolver(const SolverLimit& limit, unsigned arithmetic)
      : limit_(limit),
        poll_(limit_.out_of_time),
        deadline_(std::chrono::steady_clock::now() + limit.timeout),
        arithmetic_(arithmetic) {}

  z3::context& context() { return engine().context; }

  std::uint32_t add_node() { return nodes_++; }
  std::uint32_t add_flag() { return flags_++; }
  z3::expr node(std::uint32_t number) {
    Engine& z = engine();
    while (z.node_names.size() <= number) {
      z.node_names.push_back(
          z.context.constant(z.context.int_symbol(static_cast<int>(z.node_names.size())), z.context.int_sort()));
    }
    return z.node_names[static_cast<unsigned>(number)];
  }
  z3::expr flag(std::uint32_t number) {
    Engine& z = engine();
    while (z.flag_names.size() <= number) {
      z.flag_names.push_back(z.context.bool_const(("f" + std::to_string(z.flag_names.size())).c_str()));
    }
    return z.flag_names[static_cast<unsigned>(number)];
  }

  void require(Clause clause) {
    literals_.insert(literals_.end(), clause.begin(), clause.end());
    ends_.push_back(literals_.size());
  }

  // z3 is told the clauses for which `at_once` holds and then, as long as there are any, those that its model violates.
  // `express` makes a z3::expr of a literal. `why`: of unknown.
  template <typename Express, typename AtOnce, typename Violates>
  z3::check_result solve(Express&& express, AtOnce&& at_once, Violates&& is_violated, std::string& why) {
    try {
      hand_over(at_once, express);
      const Interrupter interrupter(limit_.out_of_time, [&context = context()] { context.interrupt(); });
      while (std::chrono::steady_clock::now() < deadline_ && !poll_.stop()) {
        const z3::check_result result = check();
        if (result != z3::sat) {
          why = result == z3::unknown ? engine().solver.reason_unknown() : "";
          return result;
        }
        if (hand_over(is_violated, express) == 0 && !poll_.stopped()) {
          return result;
        }
      }
      why = "timeout";
    } catch (const z3::exception& error) {
      why = error.msg();
    }
    return z3::unknown;
  }

  // Calls visit(clause) for those that z3 was not told: all of them before solve().
  template <typename Visit>
  void for_each_clause(Visit&& visit) const {
    std::size_t begin = 0;
    for (const std::size_t end : ends_) {
      visit(Clause(literals_).subspan(begin, end - begin));
      begin = end;
    }
  }
  std::uint32_t flags() const { return flags_; }
  // A model from elsewhere.
  void set_order(std::vector<std::int64_t> positions, std::vector<bool> flag_values) {
    positions_ = std::move(positions);
    flag_values_ = std::move(flag_values);
  }

  // In the latest model.
  std::int64_t position(std::uint32_t node) const { return positions_[node]; }
  bool is_true(std::uint32_t flag) const { return flag_values_[flag]; }
  z3::model model() { return engine().solver.get_model(); }

 private:
  struct Engine {
    z3::context context;
    z3::solver solver{context, z3::solver::simple()};
    z3::expr_vector node_names{context}, flag_names{context};
  };
  // Made when it is needed: many questions are answered without.
  Engine& engine() {
    if (engine_ == nullptr) {
      engine_ = std::make_unique<Engine>();
    }
    return *engine_;
  }

  // Gives the solver those of the clauses that wait for which `choose` holds. Returns how many.
  template <typename Choose, typename Express>
  std::uint64_t hand_over(Choose& choose, Express& express) {
    std::uint64_t handed = 0;
    std::vector<Literal> waiting;
    std::vector<std::size_t> ends;
    std::size_t begin = 0;
    for (const std::size_t end : ends_) {
      const Clause clause = Clause(literals_).subspan(begin, end - begin);
      begin = end;
      if (poll_.stop(clause.size())) {
        break;  // check() is not called any more
      }
      if (choose(clause)) {
        tell(clause, express);
        ++handed;
      } else {
        waiting.insert(waiting.end(), clause.begin(), clause.end());
        ends.push_back(waiting.size());
      }
    }
    literals_ = std::move(waiting);
    ends_ = std::move(ends);
    return handed;
  }

  template <typename Express>
  void tell(Clause clause, Express& express) {
    if (clause.size() == 1) {
      const z3::expr only = express(clause.front());
      engine().solver.add(only);
      return;
    }
    z3::expr_vector alternatives(context());
    for (const Literal& literal : clause) {
      alternatives.push_back(express(literal));
    }
    engine().solver.add(z3::mk_or(alternatives));
  }

  z3::check_result check() {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - std::chrono::steady_clock::now());
    z3::params params(context());
    params.set("timeout", static_cast<unsigned>(std::clamp<std::int64_t>(left.count(), 1, 1'000'000'000)));
    params.set("arith.solver", arithmetic_);
    engine().solver.set(params);
    const z3::check_result result = engine().solver.check();
    if (result == z3::sat) {
      read_order(model());
    }
    return result;
  }

  void read_order(const z3::model& model) {
    positions_.assign(nodes_, 0);
    flag_values_.assign(flags_, false);
    for (std::uint32_t i = 0; i < nodes_ && i < engine().node_names.size(); ++i) {
      positions_[i] = model.eval(node(i), true).get_numeral_int64();
    }
    for (std::uint32_t i = 0; i < flags_ && i < engine().flag_names.size(); ++i) {
      flag_values_[i] = model.eval(flag(i), true).is_true();
    }
  }

  const SolverLimit limit_;
  StopPoll poll_;
  const std::chrono::steady_clock::time_point deadline_;
  const unsigned arithmetic_;
  std::unique_ptr<Engine> engine_;
  std::uint32_t nodes_ = 0, flags_ = 0;
  // Clauses that wait lie one behind the other; clause i ends at ends_[i], and begins where the one before ends.
  std::vector<Literal> literals_;
  std::vector<std::size_t> ends_;
  std::vector<std::int64_t> positions_;
  std::vector<bool> flag_values_;
};

}  // namespace sooth
