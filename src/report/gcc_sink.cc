// Compiler messages, one line per side, that editors and CI services already know how to jump from.
#include <ostream>

#include "report/describe.h"
#include "report/rung_reason.h"
#include "report/sink.h"

namespace sooth {
namespace {

// Without a file there is nothing to jump to: the message then starts with the trace and ends with the site. With a
// line there is always a column, because some problem matchers see no message without one.
std::string prefix(const Site& site, const Report& report) {
  if (!site.file.empty()) {
    return place(site) + (site.line > 0 && site.column == 0 ? ":1" : "");
  }
  return report.trace.empty() ? "sooth" : printable(report.trace);
}

std::string side(const Finding& finding, const Access& access) {
  std::string text = act_in(finding, access);
  if (!access.place().function.empty()) {
    text += " in " + function_text(access.place());
  }
  if (access.place().file.empty()) {
    text += " at " + place(access.place());
  }
  return text + with_locks(finding, access) + awaited(finding, access) + how_reached(access);
}

// The deed says what a finding is about, except for a leaked thread, whose deed is its fork, and for a failure, which was
// not done by anybody.
std::string title(const Finding& finding, const Access& primary) {
  const bool says_more = (finding.kind == FindingKind::kMisuse && primary.op != Op::kMisuse) ||
                         finding.kind == FindingKind::kCrash || finding.kind == FindingKind::kHang;
  return says_more ? headline(finding) : std::string(kind_phrase(finding.kind));
}

std::string_view severity(Rung rung) { return rung >= Rung::kConfirmed ? "error" : "warning"; }

}  // namespace

Status write_gcc(const Report& report, const SinkOptions&, std::ostream& out) {
  for (const Finding* finding : new_findings(report)) {
    const std::vector<const Access*> accesses = accesses_primary_first(*finding);
    const Access& primary = primary_access(*finding);
    out << prefix(primary.place(), report) << ": " << severity(finding->rung) << ": " << rung_name(finding->rung) << " "
        << title(*finding, primary) << ": " << side(*finding, primary) << " [sooth-" << finding_kind_name(finding->kind)
        << "]\n";
    for (std::size_t i = 1; i < accesses.size(); ++i) {
      out << prefix(accesses[i]->place(), report)
          << ": note: " << (finding->kind == FindingKind::kRace ? "with " : "and ") << side(*finding, *accesses[i])
          << "\n";
    }
    for (const ContextNote& note : context_notes(*finding)) {
      const Site& site = note.origin != nullptr ? note.origin->place() : primary.place();
      out << prefix(site, report) << ": note: " << note.text
          << (note.origin != nullptr && site.file.empty() ? " at " + place(site) : "") << "\n";
    }
    out << prefix(primary.place(), report) << ": note: " << why_on_rung(*finding, report.stats) << "; found by "
        << listed(finding->found_by) << " [" << printable(finding->id) << "]\n";
  }
  return {};
}

}  // namespace sooth
