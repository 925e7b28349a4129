// The formula against executing everything, on thousands of random recordings with random expressions: exactly the
// pairs that meet, on branches that were taken and on others, and every witness leads there. SOOTH_CASES sets the
// number of recordings, SOOTH_SEED the first seed.
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <set>

#include "base/test_environment.h"
#include "oracle/minimise.h"
#include "oracle/must_order.h"
#include "oracle/oracle.h"
#include "oracle/random.h"
#include "oracle/random_trace.h"
#include "oracle/trace_text.h"
#include "recipe/formula/formula.h"
#include "recipe/formula/value_explorer.h"
#include "recipe/recipe.h"

namespace sooth::oracle {
namespace {

constexpr std::size_t kMaxStates = 3'000;

// A recording of a program that computes with what it reads: small numbers, so that reads find what they found by other
// ways, too.
class RandomProgram {
 public:
  RandomProgram(std::span<const Event> events, std::uint64_t seed)
      : events_(events), random_(seed ^ 0x726563697065), memory_(events) {
    std::uint32_t threads = 1;
    for (const Event& e : events) {
      threads = std::max(threads, raw(e.thread) + 1);
    }
    program.threads.resize(threads);
    own_.resize(threads);
    find_shared();
    for (std::uint32_t t = 0; t < threads; ++t) {
      program.threads[t].thread = t;
      program.threads[t].end = random_.percent(15) ? random_.below(8) : 1000;
    }
    for (std::size_t e = 0; e < events.size(); ++e) {
      add(e);
    }
    for (SymbolicThread& thread : program.threads) {
      thread.end = std::min<std::uint32_t>(thread.end, own_[thread.thread].length);
    }
    for (std::uint32_t t = 0; t < threads; ++t) {
      for (std::uint32_t detours = random_.below(3); detours > 0; --detours) {
        add_detour(program.threads[t]);
      }
    }
  }

  SymbolicProgram program;
  std::vector<Value> values;
  std::map<std::uint64_t, std::uint8_t> initial;

 private:
  struct Read {
    std::uint32_t position;
    ExprId variable;
  };
  struct Thread {
    std::uint32_t length = 0;
    std::vector<Read> reads;
  };
  using Variables = std::vector<ExprId>;

  void find_shared() {
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::set<std::uint32_t>> users;
    std::set<std::pair<std::uint64_t, std::uint32_t>> written;
    for (std::size_t pass = 0; pass < 2; ++pass) {
      for (std::size_t e = 0; e < events_.size(); ++e) {
        for (std::uint64_t byte = events_[e].object; memory_.is_access(e) && byte - events_[e].object < events_[e].size;
             ++byte) {
          const std::pair key{byte, memory_.generation(e, byte)};
          if (pass == 0) {
            users[key].insert(raw(events_[e].thread));
            if (is_write(events_[e].op)) {
              written.insert(key);
            }
          } else if (users[key].size() > 1 && written.contains(key)) {
            shared_.insert(e);
          }
        }
      }
    }
  }

  std::uint8_t& byte(std::uint64_t address) {
    const auto [it, added] = bytes_.try_emplace(address, static_cast<std::uint8_t>(address % 3));
    if (added && address % 5 != 0) {
      initial[address] = it->second;
    }
    return it->second;
  }
  std::uint64_t load(const Event& e) {
    std::uint64_t value = 0;
    for (std::uint32_t i = 0; i < e.size && i < 8; ++i) {
      value |= std::uint64_t{byte(e.object + i)} << (8 * i);
    }
    return value;
  }
  void store(const Event& e, std::uint64_t value) {
    for (std::uint32_t i = 0; i < e.size; ++i) {
      byte(e.object + i) = static_cast<std::uint8_t>(i < 8 ? value >> (8 * i) : 0);
    }
  }

  ExprId value(const Variables& variables, unsigned width) {
    ExprTable& table = program.expressions;
    if (variables.empty() || random_.percent(35)) {
      return table.constant(width, random_.below(3));
    }
    const ExprId x = variables[random_.below(variables.size())];
    const ExprId low = table.extract(x, 0, std::min(table.width(x), width));
    const ExprId same = table.width(low) == width ? low : table.zext(low, width);
    switch (random_.below(4)) {
      case 0: return same;
      case 1:
        return table.make(ExprOp::kAnd, table.make(ExprOp::kAdd, same, table.constant(width, 1)),
                          table.constant(width, 3));
      case 2: return table.make(ExprOp::kIte, condition(variables), table.constant(width, random_.below(3)), same);
      default: return table.make(ExprOp::kXor, same, table.constant(width, 1));
    }
  }
  ExprId condition(const Variables& variables) {
    ExprTable& table = program.expressions;
    if (variables.empty()) {
      return table.yes();
    }
    const ExprId x = variables[random_.below(variables.size())];
    const ExprId low = table.extract(x, 0, 8);
    const ExprId limit = random_.percent(70) ? table.constant(8, random_.below(3))
                                             : table.extract(variables[random_.below(variables.size())], 0, 8);
    constexpr ExprOp kCompare[] = {ExprOp::kEq, ExprOp::kUlt, ExprOp::kSle};
    const ExprId compared = table.make(kCompare[random_.below(3)], low, limit);
    return random_.percent(50) ? compared : table.make(ExprOp::kNot, compared);
  }
  void add_condition(SymbolicThread& thread, std::uint32_t position, const Variables& variables) {
    ExprId holds = condition(variables);
    if (program.expressions.evaluate(holds, program.recorded) == 0) {
      holds = program.expressions.make(ExprOp::kNot, holds);
    }
    if (holds != program.expressions.yes()) {
      thread.conditions.push_back({position, holds, PathCondition::Why::kBranch, {}});
    }
  }
  Variables known(std::uint32_t thread, std::uint32_t position) const {
    Variables variables;
    for (const Read& read : own_[thread].reads) {
      if (read.position < position) {
        variables.push_back(read.variable);
      }
    }
    return variables;
  }

  void add(std::size_t e) {
    const Event& event = events_[e];
    const std::uint32_t t = raw(event.thread);
    SymbolicThread& thread = program.threads[t];
    const std::uint32_t position = own_[t].length++;
    const bool deep = position < thread.end;
    if (deep && random_.percent(25)) {
      add_condition(thread, position, known(t, position));
    }
    Value value;
    if (event.op == Op::kAlloc || event.op == Op::kFree) {
      store(event, random_.below(3));
    }
    if (is_access(event.op)) {
      const bool listed = deep && shared_.contains(e) && event.size <= 8 && event.size > 0 && random_.percent(85);
      const std::uint64_t found = load(event);
      std::uint64_t stored = random_.below(3);
      SymbolicAccess access{.event = static_cast<EventIndex>(e)};
      if (listed && is_read(event.op)) {
        access.read = program.expressions.variable(8 * event.size);
        program.recorded.push_back(found);
        own_[t].reads.push_back({position, access.read});
        if (event.op == Op::kAtomicRmw && random_.percent(40)) {
          add_condition(thread, position, {access.read});
        }
      }
      if (listed && is_write(event.op)) {
        access.written = this->value(known(t, position + (event.op == Op::kAtomicRmw ? 1 : 0)), 8 * event.size);
        stored = program.expressions.evaluate(access.written, program.recorded);
      }
      if (is_write(event.op)) {
        store(event, stored);
      }
      if (listed) {
        thread.accesses.push_back(access);
      }
      if (event.size <= 8 && random_.percent(listed ? 95 : 80)) {
        value = {is_read(event.op) ? found : load(event), 0, static_cast<std::uint8_t>(event.size)};
      }
    }
    values.push_back(value);
  }

  void add_detour(SymbolicThread& thread) {
    Detour detour;
    detour.position = random_.below(thread.end + std::uint64_t{1});
    const auto at = [&](std::uint32_t position) {
      return static_cast<std::uint32_t>(std::count_if(thread.conditions.begin(), thread.conditions.end(),
                                                      [&](const PathCondition& c) { return c.position < position; }));
    };
    Variables variables = known(thread.thread, detour.position);
    // Conditions of an event that speak of what it reads itself come with the event.
    detour.conditions = at(detour.position);
    detour.taken = condition(variables);
    for (std::uint32_t steps = random_.between(1, 3); steps > 0; --steps) {
      const Event& like = events_[random_.below(events_.size())];
      DetourStep step;
      step.at = {0, thread.thread, static_cast<std::uint32_t>(100 * thread.detours.size() + steps)};
      if (like.op == Op::kAcquire || like.op == Op::kRelease) {
        step.op = like.op;
        step.object = like.object;
      } else if (is_access(like.op) && like.size > 0 && like.size <= 8) {
        constexpr Op kOps[] = {Op::kRead, Op::kWrite, Op::kAtomicLoad, Op::kAtomicStore, Op::kAtomicRmw};
        step.op = kOps[random_.below(5)];
        step.size = random_.percent(75) ? like.size : random_.between(1, like.size);
        step.object = like.object + (like.size - step.size);
        if (is_read(step.op)) {
          step.read = program.expressions.variable(8 * step.size);
          program.recorded.push_back(0);
        }
        if (is_write(step.op)) {
          step.written = value(variables, 8 * step.size);
        }
      } else {
        continue;
      }
      if (random_.percent(30)) {
        step.conditions.push_back(condition(variables));
      }
      if (step.read != kNoExpr) {
        variables.push_back(step.read);
      }
      detour.steps.push_back(step);
    }
    if (!detour.steps.empty()) {
      thread.detours.push_back(detour);
    }
  }

  const std::span<const Event> events_;
  Random random_;
  const Memory memory_;
  std::set<std::size_t> shared_;
  std::map<std::uint64_t, std::uint8_t> bytes_;
  std::vector<Thread> own_;
};

struct Tally {
  std::uint64_t races[2] = {}, others[2] = {}, before_solver = 0, skipped = 0;  // [on a detour]
};

// A recording with everything that questions about it need.
class Case {
 public:
  Case(std::span<const Event> events, std::uint64_t seed, std::size_t past)
      : events_(events),
        random_(events, seed),
        memory_(events),
        view_{events, random_.values, {}},
        index_(without_bound_reads(view_, branch_), {}, KeptOrder::kButAtomics),
        model_(index_, view_, random_.program,
               [this](std::uint64_t address) -> std::optional<std::uint8_t> {
                 const auto known = random_.initial.find(address);
                 return known == random_.initial.end() ? std::nullopt : std::optional(known->second);
               }),
        input_{events,
               random_.values,
               &random_.program,
               {},
               [this](std::size_t e, std::uint64_t byte) { return memory_.generation(e, byte); },
               random_.initial,
               past},
        window_(index_, static_cast<EventIndex>(past), static_cast<EventIndex>(events.size())),
        table_(random_.program.expressions) {
    options_.try_out = seed % 4 != 0;  // the solver alone must come to the same
    std::vector<Edge> edges = must_edges(events);
    std::erase_if(edges,
                  [](const Edge& edge) { return edge.kind == EdgeKind::kAtomic || edge.kind == EdgeKind::kFence; });
    const Relation must = closure(events.size(), edges);
    input_.before.resize(events.size());
    for (Index a = 0; a < events.size(); ++a) {
      for (Index b = a + 1; b < events.size(); ++b) {
        if (must.ordered(a, b) && events[a].thread != events[b].thread) {
          input_.before[b].push_back(a);
        }
      }
    }
  }

  const SymbolicProgram& program() const { return random_.program; }

  // The first wrong answer; empty when there is none.
  std::string disagreement(Tally& tally) {
    const std::size_t threads = program().threads.size();
    ValueExplorer::Detours none(threads);
    std::string wrong = compare(none, tally);
    for (std::size_t t = 0; t < threads && wrong.empty(); ++t) {
      for (std::size_t d = 0; d < program().threads[t].detours.size() && wrong.empty(); ++d) {
        ValueExplorer::Detours one = none;
        one[t] = d;
        wrong = compare(one, tally);
        for (std::size_t u = 0; u < t && wrong.empty(); ++u) {
          if (!program().threads[u].detours.empty()) {
            ValueExplorer::Detours both = one;
            both[u] = d % program().threads[u].detours.size();
            wrong = compare(both, tally);
          }
        }
      }
    }
    return wrong;
  }

  std::string show() const {
    std::string text = print_trace(events_);
    for (std::size_t i = 0; i < random_.values.size(); ++i) {
      text += random_.values[i].size == 0 ? ""
                                          : " value " + std::to_string(i) + "=" + std::to_string(random_.values[i].low);
    }
    const ExprTable& table = program().expressions;
    for (const SymbolicThread& thread : program().threads) {
      text += "\nT" + std::to_string(thread.thread) + " end " + std::to_string(thread.end);
      for (const SymbolicAccess& access : thread.accesses) {
        text += " [" + std::to_string(access.event) +
                (access.read == kNoExpr ? "" : " r " + table.to_string(access.read)) +
                (access.written == kNoExpr ? "" : " w " + table.to_string(access.written)) + "]";
      }
      for (const PathCondition& condition : thread.conditions) {
        text += " {" + std::to_string(condition.position) + ": " + table.to_string(condition.holds) + "}";
      }
      for (const Detour& detour : thread.detours) {
        text += "\n  detour at " + std::to_string(detour.position) + " conditions " +
                std::to_string(detour.conditions) + " taken " + table.to_string(detour.taken);
        for (const DetourStep& step : detour.steps) {
          text += " <" + std::to_string(static_cast<int>(step.op)) + " " + std::to_string(step.object) + "/" +
                  std::to_string(step.size) + (step.read == kNoExpr ? "" : " r " + table.to_string(step.read)) +
                  (step.written == kNoExpr ? "" : " w " + table.to_string(step.written));
          for (const ExprId condition : step.conditions) {
            text += " if " + table.to_string(condition);
          }
          text += ">";
        }
      }
    }
    return text + "\n";
  }

 private:
  // All pairs that involve each of the detours.
  std::string compare(const ValueExplorer::Detours& detours, Tally& tally) {
    for (std::size_t t = 0; t < detours.size(); ++t) {
      if (detours[t] && program().threads[t].detours[*detours[t]].position < window_.floor[t]) {
        return "";  // its branch has been passed
      }
    }
    ValueExplorer explorer(input_);
    const ValueExplorer::Exploration truth = explorer.explore(detours, kMaxStates);
    if (!truth.complete) {
      ++tally.skipped;
      return "";
    }
    for (std::uint32_t a = 0; a < detours.size(); ++a) {
      for (std::uint32_t b = a + 1; b < detours.size(); ++b) {
        const bool all = std::all_of(detours.begin(), detours.end(), [&](const auto& detour) {
          const auto t = static_cast<std::uint32_t>(&detour - detours.data());
          return !detour || t == a || t == b;
        });
        for (const RaceTarget& first : all ? targets(a, detours[a]) : std::vector<RaceTarget>{}) {
          for (const RaceTarget& second : targets(b, detours[b])) {
            const std::string wrong = compare(first, second, detours, explorer, truth, tally);
            if (!wrong.empty()) {
              return wrong;
            }
          }
        }
      }
    }
    return "";
  }

  std::vector<RaceTarget> targets(std::uint32_t thread, const std::optional<std::size_t>& detour) const {
    std::vector<RaceTarget> targets;
    if (detour) {
      for (std::uint32_t s = 0; s < program().threads[thread].detours[*detour].steps.size(); ++s) {
        targets.push_back(RaceTarget::at(program().threads[thread], static_cast<std::uint32_t>(*detour), s));
      }
      return targets;
    }
    for (const EventIndex e : index_.events_of(thread)) {
      if (memory_.is_access(e) && e >= input_.past) {
        targets.push_back(RaceTarget::at(index_, e));
      }
    }
    return targets;
  }

  // Pieces that the target touches, or nothing when it is no access or not known.
  std::set<PieceIndex> pieces(const Steps& steps, StepId s, bool& writes, bool& atomic) const {
    std::set<PieceIndex> all;
    const Op op = steps.op(s);
    writes = is_write(op);
    atomic = is_atomic(op);
    if (is_access(op) || op == Op::kFree) {
      steps.for_each_piece(s, [&](PieceIndex p) { all.insert(p); });
    }
    return all;
  }

  std::string compare(const RaceTarget& a, const RaceTarget& b, const ValueExplorer::Detours& detours,
                      ValueExplorer& explorer, const ValueExplorer::Exploration& truth, Tally& tally) {
    const RaceTarget both[2] = {a, b};
    const Steps steps(model_, both);
    if (!steps.are_known()) {
      return "";
    }
    bool writes[2], atomic[2];
    const std::set<PieceIndex> mine = pieces(steps, steps.target(0), writes[0], atomic[0]);
    const std::set<PieceIndex> theirs = pieces(steps, steps.target(1), writes[1], atomic[1]);
    const bool share = std::any_of(mine.begin(), mine.end(), [&](PieceIndex p) { return theirs.contains(p); });
    if (!share || !(writes[0] || writes[1]) || (atomic[0] && atomic[1])) {
      return "";
    }
    const auto next = [](const RaceTarget& t) {
      return ValueExplorer::Next{t.thread, t.position + (t.is_event() ? 0 : t.step)};
    };
    const bool expected = truth.met.contains({next(a), next(b)});
    bool by_solver = false;
    const ValuePrediction prediction = predict_value_race(model_, table_, both, options_, &window_, &by_solver);
    const auto show_target = [](const RaceTarget& t) {
      return t.is_event() ? "event " + std::to_string(t.event)
                          : "step " + std::to_string(t.step) + " of detour " + std::to_string(t.detour) + " of T" +
                                std::to_string(t.thread);
    };
    const std::string name = show_target(a) + ", " + show_target(b) + ": ";
    if (const Unknown* unknown = std::get_if<Unknown>(&prediction)) {
      return name + "unknown: " + unknown->reason;
    }
    const ValueWitness* witness = std::get_if<ValueWitness>(&prediction);
    ++(expected ? tally.races : tally.others)[a.is_event() && b.is_event() ? 0 : 1];
    tally.before_solver += by_solver ? 0 : 1;
    if ((witness != nullptr) != expected) {
      return name + (expected ? "infeasible, but the explorer gets there" : "a witness, but the explorer finds none");
    }
    const std::string wrong = witness == nullptr ? "" : explorer.follow(*witness, detours);
    return wrong.empty() ? "" : name + wrong;
  }

  const std::span<const Event> events_;
  const RandomProgram random_;
  const Memory memory_;
  const TraceView view_;
  Branch branch_;
  const TraceIndex index_;
  const RecipeModel model_;
  ExplorerInput input_;
  const Window window_;
  ExprTable table_;
  RecipeOptions options_;
};

RandomTrace tiny_trace(std::uint64_t seed) {
  RandomTraceOptions options = random_options(kProfiles[seed % kProfiles.size()], seed);
  options.events = 5 + options.events % 10;
  options.threads = std::min(options.threads, 3u);
  options.variables = std::min(options.variables, 2u);
  return random_trace(options, seed);
}

std::string disagreement(std::span<const Event> events, std::uint64_t seed, Tally& tally) {
  const std::size_t past = seed % 3 == 0 && !events.empty() ? seed / 3 % events.size() : 0;
  return Case(events, seed, past).disagreement(tally);
}

TEST(RecipeFormula, FindsExactlyWhatExecutingEverythingFinds) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 3'000);
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  Tally tally;
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    const RandomTrace trace = tiny_trace(seed);
    if (disagreement(trace.events, seed, tally).empty()) {
      continue;
    }
    Tally unused;
    const std::vector<Event> small =
        minimise(trace.events, [&](std::span<const Event> t) { return !disagreement(t, seed, unused).empty(); });
    const std::size_t past = seed % 3 == 0 && !small.empty() ? seed / 3 % small.size() : 0;
    FAIL() << "again with SOOTH_SEED=" << seed << " SOOTH_CASES=1. Shrunk, events from 0, " << past
           << " have happened:\n"
           << Case(small, seed, past).show() << disagreement(small, seed, unused);
  }
  std::cout << cases << " recordings, " << tally.skipped << " explorations too large; races " << tally.races[0]
            << " and on detours " << tally.races[1] << "; none " << tally.others[0] << " and " << tally.others[1]
            << ", of these without the solver " << tally.before_solver << "\n";
  if (cases >= 500) {
    EXPECT_LT(tally.skipped, cases / 2);
    EXPECT_GT(tally.races[0], cases / 10);
    EXPECT_GT(tally.races[1], cases / 10);
    EXPECT_GT(tally.others[0], cases / 10);
    EXPECT_GT(tally.others[1], cases / 10);
    EXPECT_GT(tally.before_solver, cases);
  }
}

}  // namespace
}  // namespace sooth::oracle
