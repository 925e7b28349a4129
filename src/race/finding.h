// What an analysis tells the user: self-contained values, no ids into a trace, so that a report can be stored,
// read back, merged and printed without the trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "race/failure.h"
#include "race/gap.h"
#include "race/hand_over.h"
#include "race/search.h"
#include "trace/event.h"
#include "trace/tables.h"

namespace sooth {

// How well a finding is proven. Nothing moves up without evidence.
enum class Rung : std::uint8_t {
  kSuspected,  // may be false: lockset, hybrid, or a pair without a witness
  kPredicted,  // a checked witness, or the recorded run itself leaves the pair unordered by happens-before
  kConfirmed,  // a controlled run stopped with both threads about to do the two accesses
  kHarmful,    // ... and that run then failed
};
inline constexpr int kRungCount = 4;
std::string_view rung_name(Rung rung);
std::optional<Rung> rung_from_name(std::string_view name);

enum class FindingKind : std::uint8_t {
  kRace,
  kDeadlock,
  kMisuse,     // a call that the rules of locks, threads, signals or the heap forbid, made in the recorded run
  kAtomicity,  // something came, or can come, between two parts of a thread's doing that belong together
  kCrash,      // a run was killed by a signal of its own doing, failed an assertion, or died of an exception
  kHang,       // a run did not end
};
inline constexpr int kFindingKindCount = 6;
std::string_view finding_kind_name(FindingKind kind);
std::optional<FindingKind> finding_kind_from_name(std::string_view name);

std::optional<MisuseKind> misuse_kind_from_name(std::string_view name);

// One side of a race: who did what where.
struct Access {
  Op op = Op::kRead;
  MemoryOrder order = MemoryOrder::kNotAtomic;
  std::uint32_t size = 0;
  bool shared = false;        // an acquire in reader mode
  std::uint64_t address = 0;  // or the number of the lock, thread, ... that `op` is about
  std::string variable;       // its name, when the trace has one
  std::string thread;         // name of the thread
  bool executed = true;       // false: on a branch that the recorded run did not take, so there is no `event`
  EventId event{};
  std::vector<std::string> when;  // not executed: what leads there, "y == 0 (read at a.cc:12)"
  Site site;
  std::vector<Site> stack;         // call sites, innermost first; the site itself is not repeated
  std::vector<std::string> locks;  // held, outermost first; reader mode marked "(shared)"
  // The innermost frame of the user's own code: 0 for the site, i for stack[i - 1].
  std::uint32_t frame = 0;
  std::string code;  // the line of that frame, as it was when the report was made; may be empty

  // What to point at.
  const Site& place() const { return frame == 0 || frame > stack.size() ? site : stack[frame - 1]; }

  friend bool operator==(const Access&, const Access&) = default;
};

// A thread runs from one place to another.
struct WitnessStep {
  std::string thread;
  EventId first{};
  EventId last{};
  Site from;
  Site to;

  friend bool operator==(const WitnessStep&, const WitnessStep&) = default;
};

// Where a critical section starts.
struct SectionStart {
  std::string thread;
  EventId acquire{};
  Site site;

  friend bool operator==(const SectionStart&, const SectionStart&) = default;
};

// Two critical sections of a lock that a reordering runs the other way round.
struct SectionSwap {
  std::string lock;
  SectionStart now_first;  // came later in the recorded run
  SectionStart now_second;

  friend bool operator==(const SectionSwap&, const SectionSwap&) = default;
};

// An instruction of the code that a deep recording keeps, by numbers: docs/deep.md.
struct CodePlace {
  std::uint32_t module = 0;
  std::uint32_t function = 0;
  std::uint32_t instruction = 0;

  friend bool operator==(const CodePlace&, const CodePlace&) = default;
};

// What a thread does on a branch that it did not take in the recorded run.
struct UnexecutedStep {
  ThreadId thread{};
  CodePlace code;
  Op op = Op::kRead;
  std::uint64_t address = 0;
  std::uint32_t size = 0;
  std::uint64_t after = 0;             // so many events of the order stand in front of it
  std::optional<std::uint64_t> value;  // what it reads
  Site site;

  friend bool operator==(const UnexecutedStep&, const UnexecutedStep&) = default;
};

// What a witness has beyond its order when its reads see other values than in the recorded run: docs/recipe.md.
struct ValueSummary {
  struct Read {
    EventId event{};
    std::uint64_t value = 0;  // instead of the recorded one
    std::string thread, variable;
    Site site;
    friend bool operator==(const Read&, const Read&) = default;
  };
  struct Next {  // one of the accesses that are next
    ThreadId thread{};
    std::optional<EventId> event;  // of the trace, or
    std::optional<UnexecutedStep> unexecuted;
    std::optional<CodePlace> branch;  // ... where the thread leaves its recorded path
    friend bool operator==(const Next&, const Next&) = default;
  };
  std::vector<Read> reads;
  std::vector<UnexecutedStep> detour;
  std::vector<Next> next;  // two

  friend bool operator==(const ValueSummary&, const ValueSummary&) = default;
};

// What a drawing of a reordering shows of it: synchronisation, the ends of each stretch of a thread, accesses to the
// memory in question. Gaps between positions are events that are left out; the first of them when there are too many.
// Whatever many events share stands in a table.
struct WitnessDrawing {
  struct Row {
    std::uint64_t position = 0;  // in the reordering, from 0
    EventId event{};
    std::uint32_t thread = 0;  // into `threads`
    std::uint32_t deed = 0;    // into `deeds`
    std::uint32_t object = 0;  // into `objects`
    std::uint32_t site = 0;    // into `sites`
    friend bool operator==(const Row&, const Row&) = default;
  };
  struct Deed {
    Op op = Op::kRead;
    bool shared = false;  // an acquire or release in reader mode
    friend bool operator==(const Deed&, const Deed&) = default;
  };
  struct Thread {
    ThreadId id{};  // as in the runs
    std::string name;
    friend bool operator==(const Thread&, const Thread&) = default;
  };
  std::uint64_t length = 0;     // events of the reordering
  std::vector<Thread> threads;  // all of its threads, by id
  std::vector<Deed> deeds;
  std::vector<std::string> objects;  // names of variables, locks, threads, ...; "" where there is none
  std::vector<Site> sites;
  std::vector<Row> rows;  // in the order of the reordering

  friend bool operator==(const WitnessDrawing&, const WitnessDrawing&) = default;
};

// A reordering as it stands in a report.
struct WitnessSummary {
  bool checked = false;
  std::string why;             // why there is none, when !checked
  bool refuted = false;        // no reordering of the recorded run in which every read keeps its value gets there
  std::vector<EventId> order;  // left empty above 100 events: the runs say the same in less
  struct Run {
    ThreadId thread{};
    EventId first{}, last{};
    friend bool operator==(const Run&, const Run&) = default;
  };
  std::vector<Run> runs;                    // the same order, as stretches of one thread's consecutive events
  std::vector<WitnessStep> steps;           // the last of the runs, for people
  std::vector<SectionSwap> swaps;           // the first of them, when there are many
  std::optional<ValueSummary> values = {};  // the code of the program was executed along it to check it
  std::optional<WitnessDrawing> drawing = {};

  friend bool operator==(const WitnessSummary&, const WitnessSummary&) = default;
};

// An event that explains where something comes from, and who did it.
struct Origin {
  std::string thread;
  EventId event{};
  Site site;
  std::vector<Site> stack;  // call sites, innermost first; the site itself is not repeated
  std::uint32_t frame = 0;  // as Access::frame

  const Site& place() const { return frame == 0 || frame > stack.size() ? site : stack[frame - 1]; }

  friend bool operator==(const Origin&, const Origin&) = default;
};

enum class MemoryKind : std::uint8_t {
  kGlobal,  // a variable that the trace names and nobody allocated
  kHeap,    // a block that a thread allocated
  kStack,   // the stack of a thread, with its thread-local variables where these live there
};
inline constexpr int kMemoryKindCount = 3;
std::string_view memory_kind_name(MemoryKind kind);
std::optional<MemoryKind> memory_kind_from_name(std::string_view name);

// What the first byte that both sides of a race touch is a part of.
struct MemoryContext {
  MemoryKind kind = MemoryKind::kHeap;
  std::uint64_t address = 0;  // first byte of the variable or block
  std::uint64_t size = 0;     // bytes; 0 when not known
  std::uint64_t offset = 0;   // of that byte in it
  // What the source calls it, "accounts[0].balance": then address, size and offset are those of just that, but for a
  // heap block, whose they stay. Empty when it has no name.
  std::string name;
  std::string thread;               // whose stack it is, or whose thread-local variable
  std::optional<Origin> allocated;  // a heap block
  std::string function = {};        // of a local variable on the stack
  std::string type = {};            // what a heap block holds, one or many of it
  std::string member = {};          // ... and which part of that it is, ".home.y"
  // The type of just that part, as far as debug information tells: "int". Not stored with a report.
  std::string part_type = {};

  friend bool operator==(const MemoryContext&, const MemoryContext&) = default;
};

// Who started a thread. A thread that nobody was seen to start has none of these.
struct ThreadContext {
  std::string thread;
  Origin created;

  friend bool operator==(const ThreadContext&, const ThreadContext&) = default;
};

// Where a lock was acquired for the first time: traces do not tell where it was made.
struct LockContext {
  std::string lock;           // as Access::locks calls it, without the mode
  std::uint64_t address = 0;  // its number
  Origin first_acquired;

  friend bool operator==(const LockContext&, const LockContext&) = default;
};

// How a variable is used in the recorded run: the lock that most accesses to it hold.
struct LockHabit {
  std::string lock;
  std::uint64_t holding = 0;   // accesses that hold it
  std::uint64_t accesses = 0;  // in all

  friend bool operator==(const LockHabit&, const LockHabit&) = default;
};

// What else the trace knows about the things in a finding; empty where it knows nothing.
struct FindingContext {
  std::optional<MemoryContext> memory;
  std::vector<ThreadContext> threads;  // of those that the accesses name, in that order
  std::vector<LockContext> locks;      // likewise
  std::optional<LockHabit> habit;      // of a race

  bool empty() const { return !memory.has_value() && threads.empty() && locks.empty() && !habit.has_value(); }
  friend bool operator==(const FindingContext&, const FindingContext&) = default;
};

// What stands in ReplaySummary::outcome in front of what the run printed or left in files that others do not.
inline constexpr std::string_view kButIt = ", but it ";

// What controlled runs of the program made of a finding, and how to make it happen again (docs/confirm.md).
struct ReplaySummary {
  std::string command;            // what to type; empty when no run reached it
  std::uint64_t seed = 0;         // of the run that `schedule` is of
  double probability = 0;         // hits of trials, 0 to 1
  std::string strategy;           // of that run: "directed", "witness", or for a deadlock also that of a strategy
  std::uint64_t trials = 0;       // controlled runs towards it, without the one along the witness; 0: not known
  std::uint64_t hits = 0;         // of these reached it
  bool witness_followed = false;  // the run along the witness reached it, too
  // ... and so did so many more, in which other things were drawn that the witness leaves open, such as which access
  // goes first.
  std::uint64_t witness_repeats = 0;
  std::string diverged;        // why it did not, as a sentence; empty when there was no such run
  std::string outcome;         // how the run of `seed` ended: "killed by signal 6 (Aborted)"
  std::uint64_t failures = 0;  // runs that reached it and then failed so
  // ... significantly more often with one order of the two accesses than with the other.
  bool order_matters = false;
  std::uint64_t baseline_runs = 0;      // undirected runs that this was compared with
  std::uint64_t baseline_failures = 0;  // of these ended in the same way
  std::uint64_t missed_failures = 0;    // of the trials that did not reach it, too
  // Only runs in which a thread that could run was kept from it for longer than a time-out, before that, reached it.
  bool by_delay = false;
  // Fisher's exact test: the probability of so many failures among those that reached it, if that played no part. 1 when
  // there were none.
  double chance = 1;
  std::string schedule;  // text of the schedule file of the run
  // Where threads lose their turn in that run although they could go on, as sentences; empty: nobody has looked, nowhere,
  // or at too many places.
  std::vector<std::string> preemptions;
  std::vector<std::string> older_values;  // what atomics of that run saw that was not the newest, as sentences

  friend bool operator==(const ReplaySummary&, const ReplaySummary&) = default;
};

// Another pair of sites that is the same bug, and how well it is proven itself.
struct OtherPair {
  Rung rung = Rung::kSuspected;
  std::vector<std::string> found_by;
  std::vector<Site> sites;

  friend bool operator==(const OtherPair&, const OtherPair&) = default;
};

struct Finding {
  std::string id;  // stable: what a person would call the same bug has the same (report/identity.h)
  FindingKind kind = FindingKind::kRace;
  Rung rung = Rung::kSuspected;
  std::vector<std::string> found_by;  // analyses, in the order of the registry
  // Second accesses found unordered; cycles of locks for a deadlock; times for a misuse.
  std::uint64_t dynamic_pairs = 0;
  std::uint64_t distance = 0;  // events between the two, the smallest seen
  bool observed = false;       // the recorded run itself leaves the pair unordered, or contains the misuse
  bool exact = true;           // the trace it comes from is exact
  bool known = false;          // in the baseline
  // Two for a race, in trace order. One acquire for each thread of a deadlock: each of a lock that the thread of the
  // next holds, the last of one that the first holds; the earliest in the trace comes first. One for a misuse: the
  // forbidden call, or the fork of a leaked thread. Three for a violation of atomicity: what the thread did before, what
  // another one does in between, and where the thread goes on. Of a failure: where each thread stood that had to do with it, one
  // at least.
  std::vector<Access> accesses;
  // Of a race: what meets what at these places, "read/write"; more than one when findings were merged.
  std::vector<std::string> conflicts;
  // ... and then the other pairs, sorted by their sites; not all, when there are very many.
  std::vector<OtherPair> others;
  std::optional<MisuseKind> misuse;       // of a misuse
  bool declared = false;                  // of a violation of atomicity: somebody has said that it is one block
  bool on_vptr = false;                   // of a race: on the pointer to an object's virtual functions
  std::optional<FailureSummary> failure;  // of a crash or hang, and of a deadlock that a run ended in
  // Libraries that nobody sees into, and that may order the two for all one knows.
  std::vector<std::string> uninstrumented;
  // Of a race in machine code: nobody knows whether its loads and stores are atomic to the compiler.
  bool may_be_atomic = false;
  FindingContext context;
  // The recording that all of this is of, when that is not the one that the report names.
  std::optional<RecordedUnder> recorded_under;
  std::optional<WitnessSummary> witness;
  std::optional<HandOver> hand_over;  // of a race that no analysis could prove; nothing when that says nothing
  std::optional<ReplaySummary> replay;
  std::vector<std::string> reports;  // of a merged report: those that have it, sorted
  std::string follows;               // id of the race that leads to this one (report/consequence.h); mostly empty

  friend bool operator==(const Finding&, const Finding&) = default;
};

// No run and no proof gets there, and wherever it was seen its order came from something that was handed over.
inline bool looks_handed_over(const Finding& finding) {
  return finding.rung == Rung::kSuspected && finding.hand_over.has_value() &&
         finding.hand_over->verdict == HandOverVerdict::kRecognised;
}

// Seen only where a thread was kept from running for longer than a time-out: that happens, but rarely.
inline bool is_by_delay(const Finding& finding) {
  return finding.failure.has_value() ? finding.failure->by_delay
                                     : finding.replay.has_value() && finding.replay->by_delay;
}

struct AnalysisStats {
  std::string name;
  std::string guarantee;    // "sound", "sound for the first race", "heuristic"
  std::uint64_t races = 0;  // distinct site pairs
  std::uint64_t dynamic_pairs = 0;
  double seconds = 0;                        // in the detector itself
  std::optional<double> seconds_unfiltered;  // ... in a second one without the filter, when one ran to compare
  std::vector<std::pair<std::string, std::string>> extra;  // rows for --stats

  friend bool operator==(const AnalysisStats&, const AnalysisStats&) = default;
};

// What a filter in front of the analyses did.
struct FilterStats {
  std::string name;                // as on the command line
  std::uint64_t accesses = 0;      // plain reads and writes of the trace, when they are counted
  std::uint64_t hidden_intra = 0;  // hidden because of an access of the same thread
  std::uint64_t hidden_inter = 0;  // hidden because of accesses of two others
  std::uint64_t locations = 0;     // remembered at the end
  std::uint64_t memory = 0;        // bytes
  double seconds = 0;

  friend bool operator==(const FilterStats&, const FilterStats&) = default;
};

struct SuppressionUse {
  std::string file;
  std::uint32_t line = 0;
  std::string text;  // "race:foo"
  std::uint64_t hits = 0;

  friend bool operator==(const SuppressionUse&, const SuppressionUse&) = default;
};

struct ReportStats {
  std::uint64_t events = 0;
  std::uint64_t threads = 0;
  std::uint64_t locks = 0;
  std::uint64_t variables = 0;
  std::uint64_t sites = 0;
  double seconds = 0;
  double witness_seconds = 0;                          // of those, looking for witnesses and checking them
  std::vector<std::pair<std::string, double>> stages;  // of `sooth run`, in their order: name, seconds
  std::vector<AnalysisStats> analyses;
  std::optional<FilterStats> filter;

  friend bool operator==(const ReportStats&, const ReportStats&) = default;
};

// What a thread did in the recorded run.
struct ThreadActivity {
  std::string thread;
  std::uint64_t events = 0;
  EventId first{};
  EventId last{};
  std::vector<std::uint64_t> activity;  // its events in each slice of the run

  friend bool operator==(const ThreadActivity&, const ThreadActivity&) = default;
};

struct LockUse {
  std::string lock;
  std::uint64_t acquires = 0;
  // Acquires by another thread than the one before: what contention leaves in a trace.
  std::uint64_t handovers = 0;

  friend bool operator==(const LockUse&, const LockUse&) = default;
};

// The recorded run at a glance; of bounded size, whatever the trace.
struct RunOverview {
  std::uint64_t slice = 0;                          // events in a slice of the run; the last may have fewer
  std::vector<std::pair<Op, std::uint64_t>> kinds;  // events of each kind that occurs
  std::vector<ThreadActivity> threads;              // the busiest, in the order of the trace
  std::uint64_t more_threads = 0;                   // that had events and are left out
  std::vector<LockUse> locks;                       // those acquired most often, these first
  std::uint64_t more_locks = 0;

  friend bool operator==(const RunOverview&, const RunOverview&) = default;
};

// A source file as it was when the report was made.
struct SourceFile {
  std::string file;          // as sites name it
  std::uint64_t digest = 0;  // FNV-1a of its bytes

  friend bool operator==(const SourceFile&, const SourceFile&) = default;
};

// How the recorded program ended.
struct ProgramOutcome {
  std::uint32_t status = 0;  // that it returned; 0 when a signal ended it
  std::uint32_t signal = 0;

  friend bool operator==(const ProgramOutcome&, const ProgramOutcome&) = default;
};

struct Report {
  // A gap, and the sentence as a note. Each once.
  void add_gap(GapKind kind, const std::string& text);

  std::string trace;    // path as the user gave it
  std::string program;  // command line of the recorded program
  std::optional<ProgramOutcome> outcome;
  std::string engine;  // how a program without hooks was recorded, as engine_name() says; empty: by its hooks
  std::string date;    // when it was made, "2026-01-31T12:00:00Z"; empty where equal runs must give equal reports
  std::uint32_t id_version =
      0;  // of the rules by which ids were given (report/identity.h); 0: before there were numbers
  bool exact = true;
  std::vector<std::string> stateless;  // libraries of which the user has said that they keep nothing between calls
  bool incomplete = false;             // only a prefix of the run was analysed
  std::vector<Gap> not_covered;  // sorted by kind; the sentences are in `notes` as well, but for what is always so
  std::optional<ShardOfCampaign> shard;
  std::vector<Finding> findings;  // sorted: highest rung first, then by first event
  std::vector<SuppressionUse> suppressions;
  std::uint64_t suppressed = 0;    // findings that suppressions removed
  std::vector<std::string> notes;  // sentences: what was not covered
  ReportStats stats;
  std::optional<SearchSummary> search;  // of `sooth run`
  std::optional<RunOverview> overview;
  std::vector<SourceFile> sources;  // those that findings name and that could be read, by name

  friend bool operator==(const Report&, const Report&) = default;
};

}  // namespace sooth
