// Stateless model checking: which schedules of a program to run so that all that it can do is seen. A pure search:
// somebody else runs the program, or simulates one, and hands back what happened. docs/explore.md is the whole story.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "confirm/explorer_steps.h"

namespace sooth {

struct ExplorerOptions {
  // Source-DPOR with sleep sets (Abdulla, Aronis, Jonsson and Sagonas, POPL 2014, Algorithm 1): of runs that differ
  // only in the order of independent steps at least one is made, and mostly no more. Every end that the program can
  // have is found.
  bool reduce = true;
  // Without reduction: only schedules with at most so many preemptions, those with fewer first; all of these are made.
  // nullopt: all schedules.
  std::optional<std::uint32_t> preemptions;
  // A thread that has looked so many times more at the same things, which nobody has changed meanwhile, waits: it has
  // no turn while one that does not could have it. 0: never, so that a program that waits in a loop has schedules
  // without end.
  std::uint32_t loop_turns = 2;
  // Reduction only: whether to make a run that brings these two unordered, conflicting accesses together. Asked once
  // for each such pair that is met; `delay`: of ExploredPoint, at the second.
  std::function<bool(const ExploredStep& first, const ExploredStep& second, std::uint64_t delay)> wants_meeting =
      [](const ExploredStep&, const ExploredStep&, std::uint64_t) { return false; };
};

// Every run is a function of its choices. What is asked for depends on what was added, and on nothing else.
class Explorer {
 public:
  struct Node;
  enum class Purpose : std::uint8_t { kFirst, kBranch, kMeeting };
  // Take these choices, where there is a choice, then go on anyhow.
  struct Request {
    std::vector<std::uint16_t> choices;
    // With weak memory: what the operations that have a choice see, one after the other, then the newest.
    std::vector<std::uint16_t> seen;
    Purpose purpose = Purpose::kFirst;
    std::shared_ptr<Node> node;  // of kBranch: the state at which `thread` is chosen
    std::uint32_t thread = 0;
    // Of kBranch: others have chosen `thread` there, and see something else by one of the first so many of its operations.
    std::size_t seen_in_turn = 0;
  };

  explicit Explorer(ExplorerOptions options);

  // The next runs, at most so many, which may be made in any order or at the same time. Empty while all that were asked
  // for are not added: wait; and when there is nothing left.
  std::vector<Request> next(std::size_t at_most);
  // Once for each request, in the order in which they were given.
  void add(const Request& request, const Execution& execution);

  // All that was asked for is added, and there is nothing left.
  bool is_exhausted() const { return started_ && work_.empty() && meetings_.empty() && outstanding_ == 0; }
  std::uint64_t runs() const { return runs_; }            // added
  std::uint64_t redundant() const { return redundant_; }  // of these, equivalent to others, as turned out on the way
  std::uint64_t diverged() const { return diverged_; }    // of these, not what an equal beginning has led to before
  std::uint64_t cut() const { return cut_; }              // of these, longer than what was looked at
  bool has_waiting_loops() const { return has_waiting_loops_; }
  // Preemptions of the runs to come, at least.
  std::uint32_t preemptions() const { return work_.empty() ? 0 : std::get<0>(work_.begin()->first); }

 private:
  using Path = std::vector<std::shared_ptr<Node>>;
  class Order;

  Path path_to(const Request& request, const Execution& execution);
  bool agrees(const Path& path, const Request& request, const Execution& execution) const;
  void extend(Path& path, const Execution& execution);
  std::shared_ptr<Node> child_of(const std::shared_ptr<Node>& parent, const Execution& execution, std::size_t at);
  bool follow(const std::shared_ptr<Node>& node, const ExploredPoint& point);
  void add_all_others(const std::shared_ptr<Node>& node, std::uint32_t chosen);
  void reverse_races(const Path& path, const Execution& execution, std::size_t first);
  void reverse(const Path& path, const Order& order, std::size_t early, std::size_t late);
  void arrange_meeting(const Path& path, const Execution& execution, const Order& order, std::size_t early,
                       std::size_t late);
  void ask(const std::shared_ptr<Node>& node, std::uint32_t thread);
  void ask_for_older(const std::shared_ptr<Node>& node, const ExploredPoint& point, std::size_t known);

  ExplorerOptions options_;
  // By preemptions, then deepest first, then in the order in which they came up.
  struct Work {
    std::shared_ptr<Node> node;
    std::uint32_t thread = 0;
    std::vector<std::uint16_t> seen;  // by its operations there; empty: the newest
  };
  std::map<std::tuple<std::uint32_t, std::size_t, std::uint64_t>, Work> work_;
  std::vector<Request> meetings_;
  bool started_ = false;
  std::uint64_t asked_ = 0, outstanding_ = 0;
  std::uint64_t runs_ = 0, redundant_ = 0, diverged_ = 0, cut_ = 0;
  bool has_waiting_loops_ = false;
};

}  // namespace sooth
