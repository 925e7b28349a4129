#include "report/sample_reports.h"

#include <algorithm>
#include <limits>

#include "report/fingerprint.h"

namespace sooth {
namespace {

Site source(std::string file, std::uint32_t line, std::uint32_t column, std::string function) {
  Site site;
  site.label = file + ":" + std::to_string(line) + ":" + std::to_string(column);
  site.file = std::move(file);
  site.line = line;
  site.column = column;
  site.function = std::move(function);
  site.module = "/opt/app/bin/server";
  site.offset = 0x1000 + line * 16;
  return site;
}

Site labelled(std::string label) {
  Site site;
  site.label = std::move(label);
  return site;
}

Access access(Op op, std::string thread, std::uint64_t event, Site site) {
  Access result;
  result.op = op;
  result.size = 4;
  result.address = 0x7f0012345678;
  result.thread = std::move(thread);
  result.event = EventId{event};
  result.site = std::move(site);
  return result;
}

Finding race(Rung rung, std::vector<std::string> found_by, Access first, Access second) {
  Finding finding;
  finding.rung = rung;
  finding.found_by = std::move(found_by);
  finding.dynamic_pairs = 1;
  finding.distance = raw(second.event) - raw(first.event);
  finding.accesses = {std::move(first), std::move(second)};
  return finding;
}

AnalysisStats analysis(std::string name, std::string guarantee, std::uint64_t races) {
  AnalysisStats stats;
  stats.name = std::move(name);
  stats.guarantee = std::move(guarantee);
  stats.races = races;
  stats.dynamic_pairs = races * 3;
  stats.seconds = 0.125;
  return stats;
}

Finding harmful_race() {
  Access write = access(Op::kWrite, "worker 1", 1041, source("src/cache.cc", 88, 12, "Cache::evict(Entry*)"));
  write.size = 8;
  write.variable = "cache.head";
  write.locks = {"cache.mu", "log.mu (shared)"};
  write.stack = {source("src/cache.cc", 120, 3, "Cache::put(std::string, int)"),
                 source("src/main.cc", 31, 5, "worker(void*)")};
  Access read = access(Op::kRead, "main", 1007, source("/usr/include/list.h", 42, 0, "List::front() const"));
  read.size = 8;
  read.variable = "cache.head";
  read.stack = {source("src/main.cc", 60, 9, "main")};
  Finding finding = race(Rung::kHarmful, {"wcp", "mcm"}, read, write);
  finding.witness.emplace();
  finding.witness->checked = true;
  finding.witness->order = {EventId{0}, EventId{1}, EventId{2}, EventId{9}};
  finding.witness->runs = {{ThreadId{0}, EventId{0}, EventId{2}}, {ThreadId{1}, EventId{9}, EventId{9}}};
  const Site lock_in_worker = source("src/cache.cc", 85, 3, "Cache::evict(Entry*)");
  const Site lock_in_main = source("src/main.cc", 58, 9, "main");
  finding.witness->steps = {{"main", EventId{0}, EventId{2}, source("src/main.cc", 40, 3, "main"), lock_in_main},
                            {"worker 1", EventId{9}, EventId{9}, lock_in_worker, lock_in_worker}};
  finding.witness->swaps = {{"cache.mu", {"worker 1", EventId{9}, lock_in_worker}, {"main", EventId{2}, lock_in_main}}};
  finding.witness->drawing = {4,
                              {{ThreadId{0}, "main"}, {ThreadId{1}, "worker 1"}},
                              {{Op::kFork, false}, {Op::kAcquire, false}},
                              {"worker 1", "cache.mu"},
                              {source("src/main.cc", 40, 3, "main"), lock_in_main, lock_in_worker},
                              {{0, EventId{0}, 0, 0, 0, 0}, {2, EventId{2}, 0, 1, 1, 1}, {3, EventId{9}, 1, 1, 1, 2}}};
  ReplaySummary& replay = finding.replay.emplace();
  replay.command = "sooth replay report.json#b44edf796ca1dd06 -- ./server";
  replay.seed = 7;
  replay.probability = 0.93;
  replay.strategy = "directed";
  replay.trials = 100;
  replay.hits = 93;
  replay.witness_followed = true;
  replay.outcome = "killed by signal 6 (Aborted) after \"server: src/cache.cc:90: Assertion `head != tail' failed.\"";
  replay.failures = 41;
  replay.order_matters = true;
  replay.baseline_runs = 10;
  replay.schedule = "sooth schedule 1\nprogram ./server\nplan directed\nseed 7\nend ended 3\n";
  return finding;
}

Finding observed_race() {
  Access store = access(Op::kAtomicStore, "T2", 17, source("src/flag.cc", 7, 3, "publish()"));
  store.order = MemoryOrder::kRelaxed;
  store.variable = "ready";
  Access free = access(Op::kFree, "T1", 29, source("src/flag.cc", 19, 1, "shutdown()"));
  free.size = 64;
  free.site.file.clear();  // no symbols: module and offset are what is known
  free.site.function.clear();
  Finding finding = race(Rung::kPredicted, {"hb", "wcp", "lockset"}, store, free);
  finding.observed = true;
  finding.dynamic_pairs = 12;
  return finding;
}

Finding witnessed_race() {
  Finding finding = race(Rung::kPredicted, {"wcp"}, access(Op::kRead, "T1", 100, source("src/a.cc", 3, 1, "f()")),
                         access(Op::kAtomicRmw, "T2", 260, source("src/a.cc", 9, 1, "g()")));
  finding.accesses[1].order = MemoryOrder::kAcqRel;
  finding.exact = false;
  finding.replay.emplace();
  finding.replay->trials = 1;
  finding.replay->diverged = "stretch 3: thread T2 was to block after 5 operations, but ended";
  finding.witness.emplace();
  finding.witness->checked = true;
  for (std::uint64_t i = 0; i < 25; ++i) {  // more than the text shows
    const ThreadId thread{static_cast<std::uint32_t>(i % 3)};
    finding.witness->runs.push_back({thread, EventId{i * 4}, EventId{i * 4 + i % 2}});
  }
  return finding;
}

Finding deadlock() {
  Finding finding;
  finding.kind = FindingKind::kDeadlock;
  finding.rung = Rung::kConfirmed;
  finding.found_by = {"deadlock"};
  finding.dynamic_pairs = 1;
  finding.distance = 8;
  for (int i = 0; i < 2; ++i) {
    Access acquire = access(Op::kAcquire, i == 0 ? "T1" : "T2", i == 0 ? 50 : 58,
                            source("src/bank.cc", i == 0 ? 10 : 20, 5, i == 0 ? "deposit()" : "audit()"));
    acquire.size = 0;
    acquire.variable = i == 0 ? "accounts.mu" : "log.mu";
    acquire.locks = {i == 0 ? "log.mu" : "accounts.mu"};
    finding.accesses.push_back(acquire);
  }
  ReplaySummary& replay = finding.replay.emplace();
  replay.command = "sooth replay report.json#0ec4875e7a05cd2a -- ./server";
  replay.seed = 1;
  replay.strategy = "witness";
  replay.trials = 20;
  replay.witness_followed = true;
  return finding;
}

Report program_report() {
  Report report;
  report.trace = "server.trace";
  report.program = "./server --port 80";
  report.exact = false;
  report.incomplete = true;
  Finding suspected = race(Rung::kSuspected, {"wcp"}, access(Op::kWrite, "T1", 5, source("src/b.cc", 1, 0, "")),
                           access(Op::kWrite, "T2", 6, source("src/b.cc", 1, 0, "")));
  suspected.witness.emplace();
  suspected.witness->why = "the solver ran out of time after 10 s";
  suspected.replay.emplace();
  suspected.replay->trials = 100;
  suspected.replay->baseline_runs = 10;
  report.findings = {harmful_race(), deadlock(), observed_race(), witnessed_race(), suspected};
  report.suppressions = {
      {"tsan.supp", 3, "race:libc", 2}, {"tsan.supp", 9, "race_top:^old$", 0}, {"tsan.supp", 10, "signal:x", 0}};
  report.suppressed = 2;
  report.notes = {"the trace is incomplete: its writer did not finish", "calls into libfoo.so were not recorded"};
  report.stats.events = 123456;
  report.stats.threads = 3;
  report.stats.locks = 2;
  report.stats.variables = 1000;
  report.stats.sites = 77;
  report.stats.seconds = 1.5;
  report.stats.analyses = {analysis("hb", "sound", 1), analysis("wcp", "sound for the first race", 4),
                           analysis("lockset", "heuristic", 1)};
  report.stats.analyses[1].extra = {{"queue entries", "12"}, {"joins", "3456"}};
  report.stats.analyses[1].seconds_unfiltered = 0.75;
  report.stats.filter = FilterStats{"tree:strict", 100'000, 34'000, 1'000, 512, 70'000, 0.125};
  report.overview = RunOverview{65'536,
                                {{Op::kRead, 80'000}, {Op::kWrite, 40'000}, {Op::kAcquire, 3'456}},
                                {{"main", 100'000, EventId{0}, EventId{123'455}, {60'000, 40'000}},
                                 {"worker 1", 23'456, EventId{9}, EventId{99'999}, {5'536, 17'920}}},
                                1,
                                {{"cache.mu", 3'000, 700}, {"log.mu", 456, 0}},
                                0};
  report.sources = {{"src/cache.cc", 0xb44edf796ca1dd06}, {"src/main.cc", 7}};
  return report;
}

Report text_report() {
  Report report;
  report.trace = "figure1.std";
  Finding finding = race(Rung::kSuspected, {"lockset", "hybrid"}, access(Op::kWrite, "T0", 0, labelled("345")),
                         access(Op::kRead, "T1", 3, labelled("12")));
  for (Access& side : finding.accesses) {
    side.size = 1;
    side.address = 5;
    side.variable = "V123";
  }
  finding.accesses[1].locks = {"L1"};
  report.findings = {finding};
  report.stats.events = 4;
  report.stats.threads = 2;
  report.stats.analyses = {analysis("lockset", "heuristic", 1), analysis("hybrid", "heuristic", 1)};
  return report;
}

Access acquire(std::string thread, std::uint64_t event, std::string lock, std::vector<std::string> held) {
  Access result = access(Op::kAcquire, std::move(thread), event, labelled(std::to_string(event + 1)));
  result.size = 0;
  result.address = 16 + event;
  result.variable = std::move(lock);
  result.locks = std::move(held);
  return result;
}

Report deadlock_report() {
  Report report;
  report.trace = "philosophers.std";
  Finding three;
  three.kind = FindingKind::kDeadlock;
  three.found_by = {"deadlock"};
  three.dynamic_pairs = 2;
  three.distance = 12;
  three.accesses = {acquire("T1", 1, "m", {"l"}), acquire("T3", 13, "n", {"m"}), acquire("T2", 6, "l", {"g", "n"})};
  Finding readers = three;
  readers.dynamic_pairs = 1;
  readers.distance = 8;
  readers.accesses = {acquire("main", 20, "", {"0x2c"}), acquire("T1", 28, "", {"0x24 (shared)"})};
  readers.accesses[1].shared = true;
  report.findings = {three, readers};
  report.stats.events = 40;
  report.stats.threads = 4;
  report.stats.analyses = {analysis("deadlock", "heuristic", 0)};
  return report;
}

Origin origin(std::string thread, std::uint64_t event, Site site) {
  return {std::move(thread), EventId{event}, std::move(site), {source("src/main.cc", 9, 1, "main")}};
}

// A race in each kind of memory, with all that is known of threads and locks.
Report context_report() {
  Report report;
  report.trace = "pool.trace";
  Access write = access(Op::kWrite, "worker", 90, source("src/pool.cc", 31, 7, "Pool::put(int)"));
  write.locks = {"pool.mu", "0x88 (shared)"};
  const Access read = access(Op::kRead, "main", 70, source("src/pool.cc", 12, 3, "Pool::size()"));
  Finding heap = race(Rung::kPredicted, {"hb"}, read, write);
  heap.observed = true;
  heap.context.memory = {
      MemoryKind::kHeap, 0x7f0012345670, 64, 8, "", "", origin("main", 3, source("src/pool.cc", 5, 9, "Pool::Pool()"))};
  heap.context.threads = {{"worker", origin("main", 5, source("src/pool.cc", 8, 2, "Pool::start()"))}};
  heap.context.locks = {{"pool.mu", 0x80, origin("main", 4, source("src/pool.cc", 6, 2, "Pool::Pool()"))},
                        {"0x88", 0x88, origin("worker", 80, source("src/pool.cc", 30, 2, "Pool::put(int)"))}};
  Finding stack = heap;
  stack.accesses[0].site.line = 13;
  stack.context = {MemoryContext{MemoryKind::kStack, 0x7f0012000000, 8u << 20, 0x345678, "", "worker", {}},
                   heap.context.threads,
                   {},
                   {}};
  Finding global = heap;
  global.accesses[0].site.line = 14;
  global.accesses[0].variable = global.accesses[1].variable = "pool_size";
  global.context = {MemoryContext{MemoryKind::kGlobal, 0x7f0012345678, 4, 0, "pool_size", "", {}}, {}, {}, {}};
  report.findings = {heap, stack, global};
  report.stats.events = 100;
  report.stats.analyses = {analysis("hb", "sound", 3)};
  return report;
}

// Each kind of misuse.
Report misuse_report() {
  Report report;
  report.trace = "locks.trace";
  for (std::uint8_t kind = 1; kind < kMisuseKindCount; ++kind) {
    Finding& finding = report.findings.emplace_back();
    finding.kind = FindingKind::kMisuse;
    finding.misuse = MisuseKind(kind);
    finding.rung = Rung::kPredicted;
    finding.observed = true;
    finding.found_by = {"misuse"};
    finding.dynamic_pairs = kind;
    const bool leak = finding.misuse == MisuseKind::kThreadLeak;
    Access call = access(leak ? Op::kFork : Op::kMisuse, "main", kind, source("src/locks.cc", kind, 3, "run()"));
    call.size = 0;
    call.address = leak ? 3 : 0x80;
    call.variable = leak ? "worker" : kind % 2 == 0 ? "" : "pool.mu";
    call.locks = kind == 1 ? std::vector<std::string>{"pool.mu"} : std::vector<std::string>{};
    finding.accesses = {call};
    if (is_signal_misuse(*finding.misuse)) {
      finding.accesses.back().address = 0;
      finding.accesses.back().variable = finding.misuse == MisuseKind::kSignalUnsafe ? "printf" : "SIGALRM";
    }
    if (finding.misuse == MisuseKind::kUseAfterFree) {
      Access use = access(Op::kRead, "T1", kind, source("src/locks.cc", kind, 3, "run()"));
      use.size = 4;
      use.address = 0x90;
      Access freed = access(Op::kFree, "main", kind - 1, source("src/locks.cc", 30, 3, "stop()"));
      freed.size = 40;
      freed.address = 0x80;
      finding.accesses = {freed, use};
    }
  }
  report.findings[0].context.locks = {{"pool.mu", 0x80, origin("main", 0, source("src/locks.cc", 20, 3, "setup()"))}};
  report.stats.events = 20;
  report.stats.analyses = {analysis("misuse", "sound", 0)};
  return report;
}

Report hostile_report() {
  Report report;
  report.trace = "a \"quoted\" & <b>bold</b>\x1b[31m.std";
  report.program = "./\xff\xfe 'x' \n\t\r";
  Site site =
      source("dir with space/na\xc3\xafve \"q\"#1?.cc", 3, 4, "operator<<(std::ostream&, T const&) [T = \"\\\"]");
  Access first = access(Op::kWrite, "<script>alert(1)</script>", 1, site);
  first.variable = "x\x1b[2J\x07\x7f\xc2\x9b{0}[link](1)";
  first.locks = {"mu\xe2\x80\xaetxet", "\xed\xa0\x80 (shared)"};
  Access second =
      access(Op::kRead, "\xe7\xb7\x9a\xf0\x9f\xa7\xb5", std::numeric_limits<std::uint64_t>::max(), labelled("a|b\nc"));
  second.address = std::numeric_limits<std::uint64_t>::max();
  second.stack = {labelled(""), labelled("\xc0\x80")};
  Site bare;
  bare.module = "lib\x01.so";
  bare.offset = std::numeric_limits<std::uint64_t>::max();
  second.stack.push_back(bare);
  report.findings = {race(Rung::kSuspected, {"h\"b"}, first, second)};
  report.notes = {"a note\nWARNING: ThreadSanitizer: forged", "]]> & \xf5"};
  report.stats.analyses = {analysis("h\"b", "<i>", 1)};
  return report;
}

Report nothing_report() {
  Report report;
  report.trace = "calm.trace";
  report.stats.events = 1;
  report.stats.analyses = {analysis("hb", "sound", 0), analysis("lockset", "heuristic", 0)};
  return report;
}

Report known_report() {
  Report report = text_report();
  report.findings.push_back(observed_race());
  report.findings.back().known = true;
  std::reverse(report.findings.begin(), report.findings.end());
  report.suppressed = 1;
  return report;
}

}  // namespace

std::vector<std::pair<std::string, Report>> sample_reports() {
  std::vector<std::pair<std::string, Report>> reports = {{"program", program_report()},   {"text", text_report()},
                                                         {"deadlock", deadlock_report()}, {"context", context_report()},
                                                         {"misuse", misuse_report()},     {"hostile", hostile_report()},
                                                         {"nothing", nothing_report()},   {"known", known_report()}};
  for (auto& [name, report] : reports) {
    fill_fingerprints(report);
  }
  return reports;
}

}  // namespace sooth
