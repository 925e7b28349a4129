// Looks at what a thread would have done on branches that it did not take (RECIPE, Section IV).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/Analysis/PostDominators.h>

#include "recipe/detour/view.h"
#include "recipe/execute/thread_executor.h"

namespace sooth {

class DetourWalk;
class ExceptionTypes;

// From each instance of a branch that depends on what other threads wrote, it goes on in the code on the other side: to
// the block where both sides meet again, through loops once, into calls of functions with IR; it stops at everything
// else. Memory is what the thread had at the branch, with what the detour writes on top.
//
// Besides, it follows the thread once for each of some views: where it would leave its recorded path if others had come
// that far, and where it goes then, to its end.
class DetourExplorer final : public UntakenSides {
 public:
  DetourExplorer(SharedExecution& execution, const ThreadExecutor& path, std::uint32_t thread);
  ~DetourExplorer() override;

  void explore(const llvm::Instruction& branch, const Cell& value, std::uint32_t outcome, std::uint32_t position,
               std::uint32_t conditions, EventIndex before) override;
  void explore_others(const llvm::Instruction& at, const Cell& value, std::uint32_t position, std::uint32_t conditions,
                      EventIndex before) override;
  void saw(ExprId variable, EventIndex e) override;
  void wrote(EventIndex e, std::uint64_t address, std::span<const Byte> bytes) override;
  void check(ExprId condition, const llvm::Instruction& at, std::uint32_t position, std::uint32_t conditions,
             EventIndex before) override;
  std::vector<Detour> take() override;
  std::vector<UntakenSide> sides() override;
  std::vector<UntakenSide> left() override;

 private:
  friend class DetourWalk;
  // Of several ways from one place.
  struct Furthest {
    std::uint32_t steps = 0;
    std::string stopped;  // empty: none was followed
    const llvm::Instruction* stopped_at = nullptr;

    void note(const DetourWalk& walk);
  };
  struct Branch {
    std::vector<bool> was_taken;       // by successor
    std::vector<std::uint32_t> tried;  // how often it was not, by successor
    std::vector<Furthest> furthest;    // by successor
  };
  UntakenSide side(const llvm::Instruction& at, std::uint32_t outcome, const Furthest& furthest);

  // Variables that have other values than in the recorded run, by number.
  using Assumed = std::vector<std::pair<std::uint32_t, std::uint64_t>>;
  // Goes on as the view says, and adds what comes of it.
  void follow_view(const View& view, ExprId taken, const llvm::Instruction& at, std::uint32_t position,
                   std::uint32_t conditions, EventIndex before);
  bool is_new(const Detour& detour, const View& view);
  // At most `paths` ways on from where the walk stands, which is this outcome of the branch.
  void follow(DetourWalk first, const llvm::Instruction& branch, std::uint32_t outcome, ExprId taken,
              std::uint32_t position, std::uint32_t conditions, std::uint32_t paths);
  // Values that the recorded run had with which the condition holds; empty: there are none, or it holds anyway.
  Assumed make_true(ExprId condition);
  std::uint64_t evaluate(ExprId expr, const Assumed& assumed);

  // Where the ways of a branch meet; nullptr: at the end of the function or never.
  const llvm::BasicBlock* meeting_point(const llvm::BasicBlock& block);
  // A definition with hooks; nullptr: none.
  const FunctionCode* definition(const llvm::Function& function);
  const Site& site(const llvm::Instruction& instruction);
  // Made when an exception is thrown first.
  const ExceptionTypes& exception_types();
  // The constant of the program that lies there.
  struct ConstantGlobal {
    std::uint64_t begin = 0, end = 0;
    std::uint32_t module = 0;
    const llvm::GlobalVariable* variable = nullptr;
  };
  const ConstantGlobal* constant_at(std::uint64_t address) const;
  // What the byte holds then, if other threads cannot change it while this one runs.
  std::optional<std::uint8_t> settled_byte(std::uint64_t address, EventIndex before) const;
  // std::cout and its like.
  bool is_standard_stream(std::uint64_t address) const {
    return std::find(streams_.begin(), streams_.end(), address) != streams_.end();
  }

  SharedExecution& x_;
  const ThreadExecutor& path_;
  const std::uint32_t thread_;
  llvm::DenseMap<const llvm::Instruction*, Branch> branches_;
  llvm::DenseMap<const llvm::Instruction*, Furthest> left_;  // by what views leave the path at
  llvm::DenseMap<const llvm::Function*, std::unique_ptr<llvm::PostDominatorTree>> post_dominators_;
  llvm::DenseMap<const llvm::Instruction*, Site> sites_;
  llvm::StringMap<const llvm::Function*> definitions_;
  std::unique_ptr<const ExceptionTypes> exception_types_;
  std::vector<ConstantGlobal> constants_;  // by address
  std::vector<std::uint64_t> streams_;     // addresses
  std::vector<std::uint64_t> scratch_;     // recorded values of variables, but for a moment
  struct Found {
    const llvm::Instruction* branch = nullptr;  // nullptr: it left its path for other reasons than a branch
    Detour detour;
    std::size_t steps_to_keep = 0;  // when the thread executes all of these later:
    std::vector<const llvm::BasicBlock*> news;
  };
  std::vector<Found> found_;
  std::set<std::vector<std::uint64_t>> ways_;  // of views that are in found_
  std::vector<View> views_;                    // in which the thread has not left its recorded path so far
};

}  // namespace sooth
