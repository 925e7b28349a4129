#include "run/merge_reports.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "confirm/shell_words.h"
#include "pipeline/registry.h"
#include "report/fingerprint.h"
#include "report/group.h"
#include "report/sink.h"
#include "run/join_shards.h"

namespace sooth {
namespace {

// The reports in an order that depends on nothing but what they say, each once.
std::vector<Report> sorted(std::vector<Report> reports) {
  std::map<std::string, Report> by_text;
  for (Report& report : reports) {
    fill_fingerprints(report);
    merge_equal_findings(report);
    std::ostringstream text;
    // Any report can be expressed as JSON.
    (void)write_json(report, {}, text);
    by_text.try_emplace(text.str(), std::move(report));
  }
  std::vector<Report> ordered;
  for (auto& [text, report] : by_text) {
    ordered.push_back(std::move(report));
  }
  return ordered;
}

// What controlled runs towards one finding came to in all reports.
struct Trials {
  std::uint64_t trials = 0, hits = 0;
};

std::map<std::string, Trials> count_trials(const std::vector<Report>& reports) {
  std::map<std::string, Trials> all;
  for (const Report& report : reports) {
    for (const Finding& finding : report.findings) {
      if (finding.replay.has_value()) {
        all[finding.id].trials += finding.replay->trials;
        all[finding.id].hits += finding.replay->hits;
      }
    }
  }
  return all;
}

void set_trials(const std::map<std::string, Trials>& all, Report& report) {
  for (Finding& finding : report.findings) {
    if (!finding.replay.has_value() || all.at(finding.id).trials == finding.replay->trials) {
      continue;  // of one report: its probability may be more than hits of trials
    }
    const Trials& sum = all.at(finding.id);
    finding.replay->trials = sum.trials;
    finding.replay->hits = sum.hits;
    finding.replay->probability = static_cast<double>(sum.hits) / static_cast<double>(sum.trials);
  }
}

void add_stats(ReportStats& sum, const ReportStats& other) {
  sum.events += other.events;
  sum.threads += other.threads;
  sum.locks += other.locks;
  sum.variables += other.variables;
  sum.sites += other.sites;
  sum.seconds += other.seconds;
  sum.witness_seconds += other.witness_seconds;
  for (const AnalysisStats& analysis : other.analyses) {
    const auto same = std::find_if(sum.analyses.begin(), sum.analyses.end(),
                                   [&](const AnalysisStats& each) { return each.name == analysis.name; });
    if (same == sum.analyses.end()) {
      sum.analyses.push_back(analysis);
      continue;
    }
    same->races = std::max(same->races, analysis.races);
    same->dynamic_pairs += analysis.dynamic_pairs;
    same->seconds += analysis.seconds;
    same->seconds_unfiltered.reset();  // the figures of one trace do not add up with those of another
    same->extra.clear();
  }
}

// The names as reports have them, and what the findings show of an analysis that several reports have.
void settle_analyses(Report& report) {
  std::stable_sort(report.stats.analyses.begin(), report.stats.analyses.end(),
                   [](const AnalysisStats& a, const AnalysisStats& b) {
                     const DetectorInfo* const x = find_detector(a.name);
                     const DetectorInfo* const y = find_detector(b.name);
                     return x == nullptr || y == nullptr ? x != nullptr && y == nullptr : x < y;
                   });
  for (AnalysisStats& analysis : report.stats.analyses) {
    const auto found = std::count_if(report.findings.begin(), report.findings.end(), [&](const Finding& finding) {
      return finding.kind == FindingKind::kRace &&
             std::find(finding.found_by.begin(), finding.found_by.end(), analysis.name) != finding.found_by.end();
    });
    analysis.races = std::max(analysis.races, static_cast<std::uint64_t>(found));
  }
}

void unite_notes(const std::vector<std::string>& notes, std::vector<std::string>& all) {
  for (const std::string& note : notes) {
    if (std::find(all.begin(), all.end(), note) == all.end()) {
      all.push_back(note);
    }
  }
}

void unite_gaps(const Report& report, Report& all) {
  for (const Gap& gap : report.not_covered) {
    // One that is no note either is one that always is so, and stands in front.
    const bool noted = std::find(report.notes.begin(), report.notes.end(), gap.text) != report.notes.end();
    if (noted) {
      all.add_gap(gap.kind, gap.text);
    } else if (std::find(all.not_covered.begin(), all.not_covered.end(), gap) == all.not_covered.end()) {
      all.not_covered.insert(all.not_covered.begin(), gap);
    }
  }
}

void add_stages(const std::vector<std::pair<std::string, double>>& stages,
                std::vector<std::pair<std::string, double>>& sum) {
  for (const auto& [name, seconds] : stages) {
    const auto same = std::find_if(sum.begin(), sum.end(), [&](const auto& each) { return each.first == name; });
    if (same == sum.end()) {
      sum.emplace_back(name, seconds);
    } else {
      same->second += seconds;
    }
  }
}

void unite_suppressions(const std::vector<SuppressionUse>& uses, std::vector<SuppressionUse>& all) {
  for (const SuppressionUse& use : uses) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const SuppressionUse& each) {
      return each.file == use.file && each.line == use.line && each.text == use.text;
    });
    if (same == all.end()) {
      all.push_back(use);
    } else {
      same->hits += use.hits;
    }
  }
}

// A file that changed between the reports is one of which nobody knows what it was like.
std::vector<SourceFile> common_sources(const std::vector<Report>& reports) {
  std::map<std::string, std::set<std::uint64_t>> digests;
  for (const Report& report : reports) {
    for (const SourceFile& source : report.sources) {
      digests[source.file].insert(source.digest);
    }
  }
  std::vector<SourceFile> sources;
  for (const auto& [file, all] : digests) {
    if (all.size() == 1) {
      sources.push_back({file, *all.begin()});
    }
  }
  return sources;
}

}  // namespace

void name_replays(Report& report, const std::string& file) {
  for (Finding& finding : report.findings) {
    if (!finding.replay.has_value() || finding.replay->schedule.empty()) {
      continue;  // nobody can repeat it from there
    }
    std::string& command = finding.replay->command;
    const std::size_t program = command.find(" -- ");
    const bool in_report = command.rfind('#', program) != std::string::npos;  // else a schedule has a file of its own
    if (program != std::string::npos && in_report) {
      command = "sooth replay " + shell_word(file + "#" + finding.id) + command.substr(program);
    }
  }
}

Report merge_reports(std::vector<Report> reports) {
  std::vector<Report> ordered = sorted(join_shards(sorted(std::move(reports))));
  if (ordered.empty()) {
    return {};
  }
  const std::map<std::string, Trials> trials = count_trials(ordered);
  std::vector<SourceFile> sources = common_sources(ordered);
  Report merged = std::move(ordered.front());
  for (std::size_t i = 1; i < ordered.size(); ++i) {
    Report& other = ordered[i];
    merged.trace = merged.trace == other.trace ? merged.trace : "";
    merged.program = merged.program == other.program ? merged.program : "";
    merged.id_version = std::min(merged.id_version, other.id_version);
    merged.exact = merged.exact && other.exact;
    merged.incomplete = merged.incomplete || other.incomplete;
    merged.suppressed += other.suppressed;
    merged.stats.filter.reset();
    merged.overview.reset();  // the course of one run says nothing of another
    merged.search.reset();
    std::move(other.findings.begin(), other.findings.end(), std::back_inserter(merged.findings));
    unite_notes(other.notes, merged.notes);
    unite_notes(other.stateless, merged.stateless);
    unite_gaps(other, merged);
    add_stages(other.stats.stages, merged.stats.stages);
    unite_suppressions(other.suppressions, merged.suppressions);
    add_stats(merged.stats, other.stats);
  }
  if (ordered.size() > 1) {
    merged.sources = std::move(sources);
    settle_analyses(merged);
    merge_equal_findings(merged);
    set_trials(trials, merged);
  }
  return merged;
}

}  // namespace sooth
