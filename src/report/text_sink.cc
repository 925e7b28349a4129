// The report for people: one paragraph per finding, in the manner of a compiler, then what was counted and what was
// not covered.
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "report/describe.h"
#include "report/rung_reason.h"
#include "report/sink.h"
#include "report/text_finding.h"

namespace sooth {
namespace {

constexpr std::size_t kMaxWitnessLines = 20;

void write_frame(std::size_t depth, const Site& site, std::ostream& out) {
  out << "    #" << depth << " " << (site.function.empty() ? "" : function_text(site) + " at ") << place(site) << "\n";
}

void write_access(const Finding& finding, const Access& access, const Paint& paint, std::ostream& out) {
  out << "  " << paint.bold(act_in(finding, access));
  if (is_from_trace(finding)) {
    out << (access.executed ? paint.dim(" at event " + std::to_string(raw(access.event))) : "") << ", "
        << held_locks(access);
  }
  out << awaited(finding, access) << how_reached(access) << "\n";
  write_frame(0, access.site, out);
  for (std::size_t i = 0; i < access.stack.size(); ++i) {
    write_frame(i + 1, access.stack[i], out);
  }
}

void write_context(const Finding& finding, const Paint& paint, std::ostream& out) {
  for (const ContextNote& note : context_notes(finding)) {
    out << "  " << note.text;
    if (note.origin == nullptr) {
      out << "\n";
      continue;
    }
    out << paint.dim(" at event " + std::to_string(raw(note.origin->event))) << "\n";
    write_frame(0, note.origin->site, out);
    for (std::size_t i = 0; i < note.origin->stack.size(); ++i) {
      write_frame(i + 1, note.origin->stack[i], out);
    }
  }
}

// "T1 runs from a.cc:3 to a.cc:7 (events 4 to 9)", or without names when the report has none.
void write_step(const WitnessSummary& witness, std::size_t i, std::ostream& out) {
  const WitnessSummary::Run& run = witness.runs[i];
  const std::size_t unnamed = witness.runs.size() - std::min(witness.runs.size(), witness.steps.size());
  const std::string events = run.first == run.last
                                 ? "event " + std::to_string(raw(run.first))
                                 : "events " + std::to_string(raw(run.first)) + " to " + std::to_string(raw(run.last));
  if (i < unnamed) {
    out << "    thread " << raw(run.thread) << ": " << events << "\n";
    return;
  }
  const WitnessStep& step = witness.steps[i - unnamed];
  out << "    " << printable(step.thread) << " runs "
      << (run.first == run.last ? place(step.from) : "from " + place(step.from) + " to " + place(step.to)) << " ("
      << events << ")\n";
}

std::string sentence_of(const SectionSwap& swap) {
  return printable(swap.lock) + ": " + printable(swap.now_first.thread) + " takes it at " + place(swap.now_first.site) +
         " before " + printable(swap.now_second.thread) + " does at " + place(swap.now_second.site) +
         "; in the recorded run it was the other way round";
}

// Swaps that read alike, as those of a loop do, once and with how many there are.
void write_swaps(const std::vector<SectionSwap>& swaps, std::ostream& out) {
  std::vector<std::pair<std::string, std::size_t>> sentences;
  std::map<std::string, std::size_t> index;
  for (const SectionSwap& swap : swaps) {
    std::string sentence = sentence_of(swap);
    const auto [at, is_new] = index.try_emplace(sentence, sentences.size());
    if (is_new) {
      sentences.emplace_back(std::move(sentence), 0);
    }
    ++sentences[at->second].second;
  }
  for (const auto& [sentence, times] : sentences) {
    out << "    " << sentence << (times > 1 ? " (" + std::to_string(times) + " times)" : "") << "\n";
  }
}

// What is different from the recorded run besides the order.
void write_values(const ValueSummary& values, std::ostream& out) {
  constexpr std::size_t kMostReads = 20;
  if (!values.reads.empty()) {
    out << "  reads that see another value than in the recorded run:\n";
  }
  for (std::size_t i = 0; i < std::min(values.reads.size(), kMostReads); ++i) {
    const ValueSummary::Read& read = values.reads[i];
    out << "    " << printable(read.thread) << " reads " << read.value
        << (read.variable.empty() ? "" : " from " + printable(read.variable)) << " at " << place(read.site)
        << " (event " << raw(read.event) << ")\n";
  }
  if (values.reads.size() > kMostReads) {
    out << "    (" << values.reads.size() - kMostReads << " more)\n";
  }
}

void write_witness(const WitnessSummary& witness, FindingKind kind, std::ostream& out) {
  if (!witness.checked) {
    if (!witness.why.empty()) {
      out << "  witness: none, " << printable(witness.why) << "\n";
    }
    return;
  }
  out << "  witness: checked; run in this order and "
      << (kind == FindingKind::kRace ? "both accesses are next" : "every thread waits for the next") << ":\n";
  if (witness.runs.empty()) {
    const std::string events = counted(witness.order.size(), "event", "events") + ", see the JSON report";
    out << "    " << (witness.order.empty() ? "no event needs to run first" : events) << "\n";
  }
  // The end of a witness is what leads to the race, so when it is long the beginning is what we leave out.
  const std::size_t total = witness.runs.size();
  const std::size_t left_out = total > kMaxWitnessLines ? total - (kMaxWitnessLines - 1) : 0;
  if (left_out > 0) {
    out << "    (" << left_out << " earlier stretches)\n";
  }
  for (std::size_t i = left_out; i < total; ++i) {
    write_step(witness, i, out);
  }
  if (witness.values.has_value()) {
    write_values(*witness.values, out);
  }
  if (!witness.swaps.empty()) {
    out << "  swapped critical sections:\n";
    write_swaps(witness.swaps, out);
  }
}

void write_replay(const ReplaySummary& replay, std::ostream& out) {
  if (!replay.diverged.empty()) {
    out << "  along the witness: " << printable(replay.diverged) << "\n";
  }
  if (!replay.command.empty()) {
    out << "  replay: " << printable(replay.command) << " (seed " << replay.seed << how_often_reached(replay) << ")\n";
  }
}

std::string how_often(const Finding& finding) {
  const std::string events = counted(finding.distance, "event", "events");
  if (!is_from_trace(finding)) {
    return "in " + counted(finding.dynamic_pairs, "run", "runs");
  }
  switch (finding.kind) {
    case FindingKind::kRace: return counted(finding.dynamic_pairs, "time", "times") + ", at best " + events + " apart";
    case FindingKind::kDeadlock:
      return "as " + counted(finding.dynamic_pairs, "cycle", "cycles") + " of locks, within " + events;
    case FindingKind::kMisuse:
    case FindingKind::kAtomicity:
    case FindingKind::kCrash:
    case FindingKind::kHang: return counted(finding.dynamic_pairs, "time", "times");
  }
  return "";
}

// All that is known.
void write_finding(const Finding& finding, const ReportStats& stats, const SinkOptions& options, const Paint& paint,
                   std::ostream& out) {
  write_headline(finding, options, paint, out);
  for (const Access* access : accesses_primary_first(finding)) {
    write_access(finding, *access, paint, out);
  }
  write_context(finding, paint, out);
  out << "  " << rung_name(finding.rung) << ": " << why_on_rung(finding, stats) << "\n";
  for (const std::string& way : ways_there(finding)) {
    out << "  how: " << way << "\n";
  }
  if (finding.conflicts.size() > 1) {
    out << "  conflicts: " << listed(finding.conflicts) << "\n";
  }
  out << "  found by " << (finding.found_by.empty() ? "nobody who says so" : listed(finding.found_by)) << ", "
      << how_often(finding) << "\n";
  if (finding.recorded_under.has_value()) {
    out << "  seen in a later recording: --schedule " << printable(finding.recorded_under->schedule) << " --seed "
        << finding.recorded_under->seed << "\n";
  }
  // A missing witness is already the reason given for `suspected`.
  if (finding.witness.has_value() && (finding.witness->checked || finding.rung != Rung::kSuspected)) {
    write_witness(*finding.witness, finding.kind, out);
  }
  if (finding.failure.has_value() && !finding.failure->after.empty()) {
    out << "  " << perhaps_because(finding) << "\n";
  }
  if (!finding.follows.empty()) {
    out << "  follows from the race " << printable(finding.follows) << "\n";
  }
  if (const std::string vain = attempts(finding); !vain.empty()) {
    out << "  not confirmed: " << vain << "\n";
  }
  if (finding.replay.has_value()) {
    write_replay(*finding.replay, out);
  }
  out << "\n";
}

// What nobody has proven, in a line each: many of them are false, and a long list hides the findings.
void write_suspicions(const std::vector<const Finding*>& suspicions, const ReportStats& stats, const Paint& paint,
                      std::ostream& out) {
  std::map<std::string, std::vector<const Finding*>> by_variable;
  for (const Finding* finding : suspicions) {
    by_variable[headline(*finding)].push_back(finding);
  }
  for (const auto& [what, findings] : by_variable) {
    out << paint.rung(Rung::kSuspected) << " " << paint.bold(what) << ":\n";
    for (const Finding* finding : findings) {
      std::string places;
      for (const Access* access : accesses_primary_first(*finding)) {
        places += (places.empty() ? "" : ", ") + place(access->place()) + " (" + std::string(op_name(access->op)) + ")";
      }
      const std::string vain = attempts(*finding);
      out << "  " << places << ": " << why_on_rung(*finding, stats) << (vain.empty() ? "" : "; " + vain) << " "
          << paint.dim("[" + printable(finding->id) + "]") << "\n";
    }
  }
  if (!suspicions.empty()) {
    out << "\n";
  }
}

// Memory that threads have damaged lets a program crash in many places: one of them is enough to read.
void write_other_crash(const Finding& finding, const SinkOptions& options, const Paint& paint, std::ostream& out) {
  const bool is_counted = finding.replay.has_value() && finding.replay->hits > 0;
  write_wrapped("also: ",
                paint.rung(finding.rung) + " " + headline(finding) + " at " +
                    short_place(primary_access(finding).place()) +
                    (is_counted ? ", in " + std::to_string(finding.replay->hits) + " of " +
                                      counted(finding.replay->trials, "run", "runs")
                                : "") +
                    " " + paint.dim("[" + printable(finding.id) + "]"),
                options.width, out);
  out << "\n";
}

using Consequences = std::map<std::string, std::vector<const Finding*>>;

// By the id of what leads to them, as far as that is shown.
Consequences consequences_of(const std::vector<const Finding*>& findings) {
  Consequences by_cause;
  for (const Finding* finding : findings) {
    if (finding->rung > Rung::kSuspected && finding->follows.empty()) {
      by_cause[finding->id];
    }
  }
  for (const Finding* finding : findings) {
    const auto cause = by_cause.find(finding->follows);
    if (finding->rung > Rung::kSuspected && cause != by_cause.end()) {
      cause->second.push_back(finding);
    }
  }
  std::erase_if(by_cause, [](const auto& cause) { return cause.second.empty(); });
  return by_cause;
}

std::string noun_of(FindingKind kind) {
  return kind == FindingKind::kAtomicity ? "atomicity violation" : std::string(finding_kind_name(kind));
}

std::string plural_of(FindingKind kind) { return noun_of(kind) + (kind == FindingKind::kCrash ? "es" : "s"); }

// "2 races (1 predicted, 1 suspected)"; empty when there is none of this kind.
std::string count_of_kind(const std::vector<const Finding*>& findings, FindingKind kind) {
  std::array<std::uint64_t, kRungCount> by_rung{};
  std::uint64_t total = 0;
  for (const Finding* finding : findings) {
    if (finding->kind == kind) {
      ++by_rung[raw(finding->rung)];
      ++total;
    }
  }
  if (total == 0) {
    return "";
  }
  std::string rungs;
  for (int i = kRungCount - 1; i >= 0; --i) {
    if (by_rung[i] > 0) {
      rungs += (rungs.empty() ? "" : ", ") + std::to_string(by_rung[i]) + " " + std::string(rung_name(Rung(i)));
    }
  }
  return counted(total, noun_of(kind), plural_of(kind)) + " (" + rungs + ")";
}

std::string nothing_found(const Report& report, std::uint64_t known) {
  const std::string events = counted(report.stats.events, "event", "events");
  if (report.stats.analyses.empty()) {
    return "No analysis looked at the " + events;
  }
  std::string names;
  std::array<bool, kFindingKindCount> sought{};
  for (const AnalysisStats& analysis : report.stats.analyses) {
    // An analysis that looks for something else than races bears its name.
    sought[raw(finding_kind_from_name(analysis.name).value_or(FindingKind::kRace))] = true;
    names += (names.empty() ? "" : ", ") + printable(analysis.name);
  }
  std::string what;
  for (int i = kFindingKindCount - 1; i >= 0; --i) {
    if (sought[i]) {
      const std::string_view separator = what.empty() ? "" : what.find(" or ") == what.npos ? " or " : ", ";
      what = plural_of(FindingKind(i)) + std::string(separator) + what;
    }
  }
  return (known > 0 ? "No new " : "No ") + what + " found in " + events + " by " + names;
}

void write_summary(const Report& report, const std::vector<const Finding*>& findings, const Consequences& consequences,
                   const SinkOptions& options, const Paint& paint, std::ostream& out) {
  const std::uint64_t known = report.findings.size() - findings.size();
  std::string line;
  const auto add = [&line](const std::string& part) { line += (line.empty() || part.empty() ? "" : ", ") + part; };
  for (int i = 0; i < kFindingKindCount; ++i) {
    add(count_of_kind(findings, FindingKind(i)));
  }
  std::size_t following = 0;
  for (const auto& [cause, races] : consequences) {
    following += races.size();
  }
  if (following > 0) {
    add(std::to_string(following) + " of these races " + (following == 1 ? "follows" : "follow") + " from another");
  }
  const std::string found = std::exchange(line, "");
  if (report.suppressed > 0) {
    add(std::to_string(report.suppressed) + " suppressed");
  }
  if (known > 0) {
    add(std::to_string(known) + " known from the baseline");
  }
  const std::string rest = line.empty() ? "" : (found.empty() ? "; " : ", ") + line;
  write_paragraph(paint.bold(found.empty() ? nothing_found(report, known) + rest + "." : found + rest), options.width,
                  out);
}

// "excluded code", as people say.
std::string spoken(GapKind kind) {
  std::string name(gap_kind_name(kind));
  std::replace(name.begin(), name.end(), '-', ' ');
  return name;
}

// The same for texts that differ in numbers only.
std::string without_numbers(const std::string& text) {
  std::string shape;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) {
      shape += c;
    } else if (shape.empty() || shape.back() != '#') {
      shape += '#';
    }
  }
  return shape;
}

// Lines without those that only repeat an earlier one with other numbers, as the processes of a test suite do: of these
// the first says how many there are.
std::vector<std::string> fold_alike(const std::vector<std::string>& lines) {
  std::map<std::string, std::size_t> count;
  for (const std::string& line : lines) {
    ++count[without_numbers(line)];
  }
  std::vector<std::string> folded;
  for (const std::string& line : lines) {
    std::size_t& alike = count[without_numbers(line)];
    if (alike > 0) {
      folded.push_back(line + (alike == 1 ? "" : " (and " + std::to_string(alike - 1) + " more like it)"));
    }
    alike = 0;
  }
  return folded;
}

void write_gaps(const Report& report, const SinkOptions& options, const Paint& paint, std::ostream& out) {
  if (report.not_covered.empty()) {
    return;
  }
  out << "\n" << paint.bold("What was not covered:") << "\n";
  std::vector<std::string> lines;
  for (const Gap& gap : report.not_covered) {
    lines.push_back(spoken(gap.kind) + ": " + printable(gap.text));
  }
  for (const std::string& line : fold_alike(lines)) {
    write_wrapped("", line, options.width, out);
  }
}

// What `sooth run` did, in a sentence or three.
void write_search(const SearchSummary& search, const SinkOptions& options, std::ostream& out) {
  std::string text =
      "Searched " + counted(search.recordings.size(), "recorded schedule", "recorded schedules") + " and " +
      counted(search.runs, "controlled run", "controlled runs") + "; " +
      (search.candidates == 0   ? "there was nothing to steer to"
       : search.candidates == 1 ? "the candidate was " + std::string(search.tried == 1 ? "tried" : "not tried")
                                : (search.tried == search.candidates ? "all " : std::to_string(search.tried) + " of ") +
                                      std::to_string(search.candidates) + " candidates were tried") +
      ".";
  if (search.sightings > 0 && search.recordings.size() > 1) {
    char share[64];
    std::snprintf(share, sizeof share, "about %.0f %% of what it shows",
                  100 * static_cast<double>(search.seen_once) / static_cast<double>(search.sightings));
    text += " New in one more recording, by estimate: " + std::string(search.seen_once == 0 ? "nothing" : share) + ".";
  }
  text += search.explored.empty() ? "" : " " + printable(search.explored);
  write_paragraph(text, options.width, out);
  if (options.stats) {
    for (std::size_t i = 0; i < search.recordings.size(); ++i) {
      const SearchSummary::Recording& recording = search.recordings[i];
      out << "  recording " << i + 1 << ": " << printable(recording.how.schedule) << ", seed " << recording.how.seed
          << ": " << counted(recording.pairs, "pair", "pairs") << ", " << recording.new_pairs << " new; ended with "
          << printable(recording.end) << "\n";
    }
    for (const auto& [end, runs] : search.ends) {
      out << "  " << counted(runs, "run", "runs") << ": " << printable(end) << "\n";
    }
    out << "  sightings of pairs: " << search.sightings << ", of these of a pair seen only once: " << search.seen_once
        << "\n";
    out << "  at a time: " << search.jobs << (search.jobs_why.empty() ? "" : "; " + printable(search.jobs_why)) << "\n";
    out << "  ended: " << printable(search.ended) << "\n";
  }
}

void write_remarks(const Report& report, const SinkOptions& options, std::ostream& out) {
  if (!report.exact) {
    write_paragraph("note: the trace is not exact: what a read saw is not known for certain", options.width, out);
  }
  std::vector<std::string> notes;
  for (const std::string& note : report.notes) {
    const bool is_gap = std::any_of(report.not_covered.begin(), report.not_covered.end(),
                                    [&](const Gap& gap) { return gap.text == note; });
    if (!is_gap) {
      notes.push_back("note: " + printable(note));
    }
  }
  for (const std::string& note : fold_alike(notes)) {
    write_paragraph(note, options.width, out);
  }
  for (const SuppressionUse& use : report.suppressions) {
    if (use.hits == 0) {
      out << printable(use.file) << ":" << use.line << ": unused suppression " << printable(use.text) << "\n";
    }
  }
}

std::string seconds_text(double seconds) {
  char text[64];
  std::snprintf(text, sizeof text, "%.3f s", seconds);
  return text;
}

std::string percent_text(double part, double whole) {
  char text[64];
  std::snprintf(text, sizeof text, "%.2f%%", whole > 0 ? 100 * part / whole : 0);
  return text;
}

// The columns of Table 5.1 of the TREE thesis, for this trace.
void add_filter_rows(const ReportStats& stats, const SinkOptions& options,
                     std::vector<std::pair<std::string, std::string>>& rows) {
  const FilterStats& filter = *stats.filter;
  const auto share = [&](std::uint64_t part) {
    return std::to_string(part) + " (" + percent_text(static_cast<double>(part), static_cast<double>(filter.accesses)) +
           ")";
  };
  rows.emplace_back("filter", printable(filter.name));
  rows.emplace_back("filter accesses", std::to_string(filter.accesses));
  rows.emplace_back("filter skipped", share(filter.hidden_intra + filter.hidden_inter));
  rows.emplace_back("filter skipped, intra-thread", share(filter.hidden_intra));
  rows.emplace_back("filter skipped, inter-thread", share(filter.hidden_inter));
  rows.emplace_back("filter locations", std::to_string(filter.locations));
  rows.emplace_back("filter memory", std::to_string((filter.memory + 1023) / 1024) + " KB");
  double with = filter.seconds;
  double without = 0;
  bool compared = false;
  for (const AnalysisStats& analysis : stats.analyses) {
    with += analysis.seconds;
    without += analysis.seconds_unfiltered.value_or(0);
    compared = compared || analysis.seconds_unfiltered.has_value();
  }
  if (!options.deterministic) {
    rows.emplace_back("filter time", seconds_text(filter.seconds));
    if (compared) {
      rows.emplace_back("time of filter and analyses", seconds_text(with));
      rows.emplace_back("time of analyses without filter", seconds_text(without));
      rows.emplace_back("speed-up by the filter", percent_text(without - with, without));
    }
  }
}

void write_stats(const Report& report, const SinkOptions& options, std::ostream& out) {
  std::vector<std::pair<std::string, std::string>> rows = {
      {"events", std::to_string(report.stats.events)}, {"threads", std::to_string(report.stats.threads)},
      {"locks", std::to_string(report.stats.locks)},   {"variables", std::to_string(report.stats.variables)},
      {"sites", std::to_string(report.stats.sites)},
  };
  if (!options.deterministic) {
    rows.emplace_back("time", seconds_text(report.stats.seconds));
    rows.emplace_back("time for witnesses", seconds_text(report.stats.witness_seconds));
  }
  if (report.stats.filter.has_value()) {
    add_filter_rows(report.stats, options, rows);
  }
  for (const AnalysisStats& analysis : report.stats.analyses) {
    const std::string name = printable(analysis.name);
    rows.emplace_back(name, printable(analysis.guarantee));
    rows.emplace_back(name + " races", std::to_string(analysis.races));
    rows.emplace_back(name + " dynamic pairs", std::to_string(analysis.dynamic_pairs));
    if (!options.deterministic) {
      rows.emplace_back(name + " time", seconds_text(analysis.seconds));
      if (analysis.seconds_unfiltered.has_value()) {
        rows.emplace_back(name + " time without filter", seconds_text(*analysis.seconds_unfiltered));
      }
    }
    for (const auto& [label, figure] : analysis.extra) {
      rows.emplace_back(name + " " + printable(label), printable(figure));
    }
  }
  std::size_t width = 0;
  for (const auto& row : rows) {
    width = std::max(width, row.first.size());
  }
  out << "\n";
  for (const auto& [label, figure] : rows) {
    out << "  " << label << std::string(width - label.size() + 2, ' ') << figure << "\n";
  }
}

}  // namespace

Status write_text(const Report& report, const SinkOptions& options, std::ostream& out) {
  const Paint paint(options.color);
  const std::vector<const Finding*> findings = new_findings(report);
  const bool shows_suspicions = options.fail_on == Rung::kSuspected;
  std::vector<const Finding*> suspicions;
  const Consequences consequences = consequences_of(findings);
  const auto is_crash = [](const Finding* finding) { return finding->kind == FindingKind::kCrash; };
  const auto crash = std::find_if(findings.begin(), findings.end(), is_crash);
  const Finding* const first_crash = crash == findings.end() ? nullptr : *crash;
  const bool has_race = std::any_of(findings.begin(), findings.end(), [](const Finding* finding) {
    return finding->kind == FindingKind::kRace && finding->rung >= Rung::kConfirmed;
  });
  for (const Finding* finding : findings) {
    // A run that failed is worth to be read, whatever it took.
    if (finding->rung == Rung::kSuspected && !finding->failure.has_value()) {
      suspicions.push_back(finding);
    } else if (options.verbose) {
      write_finding(*finding, report.stats, options, paint, out);
    } else if (finding->kind == FindingKind::kCrash && has_race && finding != first_crash) {
      write_other_crash(*finding, options, paint, out);
    } else if (!consequences.contains(finding->follows)) {
      const auto following = consequences.find(finding->id);
      write_brief(*finding, following == consequences.end() ? std::vector<const Finding*>() : following->second,
                  report.stats, options, paint, out);
    }
  }
  if (shows_suspicions) {
    write_suspicions(suspicions, report.stats, paint, out);
  }
  write_summary(report, findings, consequences, options, paint, out);
  if (!suspicions.empty() && !shows_suspicions) {
    write_paragraph(counted(suspicions.size(), "suspicion is", "suspicions are") +
                        " not shown: unproven, and perhaps false. --fail-on suspected shows " +
                        (suspicions.size() == 1 ? "it." : "them, a line each."),
                    options.width, out);
    const auto handed = std::count_if(suspicions.begin(), suspicions.end(),
                                      [](const Finding* finding) { return looks_handed_over(*finding); });
    if (handed > 0) {
      const auto all = static_cast<std::ptrdiff_t>(suspicions.size());
      const std::string which = all == 1        ? "It looks"
                                : handed == all ? "All of them look"
                                : handed == 1   ? "One of them looks"
                                                : std::to_string(handed) + " of them look";
      write_wrapped("", which + " like something that one thread hands to another under a lock.", options.width, out);
    }
  }
  if (report.search.has_value()) {
    write_search(*report.search, options, out);
  }
  write_remarks(report, options, out);
  write_gaps(report, options, paint, out);
  if (options.stats) {
    write_stats(report, options, out);
  }
  return {};
}

}  // namespace sooth
