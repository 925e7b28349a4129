#include "run/failure_findings.h"

#include <algorithm>
#include <csignal>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "confirm/older_values.h"
#include "confirm/replay.h"
#include "confirm/shell_words.h"
#include "race/site_key.h"
#include "race/spurious_wakes.h"
#include "report/describe.h"
#include "report/fingerprint.h"
#include "report/group.h"
#include "trace/reader.h"
#include "trace/recording/end_file.h"
#include "trace/recording/library_glue.h"
#include "trace/thread_label.h"

namespace sooth {
namespace {

constexpr std::size_t kMaxRaces = 8;
constexpr std::uint64_t kMostPreemptionsTold = 5;  // more of them nobody reads
const std::string kHeldLock(kLockHeldBy);
constexpr char kKeySeparator = '/';  // behind the places of a failure_key()
constexpr int kCrashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};

bool is_lock(control::BlockedOn on) {
  return on == control::BlockedOn::kMutex || on == control::BlockedOn::kRwlock || on == control::BlockedOn::kSpin;
}

// What a thread does that waits so, as a trace would have it.
Op op_of(control::BlockedOn on) {
  switch (on) {
    case control::BlockedOn::kMutex:
    case control::BlockedOn::kRwlock:
    case control::BlockedOn::kSpin: return Op::kAcquire;
    case control::BlockedOn::kCondition: return Op::kWait;
    case control::BlockedOn::kBarrier: return Op::kBarrierLeave;
    case control::BlockedOn::kSemaphore: return Op::kSemWait;
    case control::BlockedOn::kJoin: return Op::kJoin;
    case control::BlockedOn::kOnce: return Op::kHappensAfter;
    case control::BlockedOn::kFutex:
    case control::BlockedOn::kUnknown: break;
  }
  return Op::kCallBegin;
}

// Threads each of which waits for a lock that the next holds, and the last for one of the first; empty when there are
// none.
std::vector<StoppedThread> cycle_of(const std::vector<StoppedThread>& threads) {
  for (const StoppedThread& start : threads) {
    std::vector<StoppedThread> cycle;
    const StoppedThread* at = &start;
    while (at != nullptr && is_lock(at->on) && at->holder && cycle.size() < threads.size()) {
      cycle.push_back(*at);
      if (*at->holder == start.thread) {
        return cycle;
      }
      const auto next = std::find_if(threads.begin(), threads.end(),
                                     [&](const StoppedThread& each) { return each.thread == *at->holder; });
      at = next == threads.end() ? nullptr : &*next;
    }
  }
  return {};
}

Access access_of(const StoppedThread& thread) {
  Access access;
  access.op = op_of(thread.on);
  access.thread = thread_label(thread.thread);
  access.variable = thread.name;
  if (access.op != Op::kCallBegin) {
    access.address = thread.object;
  }
  if (access.variable.empty() && thread.holder) {
    access.variable = thread.on == control::BlockedOn::kJoin ? thread_label(*thread.holder)
                                                             : kHeldLock + thread_label(*thread.holder);
    access.address = 0;
  }
  if (!thread.stack.empty()) {
    access.site = thread.stack.front();
    access.stack.assign(thread.stack.begin() + 1, thread.stack.end());
  }
  return access;
}

FindingKind kind_of(const Outcome& outcome) {
  switch (outcome.kind) {
    case Outcome::Kind::kHung: return FindingKind::kHang;
    case Outcome::Kind::kDeadlocked: return FindingKind::kDeadlock;
    case Outcome::Kind::kExited:
    case Outcome::Kind::kKilled: break;
  }
  return FindingKind::kCrash;
}

// Where the threads were last seen that had not ended, from the events of the recording.
std::vector<StoppedThread> last_seen(const std::string& directory) {
  struct Last {
    Event event;
    StackId stack{};
    bool ended = false;
  };
  std::map<std::uint32_t, Last> threads;
  Result<std::unique_ptr<TraceReader>> reader = open_trace(directory, {.columns = kStacks});
  if (!reader.ok()) {
    return {};
  }
  for (;;) {
    const Result<Batch> batch = (*reader)->next();
    if (!batch.ok() || batch->empty()) {
      break;  // what was read so far is what is known
    }
    for (std::size_t i = 0; i < batch->events.size(); ++i) {
      const Event& event = batch->events[i];
      threads[raw(event.thread)] = {event, batch->stack(i), event.op == Op::kEnd};
    }
  }
  const Tables& tables = (*reader)->tables();
  std::vector<StoppedThread> stopped;
  for (const auto& [thread, last] : threads) {
    if (last.ended) {
      continue;
    }
    StoppedThread row;
    row.thread = thread;
    row.stack.push_back(tables.site(last.event.site));
    for (const SiteId call : tables.frames(last.stack)) {
      row.stack.push_back(tables.site(call));
    }
    stopped.push_back(std::move(row));
  }
  return stopped;
}

bool is_crash(int signal) { return std::find(std::begin(kCrashes), std::end(kCrashes), signal) != std::end(kCrashes); }

bool is_failure(const EndedRun& run) {
  // What others send to a run, or a program to itself to end it (INT, TERM, KILL), says nothing about it.
  const bool killed = run.outcome.kind == Outcome::Kind::kKilled && is_crash(run.outcome.number);
  return killed || run.outcome.complained || run.outcome.kind == Outcome::Kind::kDeadlocked ||
         run.outcome.kind == Outcome::Kind::kHung;
}

}  // namespace

std::string failure_key(const Finding& failure) {
  return fingerprint(failure) + kKeySeparator + (failure.kind == FindingKind::kDeadlock ? locks_key(failure) : "");
}

bool is_same_failure(std::string_view key, std::string_view other) {
  const std::size_t end = key.find(kKeySeparator);
  const std::size_t other_end = other.find(kKeySeparator);
  if (key.substr(0, end) != other.substr(0, other_end)) {
    return false;
  }
  return key.size() == end + 1 || other.size() == other_end + 1 || key == other;
}

std::optional<Finding> failure_of(const EndedRun& run, Identifier& identifier) {
  if (!is_failure(run)) {
    return std::nullopt;
  }
  Finding finding;
  finding.kind = kind_of(run.outcome);
  finding.rung = Rung::kHarmful;
  finding.found_by = {run.recorded ? "record" : "schedule"};
  finding.dynamic_pairs = 1;
  FailureSummary failure;
  Outcome bare = run.outcome;
  bare.last_words.clear();
  failure.outcome = bare.describe();
  const auto number = static_cast<std::uint32_t>(std::max(run.outcome.number, 0));
  (run.outcome.kind == Outcome::Kind::kKilled ? failure.signal : failure.status) = number;
  failure.message = run.outcome.complained ? run.outcome.last_words : "";
  failure.recorded = run.recorded;
  failure.by_delay = run.by_delay;
  finding.failure = std::move(failure);
  const std::vector<StoppedThread> cycle =
      finding.kind == FindingKind::kDeadlock ? cycle_of(run.threads) : std::vector<StoppedThread>();
  for (const StoppedThread& thread : cycle.empty() ? run.threads : cycle) {
    finding.accesses.push_back(access_of(thread));
  }
  // Each waits for what the next one holds.
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    if (!cycle[i].name.empty()) {
      finding.accesses[(i + 1) % cycle.size()].locks = {cycle[i].name};
    }
  }
  if (finding.accesses.empty()) {
    finding.accesses.emplace_back().op = Op::kCallBegin;
  }
  identifier.identify(finding);
  return finding;
}

EndedRun ended_run(const RunOutcome& run, CodeNames& names) {
  EndedRun ended;
  ended.outcome = classify(run);
  if (run.log.processes.empty()) {
    return ended;
  }
  const ProcessLog& log = run.log.processes.front();
  ended.by_delay = was_delayed(run.log);
  const auto add = [&](const BlockedThread& blocked) {
    StoppedThread thread{blocked.thread, blocked.on, std::nullopt, 0, "", names.stack(blocked.stack)};
    if (blocked.holder != control::kNone) {
      thread.holder = blocked.holder;
    }
    if (blocked.variable.has_value()) {
      thread.name = names.variable(*blocked.variable);
    }
    ended.threads.push_back(std::move(thread));
  };
  if (ended.outcome.kind == Outcome::Kind::kDeadlocked) {
    const ProcessLog* process = deadlocked_process(run.log);
    const std::vector<BlockedThread>& blocked = (process == nullptr ? log : *process).deadlock;
    std::for_each(blocked.begin(), blocked.end(), add);
  } else if (ended.outcome.kind == Outcome::Kind::kHung) {
    std::for_each(log.stopped.begin(), log.stopped.end(), add);
  } else if (ended.outcome.kind == Outcome::Kind::kKilled && log.crash) {
    ended.threads.push_back(
        {log.crash->thread, control::BlockedOn::kUnknown, std::nullopt, 0, "", names.stack(log.crash->stack)});
  }
  return ended;
}

std::optional<EndedRun> ended_run(const ProgramEnd& end, bool timed_out, const std::vector<MadeRecording>& made) {
  EndedRun ended;
  ended.recorded = true;
  const auto end_of = [](const MadeRecording& recording) {
    Result<std::optional<RecordedEnd>> read = read_recorded_end(recording.directory);
    return read.ok() ? std::move(*read) : std::nullopt;
  };
  std::optional<RecordedEnd> told = made.empty() ? std::nullopt : end_of(made.front());
  // A child may deadlock and its parent never mention it.
  for (std::size_t i = 1; i < made.size() && !told && end.signal == 0 && !timed_out; ++i) {
    told = end_of(made[i]);
    told = told && told->signal == 0 ? std::move(told) : std::nullopt;
  }
  if (timed_out) {
    ended.outcome.kind = Outcome::Kind::kHung;
  } else if (told && told->signal == 0) {
    ended.outcome.kind = Outcome::Kind::kDeadlocked;
  } else if (is_crash(end.signal)) {
    ended.outcome.kind = Outcome::Kind::kKilled;
    ended.outcome.number = end.signal;
  } else {
    return std::nullopt;
  }
  if (timed_out && !made.empty()) {
    ended.threads = last_seen(made.front().directory);
  } else if (told) {
    ended.by_delay = told->delay > kUsualDelay;
    ended.outcome.last_words = told->message;
    ended.outcome.complained = !told->message.empty();
    for (EndedThread& thread : told->threads) {
      const auto on = thread.waits_for <= static_cast<std::uint32_t>(control::BlockedOn::kFutex)
                          ? static_cast<control::BlockedOn>(thread.waits_for)
                          : control::BlockedOn::kUnknown;
      trim_glue(thread.stack);
      ended.threads.push_back(
          {thread.thread, on, thread.holder, thread.object, thread.object_name, std::move(thread.stack)});
    }
  }
  return ended;
}

std::string how_ended(const ProgramEnd& end, const std::optional<EndedRun>& failed) {
  if (!failed || failed->outcome.kind == Outcome::Kind::kKilled) {
    return end.describe();
  }
  Outcome bare = failed->outcome;
  bare.last_words.clear();
  return bare.describe();
}

namespace {

// What repeats it names it: "sooth replay run.json#0123456789abcdef -- ./program".
void name_in_command(Finding& finding) {
  if (!finding.replay.has_value()) {
    return;
  }
  std::string& command = finding.replay->command;
  const std::size_t hash = command.rfind('#', command.find(" -- "));
  if (hash != std::string::npos) {
    const std::size_t end = std::min(command.find_first_not_of("0123456789abcdef", hash + 1), command.size());
    command.replace(hash + 1, end - hash - 1, finding.id);
  }
}

// What is known of the recorded run: its locks by name, and who started the threads.
void add_predicted_names(Finding& failure, const Finding& predicted) {
  bool same_threads = true;
  for (Access& access : failure.accesses) {
    const auto same = std::find_if(predicted.accesses.begin(), predicted.accesses.end(),
                                   [&](const Access& each) { return each.thread == access.thread; });
    if (same == predicted.accesses.end()) {
      same_threads = false;
      continue;
    }
    if (access.variable.empty() || access.variable.starts_with(kHeldLock)) {
      access.variable = same->variable;
      access.address = same->address;
    }
    access.locks = access.locks.empty() ? same->locks : std::move(access.locks);
  }
  if (same_threads && failure.context.empty()) {
    failure.context = predicted.context;
  }
}

// A controlled run tells of a thread only the innermost place, which may be one of a library. A deadlock that was
// predicted at the same places is the same, unless its locks are others.
void call_as_predicted(Finding& failure, const Report& report) {
  if (failure.kind != FindingKind::kDeadlock) {
    return;
  }
  const std::string key = failure_key(failure);
  const auto same = std::find_if(report.findings.begin(), report.findings.end(), [&](const Finding& finding) {
    return finding.kind == FindingKind::kDeadlock && is_same_failure(failure_key(finding), key);
  });
  if (same != report.findings.end()) {
    add_predicted_names(failure, *same);
    failure.id = same->id;
  }
}

// A thread that locks a mutex again and hangs there is seen as a misuse, too: one is enough.
void absorb_double_lock(Finding& failure, Report& report) {
  if (failure.kind != FindingKind::kDeadlock || failure.accesses.size() != 1) {
    return;
  }
  const auto is_same = [&](const Finding& finding) {
    return finding.misuse == MisuseKind::kDoubleLock && !finding.accesses.empty() &&
           site_key(finding.accesses.front().place()) == site_key(failure.accesses.front().place());
  };
  for (const Finding& finding : report.findings) {
    if (is_same(finding)) {
      failure.known = failure.known || finding.known;
      failure.found_by.insert(failure.found_by.end(), finding.found_by.begin(), finding.found_by.end());
    }
  }
  std::erase_if(report.findings, is_same);
}

}  // namespace

std::string FailureTally::add(const EndedRun& run, const FailureReplay& replay, std::uint64_t times) {
  controlled_ += run.recorded ? 0 : times;
  std::optional<Finding> fresh = failure_of(run);
  if (!fresh) {
    return "";
  }
  const std::string key = failure_key(*fresh);
  auto known = std::find_if(findings_.begin(), findings_.end(), [&](const Finding& each) {
    return each.id == fresh->id || is_same_failure(failure_key(each), key);
  });
  if (known == findings_.end()) {
    fresh->dynamic_pairs = times;
    findings_.push_back(std::move(*fresh));
    known = findings_.end() - 1;
  } else {
    // A recorded run knows the stacks, and with them the place in the user's code. Of one that hung, only where each
    // thread was last seen to do something: a controlled run tells where they are.
    const bool tells_more = run.outcome.kind == Outcome::Kind::kHung ? !run.recorded && !known->replay
                                                                     : run.recorded && !known->failure->recorded;
    if (tells_more) {
      known->id = fresh->id;
      known->accesses = std::move(fresh->accesses);
    }
    known->dynamic_pairs += times;
    known->failure->recorded = known->failure->recorded || run.recorded;
    known->failure->by_delay = known->failure->by_delay && run.by_delay;
    if (!run.recorded &&
        std::find(known->found_by.begin(), known->found_by.end(), "schedule") == known->found_by.end()) {
      known->found_by.push_back("schedule");
    }
  }
  if (!run.recorded) {
    ReplaySummary& summary = known->replay ? *known->replay : known->replay.emplace();
    summary.hits += times;
    if (summary.command.empty()) {
      summary.command = replay.command;
      summary.strategy = replay.strategy;
      summary.seed = replay.seed;
      summary.schedule = replay.schedule;
      summary.preemptions = replay.preemptions;
      summary.older_values = replay.older_values;
      summary.outcome = run.outcome.describe();
    }
  }
  return known->id;
}

void FailureTally::may_be_caused_by(const std::string& failure, const std::string& race) {
  for (Finding& finding : findings_) {
    std::vector<std::string>& after = finding.failure->after;
    if (finding.id == failure && after.size() < kMaxRaces &&
        std::find(after.begin(), after.end(), race) == after.end()) {
      after.push_back(race);
    }
  }
}

void FailureTally::move_to(Report& report) {
  for (Finding& finding : findings_) {
    // Programs that wait for a condition should expect it, and seldom meet it: worth a look, and no reason to fail.
    finding.rung = takes_spurious_wake(finding) ? Rung::kSuspected : finding.rung;
    call_as_predicted(finding, report);
    absorb_double_lock(finding, report);
    name_in_command(finding);
    if (finding.replay) {
      finding.replay->trials = controlled_;
      finding.replay->probability = static_cast<double>(finding.replay->hits) / static_cast<double>(controlled_);
    }
  }
  report.findings.insert(report.findings.begin(), std::make_move_iterator(findings_.begin()),
                         std::make_move_iterator(findings_.end()));
  findings_.clear();
  merge_equal_findings(report);
}

namespace {

std::vector<std::string> older_in(const RunLog& log, CodeNames& names) {
  return log.processes.empty() ? std::vector<std::string>() : describe_older(log.processes.front(), names);
}

// Of a schedule that fails: which one it is.
std::string strategy_of(const RunPlan& plan) {
  switch (plan.plan) {
    case control::Plan::kStrategy: return plan.strategy;
    case control::Plan::kDirected: return "directed";
    case control::Plan::kChoices: return "explore";
    case control::Plan::kStretches: break;
  }
  return "witness";
}

}  // namespace

void FailureLog::add(const RunPlan& plan, const RunOutcome& run) {
  const std::lock_guard<std::mutex> guard(mutex_);
  EndedRun ended = ended_run(run, names_);
  // Who steers a run may keep it from its end: a hang is one of the program only under a schedule that is fair, or if
  // everybody had turns enough.
  const bool is_fair = plan.plan == control::Plan::kStrategy || run.log.state == control::RunState::kHung;
  const bool kept_from_end = ended.outcome.kind == Outcome::Kind::kHung && !is_fair;
  const std::optional<Finding> failure = kept_from_end ? std::nullopt : failure_of(ended, identifier_);
  if (!failure) {
    ++good_;
    note_exit(plan, run, ended.outcome);
    return;
  }
  Kept& kept = kept_[failure_key(*failure)];
  kept.id = kept.times == 0 ? failure->id : std::min(kept.id, failure->id);
  // Whatever needs no spurious wake-up and no weak memory comes before what had one.
  const auto rank = [](const RunPlan& each) {
    constexpr std::uint32_t kSpecial = control::kSpuriousWakes | control::kWeakMemory;
    return std::tuple((each.flags & kSpecial) != 0, each.plan, each.strategy, each.seed);
  };
  const bool by_delay = ended.by_delay && (kept.times == 0 || kept.run.by_delay);
  if (kept.times++ == 0 || rank(plan) < rank(kept.schedule.plan)) {
    kept.schedule = make_schedule("", plan, run.log);
    kept.woken_for_no_reason = was_woken_for_no_reason(run.log);
    kept.older_values = older_in(run.log, names_);
    kept.run = std::move(ended);
  }
  kept.run.by_delay = by_delay;
}

// What a program does when a time-out comes that is long is its own matter.
void FailureLog::note_exit(const RunPlan& plan, const RunOutcome& run, const Outcome& outcome) {
  if (outcome.kind != Outcome::Kind::kExited || was_delayed(run.log)) {
    return;
  }
  Exits fresh;
  fresh.plan = plan;
  fresh.schedule = name_of_schedule(make_schedule("", plan, run.log));
  fresh.takes_more = (plan.flags & (control::kSpuriousWakes | control::kWeakMemory)) != 0;
  const auto rank = [](const Exits& each) {
    return std::tuple(each.schedule.empty(), each.takes_more, each.plan.plan, each.plan.strategy, each.plan.seed);
  };
  Exits& exits = exits_[outcome.number];
  const std::uint64_t times = exits.times + 1;
  if (times == 1 || rank(fresh) < rank(exits)) {
    exits = std::move(fresh);
  }
  exits.times = times;
}

std::vector<std::string> FailureLog::other_statuses(int usual, const std::string& words,
                                                    const std::function<bool(int)>& is_told) {
  const std::lock_guard<std::mutex> guard(mutex_);
  std::vector<std::string> sentences;
  const auto good = exits_.find(usual);
  for (const auto& [status, exits] : exits_) {
    if (good == exits_.end() || status == usual || is_told(status)) {
      continue;
    }
    std::string text = counted(exits.times, "controlled run", "controlled runs") + " ended with exit status " +
                       std::to_string(status) + ", " + std::to_string(good->second.times) + " with " +
                       std::to_string(usual) +
                       " like the recorded run: only the program knows whether that is a failure.";
    if (!exits.schedule.empty()) {
      text += " One of them again: sooth replay " + exits.schedule + " -- " + words;
    } else if (exits.plan.plan == control::Plan::kChoices) {
      text += " Their schedules: sooth explore -- " + words;
    }
    sentences.push_back(std::move(text));
  }
  return sentences;
}

bool FailureLog::has(const std::string& key) {
  const std::lock_guard<std::mutex> guard(mutex_);
  return std::any_of(kept_.begin(), kept_.end(), [&](const auto& each) { return is_same_failure(each.first, key); });
}

void FailureLog::minimize(const MakeRun& run, const MinimizeOptions& options) {
  const std::lock_guard<std::mutex> guard(mutex_);
  for (auto& [key, kept] : kept_) {
    if (options.cancelled()) {
      return;
    }
    if (kept.run.outcome.kind == Outcome::Kind::kHung) {
      continue;
    }
    const auto fails_alike = [&, &wanted = key](const RunOutcome& made) {
      const std::optional<Finding> failure = failure_of(ended_run(made, names_), identifier_);
      return failure.has_value() && failure_key(*failure) == wanted;
    };
    Result<std::optional<FewestPreemptions>> fewest =
        fewest_preemptions(run, fails_alike, kept.schedule, names_, options);
    if (!fewest.ok()) {
      return;
    }
    if (fewest->has_value() && (*fewest)->preemptions <= kMostPreemptionsTold) {
      kept.schedule = std::move((*fewest)->schedule);
      kept.preemptions = std::move((*fewest)->sentences);
      kept.older_values = std::move((*fewest)->older_values);
      kept.minimized = true;
    }
  }
}

void FailureLog::move_to(FailureTally& tally, const std::string& words, const std::string& report_name) {
  const std::lock_guard<std::mutex> guard(mutex_);
  tally.add_good_runs(std::exchange(good_, 0));
  for (auto& [key, kept] : kept_) {
    kept.schedule.program = words;
    kept.schedule.outcome = kept.run.outcome.describe();
    FailureReplay replay;
    replay.command = "sooth replay " + shell_word(report_name + "#" + kept.id) + " -- " + words;
    replay.strategy = kept.minimized ? "minimized" : strategy_of(kept.schedule.plan);
    replay.strategy += kept.woken_for_no_reason ? kWithSpuriousWakes : kept.older_values.empty() ? "" : kWithWeakMemory;
    replay.preemptions = std::move(kept.preemptions);
    replay.older_values = std::move(kept.older_values);
    replay.seed = kept.schedule.plan.seed;
    replay.schedule = print_schedule(kept.schedule);
    tally.add(kept.run, replay, kept.times);
  }
  kept_.clear();
}

void link_recorded_races(const EndedRun& run, const Report& report, const std::string& failure, FailureTally& tally) {
  const auto takes_part = [&](const Access& access) {
    return std::any_of(run.threads.begin(), run.threads.end(),
                       [&](const StoppedThread& thread) { return thread_label(thread.thread) == access.thread; });
  };
  for (const Finding& finding : report.findings) {
    if (finding.kind == FindingKind::kRace && finding.observed &&
        std::any_of(finding.accesses.begin(), finding.accesses.end(), takes_part)) {
      tally.may_be_caused_by(failure, finding.id);
    }
  }
}

}  // namespace sooth
