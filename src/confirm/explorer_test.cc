#include "confirm/explorer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/test_environment.h"
#include "confirm/explorer_races.h"

namespace sooth {
namespace {

// A program of a few instructions for each thread, interpreted. Variables, locks and threads are numbered from 0; each
// thread has an accumulator.
struct Instruction {
  enum Kind : std::uint8_t { kRead, kWrite, kAdd, kLock, kUnlock, kFork, kJoin, kAwait, kTake, kGive } kind;
  std::uint32_t what;  // variable, lock or thread
  bool atomic = false;
};
struct Program {
  std::vector<std::vector<Instruction>> threads;
  bool forks = false;  // only thread 0 is there at first, and the process ends with it
};

struct ThreadState {
  std::size_t next = 0;
  int accumulator = 0;
  bool begun = false;  // a thread shows what it is about to do when it has had a turn
  enum : std::uint8_t { kNew, kReady, kBlocked, kEnded } state = kReady;
};

constexpr std::uint64_t kLocks = 100, kThreads = 200;  // granules

class Machine {
 public:
  explicit Machine(const Program& program) : program_(program), threads_(program.threads.size()) {
    for (std::size_t i = 1; i < threads_.size() && program.forks; ++i) {
      threads_[i].state = ThreadState::kNew;
    }
  }

  std::uint64_t ready() const {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      bits |= threads_[i].state == ThreadState::kReady ? std::uint64_t{1} << i : 0;
    }
    return is_over() ? 0 : bits;
  }
  bool is_ready(std::uint32_t thread) const { return (ready() >> thread & 1) != 0; }
  bool is_over() const { return program_.forks && threads_[0].state == ThreadState::kEnded; }
  bool has_ended(std::uint32_t thread) const { return threads_[thread].state == ThreadState::kEnded; }

  // What the thread does next; nullptr when it has nothing left to do.
  StepPtr step(std::uint32_t thread) const {
    const ThreadState& state = threads_[thread];
    if (!state.begun || state.next >= program_.threads[thread].size()) {
      return nullptr;
    }
    const Instruction& in = program_.threads[thread][state.next];
    auto step = std::make_shared<ExploredStep>();
    step->writes = in.kind != Instruction::kRead && in.kind != Instruction::kAwait;
    step->offset = 1 + thread * 1000 + state.next;
    step->events = state.next;
    const auto part = [](std::uint64_t granule) { return ExploredStep::Part{granule, 1}; };
    switch (in.kind) {
      case Instruction::kRead: step->op = in.atomic ? Op::kAtomicLoad : Op::kRead; break;
      case Instruction::kWrite: step->op = in.atomic ? Op::kAtomicStore : Op::kWrite; break;
      case Instruction::kAdd: step->op = Op::kAtomicRmw; break;
      case Instruction::kAwait: step->op = Op::kAtomicLoad; break;
      case Instruction::kTake: step->op = Op::kAtomicRmw; break;
      case Instruction::kGive: step->op = Op::kAtomicStore; break;
      case Instruction::kLock: step->op = Op::kAcquire; break;
      case Instruction::kUnlock: step->op = Op::kRelease; break;
      case Instruction::kFork: step->op = Op::kFork; break;
      case Instruction::kJoin: step->op = Op::kJoin; break;
    }
    const bool is_lock = in.kind == Instruction::kLock || in.kind == Instruction::kUnlock;
    const bool is_thread = in.kind == Instruction::kFork || in.kind == Instruction::kJoin;
    step->parts = {part(in.what + (is_lock ? kLocks : is_thread ? kThreads : 0))};
    return step;
  }

  void run(std::uint32_t thread) {
    ThreadState& state = threads_[thread];
    if (!state.begun) {
      state.begun = true;
      return;
    }
    const Instruction& in = program_.threads[thread][state.next];
    ++state.next;
    switch (in.kind) {
      case Instruction::kRead: state.accumulator = state.accumulator * 31 + variables_[in.what]; break;
      case Instruction::kWrite:
        variables_[in.what] = state.accumulator * 7 + static_cast<int>(thread * 100 + state.next);
        break;
      case Instruction::kAdd: variables_[in.what] += 1; break;
      case Instruction::kAwait: state.next -= variables_[in.what] == 0 ? 1 : 0; break;
      case Instruction::kTake:
        state.next -= variables_[in.what] != 0 ? 1 : 0;
        variables_[in.what] = 1;
        break;
      case Instruction::kGive: variables_[in.what] = 0; break;
      case Instruction::kLock:
        if (holders_.contains(in.what)) {
          --state.next;
          state.state = ThreadState::kBlocked;
          blocked_on_[thread] = kLocks + in.what;
        } else {
          holders_[in.what] = thread;
        }
        break;
      case Instruction::kUnlock:
        holders_.erase(in.what);
        wake(kLocks + in.what);
        break;
      case Instruction::kFork: threads_[in.what].state = ThreadState::kReady; break;
      case Instruction::kJoin:
        if (threads_[in.what].state != ThreadState::kEnded) {
          --state.next;
          state.state = ThreadState::kBlocked;
          blocked_on_[thread] = kThreads + in.what;
        }
        break;
    }
    end_if_over(thread);
  }

  // All that can be told of the state.
  std::string text() const {
    std::string text;
    for (const auto& [variable, value] : variables_) {
      text += "v" + std::to_string(variable) + "=" + std::to_string(value) + " ";
    }
    for (const ThreadState& thread : threads_) {
      // What a thread has seen is not part of what a process that has ended leaves behind.
      text += is_over() ? "" : std::to_string(thread.next) + ":" + std::to_string(thread.accumulator) + " ";
    }
    return text + (is_over() ? std::to_string(threads_[0].accumulator) : "");
  }

 private:
  void wake(std::uint64_t object) {
    for (std::uint32_t i = 0; i < threads_.size(); ++i) {
      if (threads_[i].state == ThreadState::kBlocked && blocked_on_[i] == object) {
        threads_[i].state = ThreadState::kReady;
      }
    }
  }
  void end_if_over(std::uint32_t thread) {
    ThreadState& state = threads_[thread];
    if (state.state == ThreadState::kReady && state.next >= program_.threads[thread].size()) {
      state.state = ThreadState::kEnded;
      wake(kThreads + thread);
    }
  }

  const Program& program_;
  std::vector<ThreadState> threads_;
  std::map<std::uint32_t, int> variables_;
  std::map<std::uint32_t, std::uint32_t> holders_;
  std::map<std::uint32_t, std::uint64_t> blocked_on_;
};

struct Made {
  Execution execution;
  std::string end;
};

// As the run time library does it: behind the choices the running thread goes on, but after many turns another gets its
// chance.
Made run_machine(const Program& program, const std::vector<std::uint16_t>& choices) {
  Machine machine(program);
  Made made;
  std::size_t used = 0;
  std::uint32_t from = control::kNone;
  std::uint32_t turns = 0;
  while (machine.ready() != 0) {
    ExploredPoint point;
    point.ready = machine.ready();
    point.from = from;
    const bool goes_on = from != control::kNone && machine.is_ready(from);
    point.is_free = !goes_on || turns > 20;
    point.is_fresh = goes_on;
    for (std::uint32_t i = 0; i < program.threads.size(); ++i) {
      point.pending.push_back(machine.step(i));
    }
    const auto lowest = [](std::uint64_t threads) { return static_cast<std::uint32_t>(std::countr_zero(threads)); };
    const std::uint64_t others = goes_on ? point.ready & ~(std::uint64_t{1} << from) : 0;
    const std::uint64_t above = goes_on ? others >> from << from : 0;
    point.chosen = !goes_on                     ? lowest(point.ready)
                   : turns <= 20 || others == 0 ? from
                                                : lowest(above != 0 ? above : others);
    if (point.is_choice() && used < choices.size()) {
      point.chosen = choices[used++];
    }
    EXPECT_TRUE(machine.is_ready(point.chosen));
    turns = point.chosen == from ? turns + 1 : 0;
    point.done = point.pending[point.chosen];
    from = point.chosen;
    machine.run(from);
    if (point.done != nullptr && machine.step(from) != nullptr && point.done->op == Op::kAtomicRmw &&
        machine.step(from)->offset == point.done->offset) {
      auto look = std::make_shared<ExploredStep>(*point.done);  // took in vain
      look->writes = false;
      point.done = look;
    }
    if (machine.has_ended(from)) {
      auto last = std::make_shared<ExploredStep>(*point.done);
      last->ends_thread = true;
      last->end = {kThreads + from, 1};
      point.done = last;
    }
    made.execution.points.push_back(std::move(point));
  }
  EXPECT_EQ(used, choices.size());
  made.execution.ends_process = machine.is_over();
  made.end = machine.text();
  return made;
}

using SitePair = std::pair<std::uint64_t, std::uint64_t>;

struct Seen {
  std::set<std::string> ends;
  std::set<SitePair> races;
  std::uint64_t runs = 0;
  std::uint64_t followed = 0;  // runs that are not redundant, without those for meetings
  bool exhausted = false;
};

SitePair pair_of(const ExploredStep& a, const ExploredStep& b) {
  return {std::min(a.offset, b.offset), std::max(a.offset, b.offset)};
}

Seen explore(const Program& program, ExplorerOptions options, std::size_t batch, std::uint64_t limit = 200'000) {
  Seen seen;
  std::set<SitePair> asked;
  options.wants_meeting = [&](const ExploredStep& a, const ExploredStep& b, std::uint64_t) {
    return !seen.races.contains(pair_of(a, b)) && asked.insert(pair_of(a, b)).second;
  };
  Explorer explorer(options);
  std::uint64_t meetings = 0;
  while (explorer.runs() < limit) {
    const std::vector<Explorer::Request> requests = explorer.next(batch);
    if (requests.empty()) {
      break;
    }
    std::vector<Made> made;
    for (const Explorer::Request& request : requests) {
      made.push_back(run_machine(program, request.choices));
    }
    for (std::size_t i = 0; i < requests.size(); ++i) {
      meetings += requests[i].purpose == Explorer::Purpose::kMeeting ? 1 : 0;
      seen.ends.insert(made[i].end);
      for (const Meeting& meeting : meetings_in(made[i].execution)) {
        seen.races.insert(pair_of(meeting.here_step(made[i].execution), meeting.other_step(made[i].execution)));
      }
      explorer.add(requests[i], made[i].execution);
    }
  }
  EXPECT_EQ(explorer.diverged(), 0u);
  seen.runs = explorer.runs();
  seen.followed = explorer.runs() - explorer.redundant() - meetings;
  seen.exhausted = explorer.is_exhausted();
  return seen;
}

// Every schedule, one after the other, without a thought. Shares nothing with the search but the machine.
class BruteForce {
 public:
  BruteForce(const Program& program, std::uint32_t preemptions) : program_(program), most_(preemptions) {
    std::vector<std::uint32_t> order;
    visit(Machine(program), order, control::kNone, 0);
  }

  std::set<std::string> ends, traces;
  std::set<SitePair> races;
  std::uint64_t schedules = 0;

 private:
  void visit(const Machine& machine, std::vector<std::uint32_t>& order, std::uint32_t from, std::uint32_t preemptions) {
    const std::uint64_t ready = machine.ready();
    if (ready == 0) {
      ++schedules;
      ends.insert(machine.text());
      traces.insert(trace_of(order));
      return;
    }
    for (std::uint32_t a = 0; a < program_.threads.size(); ++a) {
      if ((ready >> a & 1) == 0) {
        continue;
      }
      for (std::uint32_t b = 0; b < a; ++b) {
        const StepPtr first = machine.step(a), second = machine.step(b);
        if ((ready >> b & 1) != 0 && first != nullptr && second != nullptr && are_conflicting(*first, *second)) {
          races.insert(pair_of(*first, *second));
        }
      }
      const bool preempts = from != control::kNone && machine.is_ready(from) && a != from;
      if (preemptions + (preempts ? 1 : 0) > most_) {
        continue;
      }
      Machine next = machine;
      next.run(a);
      order.push_back(a);
      visit(next, order, a, preemptions + (preempts ? 1 : 0));
      order.pop_back();
    }
  }

  // The same for equivalent schedules and for no others: what each variable and lock sees; reads between two writes in
  // any order.
  std::string trace_of(const std::vector<std::uint32_t>& order) const {
    Machine machine(program_);
    std::map<std::uint64_t, std::pair<std::string, std::multiset<std::string>>> objects;
    std::map<std::uint32_t, int> turns;
    for (const std::uint32_t thread : order) {
      const StepPtr step = machine.step(thread);
      machine.run(thread);
      if (step == nullptr) {
        continue;
      }
      auto& [text, reads] = objects[step->parts[0].granule];
      const std::string name = std::to_string(thread) + "." + std::to_string(turns[thread]++);
      if (step->writes) {
        for (const std::string& read : reads) {
          text += " " + read;
        }
        reads.clear();
        text += " [" + name + "]";
      } else {
        reads.insert(name);
      }
    }
    std::string all;
    for (const auto& [object, seen] : objects) {
      all += std::to_string(object) + ":" + seen.first;
      for (const std::string& read : seen.second) {
        all += " " + read;
      }
      all += "\n";
    }
    return all;
  }

  const Program& program_;
  std::uint32_t most_;
};

constexpr std::uint32_t kAny = 1000;

std::string text_of(const Program& program) {
  static const char* const kNames[] = {"read v", "write v", "add v",   "lock ",  "unlock ",
                                       "fork ",  "join ",   "await v", "take v", "give v"};
  std::string text;
  for (std::size_t i = 0; i < program.threads.size(); ++i) {
    text += "thread " + std::to_string(i) + ":";
    for (const Instruction& in : program.threads[i]) {
      text += std::string(" ") + (in.atomic ? "atomic " : "") + kNames[in.kind] + std::to_string(in.what) + ";";
    }
    text += "\n";
  }
  return text;
}

std::vector<Instruction> random_thread(std::mt19937_64& random, std::size_t length) {
  std::vector<Instruction> code;
  std::vector<std::uint32_t> held;
  while (code.size() < length) {
    const auto variable = static_cast<std::uint32_t>(random() % 3);
    switch (random() % 7) {
      case 0:
      case 1: code.push_back({Instruction::kRead, variable, random() % 3 == 0}); break;
      case 2:
      case 3: code.push_back({Instruction::kWrite, variable, random() % 3 == 0}); break;
      case 4: code.push_back({Instruction::kAdd, variable}); break;
      case 5: {
        const auto lock = static_cast<std::uint32_t>(random() % 2);
        if (std::find(held.begin(), held.end(), lock) == held.end()) {
          held.push_back(lock);
          code.push_back({Instruction::kLock, lock});
        }
        break;
      }
      default:
        if (!held.empty()) {
          code.push_back({Instruction::kUnlock, held.back()});
          held.pop_back();
        }
    }
  }
  while (!held.empty() && random() % 8 != 0) {
    code.push_back({Instruction::kUnlock, held.back()});
    held.pop_back();
  }
  return code;
}

Program draw_program(std::mt19937_64& random, bool forks) {
  Program program;
  program.forks = forks;
  const std::size_t threads = 2 + random() % 2;
  const std::size_t length = threads == 2 ? 4 : 2;
  for (std::size_t i = 0; i < threads; ++i) {
    program.threads.push_back(random_thread(random, 1 + random() % length));
  }
  if (forks) {
    // The first thread has little else to do: create the others, and join some of them.
    std::vector<Instruction> code;
    for (std::uint32_t i = 1; i < threads; ++i) {
      code.push_back({Instruction::kFork, i});
    }
    code.push_back({random() % 2 == 0 ? Instruction::kRead : Instruction::kAdd, 0});
    for (std::uint32_t i = 1; i < threads; ++i) {
      if (random() % 3 != 0) {
        code.push_back({Instruction::kJoin, i});
      }
    }
    code.push_back({Instruction::kRead, 1});
    program.threads[0] = code;
  }
  return program;
}

// One with few schedules, so that all of them can be tried.
Program random_program(std::uint64_t seed, bool forks) {
  std::mt19937_64 random(seed);
  while (true) {
    Program program = draw_program(random, forks);
    double schedules = 1, turns = 0;
    for (const std::vector<Instruction>& thread : program.threads) {
      for (std::size_t i = 1; i <= thread.size() + 1; ++i) {
        schedules *= ++turns / static_cast<double>(i);
      }
    }
    if (schedules < (forks ? 5'000 : 1'000)) {
      return program;
    }
  }
}

std::uint64_t case_count() { return from_environment("SOOTH_CASES", 10'000); }
std::uint64_t first_seed() { return from_environment("SOOTH_SEED", 1); }

TEST(Explorer, FindsEveryTraceOnceAndEveryRace) {
  std::uint64_t fewer = 0;
  for (std::uint64_t i = 0; i < case_count(); ++i) {
    const std::uint64_t seed = first_seed() + i;
    const Program program = random_program(seed, false);
    const BruteForce truth(program, kAny);
    const Seen seen = explore(program, {}, 1 + seed % 5);
    ASSERT_TRUE(seen.exhausted);
    ASSERT_EQ(seen.ends, truth.ends) << "seed " << seed << "\n" << text_of(program);
    ASSERT_EQ(seen.races, truth.races) << "seed " << seed << "\n" << text_of(program);
    ASSERT_EQ(seen.followed, truth.traces.size()) << "seed " << seed << "\n" << text_of(program);
    fewer += seen.runs < truth.schedules ? 1 : 0;
  }
  EXPECT_GT(fewer, case_count() / 2);
}

TEST(Explorer, FindsEveryEndWhenThreadsComeAndGo) {
  for (std::uint64_t i = 0; i < case_count(); ++i) {
    const std::uint64_t seed = first_seed() + i;
    const Program program = random_program(seed, true);
    const BruteForce truth(program, kAny);
    const Seen seen = explore(program, {}, 1 + seed % 5);
    ASSERT_TRUE(seen.exhausted);
    ASSERT_EQ(seen.ends, truth.ends) << "seed " << seed << "\n" << text_of(program);
    ASSERT_EQ(seen.races, truth.races) << "seed " << seed << "\n" << text_of(program);
    ASSERT_GE(seen.followed, truth.ends.size());
  }
}

TEST(Explorer, MakesEverySchedule) {
  for (std::uint64_t i = 0; i < case_count() / 4; ++i) {
    const std::uint64_t seed = first_seed() + i;
    const Program program = random_program(seed, i % 2 == 0);
    for (const std::uint32_t most : {0u, 1u, 2u, kAny}) {
      const BruteForce truth(program, most);
      ExplorerOptions options;
      options.reduce = false;
      options.preemptions = most == kAny ? std::nullopt : std::optional(most);
      options.loop_turns = 0;
      const Seen seen = explore(program, options, 3);
      ASSERT_TRUE(seen.exhausted);
      ASSERT_EQ(seen.ends, truth.ends) << "seed " << seed << "\n" << text_of(program);
      ASSERT_EQ(seen.runs, truth.schedules) << "seed " << seed << " " << most << "\n" << text_of(program);
    }
  }
}

using I = Instruction;

TEST(Explorer, ReadersOfOneVariableAreFourTraces) {
  const Program program{{{{I::kRead, 0}}, {{I::kRead, 0}}, {{I::kWrite, 0}}}};
  const Seen seen = explore(program, {}, 1);
  EXPECT_EQ(seen.followed, 4u);
  EXPECT_EQ(seen.races.size(), 2u);
}

TEST(Explorer, IndependentThreadsAreOneTrace) {
  const Program program{{{{I::kWrite, 0}, {I::kWrite, 0}}, {{I::kWrite, 1}, {I::kWrite, 1}}, {{I::kWrite, 2}}}};
  const Seen seen = explore(program, {}, 4);
  EXPECT_EQ(seen.runs, 1u);
  EXPECT_TRUE(seen.races.empty());
}

// A race whose two accesses no run of the reduced search need bring together.
TEST(Explorer, LooksForMeetings) {
  const Program program{{{{I::kWrite, 1}, {I::kWrite, 0}}, {{I::kWrite, 2}, {I::kRead, 0}}}};
  EXPECT_EQ(explore(program, {}, 1).races.size(), 1u);
}

// Two threads that take a spin lock by exchange, and three that do.
TEST(Explorer, EndsWhenThreadsWaitForASpinLock) {
  const std::vector<Instruction> work = {{I::kTake, 0}, {I::kRead, 1}, {I::kWrite, 1}, {I::kGive, 0}};
  const Program two{{work, work}};
  const Program three{{work, work, work}};
  const Seen first = explore(two, {}, 2, 20'000);
  EXPECT_TRUE(first.exhausted);
  EXPECT_EQ(first.ends.size(), 2u) << "one for each order";
  EXPECT_TRUE(first.races.empty());
  ExplorerOptions options;
  options.loop_turns = 1;
  const Seen second = explore(three, options, 2, 50'000);
  EXPECT_TRUE(second.exhausted);
  EXPECT_EQ(second.ends.size(), 6u);
  EXPECT_TRUE(second.races.empty());
}

TEST(Explorer, EndsWhenThreadsWaitInLoops) {
  // Two threads that wait for each other's flag, in any order; and one that only looks.
  const Program program{{{{I::kAdd, 0}, {I::kAwait, 1}, {I::kWrite, 2}},
                         {{I::kAdd, 1}, {I::kAwait, 0}, {I::kRead, 2}},
                         {{I::kRead, 0}, {I::kRead, 1}}}};
  for (const std::uint32_t turns : {1u, 2u, 3u}) {
    ExplorerOptions options;
    options.loop_turns = turns;
    const Seen seen = explore(program, options, 2, 20'000);
    EXPECT_TRUE(seen.exhausted) << turns;
    // The reader sees 0 or the write; the third thread three of the four pairs in this order and (0, 1) ... all four.
    EXPECT_EQ(seen.ends.size(), 8u) << turns;
    options.reduce = false;
    options.preemptions = 2;
    const Seen bounded = explore(program, options, 2, 20'000);
    EXPECT_TRUE(bounded.exhausted) << turns;
    EXPECT_TRUE(std::includes(seen.ends.begin(), seen.ends.end(), bounded.ends.begin(), bounded.ends.end()));
  }
}

TEST(Explorer, SaysWhenARunIsNotWhatItWas) {
  const Program program{{{{I::kWrite, 0}, {I::kWrite, 0}}, {{I::kWrite, 0}}}};
  const Program other{{{{I::kWrite, 0}}, {{I::kWrite, 0}}, {{I::kWrite, 0}}}};
  Explorer explorer({});
  explorer.add(explorer.next(1).front(), run_machine(program, {}).execution);
  const std::vector<Explorer::Request> requests = explorer.next(1);
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_FALSE(explorer.is_exhausted());
  explorer.add(requests.front(), run_machine(other, {}).execution);
  EXPECT_EQ(explorer.diverged(), 1u);
}

TEST(Explorer, AsksForFewPreemptionsFirst) {
  const Program program{{{{I::kWrite, 0}, {I::kWrite, 0}, {I::kWrite, 0}}, {{I::kWrite, 0}, {I::kWrite, 0}}}};
  ExplorerOptions options;
  options.preemptions = 3;
  Explorer explorer(options);
  std::uint32_t before = 0;
  while (true) {
    const std::uint32_t preemptions = explorer.preemptions();
    const std::vector<Explorer::Request> requests = explorer.next(1);
    if (requests.empty()) {
      break;
    }
    EXPECT_GE(preemptions, before);
    before = preemptions;
    explorer.add(requests.front(), run_machine(program, requests.front().choices).execution);
  }
  EXPECT_EQ(before, 3u);
}

}  // namespace
}  // namespace sooth
