#include "report/explain.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "report/describe.h"
#include "report/rung_reason.h"

namespace sooth {
namespace {

constexpr std::string_view kReaderMode = " (shared)";

struct HeldLock {
  std::string name;
  bool shared = false;
};

HeldLock parse_held(const std::string& text) {
  const bool shared = text.ends_with(kReaderMode);
  return {shared ? text.substr(0, text.size() - kReaderMode.size()) : text, shared};
}

std::string verb(const Access& access) {
  switch (access.op) {
    case Op::kRead:
    case Op::kAtomicLoad: return "reads";
    case Op::kFree: return "frees";
    case Op::kAtomicRmw: return "updates";
    default: return is_write(access.op) ? "writes" : "touches";
  }
}

std::string capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') {
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  }
  return text;
}

// "thread T1 writes 'x' at a.cc:12:3 holding mu"
std::string act(const Finding& finding, const Access& access, const std::string& what) {
  const std::string locks = with_locks(finding, access);
  return actor(access) + " " + verb(access) + " " + what + " at " + short_place(access.place()) +
         (locks.empty() ? "" : locks.substr(1));
}

// What the locks of both sides make of it.
std::string about_locks(const Access& a, const Access& b) {
  if (a.locks.empty() && b.locks.empty()) {
    return "No lock protects it.";
  }
  for (const std::string& mine : a.locks) {
    for (const std::string& theirs : b.locks) {
      const HeldLock x = parse_held(mine), y = parse_held(theirs);
      if (x.name == y.name && x.shared && y.shared) {
        return "Both hold " + printable(x.name) + ", but only for reading, which keeps nobody out.";
      }
      if (x.name == y.name) {
        return "";  // whoever claims it must explain it otherwise
      }
    }
  }
  return "They have no lock in common, so no lock keeps the two apart.";
}

// How the witness gets there.
std::string about_order(const WitnessSummary& witness) {
  if (witness.swaps.empty()) {
    return "In the recorded run they came one after the other, but only by chance: a checked reordering of the same "
           "events, in which every "
           "thread does what it did, brings both threads to their accesses at the same time.";
  }
  const SectionSwap& swap = witness.swaps.front();
  const std::string more = witness.swaps.size() > 1
                               ? " (and likewise for " +
                                     counted(witness.swaps.size() - 1, "other pair", "other pairs") +
                                     " of critical sections)"
                               : "";
  const auto name = [](const std::string& thread) { return thread.empty() ? "the other thread" : printable(thread); };
  return "In the recorded run " + name(swap.now_second.thread) + " happened to take " + printable(swap.lock) +
         " first, and that put one access "
         "before the other. Nothing in the program asks for that order: when " +
         name(swap.now_first.thread) + " takes it first" + more +
         ", both threads come to their accesses at the same time.";
}

std::string about_runs(const Finding& finding) {
  if (finding.rung < Rung::kConfirmed || !finding.replay.has_value()) {
    return "";
  }
  const ReplaySummary& replay = *finding.replay;
  const std::string reached = finding.kind == FindingKind::kDeadlock ? "ended in this deadlock" : "got there";
  std::string text = "A controlled run of the program " + reached;
  if (finding.rung == Rung::kHarmful && !replay.outcome.empty() && finding.kind != FindingKind::kDeadlock) {
    const std::string result = other_result(replay);
    text += result.empty() ? " and then did not end well: " + printable(replay.outcome) : " and then " + result;
  }
  return text + ".";
}

void add(std::string& text, const std::string& sentence) {
  text += (text.empty() || sentence.empty() ? "" : " ") + sentence;
}

std::string explain_race(const Finding& finding) {
  const Access& first = finding.accesses.front();
  const Access& second = finding.accesses.back();
  const std::string what = subject(finding);
  std::string text = capital(act(finding, first, what.empty() ? "the same memory" : what)) + ", and " +
                     act(finding, second, "it") + ".";
  add(text, is_from_trace(finding) ? about_locks(first, second) : "");
  const bool proven = finding.witness.has_value() && finding.witness->checked;
  // A run of its own may leave unordered what another one orders by its locks: the witness is of the latter, and so is
  // what is shown.
  if (finding.observed && !(proven && !finding.witness->swaps.empty())) {
    add(text, "Nothing else orders them in the recorded run either: which one comes first is left to chance.");
  } else if (proven) {
    add(text, about_order(*finding.witness));
  } else if (finding.rung == Rung::kSuspected) {
    add(text, "Whether another schedule can really bring the two together is not proven: this may be a false alarm.");
  }
  add(text, about_runs(finding));
  return text;
}

// A run that failed, and was seen to.
std::string explain_failure(const Finding& finding) {
  const Access& first = finding.accesses.front();
  std::string text;
  switch (finding.kind) {
    case FindingKind::kHang: text = "The program did not end."; break;
    case FindingKind::kDeadlock:
      text = waits_for_nobody(finding)
                 ? capital(actor(first)) + " waited for " + printable(lock_of(first)) + " at " +
                       short_place(first.place()) + ", and nobody was left who could have released it."
                 : "Every thread waited for another, and none could ever go on.";
      break;
    default:
      text = capital(actor(first)) + " ended the program at " + short_place(first.place()) + ": " +
             printable(finding.failure->outcome) + ".";
  }
  if (!finding.failure->message.empty()) {
    add(text, "It said: " + printable(finding.failure->message));
  }
  if (!finding.failure->after.empty()) {
    add(text, counted(finding.failure->after.size(), "race was", "races were") +
                  " seen to happen before that, and may be the cause: " + listed(finding.failure->after) + ".");
  }
  return text;
}

std::string explain_deadlock(const Finding& finding) {
  if (!is_cycle_of_locks(finding) && finding.failure.has_value()) {
    return explain_failure(finding);
  }
  std::string text;
  for (std::size_t i = 0; i < finding.accesses.size(); ++i) {
    const Access& access = finding.accesses[i];
    text += i == 0 ? "" : i + 1 == finding.accesses.size() ? ", and " : ", ";
    const std::string locks = with_locks(finding, access);
    text += actor(access) + " asks for " + printable(lock_of(access)) + " at " + short_place(access.place()) +
            (locks.empty() ? "" : locks.substr(1));
  }
  text = capital(text) + ".";
  add(text,
      finding.accesses.size() == 1
          ? "It holds that lock already, waits for itself, and can never go on."
          : "When all of them have got that far, each waits for a lock that the next one holds, and none can ever "
            "go on.");
  if (finding.rung == Rung::kSuspected) {
    add(text, "Whether all of them can get that far at once is not proven: this may be a false alarm.");
  }
  add(text, about_runs(finding));
  return text;
}

// What the rules of locks and threads say.
std::string rule_of(const Finding& finding) {
  const char* rule = "It breaks a rule of locks, threads, signals or the heap.";
  switch (finding.misuse.value_or(MisuseKind::kInvalidUse)) {
    case MisuseKind::kDoubleLock:
      rule = "The thread already holds this mutex, which is not re-entrant: the call blocks for ever or is undefined.";
      break;
    case MisuseKind::kUnlockUnlocked:
      rule = "Nobody holds this mutex, so there is nothing to unlock: the behaviour is undefined.";
      break;
    case MisuseKind::kUnlockWrongThread:
      rule = "Another thread holds this mutex, and only that one may unlock it.";
      break;
    case MisuseKind::kDestroyLocked:
      rule = "The mutex is destroyed while somebody holds it, who will unlock what is no longer there.";
      break;
    case MisuseKind::kInvalidUse: rule = "The mutex is not initialised, or was destroyed before."; break;
    case MisuseKind::kReadUnlockBad:
      rule = "The lock is held for writing, but released as if it were held for reading.";
      break;
    case MisuseKind::kReadLockBad:
      rule = "The thread holds this lock for writing and asks for it again for reading: it waits for itself.";
      break;
    case MisuseKind::kDestroy:
      rule =
          "Nothing orders the destruction, or the initialisation of what was not destroyed, behind the last use of the "
          "mutex by another thread, which may come later another time.";
      break;
    case MisuseKind::kSignalUnsafe:
      rule =
          "The handler calls a function that it may have interrupted, and that takes locks or keeps something between "
          "calls: it hangs, or damages what the function keeps.";
      break;
    case MisuseKind::kSignalErrno:
      rule =
          "The handler returns with another errno than it found: the code that it interrupts may look at errno just "
          "then.";
      break;
    case MisuseKind::kUseAfterFree:
      rule = "The memory was freed before, and may belong to somebody else by then.";
      break;
    case MisuseKind::kThreadLeak:
      rule = "The program ended without joining or detaching the thread that it created here.";
      break;
  }
  return rule;
}

std::string explain_misuse(const Finding& finding) {
  const Access& call = finding.accesses.back();
  return rule_of(finding) + " " + capital(actor(call)) + " did that in the recorded run at " +
         short_place(call.place()) + ".";
}

// "T1 and T2 do not", of those that do not hold the lock; empty when all of them do.
std::string who_does_not(const Finding& race, const std::string& lock) {
  std::vector<std::string> names;
  for (const Access& access : race.accesses) {
    const bool holds = std::any_of(access.locks.begin(), access.locks.end(),
                                   [&](const std::string& held) { return parse_held(held).name == lock; });
    if (!holds && std::find(names.begin(), names.end(), access.thread) == names.end()) {
      names.push_back(access.thread);
    }
  }
  return names.empty() ? "" : listed(names) + (names.size() == 1 ? " does not" : " do not");
}

std::string why_race(const Finding& finding) {
  const Access& first = finding.accesses.front();
  const Access& second = finding.accesses.back();
  const std::optional<LockHabit>& habit = finding.context.habit;
  if (habit.has_value() && habit->holding * 2 > habit->accesses) {
    if (const std::string others = who_does_not(finding, habit->lock); !others.empty()) {
      return std::to_string(habit->holding) + " of the " + std::to_string(habit->accesses) +
             " accesses to it so far hold " + printable(habit->lock) + "; here " + others;
    }
  }
  std::string locks = is_from_trace(finding) ? about_locks(first, second) : "";
  if (!locks.empty()) {
    locks[0] = static_cast<char>(locks[0] - 'A' + 'a');
    locks.pop_back();  // the full stop
  }
  const bool proven = finding.witness.has_value() && finding.witness->checked;
  if (proven && !finding.witness->swaps.empty()) {
    const SectionSwap& swap = finding.witness->swaps.front();
    const auto accesses = [&](const std::string& thread) { return thread == first.thread || thread == second.thread; };
    // A reader who meets the names of other threads first wants to know what is wrong with these two.
    const bool by_others = !accesses(swap.now_first.thread) || !accesses(swap.now_second.thread);
    return (by_others && !locks.empty() ? locks + "; " : "") + "only the order in which " +
           printable(swap.now_second.thread) + " and then " + printable(swap.now_first.thread) + " took " +
           printable(swap.lock) + " kept them apart";
  }
  return locks;
}

// What is wrong with it.
std::string why_between(const Finding& finding) {
  return finding.observed ? "no order of whole blocks does what this run did"
                          : "each section is locked, the two together are not";
}

std::string explain_atomicity(const Finding& finding) {
  if (finding.accesses.size() != 3) {
    return "";
  }
  const Access &first = finding.accesses[0], &other = finding.accesses[1], &second = finding.accesses[2];
  const auto at = [](const Access& access) { return short_place(access.place()); };
  std::string text;
  if (finding.observed) {
    text = capital(actor(first)) + " is in a block that is meant to be atomic, from " + at(first) + " on. " +
           capital(actor(other)) + " came in between at " + at(other) + ", and at " + at(second) +
           " the block went on with what that had left: what the run did cannot be done with the block in one go.";
  } else {
    const std::string lock = first.variable.empty() ? "the lock" : "'" + printable(first.variable) + "'";
    text = capital(actor(first)) + " takes " + lock + " at " + at(first) + ", releases it, and takes it again at " +
           at(second) + ". In between, " + actor(other) + " can take it at " + at(other) +
           " and change or see what both sections are about.";
    add(text, finding.declared
                  ? "The two are parts of one block, as the program says."
                  : "There is no race: every access is locked. Whether the two sections are meant to be one, only "
                    "the program knows.");
  }
  add(text, about_runs(finding));
  return text;
}

}  // namespace

std::string why_it_can_happen(const Finding& finding) {
  if (finding.accesses.empty()) {
    return "";
  }
  switch (finding.kind) {
    case FindingKind::kRace: return why_race(finding);
    case FindingKind::kDeadlock:
      return waits_for_nobody(finding)      ? "whoever held that lock has ended, or was left behind by a fork"
             : !is_cycle_of_locks(finding)  ? ""
             : finding.accesses.size() == 1 ? "it waits for a lock that it holds itself"
                                            : "each waits for a lock that the next one holds";
    case FindingKind::kMisuse: return rule_of(finding);
    case FindingKind::kAtomicity: return why_between(finding);
    case FindingKind::kCrash:
    case FindingKind::kHang: break;
  }
  return "";
}

std::string explanation(const Finding& finding) {
  if (finding.accesses.empty()) {
    return "";
  }
  switch (finding.kind) {
    case FindingKind::kRace: return explain_race(finding);
    case FindingKind::kDeadlock: return explain_deadlock(finding);
    case FindingKind::kMisuse: return explain_misuse(finding);
    case FindingKind::kAtomicity: return explain_atomicity(finding);
    case FindingKind::kCrash:
    case FindingKind::kHang: return finding.failure.has_value() ? explain_failure(finding) : "";
  }
  return "";
}

}  // namespace sooth
