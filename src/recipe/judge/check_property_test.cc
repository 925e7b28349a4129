// The judge against the definition of a run, on random tiny programs and witnesses that are right, nearly right or
// damaged.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/test_environment.h"
#include "oracle/random.h"
#include "recipe/judge/check.h"
#include "recipe/judge/mini_program.h"
#include "recipe/judge/mini_random.h"
#include "recipe/judge/recorded_run.h"

namespace sooth {
namespace {

using mini::Action;
using mini::Local;
using mini::Machine;
using mini::Statement;
using oracle::Random;
using Generator = mini::Generator<Random>;

// Another run of the program, as long as threads follow their recorded paths, or one leaves it at the end.
class Wanderer {
 public:
  Wanderer(const mini::Program& program, const mini::Recording& recording, Random& random)
      : recording_(recording), random_(random), machine_(program), threads_(program.threads.size()) {}

  std::optional<ValueWitness> find() {
    for (int steps = 0; steps < 40; ++steps) {
      std::vector<std::uint32_t> ready;
      for (std::uint32_t t = 0; t < threads_.size(); ++t) {
        look(t);
        if (threads_[t].action && !threads_[t].stuck && machine_.is_enabled(t)) {
          ready.push_back(t);
        }
      }
      if (random_.percent(40) && conflict()) {
        return witness_;
      }
      if (ready.empty()) {
        return conflict() ? std::optional(witness_) : std::nullopt;
      }
      step(random_.pick(ready));
    }
    return std::nullopt;
  }

 private:
  struct Thread {
    std::optional<Action> action;
    std::size_t events = 0;
    std::size_t locals = 0;
    std::optional<std::uint32_t> left;  // at this branch
    bool stuck = false;
  };

  void look(std::uint32_t t) {
    std::vector<Local> locals;
    Thread& thread = threads_[t];
    thread.action = machine_.next(t, locals);
    for (const Local& local : locals) {
      const auto& recorded = recording_.locals[t];
      if (thread.left) {
        thread.stuck = thread.stuck || !local.is_branch;
      } else if (thread.locals < recorded.size() && recorded[thread.locals].second == local) {
        ++thread.locals;
      } else if (local.is_branch && !thread.stuck) {
        thread.left = local.instruction;
      } else {
        thread.stuck = true;
      }
    }
  }

  DetourEvent detour(std::uint32_t t) const {
    const Action& action = *threads_[t].action;
    return {ThreadId{t},
            {0, t, action.instruction},
            action.op,
            action.object,
            is_access(action.op) ? 8u : 0u,
            witness_.order.size(),
            {}};
  }

  void step(std::uint32_t t) {
    Thread& thread = threads_[t];
    if (thread.left) {
      witness_.detour.push_back(detour(t));
      machine_.perform(t);
      return;
    }
    const EventId id{recording_.events[t][thread.events++]};
    const bool reads = thread.action->op == Op::kRead;
    const std::int64_t value = machine_.perform(t);
    witness_.order.push_back(id);
    if (reads && static_cast<std::uint64_t>(value) != recording_.trace.values[raw(id)].low) {
      witness_.reads.push_back({id, static_cast<std::uint64_t>(value)});
    }
  }

  bool conflict() {
    for (std::uint32_t a = 0; a < threads_.size(); ++a) {
      for (std::uint32_t b = a + 1; b < threads_.size(); ++b) {
        const std::optional<Action>& x = threads_[a].action;
        const std::optional<Action>& y = threads_[b].action;
        if (!x || !y || threads_[a].stuck || threads_[b].stuck || !is_access(x->op) || !is_access(y->op) ||
            x->object != y->object || (!is_write(x->op) && !is_write(y->op))) {
          continue;
        }
        // The steps of threads that are not next do not belong to the witness.
        const bool foreign = std::any_of(witness_.detour.begin(), witness_.detour.end(), [&](const DetourEvent& step) {
          return raw(step.thread) != a && raw(step.thread) != b;
        });
        if (foreign) {
          continue;
        }
        witness_.next[0] = next(a);
        witness_.next[1] = next(b);
        return true;
      }
    }
    return false;
  }

  NextAccess next(std::uint32_t t) const {
    NextAccess next;
    next.thread = ThreadId{t};
    if (threads_[t].left) {
      next.unexecuted = detour(t);
      next.branch = InstructionRef{0, t, *threads_[t].left};
    } else {
      next.event = EventId{recording_.events[t][threads_[t].events]};
    }
    return next;
  }

  const mini::Recording& recording_;
  Random& random_;
  Machine machine_;
  std::vector<Thread> threads_;
  ValueWitness witness_;
};

// Changes the witness in a way that the referee understands as well.
void mutate(ValueWitness& witness, const mini::Recording& recording, Random& random) {
  const auto events = static_cast<std::uint32_t>(recording.trace.events.size());
  auto& order = witness.order;
  switch (random.below(7)) {
    case 0:
      if (order.size() >= 2) {
        const std::uint32_t at = random.below(order.size() - 1);
        std::swap(order[at], order[at + 1]);
      }
      break;
    case 1:
      if (!order.empty()) {
        order.erase(order.begin() + random.below(order.size()));
      }
      break;
    case 2: order.insert(order.begin() + random.below(order.size() + 1), EventId{random.below(events)}); break;
    case 3:
      if (order.size() >= 2) {
        const EventId moved = order.back();
        order.pop_back();
        order.insert(order.begin() + random.below(order.size()), moved);
      }
      break;
    case 4:
      if (!witness.reads.empty()) {
        random.pick(witness.reads).value ^= 1;
      }
      break;
    case 5: {
      NextAccess& next = witness.next[random.below(2)];
      if (next.unexecuted) {
        next.unexecuted->at.instruction += random.below(3);
        next.unexecuted->object = mini::address_of(random.below(3));
      } else {
        next.event = EventId{random.below(events)};
        next.thread = recording.trace.events[raw(*next.event)].thread;
      }
      break;
    }
    default:
      if (!witness.detour.empty()) {
        witness.detour.erase(witness.detour.begin() + random.below(witness.detour.size()));
      }
      break;
  }
  // Claims about events that are gone, and places behind the end, are not what this is about.
  std::erase_if(witness.reads, [&](const ReadValue& read) {
    return std::find(order.begin(), order.end(), read.event) == order.end();
  });
  for (DetourEvent& step : witness.detour) {
    step.after = std::min<std::uint64_t>(step.after, order.size());
  }
}

std::string text(const ValueWitness& witness) {
  std::string all = "order";
  for (const EventId id : witness.order) {
    all += " " + std::to_string(raw(id));
  }
  for (const DetourEvent& step : witness.detour) {
    all += "; T" + std::to_string(raw(step.thread)) + " beside at " + std::to_string(step.at.instruction) + " after " +
           std::to_string(step.after);
  }
  for (const NextAccess& next : witness.next) {
    all += "; next T" + std::to_string(raw(next.thread)) +
           (next.event ? " event " + std::to_string(raw(*next.event))
                       : " beside at " + std::to_string(next.unexecuted->at.instruction));
  }
  return all;
}

// Whether the referee can be asked: events in the order do not come next as well.
bool is_sensible(const ValueWitness& witness) {
  for (const NextAccess& next : witness.next) {
    if (next.event && std::find(witness.order.begin(), witness.order.end(), *next.event) != witness.order.end()) {
      return false;
    }
  }
  return witness.next[0].thread != witness.next[1].thread;
}

TEST(ValueJudgeProperty, AgreesWithTheDefinitionOfARun) {
  const std::uint64_t first = from_environment("SOOTH_SEED", 1);
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000);
  std::uint64_t accepted = 0;
  std::uint64_t rejected = 0;
  std::uint64_t beside = 0;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    Random random(seed);
    mini::Program program = Generator(random).program();
    const DeepModuleText module = program.finish();
    const Result<DeepProgram> code = DeepProgram::parse(std::span(&module, 1));
    ASSERT_TRUE(code.ok()) << code.status().message() << "\n" << module.text;
    const mini::Recording recording = mini::record(program, [&](std::size_t n) { return random.below(n); });
    const TraceView view = recording.view();
    const Result<ValueJudge> judge = ValueJudge::make(*code, view);
    ASSERT_TRUE(judge.ok());
    for (std::uint32_t t = 0; t < recording.events.size(); ++t) {
      if (!recording.events[t].empty()) {
        ASSERT_EQ(judge->recorded_run().extent(t).why, "") << "seed " << seed << "\n" << module.text;
      }
    }
    for (int tries = 0; tries < 8; ++tries) {
      std::optional<ValueWitness> witness = Wanderer(program, recording, random).find();
      if (!witness) {
        continue;
      }
      for (int changes = 0; changes < 3; ++changes) {
        if (is_sensible(*witness)) {
          const Status status = judge->check(*witness);
          const std::optional<std::string> wrong = mini::refute(program, recording, *witness);
          ASSERT_EQ(status.ok(), !wrong) << "seed " << seed << ": judge: " << status.message()
                                         << " / referee: " << wrong.value_or("right") << "\n"
                                         << text(*witness) << "\n"
                                         << module.text;
          ASSERT_TRUE(changes != 0 || status.ok()) << "seed " << seed << ": " << status.message();
          ++(status.ok() ? accepted : rejected);
          beside += status.ok() && (witness->next[0].unexecuted || witness->next[1].unexecuted) ? 1 : 0;
        }
        mutate(*witness, recording, random);
      }
    }
  }
  RecordProperty("accepted", std::to_string(accepted));
  RecordProperty("rejected", std::to_string(rejected));
  if (cases >= 1000) {
    EXPECT_GT(accepted, cases / 2);
    EXPECT_GT(rejected, cases / 2);
    EXPECT_GT(beside, cases / 40);
  }
}

// Whatever the witness, the values and the records say: an answer, and no crash.
TEST(ValueJudgeProperty, SurvivesDamage) {
  const std::uint64_t first = from_environment("SOOTH_SEED", 1);
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000) / 4;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    Random random(seed);
    mini::Program program = Generator(random).program();
    const DeepModuleText module = program.finish();
    const Result<DeepProgram> code = DeepProgram::parse(std::span(&module, 1));
    ASSERT_TRUE(code.ok());
    mini::Recording recording = mini::record(program, [&](std::size_t n) { return random.below(n); });
    std::optional<ValueWitness> witness = Wanderer(program, recording, random).find();
    if (!witness) {
      continue;
    }
    MemoryTrace& trace = recording.trace;
    for (std::uint32_t i = random.below(4); i > 0 && !trace.deep.empty(); --i) {
      DeepRecord& record = random.pick(trace.deep);
      switch (random.below(5)) {
        case 0: record.kind = static_cast<DeepKind>(random.below(kDeepKindCount)); break;
        case 1: record.value = random.next(); break;
        case 2: record.function = random.below(5); break;
        case 3: record.id = random.below(20); break;
        default: trace.deep.erase(trace.deep.begin() + random.below(trace.deep.size())); break;
      }
    }
    for (std::uint32_t i = random.below(3); i > 0; --i) {
      random.pick(trace.values) = {random.next(), random.next(), static_cast<std::uint8_t>(random.below(17))};
    }
    for (std::uint32_t i = random.below(4); i > 0; --i) {
      switch (random.below(5)) {
        case 0: witness->order.push_back(EventId{random.below(40)}); break;
        case 1: witness->next[random.below(2)].thread = ThreadId{random.below(6)}; break;
        case 2: witness->next[random.below(2)].event = EventId{random.below(40)}; break;
        case 3:
          witness->detour.push_back({ThreadId{random.below(6)},
                                     {random.below(3), random.below(4), random.below(20)},
                                     static_cast<Op>(random.below(kOpCount)),
                                     random.next(),
                                     random.below(100),
                                     random.below(20),
                                     {}});
          break;
        default: witness->reads.push_back({EventId{random.below(40)}, random.next()}); break;
      }
    }
    static_cast<void>(check_value_witness(*code, recording.view(), trace.deep, *witness));
  }
}

}  // namespace
}  // namespace sooth
