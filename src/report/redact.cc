#include "report/redact.h"

#include <string_view>

#include "base/text.h"

namespace sooth {
namespace {

// Where the system keeps its headers and libraries is no secret, and tells a reader of the report what is the user's own.
bool is_of_system(const std::string& path) {
  return path.starts_with("/usr/include/") || path.starts_with("/usr/lib/") || path.starts_with("/lib/");
}

void redact_site(Site& site) {
  const bool is_label = is_of_system(site.file) && site.label.starts_with(site.file);
  site.label = is_label ? site.label : without_folders(site.label);
  site.file = is_of_system(site.file) ? site.file : file_name(site.file);
  site.module = is_of_system(site.module) ? site.module : file_name(site.module);
}

void redact_stack(std::vector<Site>& stack) {
  for (Site& site : stack) {
    redact_site(site);
  }
}

void redact_origin(Origin& origin) {
  redact_site(origin.site);
  redact_stack(origin.stack);
}

// "./prog --key secret" -> "prog".
std::string first_word(const std::string& command) { return file_name(command.substr(0, command.find(' '))); }

void redact_replay(ReplaySummary& replay) {
  const std::size_t program = replay.command.find(" -- ");
  if (program != std::string::npos) {
    replay.command =
        without_folders(replay.command.substr(0, program + 4)) + first_word(replay.command.substr(program + 4));
  }
  replay.diverged = without_folders(replay.diverged);
  replay.outcome = replay.outcome.substr(0, replay.outcome.find(" after \""));
  replay.outcome = replay.outcome.substr(0, replay.outcome.find(kButIt));  // what it printed
  replay.schedule.clear();
  for (std::string& place : replay.preemptions) {
    place = without_folders(place);
  }
  replay.older_values.clear();  // data of the program
}

void redact_witness(WitnessSummary& witness) {
  witness.why = without_folders(witness.why);
  for (WitnessStep& step : witness.steps) {
    redact_site(step.from);
    redact_site(step.to);
  }
  for (SectionSwap& swap : witness.swaps) {
    redact_site(swap.now_first.site);
    redact_site(swap.now_second.site);
  }
  witness.values.reset();
  if (witness.drawing.has_value()) {
    redact_stack(witness.drawing->sites);
  }
}

void redact_finding(Finding& finding) {
  for (Access& access : finding.accesses) {
    redact_site(access.site);
    redact_stack(access.stack);
    access.when.clear();
    access.code.clear();
  }
  for (OtherPair& pair : finding.others) {
    redact_stack(pair.sites);
  }
  FindingContext& context = finding.context;
  if (context.memory.has_value() && context.memory->allocated.has_value()) {
    redact_origin(*context.memory->allocated);
  }
  for (ThreadContext& thread : context.threads) {
    redact_origin(thread.created);
  }
  for (LockContext& lock : context.locks) {
    redact_origin(lock.first_acquired);
  }
  if (finding.witness.has_value()) {
    redact_witness(*finding.witness);
  }
  if (finding.replay.has_value()) {
    redact_replay(*finding.replay);
  }
  if (finding.failure.has_value()) {
    finding.failure->message.clear();
  }
  for (std::string& report : finding.reports) {
    report = file_name(report);
  }
}

}  // namespace

std::string without_folders(const std::string& text) {
  std::string out;
  std::size_t i = 0;
  while (i < text.size()) {
    const bool starts =
        text[i] == '/' && (i == 0 || std::string_view(" \"'(:=`").find(text[i - 1]) != std::string_view::npos);
    if (!starts) {
      out += text[i++];
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(" \"'),;`", i), text.size());
    out += file_name(text.substr(i, end - i));
    i = end;
  }
  return out;
}

void redact(Report& report) {
  report.trace = file_name(report.trace);
  report.program = first_word(report.program);
  for (Finding& finding : report.findings) {
    redact_finding(finding);
  }
  for (SuppressionUse& use : report.suppressions) {
    use.file = file_name(use.file);
  }
  for (std::string& note : report.notes) {
    note = without_folders(note);
  }
  for (Gap& gap : report.not_covered) {
    gap.text = without_folders(gap.text);
  }
  if (report.search.has_value()) {
    for (auto& [end, runs] : report.search->ends) {
      end = end.substr(0, end.find(" after \""));
    }
  }
  report.sources.clear();
}

}  // namespace sooth
