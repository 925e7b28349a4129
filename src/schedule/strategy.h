// Who runs next, when one thread runs at a time: a function of the seed, of what was decided before and of who is able
// to run.
//
// The scheduler in the run time library asks, and so do tests and tools that want the same answers; so this is
// freestanding: no allocation, no libstdc++, no system call. Time, addresses and identities of threads play no part,
// which makes a run repeatable as far as the program's own behaviour depends on its schedule only.
//
//   serial      In turn: a thread runs until it blocks, yields or has used up its quantum. The seed plays no part.
//   random      At every scheduling point each thread that can run is as likely as any other.
//   pct:D       Burckhardt, Kothari, Musuvathi, Nagarakatte: A Randomized Scheduler with Probabilistic Guarantees of Finding
//   pct:D:K     Bugs, ASPLOS 2010, section 3.2. Threads get random priorities and the highest that can run does; at D-1 steps, drawn
//               from the first K of the run, the thread about to take the step falls below all others. A bug that needs D
//               ordering constraints shows up in a run of n threads and at most K steps with probability 1/(n K^(D-1)) or more.
//   pos         Yuan, Yang, Gu: Partial Order Aware Concurrency Sampling, CAV 2018, Algorithm 2. What a thread is about to do has a
//               random priority, and the highest does happen; then whatever is in a race with it, that is at the same
//               object, and not both only look, gets a new one. So orders of what is independent do not crowd out the rest.
//   surw        Zhao, Wolff, Mathur, Roychoudhury: Selectively Uniform Concurrency Testing, ASPLOS 2025, Algorithm 1. A
//   surw:N,N@P  thread is drawn by how many events of interest it still has before it, and those of threads that it will
//               create; others wait in front of such events until it has done its next. If threads have as many as is said,
//               every interleaving of these events is as likely as any other. The numbers are those of threads in the
//               order in which they are created, with the number of their creator behind @ (0 if there is none);
//               threads without one count as 1. Events of interest are operations and accesses at selected sites.
//   rff         As pos, but with goals about who reads from whom, which hold threads back and put others first: see
//   rff:A>B,C!D reads_from.h. A to D are where the events are in the code, as offsets in their modules, in hexadecimal;
//               A>B is wanted, C!D is not. reads_from_fuzzer.h finds the goals.
//   first:N     As pct:1, but thread N, from 0 in the order in which they are created, is above all others; or below
//   last:N      them. Who knows what order was never seen can ask for it. Next to first:N comes thread 0, which creates it.
//
// A step is an operation or the end of a quantum (see SchedulingPoint), while the program has more than one thread. K
// is an estimate of their number. Who knows it, from a run before, says so. Otherwise the seed draws it, as a power of
// two from 2^4 to 2^20, each as likely: for every program in that range one draw in 17 is right to a factor of two,
// which costs the guarantee a factor of at most 17 * 2^(D-1) and makes it hold without a run before.
//
// Every strategy is fair, so that a program that waits in a loop ends. A thread that yields says that it waits for
// others: `random` takes another then, `pct` puts it below all others. `pct` does the same with a thread that has run
// for kPatience quanta since that last happened; runs without either are those of the paper.
#pragma once

#include <cstddef>
#include <cstdint>

#include "schedule/random.h"
#include "schedule/reads_from.h"

namespace sooth {

enum class StrategyKind : std::uint8_t { kSerial, kRandom, kPct, kPos, kSurw, kRff };

inline constexpr std::uint32_t kMaxPctDepth = 32;
inline constexpr std::uint32_t kMaxCounted = 64;

// Of kSurw: what is known of a thread.
struct EventCount {
  std::uint64_t events = 0;
  std::uint32_t parent = 0;  // number of who creates it
};

struct StrategySpec {
  StrategyKind kind = StrategyKind::kSerial;
  std::uint32_t depth = 1;    // of kPct: 1 to kMaxPctDepth
  std::uint64_t steps = 0;    // of kPct: the estimate K; 0: the seed draws it
  std::uint32_t placed = 0;   // of kPct: 1 + the number of the thread that is above all others, or below; 0: none
  bool is_last = false;       // ... below
  std::uint32_t counted = 0;  // of kSurw: threads whose events are known
  EventCount counts[kMaxCounted] = {};
  std::uint32_t goal_count = 0;  // of kRff
  ReadsFromGoal goals[kMaxGoals] = {};
};

// "serial", "random", "pct:3", "pct:3:1000", "pos", "surw", "surw:20,5,5@1", "rff", "rff:1a40>1a58", "first:2", "last:0".
// False, with `spec` as it was, for anything else.
constexpr bool parse_strategy(const char* text, StrategySpec& spec);

// Why a decision is due.
enum class SchedulingPoint : std::uint8_t {
  kOperation,  // the running thread is about to synchronise
  kQuantum,    // it has used up what grant() gave it
  kYield,      // it waits for what another thread does, without blocking
  kBlocked,    // it cannot go on: it blocks, has ended or is in a call that nobody sees
};

// What a strategy remembers of a thread. Kept by the caller, from admit() to dismiss().
struct Standing {
  std::uint64_t priority = 0;
  std::uint64_t spent = 0;   // accesses, since it last fell below all others
  std::uint64_t left = 0;    // of kSurw: events before it
  std::uint32_t number = 0;  // of the thread, from 1 in the order of admit()
  // What it is about to do; the caller says so in front of choose().
  std::uint64_t object = 0;  // 0: nothing that anybody could be in a race with
  bool writes = false;
  bool is_event = false;    // of interest
  std::uint64_t place = 0;  // of kRff: offset in its module; 0: nobody knows
};

// Orders of the two can tell.
constexpr bool are_dependent(const Standing& a, const Standing& b) {
  return a.object != 0 && a.object == b.object && (a.writes || b.writes);
}

// The decisions of one run. Not thread safe.
class Strategy {
 public:
  // Quanta that a thread under `pct` may use up before others get a chance, whatever their priority.
  static constexpr std::uint64_t kPatience = 16;

  constexpr Strategy() = default;
  // `quantum`: accesses a thread makes, at most, from one scheduling point to the next; at least 1.
  constexpr Strategy(const StrategySpec& spec, std::uint64_t seed, std::uint32_t quantum);

  // Another thread: it may be chosen from now on.
  constexpr void admit(Standing& thread);
  constexpr void dismiss() { --threads_; }

  // Who has the turn from here on. `ready` is a list, linked by `next`, of those that can run besides `running`, in the
  // order in which they became ready; each has a `standing`. `running` is nullptr at kBlocked and only there. The
  // result is one of them, nullptr if there is none. Takes time in proportion to the list, but not for `serial`.
  template <typename Entry>
  constexpr Entry* choose(Entry* ready, Entry* running, SchedulingPoint point);

  // The next quantum of the thread, in accesses. `serial` gives the whole one. The others draw from all scales up to
  // it, so that threads that do not synchronise meet anywhere too: a power of two, then a number from there up to the
  // next.
  constexpr std::uint32_t grant(Standing& thread);

  // One of so many for whom nobody's order is promised; `serial`: the first.
  constexpr std::uint32_t draw(std::uint32_t count) {
    return spec_.kind == StrategyKind::kSerial ? 0 : static_cast<std::uint32_t>(random_.below(count));
  }

  // Of kRff: something happened that has an order.
  constexpr void observe(const GuidedEvent& event) { guide_.observe(event); }
  constexpr bool has_goals() const { return !guide_.is_empty(); }

  constexpr std::uint64_t steps() const { return steps_; }  // so far, under `pct`

 private:
  // Priorities of pct. Above: as the thread was admitted; then those of change points; at the bottom who fell last is
  // lowest.
  static constexpr std::uint64_t kAdmitted = std::uint64_t{1} << 63;
  static constexpr std::uint64_t kChanged = std::uint64_t{1} << 62;

  template <typename Entry>
  constexpr Entry* choose_randomly(Entry* ready, Entry* running, SchedulingPoint point);
  template <typename Entry>
  constexpr Entry* choose_by_partial_order(Entry* ready, Entry* running, SchedulingPoint point);
  template <typename Entry>
  constexpr Entry* choose_selectively(Entry* ready, Entry* running, SchedulingPoint point);
  constexpr void count_on(Standing& thread);
  constexpr void take_step(Standing& thread);
  constexpr void fall(Standing& thread);

  // What a goal wants of the thread goes before its priority, unless it has fallen below all others.
  constexpr Guidance guidance_of(const Standing& thread);

  StrategySpec spec_;
  ReadsFromGuide guide_;
  SeededRandom random_;
  std::uint32_t quantum_ = 1;
  std::uint32_t threads_ = 0;
  std::uint32_t admitted_ = 0;  // in all
  std::uint64_t steps_ = 0;
  std::uint64_t lowest_ = kChanged;
  std::uint32_t intended_ = 0;                 // of kSurw: number of the thread whose event is next; 0: nobody's
  std::uint64_t to_create_[kMaxCounted] = {};  // ... events of threads that thread i has not created yet
  // [i], for 1 <= i < depth: the step at which a thread gets the i-th lowest priority.
  std::uint64_t changes_[kMaxPctDepth] = {};
};

namespace strategy_detail {

constexpr bool skip_word(const char*& text, const char* word) {
  const char* at = text;
  for (; *word != 0; ++word, ++at) {
    if (*at != *word) {
      return false;
    }
  }
  text = at;
  return true;
}

// A number from 1 to `limit`, in digits.
constexpr bool skip_number(const char*& text, std::uint64_t limit, std::uint64_t& number) {
  number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    number = number * 10 + static_cast<std::uint64_t>(*text - '0');
    if (number > limit) {
      return false;
    }
  }
  return number != 0;
}

// "20,5@0,7@1", a number of events for each thread and who creates it. Creators come first.
constexpr bool skip_counts(const char*& text, StrategySpec& spec) {
  constexpr std::uint64_t kMaxEvents = std::uint64_t{1} << 40;
  do {
    if (spec.counted == kMaxCounted) {
      return false;
    }
    EventCount& count = spec.counts[spec.counted];
    const bool is_none = text[0] == '0' && skip_word(text, "0");
    std::uint64_t parent = 0;
    if ((!is_none && !skip_number(text, kMaxEvents, count.events)) ||
        (skip_word(text, "@") && !skip_word(text, "0") && !skip_number(text, kMaxCounted, parent)) ||
        (parent != 0 && parent >= spec.counted)) {
      return false;
    }
    count.parent = static_cast<std::uint32_t>(parent);
    ++spec.counted;
  } while (skip_word(text, ","));
  return true;
}

// A number without a sign, in hexadecimal.
constexpr bool skip_hexadecimal(const char*& text, std::uint64_t& number) {
  const char* const begin = text;
  for (number = 0;; ++text) {
    const bool is_digit = *text >= '0' && *text <= '9', is_letter = *text >= 'a' && *text <= 'f';
    if ((!is_digit && !is_letter) || text - begin == 16) {
      return text != begin;
    }
    number = number << 4 | static_cast<std::uint64_t>(is_digit ? *text - '0' : *text - 'a' + 10);
  }
}

// "1a40>1a58,1b00!1c00".
constexpr bool skip_goals(const char*& text, StrategySpec& spec) {
  do {
    if (spec.goal_count == kMaxGoals) {
      return false;
    }
    ReadsFromGoal& goal = spec.goals[spec.goal_count++];
    if (!skip_hexadecimal(text, goal.first) || !((goal.is_wanted = skip_word(text, ">")) || skip_word(text, "!")) ||
        !skip_hexadecimal(text, goal.second)) {
      return false;
    }
  } while (skip_word(text, ","));
  return true;
}

}  // namespace strategy_detail

constexpr bool parse_strategy(const char* text, StrategySpec& spec) {
  using strategy_detail::skip_number;
  using strategy_detail::skip_word;
  constexpr std::uint64_t kMaxSteps = std::uint64_t{1} << 48;
  constexpr std::uint64_t kMaxThread = 1'000'000;
  StrategySpec parsed;
  if (skip_word(text, "random")) {
    parsed.kind = StrategyKind::kRandom;
  } else if (skip_word(text, "pos")) {
    parsed.kind = StrategyKind::kPos;
  } else if (skip_word(text, "surw")) {
    parsed.kind = StrategyKind::kSurw;
    if (skip_word(text, ":") && !strategy_detail::skip_counts(text, parsed)) {
      return false;
    }
  } else if (skip_word(text, "rff")) {
    parsed.kind = StrategyKind::kRff;
    if (skip_word(text, ":") && !strategy_detail::skip_goals(text, parsed)) {
      return false;
    }
  } else if (skip_word(text, "pct:")) {
    std::uint64_t depth = 0;
    parsed.kind = StrategyKind::kPct;
    if (!skip_number(text, kMaxPctDepth, depth) ||
        (skip_word(text, ":") && !skip_number(text, kMaxSteps, parsed.steps))) {
      return false;
    }
    parsed.depth = static_cast<std::uint32_t>(depth);
  } else if (skip_word(text, "first:") || (parsed.is_last = skip_word(text, "last:"))) {
    std::uint64_t number = 0;
    const bool is_zero = text[0] == '0' && skip_word(text, "0");
    parsed.kind = StrategyKind::kPct;
    parsed.steps = 1;
    if (!is_zero && !skip_number(text, kMaxThread, number)) {
      return false;
    }
    parsed.placed = static_cast<std::uint32_t>(number) + 1;
  } else if (!skip_word(text, "serial")) {
    return false;
  }
  if (*text != 0) {
    return false;
  }
  spec = parsed;
  return true;
}

constexpr Strategy::Strategy(const StrategySpec& spec, std::uint64_t seed, std::uint32_t quantum)
    : spec_(spec), random_(seed), quantum_(quantum) {
  constexpr std::uint64_t kLeast = 4, kMost = 20;
  if (spec_.kind == StrategyKind::kPct && spec_.steps == 0) {
    spec_.steps = std::uint64_t{1} << (kLeast + random_.below(kMost - kLeast + 1));
  }
  for (std::uint32_t i = 1; i < spec_.depth; ++i) {
    changes_[i] = 1 + random_.below(spec_.steps);
  }
  for (std::uint32_t i = 0; i < spec_.goal_count; ++i) {
    guide_.add(spec_.goals[i]);
  }
  for (std::uint32_t i = spec_.counted; i > 1;) {
    --i;
    to_create_[spec_.counts[i].parent] += spec_.counts[i].events + to_create_[i];
  }
}

constexpr void Strategy::admit(Standing& thread) {
  ++threads_;
  thread = Standing{};
  thread.number = ++admitted_;
  if (spec_.kind == StrategyKind::kSurw) {
    count_on(thread);
  }
  if (spec_.kind == StrategyKind::kPct) {
    thread.priority = kAdmitted | random_.next();
    if (admitted_ == spec_.placed) {
      thread.priority = spec_.is_last ? kAdmitted : ~std::uint64_t{0};
    } else if (admitted_ == 1 && spec_.placed != 0 && !spec_.is_last) {
      thread.priority =
          ~std::uint64_t{1};  // mostly the one that creates it: else others go first while it is not there
    }
  }
}

template <typename Entry>
constexpr Entry* Strategy::choose(Entry* ready, Entry* running, SchedulingPoint point) {
  switch (spec_.kind) {
    case StrategyKind::kSerial: return ready == nullptr || point == SchedulingPoint::kOperation ? running : ready;
    case StrategyKind::kRandom: return choose_randomly(ready, running, point);
    case StrategyKind::kPos:
    case StrategyKind::kRff: return choose_by_partial_order(ready, running, point);
    case StrategyKind::kSurw: return choose_selectively(ready, running, point);
    case StrategyKind::kPct: break;
  }
  if (running != nullptr) {
    if (point != SchedulingPoint::kYield) {
      take_step(running->standing);
    }
    if (ready == nullptr) {
      running->standing.spent = 0;  // it kept nobody from running
    } else if (point == SchedulingPoint::kYield || running->standing.spent > kPatience * quantum_) {
      fall(running->standing);
    }
  }
  Entry* best = running;
  for (Entry* entry = ready; entry != nullptr; entry = entry->next) {
    if (best == nullptr || entry->standing.priority > best->standing.priority) {
      best = entry;
    }
  }
  return best;
}

template <typename Entry>
constexpr Entry* Strategy::choose_randomly(Entry* ready, Entry* running, SchedulingPoint point) {
  std::uint64_t count = 0;
  for (Entry* entry = ready; entry != nullptr; entry = entry->next) {
    ++count;
  }
  if (count == 0) {
    return running;
  }
  const bool may_stay = running != nullptr && point != SchedulingPoint::kYield;
  std::uint64_t chosen = random_.below(may_stay ? count + 1 : count);
  if (chosen == count) {
    return running;
  }
  for (; chosen != 0; --chosen) {
    ready = ready->next;
  }
  return ready;
}

constexpr Guidance Strategy::guidance_of(const Standing& thread) {
  return guide_.is_empty() ? Guidance::kNeither
                           : guide_.ask({thread.number, thread.place, thread.object, thread.writes});
}

// Priority 0: not drawn yet.
template <typename Entry>
constexpr Entry* Strategy::choose_by_partial_order(Entry* ready, Entry* running, SchedulingPoint point) {
  if (running != nullptr) {
    running->standing.priority = 0;  // it is about to do something else
    if (ready == nullptr) {
      running->standing.spent = 0;
    } else if (point == SchedulingPoint::kYield || running->standing.spent > kPatience * quantum_) {
      fall(running->standing);
    }
  }
  Entry* best = nullptr;
  Guidance for_best = Guidance::kHoldBack;
  const auto consider = [&](Entry* entry) {
    if (entry->standing.priority == 0) {
      entry->standing.priority = kAdmitted | random_.next();
    }
    const Guidance guidance = guidance_of(entry->standing);
    const bool has_fallen = entry->standing.priority < kAdmitted;
    const bool is_better = best == nullptr || (guidance == for_best || has_fallen || best->standing.priority < kAdmitted
                                                   ? entry->standing.priority > best->standing.priority
                                                   : guidance > for_best);
    if (is_better) {
      best = entry;
      for_best = guidance;
    }
  };
  if (running != nullptr) {
    consider(running);
  }
  for (Entry* entry = ready; entry != nullptr; entry = entry->next) {
    consider(entry);
  }
  if (best == nullptr) {
    return nullptr;
  }
  for (Entry* entry = ready; entry != nullptr; entry = entry->next) {
    if (are_dependent(entry->standing, best->standing)) {
      entry->standing.priority = 0;
    }
  }
  if (running != nullptr && are_dependent(running->standing, best->standing)) {
    running->standing.priority = 0;
  }
  best->standing.priority = 0;
  return best;
}

template <typename Entry>
constexpr Entry* Strategy::choose_selectively(Entry* ready, Entry* running, SchedulingPoint point) {
  if (ready == nullptr) {
    intended_ = 0;
    if (running != nullptr) {
      running->standing.spent = 0;
      running->standing.left -= running->standing.is_event && running->standing.left > 0 ? 1 : 0;
    }
    return running;
  }
  // Who waits for others without blocking is passed over; and who keeps others waiting for too long.
  Entry* passed_over = nullptr;
  if (running != nullptr && (point == SchedulingPoint::kYield || running->standing.spent > kPatience * quantum_)) {
    passed_over = running;
    running->standing.spent = 0;
    intended_ = 0;
  }
  const auto weight_of = [this](const Entry* entry) {
    const std::uint32_t i = entry->standing.number - 1;
    const std::uint64_t weight = entry->standing.left + (i < spec_.counted ? to_create_[i] : 0);
    return weight == 0 ? 1 : weight;
  };
  Entry* chosen = nullptr;
  while (chosen == nullptr) {
    std::uint64_t weights = 0, able = 0;
    const auto look_at = [&](Entry* entry) {
      if (entry != nullptr && entry != passed_over) {
        weights += weight_of(entry);
        able += !entry->standing.is_event || entry->standing.number == intended_ ? 1 : 0;
      }
    };
    look_at(running);
    for (Entry* entry = ready; entry != nullptr; entry = entry->next) {
      look_at(entry);
    }
    // Nobody is intended, or who is cannot go on, and all others are in front of events.
    const bool draws = intended_ == 0 || able == 0;
    std::uint64_t drawn = random_.below(draws ? weights : able);
    const auto is_drawn = [&](Entry* entry) {
      if (entry == nullptr || entry == passed_over) {
        return false;
      }
      const bool counts = draws || !entry->standing.is_event || entry->standing.number == intended_;
      const std::uint64_t weight = !counts ? 0 : draws ? weight_of(entry) : 1;
      const bool hit = drawn < weight;
      drawn -= hit ? 0 : weight;
      return hit;
    };
    Entry* found = is_drawn(running) ? running : nullptr;
    for (Entry* entry = ready; entry != nullptr && found == nullptr; entry = entry->next) {
      found = is_drawn(entry) ? entry : nullptr;
    }
    if (draws) {
      intended_ = found->standing.number;
    } else {
      chosen = found;
    }
  }
  if (chosen->standing.is_event) {
    intended_ = 0;
    chosen->standing.left -= chosen->standing.left > 0 ? 1 : 0;
  }
  return chosen;
}

// The events of a new thread are those of its creator no more.
constexpr void Strategy::count_on(Standing& thread) {
  const std::uint32_t i = thread.number - 1;
  if (i >= spec_.counted) {
    return;
  }
  thread.left = spec_.counts[i].events;
  if (i != 0) {
    to_create_[spec_.counts[i].parent] -= spec_.counts[i].events + to_create_[i];
  }
}

constexpr std::uint32_t Strategy::grant(Standing& thread) {
  std::uint64_t quantum = quantum_;
  if (spec_.kind != StrategyKind::kSerial) {
    std::uint32_t scales = 0;
    while (quantum_ >> scales > 1) {
      ++scales;
    }
    const std::uint64_t scale = std::uint64_t{1} << random_.below(scales + 1);
    quantum = scale + random_.below(scale);
    if (quantum > quantum_) {
      quantum = quantum_;
    }
  }
  thread.spent += quantum;
  return static_cast<std::uint32_t>(quantum);
}

constexpr void Strategy::take_step(Standing& thread) {
  if (threads_ < 2) {
    return;
  }
  ++steps_;
  for (std::uint32_t i = 1; i < spec_.depth; ++i) {
    if (changes_[i] == steps_) {
      thread.priority = kChanged + i;
      break;
    }
  }
}

constexpr void Strategy::fall(Standing& thread) {
  thread.priority = --lowest_;
  thread.spent = 0;
}

}  // namespace sooth
