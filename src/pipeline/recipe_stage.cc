#include "pipeline/recipe_stage.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "pipeline/findings.h"
#include "pipeline/mcm_stage.h"
#include "pipeline/recipe_reach.h"
#include "pipeline/stage_gaps.h"
#include "predict/barrier_order.h"
#include "race/site_key.h"
#include "race/witness_summary.h"
#include "recipe/judge/check.h"
#include "recipe/opaque/opaque_calls.h"
#include "recipe/witness/initial_memory.h"
#include "recipe/witness_report.h"

namespace sooth {
namespace {

using Sites = std::pair<SiteId, SiteId>;
using Places = std::pair<std::string, std::string>;

bool has_witness(const Claim& claim) { return claim.finding.witness.has_value() && claim.finding.witness->checked; }

class RecipeStage {
 public:
  RecipeStage(const DetectorInfo& info, std::vector<Claim>& claims, const TraceCapture& capture, const Tables& tables,
              const DeepProgram& program, const FunctionNames& stateless)
      : info_(info),
        capture_(capture),
        tables_(tables),
        program_(program),
        view_(capture.view(tables)),
        with_calls_(program, view_, stateless),
        claims_(claims) {}

  // A claim counts as proven when its witness is one in spite of the program's opaque calls. Of those that were
  // made on behalf of this analysis the others are undone; `before` is what there was.
  Status take_claims(const std::vector<Claim>* before) {
    std::vector<Claim> claims;
    for (Claim& claim : claims_) {
      bool stands = false;
      if (claim.finding.kind == FindingKind::kRace && has_witness(claim)) {
        Result<bool> judged = keeps_calls(claim.finding);
        if (!judged.ok()) {
          return std::move(judged).status();
        }
        stands = *judged;
        if (!stands && before != nullptr) {
          ++undone_;
          if (const Claim* was = find_race(*before, claim)) {
            claims.push_back(*was);
          }
          continue;
        }
      }
      if (stands) {
        proven_.insert(claims.size());
        decided_.insert(keys(tables_.site(claim.low_site), tables_.site(claim.high_site)));
      }
      claims.push_back(std::move(claim));
    }
    claims_ = std::move(claims);
    for (std::size_t i = 0; i < claims_.size(); ++i) {
      // What is found at sites of several variables is a claim of its own: those that are one bug are merged in the end.
      if (claims_[i].finding.kind == FindingKind::kRace && !claims_[i].one_of_several) {
        races_.emplace(Sites{claims_[i].low_site, claims_[i].high_site}, i);
      }
    }
    return {};
  }

  Status ask(const RecipeOptions& options) {
    const TraceView& view = with_calls_.view();
    const BarrierTrace calls(view);
    Branch nobody;
    const TraceIndex index(without_bound_reads(calls.view(), nobody), calls.order(), KeptOrder::kButAtomics);
    ExecuteOptions execute;
    execute.detours = options.detours;
    const InitialMemory initial(program_);
    execute.initial = std::cref(initial);
    Result<SymbolicProgram> symbolic = execute_symbolically(program_, index, view, view.deep, execute);
    if (!symbolic.ok()) {
      return std::move(symbolic).status();
    }
    const RecipeModel model(index, calls.view(), *symbolic, std::cref(initial));
    found_ = find_recipe_races(
        model, options,
        [this](SiteId low, SiteId high) {
          const auto claim = races_.find({low, high});
          return claim != races_.end() && proven_.contains(claim->second);
        },
        [this](const Site& a, const Site& b) { return decided_.contains(keys(a, b)); });
    note_coverage(*symbolic);
    reach_ = options.detours ? reach_of_detours(*symbolic) : decltype(reach_)();
    return judge_pairs(index);
  }

  void finish() {
    for (const std::size_t i : proven_) {
      Finding& finding = claims_[i].finding;
      add_name(finding);
      ++dynamic_pairs_;
      places_.insert(keys(finding.accesses.front().site, finding.accesses.back().site));
    }
    // The new ones stand where claims are expected: by sites, deadlocks last.
    std::stable_sort(claims_.begin(), claims_.end(),
                     [](const Claim& a, const Claim& b) { return order(a) < order(b); });
  }

  AnalysisStats stats(double seconds) const {
    AnalysisStats stats;
    stats.name = info_.name;
    stats.guarantee = guarantee_name(info_.guarantee);
    stats.races = places_.size();
    stats.dynamic_pairs = dynamic_pairs_;
    stats.seconds = seconds;
    std::uint64_t before = 0, solver = 0, open = 0;
    for (const RecipePair& pair : found_.pairs) {
      before += pair.before_solver;
      solver += pair.by_solver;
      open += pair.unknown;
    }
    stats.extra = {{"site pairs decided before", std::to_string(found_.skipped)},
                   {"pairs of places asked about", std::to_string(found_.pairs.size())},
                   {"... without an answer", std::to_string(unknown_)},
                   {"pairs of accesses asked about", std::to_string(found_.candidates)},
                   {"... decided before the solver", std::to_string(before)},
                   {"... decided by the solver", std::to_string(solver)},
                   {"... not decided", std::to_string(open)},
                   {"shared reads", std::to_string(shared_reads_)},
                   {"shared writes", std::to_string(shared_writes_)},
                   {"conditions on branches", std::to_string(branches_)},
                   {"conditions on base pointers", std::to_string(base_pointers_)},
                   {"other conditions", std::to_string(other_conditions_)},
                   {"instructions executed again", std::to_string(coverage_.instructions)},
                   {"... with an expression", std::to_string(coverage_.symbolic)},
                   {"... concretised", std::to_string(coverage_.concretised)},
                   {"opaque calls", std::to_string(coverage_.opaque_calls)},
                   {"... that keep an order", std::to_string(ordering_calls())},
                   {"threads not followed to the end", std::to_string(ended_)}};
    add_tally(tally(found_), stats);
    if (found_.detours > 0) {
      stats.extra.emplace_back("branches not taken that were followed", std::to_string(found_.detours));
    }
    stats.extra.insert(stats.extra.end(), reach_.begin(), reach_.end());
    return stats;
  }

  static void add_tally(const RecipeTally& tally, AnalysisStats& stats) {
    const auto add = [&](const char* label, std::uint64_t figure) {
      stats.extra.emplace_back(label, std::to_string(figure));
    };
    add("pairs of places that conflict", tally.all());
    add("... kept apart by locks", tally.locked);
    add("... kept apart by must-order", tally.ordered);
    add("... races with recorded values", tally.known);
    add("... races in orders that were tried", tally.tried);
    add("... kept apart by what these imply", tally.refuted);
    add("... left to the solver", tally.by_solver + tally.unknown);
    add("... further apart than windows", tally.far);
    if (tally.all() > 0) {
      stats.extra.emplace_back("share decided before the solver",
                               std::to_string(100 * tally.before_solver() / tally.all()) + " %");
    }
    if (tally.questions > 0 && tally.seconds > 0) {
      add("questions to the solver per second",
          static_cast<std::uint64_t>(static_cast<double>(tally.questions) / tally.seconds));
    }
  }

  std::vector<Gap> gaps(const RecipeOptions& options) const {
    const std::string name(info_.name);
    std::vector<Gap> gaps = stage_gaps(
        {info_.name, "places", unknown_, why_, found_.far_pairs, options.window, found_.why_not_all}, capture_);
    if (ended_ > 0) {
      gaps.push_back(
          {GapKind::kExcludedCode,
           name + " could not follow the code of " + counted(ended_, "thread") +
               " to the end; behind that, reads keep their recorded values, and what it calls is not known. " +
               why_ended_});
    }
    if (!why_rejected_.empty()) {
      gaps.push_back({GapKind::kUnknown, name + ": the first witness that was rejected: " + why_rejected_});
    }
    return gaps;
  }

  ProofCount proven;
  // Claims that were made on behalf of this analysis and do not stand.
  std::uint64_t undone() const { return undone_; }

 private:
  static Places keys(const Site& a, const Site& b) { return std::minmax({site_key(a), site_key(b)}); }

  // Races of executed sites, then those with accesses that were not executed, then all else.
  static std::tuple<int, SiteId, SiteId> order(const Claim& claim) {
    if (claim.finding.kind != FindingKind::kRace) {
      return {2, SiteId{}, SiteId{}};
    }
    const bool executed = std::all_of(claim.finding.accesses.begin(), claim.finding.accesses.end(),
                                      [](const Access& access) { return access.executed; });
    return executed ? std::tuple(0, claim.low_site, claim.high_site) : std::tuple(1, SiteId{}, SiteId{});
  }

  // Opaque calls that may touch what other threads do.
  std::uint64_t ordering_calls() const {
    const std::span<const Event> events = with_calls_.view().events;
    return static_cast<std::uint64_t>(std::count_if(with_calls_.put_in().begin(), with_calls_.put_in().end(),
                                                    [&](EventId id) { return events[raw(id)].op == Op::kCallBegin; }));
  }

  void note_coverage(const SymbolicProgram& program) {
    for (const SymbolicThread& thread : program.threads) {
      coverage_.instructions += thread.coverage.instructions;
      coverage_.symbolic += thread.coverage.symbolic;
      coverage_.concretised += thread.coverage.concretised;
      coverage_.opaque_calls += thread.coverage.opaque_calls;
      for (const SymbolicAccess& access : thread.accesses) {
        shared_reads_ += access.read != kNoExpr ? 1 : 0;
        shared_writes_ += access.written != kNoExpr ? 1 : 0;
      }
      for (const PathCondition& condition : thread.conditions) {
        ++(condition.why == PathCondition::Why::kBranch        ? branches_
           : condition.why == PathCondition::Why::kBasePointer ? base_pointers_
                                                               : other_conditions_);
      }
      if (!thread.why_ended.empty()) {
        ++ended_;
        why_ended_ = why_ended_.empty() ? "The first: " + thread.why_ended + "." : why_ended_;
      }
    }
  }

  static const Claim* find_race(const std::vector<Claim>& claims, const Claim& like) {
    const auto same = std::find_if(claims.begin(), claims.end(), [&](const Claim& claim) {
      return claim.finding.kind == FindingKind::kRace && claim.low_site == like.low_site &&
             claim.high_site == like.high_site && claim.variable == like.variable;
    });
    return same == claims.end() ? nullptr : &*same;
  }

  // Made when the first witness comes.
  Result<const ValueJudge*> judge() {
    if (!judge_) {
      Result<ValueJudge> made = ValueJudge::make(program_, with_calls_.view(), with_calls_.put_in());
      if (!made.ok()) {
        return std::move(made).status();
      }
      judge_ = std::move(*made);
    }
    return &*judge_;
  }

  // Whether the witness of a claim is one when the order of opaque calls is kept, too.
  Result<bool> keeps_calls(const Finding& finding) {
    if (with_calls_.put_in().empty() || finding.witness->values.has_value()) {
      return true;
    }
    Result<std::vector<EventId>> order = expand(*finding.witness, view_);
    if (!order.ok()) {
      return std::move(order).status();
    }
    ValueWitness witness;
    witness.order = std::move(*order);
    for (const int i : {0, 1}) {
      const EventId event = finding.accesses[static_cast<std::size_t>(i)].event;
      witness.next[i].thread = view_.events[raw(event)].thread;
      witness.next[i].event = event;
    }
    const Result<const ValueJudge*> judge = this->judge();
    if (!judge.ok()) {
      return judge.status();
    }
    return (*judge)->check(with_calls_.renumbered(std::move(witness))).ok();
  }

  Status judge_pairs(const TraceIndex& index) {
    for (RecipePair& pair : found_.pairs) {
      if (pair.answer == RecipePair::Answer::kUnknown) {
        ++unknown_;
        why_ = why_.empty() ? pair.why : why_;
      }
      if (pair.answer != RecipePair::Answer::kRace) {
        continue;
      }
      const Result<const ValueJudge*> judge = this->judge();
      if (!judge.ok()) {
        return judge.status();
      }
      const Status status = (*judge)->check(with_calls_.without_calls(*pair.witness));
      if (!status.ok()) {
        ++proven.rejected;
        why_rejected_ = why_rejected_.empty() ? status.message() : why_rejected_;
        continue;
      }
      ++proven.checked;
      take(pair, index);
    }
    return {};
  }

  // The judge has accepted its witness.
  void take(const RecipePair& pair, const TraceIndex& index) {
    const bool executed = pair.places[0].is_executed() && pair.places[1].is_executed();
    const auto claimed = executed ? races_.find(std::minmax(*pair.places[0].site, *pair.places[1].site)) : races_.end();
    if (claimed == races_.end()) {
      Claim claim;
      if (executed) {
        std::tie(claim.low_site, claim.high_site) = std::minmax(*pair.places[0].site, *pair.places[1].site);
      }
      claim.finding.exact = true;
      claim.finding.dynamic_pairs = 1;
      claims_.push_back(std::move(claim));
    }
    const std::size_t number = claimed == races_.end() ? claims_.size() - 1 : claimed->second;
    proven_.insert(number);
    Finding& finding = claims_[number].finding;
    finding.accesses.clear();
    for (const int i : {0, 1}) {
      const NextAccess& next = pair.witness->next[i];
      finding.accesses.push_back(next.event ? executed_access(*next.event, index) : unexecuted_access(pair, i, index));
    }
    const auto place = [&](const Access& access) { return std::pair(!access.executed, raw(access.event)); };
    std::stable_sort(finding.accesses.begin(), finding.accesses.end(),
                     [&](const Access& a, const Access& b) { return place(a) < place(b); });
    if (claimed == races_.end()) {
      const Access& a = finding.accesses[0];
      const Access& b = finding.accesses[1];
      finding.distance = a.executed && b.executed ? raw(b.event) - raw(a.event) : 0;
    }
    finding.rung = std::max(finding.rung, Rung::kPredicted);
    finding.witness = summarise(with_calls_.original(*pair.witness), program_, view_);
  }

  // `id` is of the trace with calls, as all of what the solver has found.
  Access executed_access(EventId id, const TraceIndex& index) const {
    const EventId recorded = with_calls_.original(id);
    return make_access({view_.events[raw(recorded)], recorded, 0, kNoLocks, capture_.stack(recorded)},
                       locks_at(index, id), tables_);
  }

  Access unexecuted_access(const RecipePair& pair, int side, const TraceIndex& index) const {
    const NextAccess& next = pair.witness->next[side];
    Event event;
    event.op = next.unexecuted->op;
    event.object = next.unexecuted->object;
    event.size = next.unexecuted->size;
    event.thread = next.thread;
    Access access =
        make_access({event, EventId{}, 0, kNoLocks, kNoStack}, locks_of(*pair.witness, side, index), tables_);
    access.executed = false;
    access.order = pair.places[side].order;
    access.site = pair.places[side].source;
    access.when = describe(pair.when[side], program_, with_calls_.view());
    return access;
  }

  // What the thread holds behind its part of the witness.
  std::vector<LockMode> locks_of(const ValueWitness& witness, int side, const TraceIndex& index) const {
    const ThreadId thread = witness.next[side].thread;
    const std::span<const Event> events = with_calls_.view().events;
    const auto length = static_cast<std::uint32_t>(std::count_if(
        witness.order.begin(), witness.order.end(), [&](EventId id) { return events[raw(id)].thread == thread; }));
    std::vector<LockMode> locks = held_locks_after(index, raw(thread), length);
    for (const DetourEvent& step : witness.detour) {
      if (step.thread == thread && step.op == Op::kAcquire) {
        locks.push_back({step.object, false});
      } else if (step.thread == thread && step.op == Op::kRelease) {
        const auto held =
            std::find_if(locks.begin(), locks.end(), [&](const LockMode& l) { return l.lock == step.object; });
        if (held != locks.end()) {
          locks.erase(held);
        }
      }
    }
    return locks;
  }

  // In the order of the registry.
  void add_name(Finding& finding) const {
    if (std::find(finding.found_by.begin(), finding.found_by.end(), info_.name) != finding.found_by.end()) {
      return;
    }
    const auto later = std::find_if(finding.found_by.begin(), finding.found_by.end(), [this](const std::string& name) {
      const DetectorInfo* other = find_detector(name);
      return other != nullptr && other > &info_;
    });
    finding.found_by.insert(later, std::string(info_.name));
  }

  const DetectorInfo& info_;
  const TraceCapture& capture_;
  const Tables& tables_;
  const DeepProgram& program_;
  const TraceView view_;
  const CallTrace with_calls_;
  std::optional<ValueJudge> judge_;
  std::vector<Claim>& claims_;
  std::map<Sites, std::size_t> races_;  // into claims_; those that were there
  std::set<std::size_t> proven_;        // into claims_: with a witness that keeps the order of calls
  std::set<Places> decided_, places_;
  RecipeResult found_;
  Coverage coverage_;
  std::vector<std::pair<std::string, std::string>> reach_;  // of branches that were not taken
  std::uint64_t shared_reads_ = 0, shared_writes_ = 0, branches_ = 0, base_pointers_ = 0, other_conditions_ = 0;
  std::uint64_t dynamic_pairs_ = 0, unknown_ = 0, ended_ = 0, undone_ = 0;
  std::string why_, why_ended_, why_rejected_;  // of the first each
};

}  // namespace

Result<RecipeStageResult> run_recipe_stage(const DetectorInfo& info, std::vector<Claim>& claims,
                                           const ProofCount& so_far, const TraceCapture& capture, const Tables& tables,
                                           const DeepProgram& program, const RecipeStageOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  RecipeStageResult result;
  std::optional<std::vector<Claim>> before;
  if (!options.mcm_ran) {
    before = claims;
    McmOptions cheap = options.mcm;
    cheap.stages.solver = false;
    const McmStageResult plain = run_mcm_stage(info, claims, so_far, capture, tables, true, cheap);
    result.proven = plain.proven;
  }
  RecipeStage stage(info, claims, capture, tables, program, options.stateless);
  SOOTH_RETURN_IF_ERROR(stage.take_claims(before ? &*before : nullptr));
  SOOTH_RETURN_IF_ERROR(stage.ask(options.recipe));
  result.proven.checked -= std::min(result.proven.checked, stage.undone());
  stage.finish();
  result.proven.checked += stage.proven.checked;
  result.proven.rejected += stage.proven.rejected;
  result.stats = stage.stats(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  result.gaps = stage.gaps(options.recipe);
  return result;
}

}  // namespace sooth
