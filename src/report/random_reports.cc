#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "report/fingerprint.h"
#include "report/sample_reports.h"

namespace sooth {
namespace {

// Draws the values of a random report. std:: distributions differ between libraries; the engine does not.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t below(std::uint64_t limit) { return engine_() % limit; }
  bool coin() { return below(2) == 0; }
  // Small, huge or in between.
  std::uint64_t number() { return engine_() >> below(64); }
  std::uint32_t number32() { return static_cast<std::uint32_t>(engine_() >> (32 + below(32))); }
  double real() { return static_cast<double>(number()) / 4096.0; }
  std::string text() {
    static const std::string kPieces[] = {"a",
                                          "foo",
                                          "\"",
                                          "\\",
                                          "\n",
                                          "\x01",
                                          "\x7f",
                                          " ",
                                          "/",
                                          ":",
                                          "<b>",
                                          "&",
                                          "*",
                                          "^",
                                          "$",
                                          "%",
                                          "#",
                                          "\xc3\xa9",
                                          "\xe2\x80\xa8",
                                          "\xf0\x9f\xa7\xb5",
                                          std::string(1, '\0')};
    std::string text;
    for (std::uint64_t n = below(5); n > 0; --n) {
      text += kPieces[below(std::size(kPieces))];
    }
    return text;
  }
  std::vector<std::string> texts() {
    std::vector<std::string> texts(below(4));
    std::generate(texts.begin(), texts.end(), [this] { return text(); });
    return texts;
  }

 private:
  std::mt19937_64 engine_;
};

Site random_site(Dice& dice) {
  Site site;
  site.label = dice.text();
  site.file = dice.text();
  site.function = dice.text();
  site.module = dice.text();
  site.offset = dice.number();
  site.line = dice.number32() / 2;  // SARIF's lines and columns have 31 bits in some readers
  site.column = dice.number32() / 2;
  return site;
}

Access random_access(Dice& dice) {
  Access access;
  access.op = Op(dice.below(kOpCount));
  access.order = MemoryOrder(dice.below(kMemoryOrderCount));
  access.size = dice.number32();
  access.shared = dice.coin();
  access.address = dice.number();
  access.variable = dice.text();
  access.thread = dice.text();
  access.executed = dice.coin();
  access.event = EventId{access.executed ? dice.number() : 0};
  access.when = access.executed ? std::vector<std::string>{} : dice.texts();
  access.site = random_site(dice);
  for (std::uint64_t n = dice.below(3); n > 0; --n) {
    access.stack.push_back(random_site(dice));
  }
  access.locks = dice.texts();
  return access;
}

WitnessDrawing random_drawing(Dice& dice) {
  WitnessDrawing drawing;
  drawing.length = dice.number();
  for (std::uint64_t n = 1 + dice.below(3); n > 0; --n) {
    drawing.threads.push_back({ThreadId{dice.number32()}, dice.text()});
    drawing.deeds.push_back({Op(dice.below(kOpCount)), dice.coin()});
    drawing.objects.push_back(dice.text());
    drawing.sites.push_back(random_site(dice));
  }
  const auto index = [&] { return static_cast<std::uint32_t>(dice.below(drawing.sites.size())); };
  for (std::uint64_t n = dice.below(9); n > 0; --n) {
    WitnessDrawing::Row& row = drawing.rows.emplace_back();
    row.position = dice.number();
    row.event = EventId{dice.number()};
    for (std::uint32_t* part : {&row.thread, &row.deed, &row.object, &row.site}) {
      *part = index();
    }
  }
  return drawing;
}

SearchSummary random_search(Dice& dice) {
  SearchSummary search;
  for (std::uint64_t* figure :
       {&search.candidates, &search.tried, &search.runs, &search.sightings, &search.seen_once}) {
    *figure = dice.number();
  }
  search.jobs = dice.number32();
  search.jobs_why = dice.text();
  search.explored = dice.coin() ? dice.text() : "";
  search.ended = dice.text();
  for (std::size_t i = dice.below(3); i > 0; --i) {
    search.recordings.push_back({{dice.text(), dice.number()}, dice.number(), dice.number(), dice.text()});
    search.ends.emplace_back(dice.text(), dice.number());
  }
  return search;
}

RunOverview random_overview(Dice& dice) {
  RunOverview overview;
  for (std::uint64_t* figure : {&overview.slice, &overview.more_threads, &overview.more_locks}) {
    *figure = dice.number();
  }
  for (std::uint64_t n = dice.below(4); n > 0; --n) {
    overview.kinds.emplace_back(Op(dice.below(kOpCount)), dice.number());
    overview.threads.push_back(
        {dice.text(), dice.number(), EventId{dice.number()}, EventId{dice.number()}, {dice.number()}});
    overview.locks.push_back({dice.text(), dice.number(), dice.number()});
  }
  return overview;
}

UnexecutedStep random_step(Dice& dice) {
  UnexecutedStep step;
  step.thread = ThreadId{dice.number32()};
  step.code = {dice.number32(), dice.number32(), dice.number32()};
  step.op = dice.coin() ? Op::kRead : Op::kAtomicRmw;
  step.address = dice.number();
  step.size = dice.number32();
  step.after = dice.number();
  if (dice.coin()) {
    step.value = dice.number();
  }
  step.site = random_site(dice);
  return step;
}

ValueSummary random_values(Dice& dice) {
  ValueSummary values;
  for (std::uint64_t n = dice.below(3); n > 0; --n) {
    values.reads.push_back({EventId{dice.number()}, dice.number(), dice.text(), dice.text(), random_site(dice)});
  }
  for (std::uint64_t n = dice.below(3); n > 0; --n) {
    values.detour.push_back(random_step(dice));
  }
  values.next.push_back({ThreadId{dice.number32()}, EventId{dice.number()}, std::nullopt, std::nullopt});
  values.next.push_back({ThreadId{dice.number32()}, std::nullopt, random_step(dice), CodePlace{1, 2, dice.number32()}});
  return values;
}

WitnessSummary random_witness(Dice& dice) {
  WitnessSummary witness;
  witness.checked = dice.coin();
  witness.why = dice.text();
  witness.refuted = !witness.checked && dice.coin();
  for (std::uint64_t n = dice.below(4); n > 0; --n) {
    witness.order.push_back(EventId{dice.number()});
  }
  for (std::uint64_t n = dice.below(30); n > 0; --n) {
    witness.runs.push_back({ThreadId{dice.number32()}, EventId{dice.number()}, EventId{dice.number()}});
  }
  if (dice.coin()) {
    witness.drawing = random_drawing(dice);
  }
  if (dice.coin()) {
    witness.values = random_values(dice);
  }
  return witness;
}

Origin random_origin(Dice& dice) {
  Origin origin{dice.text(), EventId{dice.number()}, random_site(dice), {}};
  for (std::uint64_t n = dice.below(3); n > 0; --n) {
    origin.stack.push_back(random_site(dice));
  }
  return origin;
}

FindingContext random_context(Dice& dice) {
  FindingContext context;
  if (dice.coin()) {
    context.memory = {MemoryKind(dice.below(kMemoryKindCount)),
                      dice.number(),
                      dice.number(),
                      dice.number(),
                      dice.text(),
                      dice.text(),
                      {}};
    if (dice.coin()) {
      context.memory->member = dice.text();
      context.memory->allocated = random_origin(dice);
    }
  }
  for (std::uint64_t n = dice.below(3); n > 0; --n) {
    context.threads.push_back({dice.text(), random_origin(dice)});
  }
  for (std::uint64_t n = dice.below(3); n > 0; --n) {
    context.locks.push_back({dice.text(), dice.number(), random_origin(dice)});
  }
  return context;
}

ReplaySummary random_replay(Dice& dice) {
  ReplaySummary replay;
  replay.command = dice.text();
  replay.seed = dice.number();
  replay.probability = static_cast<double>(dice.below(1001)) / 1000.0;
  replay.strategy = dice.text();
  replay.trials = dice.number();
  replay.hits = dice.number();
  replay.witness_followed = dice.coin();
  replay.witness_repeats = dice.below(3);
  replay.diverged = dice.text();
  replay.outcome = dice.text();
  replay.failures = dice.number();
  replay.order_matters = dice.coin();
  replay.baseline_runs = dice.number();
  replay.baseline_failures = dice.number();
  replay.missed_failures = dice.number();
  replay.by_delay = dice.coin();
  replay.chance = static_cast<double>(dice.below(1001)) / 1000.0;
  replay.schedule = dice.text();
  for (std::uint64_t i = dice.below(3); i > 0; --i) {
    replay.preemptions.push_back(dice.text());
    replay.older_values.push_back(dice.text());
  }
  return replay;
}

Finding random_finding(Dice& dice) {
  Finding finding;
  finding.kind = FindingKind(dice.below(kFindingKindCount));
  finding.on_vptr = finding.kind == FindingKind::kRace && dice.below(4) == 0;
  finding.declared = finding.kind == FindingKind::kAtomicity && dice.coin();
  finding.follows = finding.kind == FindingKind::kRace && dice.below(4) == 0 ? dice.text() : "";
  if (finding.kind == FindingKind::kMisuse) {
    finding.misuse = MisuseKind(1 + dice.below(kMisuseKindCount - 1));
  }
  if (finding.kind >= FindingKind::kCrash || (finding.kind == FindingKind::kDeadlock && dice.coin())) {
    finding.failure = FailureSummary{dice.text(),
                                     static_cast<std::uint32_t>(dice.below(64)),
                                     static_cast<std::uint32_t>(dice.below(256)),
                                     dice.text(),
                                     dice.coin(),
                                     dice.coin(),
                                     dice.texts()};
  }
  finding.rung = Rung(dice.below(kRungCount));
  finding.found_by = dice.texts();
  finding.dynamic_pairs = dice.number();
  finding.distance = dice.number();
  finding.observed = dice.coin();
  finding.exact = dice.coin();
  finding.known = dice.coin();
  finding.may_be_atomic = dice.coin();
  finding.uninstrumented = dice.coin() ? dice.texts() : std::vector<std::string>();
  const std::uint64_t sides = finding.kind == FindingKind::kRace        ? 2
                              : finding.kind == FindingKind::kMisuse    ? 1
                              : finding.kind == FindingKind::kAtomicity ? 3
                                                                        : 1 + dice.below(4);
  for (std::uint64_t i = 0; i < sides; ++i) {
    finding.accesses.push_back(random_access(dice));
  }
  finding.context = dice.coin() ? random_context(dice) : FindingContext{};
  if (dice.coin()) {
    finding.witness = random_witness(dice);
    finding.recorded_under = {dice.text(), dice.number()};
  }
  if (dice.coin()) {
    HandOver& hand_over = finding.hand_over.emplace();
    hand_over.verdict = static_cast<HandOverVerdict>(dice.below(kHandOverVerdictCount));
    hand_over.pairs = dice.number();
    if (hand_over.verdict == HandOverVerdict::kRecognised) {
      hand_over.by_pointer = dice.coin();
      hand_over.write = random_site(dice);
      hand_over.read = random_site(dice);
      hand_over.variable = dice.text();
      hand_over.lock = dice.text();
    }
  }
  if (dice.coin()) {
    finding.replay = random_replay(dice);
  }
  finding.id = fingerprint(finding);
  return finding;
}

ReportStats random_stats(Dice& dice) {
  ReportStats stats;
  for (std::uint64_t* figure : {&stats.events, &stats.threads, &stats.locks, &stats.variables, &stats.sites}) {
    *figure = dice.number();
  }
  stats.seconds = dice.real();
  for (std::uint64_t i = dice.below(3); i > 0; --i) {
    stats.stages.emplace_back(dice.text(), dice.real());
  }
  for (std::uint64_t i = dice.below(4); i > 0; --i) {
    AnalysisStats analysis;
    analysis.name = dice.text() + std::to_string(i);  // different from the others, in no order
    analysis.guarantee = dice.text();
    analysis.races = dice.number();
    analysis.dynamic_pairs = dice.number();
    analysis.seconds = dice.real();
    if (dice.below(2) == 0) {
      analysis.seconds_unfiltered = dice.real();
    }
    for (std::uint64_t n = dice.below(3); n > 0; --n) {
      analysis.extra.emplace_back(dice.text(), dice.text());
    }
    stats.analyses.push_back(analysis);
  }
  if (dice.below(3) == 0) {
    stats.filter = FilterStats{dice.text(),   dice.number(), dice.number(), dice.number(),
                               dice.number(), dice.number(), dice.real()};
  }
  return stats;
}

}  // namespace

Report random_report(std::uint64_t seed) {
  Dice dice(seed);
  Report report;
  report.trace = dice.text();
  report.program = dice.text();
  report.exact = dice.coin();
  report.stateless = dice.texts();
  report.incomplete = dice.coin();
  for (std::uint64_t n = dice.below(5); n > 0; --n) {
    report.findings.push_back(random_finding(dice));
  }
  for (std::uint64_t n = dice.below(3); n > 0; --n) {
    report.suppressions.push_back({dice.text(), dice.number32(), dice.text(), dice.number()});
  }
  report.suppressed = dice.number();
  report.notes = dice.texts();
  for (std::uint64_t n = dice.below(4); n > 0; --n) {
    report.not_covered.push_back({GapKind(dice.below(kGapKindCount)), dice.text()});
  }
  if (dice.below(3) == 0) {
    const auto count = static_cast<std::uint32_t>(1 + dice.below(5));
    report.shard = ShardOfCampaign{static_cast<std::uint32_t>(1 + dice.below(count)), count, dice.text(), dice.texts()};
  }
  report.stats = random_stats(dice);
  if (dice.coin()) {
    report.overview = random_overview(dice);
    report.search = random_search(dice);
  }
  for (std::uint64_t n = dice.below(3); n > 0; --n) {
    report.sources.push_back({dice.text(), dice.number()});
  }
  return report;
}

}  // namespace sooth
