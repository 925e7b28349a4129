#include "recipe/detour/detour.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include <llvm/IR/GlobalVariable.h>

#include "recipe/detour/detour_walk.h"
#include "recipe/witness/exception_types.h"

namespace sooth {

DetourExplorer::DetourExplorer(SharedExecution& execution, const ThreadExecutor& path, std::uint32_t thread)
    : x_(execution), path_(path), thread_(thread) {
  const DeepProgram& program = execution.code.program();
  for (std::uint32_t m = 0; m < program.modules(); ++m) {
    for (const llvm::Function& function : program.module(m)) {
      if (!function.isDeclaration() && !function.hasLocalLinkage()) {
        definitions_.try_emplace(function.getName(), &function);
      }
    }
    for (const char* name : {"_ZSt4cout", "_ZSt4cerr", "_ZSt4clog"}) {
      const llvm::GlobalVariable* stream = program.module(m).getNamedGlobal(name);
      if (const std::optional<std::uint64_t> address = stream != nullptr ? program.address(m, *stream) : std::nullopt) {
        streams_.push_back(*address);
      }
    }
    for (const llvm::GlobalVariable& variable : program.module(m).globals()) {
      const std::optional<std::uint64_t> address =
          variable.isConstant() && variable.hasInitializer() ? program.address(m, variable) : std::nullopt;
      if (address) {
        const std::uint64_t size =
            program.module(m).getDataLayout().getTypeAllocSize(variable.getValueType()).getFixedValue();
        constants_.push_back({*address, *address + size, m, &variable});
      }
    }
  }
  std::stable_sort(constants_.begin(), constants_.end(),
                   [](const ConstantGlobal& a, const ConstantGlobal& b) { return a.begin < b.begin; });
  for (const EventIndex cut : find_cuts(execution, thread)) {
    views_.emplace_back(execution, thread, cut);
  }
  for (const std::shared_ptr<const Overlay>& overlay : choose_overlays(execution, thread)) {
    views_.emplace_back(execution, thread, overlay);
  }
}

DetourExplorer::~DetourExplorer() = default;

void DetourExplorer::saw(ExprId variable, EventIndex e) {
  const std::uint32_t number = x_.program.expressions.variable_number(variable);
  const Event& event = x_.index.event(e);
  for (View& view : views_) {
    const std::optional<std::uint64_t> value =
        view.is_settled(e) ? std::nullopt : view.value(event.object, event.size, e);
    if (value && *value != x_.program.recorded[number]) {
      view.saw(number, *value);
    }
  }
}

void DetourExplorer::wrote(EventIndex e, std::uint64_t address, std::span<const Byte> bytes) {
  for (View& view : views_) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      std::optional<std::uint8_t> value;
      if (bytes[i].is_known) {
        value = bytes[i].expr == kNoExpr
                    ? bytes[i].value
                    : static_cast<std::uint8_t>(evaluate(bytes[i].expr, view.other()) >> (8 * bytes[i].part));
      }
      view.wrote(e, address + i, value);
    }
  }
}

void DetourExplorer::check(ExprId condition, const llvm::Instruction& at, std::uint32_t position,
                           std::uint32_t conditions, EventIndex before) {
  const auto leaves = [&](const View& view) { return !view.other().empty() && evaluate(condition, view.other()) == 0; };
  const auto first = std::stable_partition(views_.begin(), views_.end(), [&](const View& v) { return !leaves(v); });
  if (first == views_.end()) {
    return;
  }
  const std::vector<View> leaving(std::make_move_iterator(first), std::make_move_iterator(views_.end()));
  views_.erase(first, views_.end());
  // What a compare-exchange finds is said by the step that it is then.
  ExprTable& table = x_.program.expressions;
  const ExprId taken = llvm::isa<llvm::AtomicCmpXchgInst>(at) ? table.yes() : table.make(ExprOp::kNot, condition);
  for (const View& view : leaving) {
    follow_view(view, taken, at, position, conditions, before);
  }
}

void DetourExplorer::follow_view(const View& view, ExprId taken, const llvm::Instruction& at, std::uint32_t position,
                                 std::uint32_t conditions, EventIndex before) {
  DetourWalk walk(*this, view, before);
  std::vector<DetourWalk> none;
  walk.run(none);
  left_[&at].note(walk);
  Detour made{position, conditions, x_.code.program().ref(at), 0, taken, walk.take_steps(), walk.stopped(), view.cut()};
  if (!made.steps.empty() && is_new(made, view)) {
    found_.push_back({nullptr, std::move(made), 0, {}});
    for (FlatMap<WrittenByte>& written : walk.take_marks()) {
      x_.found_overlays.push_back(std::make_shared<const Overlay>(Overlay{thread_, view, before, std::move(written)}));
    }
  }
}

// Each view has variables of its own for what is read on the way, so ways are the same when all that they read is.
bool DetourExplorer::is_new(const Detour& detour, const View& view) {
  std::vector<std::uint64_t> way{detour.position};
  for (const DetourStep& step : detour.steps) {
    for (const std::uint64_t part :
         {std::uint64_t{raw(step.op)}, step.object, std::uint64_t{step.size}, std::uint64_t{step.at.module},
          std::uint64_t{step.at.function}, std::uint64_t{step.at.instruction}}) {
      way.push_back(part);
    }
    for (const ExprId value : {step.read, step.written}) {
      way.push_back(value == kNoExpr ? 0 : evaluate(value, view.other()));
    }
  }
  return ways_.insert(std::move(way)).second;
}

std::unique_ptr<UntakenSides> explore_untaken_sides(SharedExecution& execution, const ThreadExecutor& path,
                                                    std::uint32_t thread) {
  return std::make_unique<DetourExplorer>(execution, path, thread);
}

const DetourExplorer::ConstantGlobal* DetourExplorer::constant_at(std::uint64_t address) const {
  auto at = std::upper_bound(constants_.begin(), constants_.end(), address,
                             [](std::uint64_t a, const ConstantGlobal& c) { return a < c.begin; });
  return at != constants_.begin() && address < (at - 1)->end ? &*(at - 1) : nullptr;
}

std::optional<std::uint8_t> DetourExplorer::settled_byte(std::uint64_t address, EventIndex before) const {
  if (!x_.sharing.is_settled(thread_, address, before, x_.computed)) {
    return std::nullopt;
  }
  const std::optional<std::uint8_t> told = x_.sharing.byte_at(address, before);
  return told || !x_.options.initial || x_.sharing.is_written(address) ? told : x_.options.initial(address);
}

const llvm::BasicBlock* DetourExplorer::meeting_point(const llvm::BasicBlock& block) {
  std::unique_ptr<llvm::PostDominatorTree>& tree = post_dominators_[block.getParent()];
  if (tree == nullptr) {
    // The analysis takes what may be changed, and changes nothing.
    tree = std::make_unique<llvm::PostDominatorTree>(const_cast<llvm::Function&>(*block.getParent()));
  }
  const llvm::DomTreeNode* node = tree->getNode(&block);
  return node == nullptr || node->getIDom() == nullptr ? nullptr : node->getIDom()->getBlock();
}

const FunctionCode* DetourExplorer::definition(const llvm::Function& function) {
  const llvm::Function* found = &function;
  if (function.isDeclaration()) {
    const auto at = definitions_.find(function.getName());
    found = at == definitions_.end() ? nullptr : at->second;
  }
  return found == nullptr || !x_.code.program().is_recorded(*found) ? nullptr : &x_.code.function(*found);
}

const Site& DetourExplorer::site(const llvm::Instruction& instruction) {
  const auto [at, is_new] = sites_.try_emplace(&instruction);
  if (is_new) {
    at->second = x_.code.program().site(instruction);
  }
  return at->second;
}

const ExceptionTypes& DetourExplorer::exception_types() {
  if (exception_types_ == nullptr) {
    exception_types_ = std::make_unique<const ExceptionTypes>(x_.code.program());
  }
  return *exception_types_;
}

void DetourExplorer::explore(const llvm::Instruction& branch, const Cell& value, std::uint32_t outcome,
                             std::uint32_t position, std::uint32_t conditions, EventIndex before) {
  Branch& known = branches_[&branch];
  known.was_taken.resize(branch.getNumSuccessors());
  known.tried.resize(branch.getNumSuccessors());
  known.furthest.resize(branch.getNumSuccessors());
  known.was_taken[outcome] = true;
  const llvm::BasicBlock* meet = nullptr;
  std::vector<const llvm::BasicBlock*> looked_at{branch.getSuccessor(outcome)};
  for (std::uint32_t other = 0; other < branch.getNumSuccessors(); ++other) {
    const llvm::BasicBlock* to = branch.getSuccessor(other);
    if (known.was_taken[other] || std::find(looked_at.begin(), looked_at.end(), to) != looked_at.end()) {
      continue;
    }
    looked_at.push_back(to);
    // The first ones, then ever fewer: the number grows with the logarithm of the instances.
    const std::uint32_t instance = known.tried[other]++;
    if (instance >= x_.options.instances && !std::has_single_bit(instance)) {
      continue;
    }
    const ExprId taken = goes_to(x_.program.expressions, branch, value.expr, *to);
    meet = meeting_point(*branch.getParent());
    if (taken == x_.program.expressions.no() || (to == meet && x_.options.beyond == 0)) {
      continue;
    }
    DetourWalk first(*this, make_true(taken), before);
    first.start(branch, *to, meet);
    follow(std::move(first), branch, other, taken, position, conditions, x_.options.paths);
  }
}

void DetourExplorer::explore_others(const llvm::Instruction& at, const Cell& value, std::uint32_t position,
                                    std::uint32_t conditions, EventIndex before) {
  constexpr std::uint32_t kInstances = 1;
  constexpr std::uint32_t kPaths = 3;
  if (x_.cases == nullptr) {
    return;
  }
  Branch& known = branches_[&at];
  const std::vector<Cases::Other> others = x_.cases->others(value.expr);
  known.tried.resize(std::max<std::size_t>(known.tried.size(), 1));
  if (others.empty() || known.tried[0]++ >= kInstances) {
    return;
  }
  known.was_taken.resize(std::max(known.was_taken.size(), others.size()));
  known.furthest.resize(known.was_taken.size());
  ExprTable& table = x_.program.expressions;
  for (std::uint32_t i = 0; i < others.size(); ++i) {
    const ExprId taken = table.make(ExprOp::kEq, value.expr, table.constant(64, others[i].value));
    if (others[i].value >= kFirstAddress && taken != table.no()) {
      follow(DetourWalk(*this, others[i].variables, before), at, i, taken, position, conditions,
             std::min(kPaths, x_.options.paths));
    }
  }
}

DetourExplorer::Assumed DetourExplorer::make_true(ExprId condition) {
  Assumed assumed;
  if (x_.cases == nullptr) {
    return assumed;
  }
  const ExprTable& table = x_.program.expressions;
  x_.cases->for_each(std::span(&condition, 1), [&](std::span<const std::uint64_t> variables) {
    const bool holds = table.evaluate(condition, variables) != 0;
    for (const std::uint32_t variable : holds ? table.variables_in(condition) : std::vector<std::uint32_t>()) {
      assumed.emplace_back(variable, variables[variable]);
    }
    return !holds;
  });
  return assumed;
}

std::uint64_t DetourExplorer::evaluate(ExprId expr, const Assumed& assumed) {
  const std::vector<std::uint64_t>& recorded = x_.program.recorded;
  scratch_.insert(scratch_.end(), recorded.begin() + static_cast<std::ptrdiff_t>(scratch_.size()), recorded.end());
  for (const auto& [variable, value] : assumed) {
    scratch_[variable] = value;
  }
  const std::uint64_t result = x_.program.expressions.evaluate(expr, scratch_);
  for (const auto& [variable, value] : assumed) {
    scratch_[variable] = recorded[variable];
  }
  return result;
}

void DetourExplorer::follow(DetourWalk first, const llvm::Instruction& branch, std::uint32_t outcome, ExprId taken,
                            std::uint32_t position, std::uint32_t conditions, std::uint32_t paths) {
  const std::size_t before = found_.size();
  std::vector<DetourWalk> open;
  open.push_back(std::move(first));
  for (; paths > 0 && !open.empty(); --paths) {
    DetourWalk walk = std::move(open.back());
    open.pop_back();
    walk.run(open);
    branches_[&branch].furthest[outcome].note(walk);
    Detour made{position, conditions, x_.code.program().ref(branch), outcome, taken, walk.take_steps(), walk.stopped()};
    // Ways that part behind their last step are one.
    const auto same = [&](const Found& found) { return found.detour.steps == made.steps; };
    if (!made.steps.empty() && std::none_of(found_.begin() + static_cast<std::ptrdiff_t>(before), found_.end(), same)) {
      found_.push_back({&branch, std::move(made), walk.steps_to_keep(), walk.take_news()});
    }
  }
}

std::vector<Detour> DetourExplorer::take() {
  std::vector<Detour> kept;
  for (Found& found : found_) {
    const auto was_executed = [&](const llvm::BasicBlock* block) { return path_.has_executed(*block); };
    if (!found.news.empty() && std::all_of(found.news.begin(), found.news.end(), was_executed)) {
      found.detour.steps.resize(found.steps_to_keep);
      found.detour.stopped = kFollowedToTheEnd;
    }
    const bool was_taken = found.branch != nullptr && branches_[found.branch].was_taken[found.detour.outcome];
    if (!was_taken && !found.detour.steps.empty()) {
      kept.push_back(std::move(found.detour));
    }
  }
  found_.clear();
  return kept;
}

void DetourExplorer::Furthest::note(const DetourWalk& walk) {
  if (stopped.empty() || walk.step_count() > steps) {
    *this = {walk.step_count(), walk.stopped(), walk.at()};
  }
}

UntakenSide DetourExplorer::side(const llvm::Instruction& at, std::uint32_t outcome, const Furthest& furthest) {
  return {x_.code.program().ref(at),
          outcome,
          site(at),
          furthest.steps,
          furthest.stopped,
          furthest.stopped_at != nullptr ? site(*furthest.stopped_at) : Site()};
}

std::vector<UntakenSide> DetourExplorer::left() {
  std::vector<UntakenSide> left;
  for (const auto& [at, furthest] : left_) {
    left.push_back(side(*at, 0, furthest));
  }
  std::sort(left.begin(), left.end(), [](const UntakenSide& a, const UntakenSide& b) { return a.branch < b.branch; });
  return left;
}

std::vector<UntakenSide> DetourExplorer::sides() {
  std::vector<UntakenSide> sides;
  for (const auto& [branch, known] : branches_) {
    for (std::uint32_t outcome = 0; outcome < known.furthest.size(); ++outcome) {
      if (!known.was_taken[outcome] && !known.furthest[outcome].stopped.empty()) {
        sides.push_back(side(*branch, outcome, known.furthest[outcome]));
      }
    }
  }
  std::sort(sides.begin(), sides.end(), [](const UntakenSide& a, const UntakenSide& b) {
    return std::tie(a.branch, a.outcome) < std::tie(b.branch, b.outcome);
  });
  return sides;
}

}  // namespace sooth
