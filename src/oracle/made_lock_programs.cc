#include "oracle/made_lock_programs.h"

#include <algorithm>
#include <optional>

#include "oracle/must_order.h"
#include "oracle/random.h"

namespace sooth::oracle {
namespace {

constexpr std::uint64_t kWords = 0x100, kSemaphore = 0x200, kData = 0x300;
constexpr std::size_t kMostEvents = 18;

enum class Step : std::uint8_t { kTake, kLookAndTake, kGive, kWait, kPost, kCount, kLoad, kRead, kWrite };

struct Scripted {
  Step step{};
  std::uint64_t object = 0;
};

class Simulation {
 public:
  explicit Simulation(std::uint64_t seed) : random_(seed) {
    const std::uint32_t threads = random_.percent(80) ? 2 : 3;
    for (std::uint32_t t = 0; t < threads; ++t) {
      scripts_.push_back(script());
    }
    semaphore_ = 1;
  }

  MadeLockRun run() {
    const bool forked = random_.percent(50);
    const auto main = static_cast<std::uint32_t>(scripts_.size());
    if (random_.percent(30)) {
      record(forked ? main : 0, random_.percent(50) ? Op::kWrite : Op::kAtomicStore, kWords, 0);
    }
    for (std::uint32_t t = 0; forked && t < scripts_.size(); ++t) {
      add({.object = t, .thread = ThreadId{main}, .op = Op::kFork}, {});
    }
    next_.resize(scripts_.size());
    looked_.resize(scripts_.size());
    for (std::size_t stuck = 0; run_.events.size() < kMostEvents && stuck < 8;) {
      const std::uint32_t t = random_.between(0, main - 1);
      stuck = next_[t] < scripts_[t].size() && step(t, scripts_[t][next_[t]]) ? 0 : stuck + 1;
    }
    return std::move(run_);
  }

 private:
  std::vector<Scripted> script() {
    std::vector<Scripted> steps;
    const auto access = [&] {
      steps.push_back({random_.percent(70) ? Step::kWrite : Step::kRead, kData + 4 * random_.between(0, 1)});
    };
    while (steps.size() < 6) {
      const std::uint64_t word = kWords + 4 * (random_.percent(70) ? 0 : 1);
      const std::uint64_t kind = random_.between(0, 9);
      if (kind < 5) {
        steps.push_back({random_.percent(25) ? Step::kLookAndTake : Step::kTake, word});
        access();
        steps.push_back({Step::kGive, word});
      } else if (kind < 7) {
        steps.push_back({Step::kWait, kSemaphore});
        access();
        steps.push_back({Step::kPost, kSemaphore});
      } else if (kind == 7) {
        steps.push_back({random_.percent(50) ? Step::kCount : Step::kLoad, kWords + 8});
      } else {
        access();
      }
    }
    if (random_.percent(8)) {
      steps.erase(steps.begin() + random_.between(0, static_cast<std::uint32_t>(steps.size()) - 1));
    }
    return steps;
  }

  // Whether something happened.
  bool step(std::uint32_t t, const Scripted& scripted) {
    std::uint64_t& word = memory_[(scripted.object - kWords) / 4 % 3];
    switch (scripted.step) {
      case Step::kLookAndTake:
        if (!looked_[t]) {
          record(t, Op::kAtomicLoad, scripted.object, word);
          looked_[t] = word == 0;
          return true;
        }
        [[fallthrough]];
      case Step::kTake: return take(t, scripted.object, word);
      case Step::kGive:
        word = 0;
        record(t, Op::kAtomicStore, scripted.object, 0);
        break;
      case Step::kWait:
        if (semaphore_ == 0) {
          return false;
        }
        --semaphore_;
        add({.object = kSemaphore, .thread = ThreadId{t}, .op = Op::kSemWait}, {});
        break;
      case Step::kPost:
        ++semaphore_;
        add({.object = kSemaphore, .thread = ThreadId{t}, .op = Op::kSemPost}, {});
        break;
      case Step::kCount: record(t, Op::kAtomicRmw, scripted.object, word++); break;
      case Step::kLoad: record(t, Op::kAtomicLoad, scripted.object, word); break;
      case Step::kRead:
      case Step::kWrite: {
        std::uint64_t& data = data_[(scripted.object - kData) / 4];
        const bool writes = scripted.step == Step::kWrite;
        data = writes ? random_.between(0, 1) : data;
        record(t, writes ? Op::kWrite : Op::kRead, scripted.object, data);
        break;
      }
    }
    looked_[t] = false;
    ++next_[t];
    return true;
  }

  // An exchange, or a compare-exchange, which is a load when it fails.
  bool take(std::uint32_t t, std::uint64_t object, std::uint64_t& word) {
    const bool fails = word != 0;
    record(t, fails && random_.percent(60) ? Op::kAtomicLoad : Op::kAtomicRmw, object, word);
    word = 1;
    looked_[t] = fails && looked_[t];
    next_[t] += fails ? 0 : 1;
    return true;
  }

  void record(std::uint32_t t, Op op, std::uint64_t object, std::uint64_t value) {
    const MemoryOrder order = is_atomic(op) ? MemoryOrder::kSeqCst : MemoryOrder::kNotAtomic;
    add({.object = object, .thread = ThreadId{t}, .size = 4, .op = op, .order = order}, {value, 0, 4});
  }
  void add(Event e, Value value) {
    e.site = SiteId{static_cast<std::uint32_t>(run_.events.size())};
    run_.events.push_back(e);
    run_.values.push_back(value);
  }

  Random random_;
  std::vector<std::vector<Scripted>> scripts_;
  std::vector<std::size_t> next_;
  std::vector<bool> looked_;
  std::uint64_t memory_[3] = {0, 0, 0};
  std::uint64_t data_[2] = {0, 0};
  std::uint64_t semaphore_ = 0;
  MadeLockRun run_;
};

}  // namespace

MadeLockRun made_lock_run(std::uint64_t seed) { return Simulation(seed).run(); }

bool excludes(const MadeLockRun& run, std::uint64_t address) {
  const auto is_here = [&](Index i) { return is_access(run.events[i].op) && run.events[i].object == address; };
  std::optional<std::uint64_t> free;
  std::vector<Index> takes, frees;  // frees: writes that leave the value, as far as that is on record
  std::optional<Index> latest;      // write
  for (Index i = 0; i < run.events.size(); ++i) {
    if (!is_here(i)) {
      continue;
    }
    const Op op = run.events[i].op;
    const std::uint64_t value = run.values[i].low;
    if (op == Op::kAtomicRmw) {
      free = free.value_or(value);
    }
    latest = is_write(op) ? i : latest;
  }
  if (!free.has_value()) {
    return false;
  }
  latest.reset();
  for (Index i = 0; i < run.events.size(); ++i) {
    if (!is_here(i)) {
      continue;
    }
    const Op op = run.events[i].op;
    const bool is_free = run.values[i].low == *free;
    if (op == Op::kAtomicRmw && is_free) {
      takes.push_back(i);
    }
    // Of what an rmw leaves, who reads it tells.
    if (is_read(op) && is_free && latest.has_value() && run.events[*latest].op == Op::kAtomicRmw) {
      frees.push_back(*latest);
    }
    if (is_write(op) && op != Op::kAtomicRmw && is_free) {
      frees.push_back(i);
    }
    latest = is_write(op) ? i : latest;
  }
  const Relation hard = hard_order(run.events);
  const auto is_take = [&](Index i) { return std::find(takes.begin(), takes.end(), i) != takes.end(); };
  return std::none_of(frees.begin(), frees.end(), is_take) && std::all_of(frees.begin(), frees.end(), [&](Index write) {
           // Given back by who has taken it, and not given it back since; or before everybody.
           bool holds = false;
           for (Index i = 0; i < write; ++i) {
             const bool own = run.events[i].thread == run.events[write].thread;
             holds = own && is_take(i)                                                ? true
                     : own && std::find(frees.begin(), frees.end(), i) != frees.end() ? false
                                                                                      : holds;
           }
           return holds ||
                  std::all_of(takes.begin(), takes.end(), [&](Index take) { return hard.ordered(write, take); });
         });
}

}  // namespace sooth::oracle
