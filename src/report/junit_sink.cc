// JUnit XML, which every CI service shows as tests. A finding is a test: it fails when it makes the command fail, and
// is skipped when it does not.
#include <cmath>
#include <ostream>

#include "report/baseline.h"
#include "report/describe.h"
#include "report/explain.h"
#include "report/rung_reason.h"
#include "report/sink.h"

namespace sooth {
namespace {

// printable() has taken away what XML 1.0 cannot express, apart from two characters that are none.
std::string xml(std::string_view text) {
  std::string escaped;
  const std::string plain = printable(text);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    switch (plain[i]) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      case '\xEF':
        if (plain.compare(i, 3, "\xEF\xBF\xBE") == 0 || plain.compare(i, 3, "\xEF\xBF\xBF") == 0) {  // U+FFFE, U+FFFF
          escaped += "\xEF\xBF\xBD";
          i += 2;
          break;
        }
        [[fallthrough]];
      default: escaped.push_back(plain[i]);
    }
  }
  return escaped;
}

bool fails(const Finding& finding, const SinkOptions& options) {
  return !finding.known && options.fail_on.has_value() && rung_for_failing(finding) >= *options.fail_on;
}

std::string why_skipped(const Finding& finding) {
  if (finding.known) {
    return "known from the baseline";
  }
  const std::string rung(rung_name(finding.rung));
  return rung + (rung_for_failing(finding) == finding.rung
                     ? ": below --fail-on"
                     : ", but from a trace that is not exact: counts as suspected until it is confirmed");
}

void write_text(const Finding& finding, const ReportStats& stats, std::ostream& out) {
  for (const Access* access : accesses_primary_first(finding)) {
    out << xml(act_in(finding, *access) + with_locks(finding, *access) + awaited(finding, *access)) << "\n";
    out << "  at " << xml(place(access->place())) << (access->place().function.empty() ? "" : " in ")
        << xml(function_text(access->place())) << "\n";
    for (const Site& call : access->stack) {
      out << "  called at " << xml(place(call)) << (call.function.empty() ? "" : " in ") << xml(function_text(call))
          << "\n";
    }
  }
  for (const ContextNote& note : context_notes(finding)) {
    out << xml(note.text) << (note.origin != nullptr ? " at " + xml(place(note.origin->place())) : "") << "\n";
  }
  out << xml(explanation(finding)) << "\n"
      << rung_name(finding.rung) << ": " << xml(why_on_rung(finding, stats)) << "\n"
      << "found by " << xml(listed(finding.found_by)) << "\n";
  if (finding.replay.has_value() && !finding.replay->command.empty()) {
    out << "replay: " << xml(finding.replay->command) << "\n";
  }
}

void write_case(const Finding& finding, const ReportStats& stats, const SinkOptions& options, std::ostream& out) {
  const Site& site = primary_access(finding).place();
  out << "    <testcase classname=\"" << xml("sooth." + std::string(finding_kind_name(finding.kind))) << "\" name=\""
      << xml(headline(finding) + " at " + place(site) + " [" + finding.id + "]") << "\"";
  if (!site.file.empty()) {
    out << " file=\"" << xml(site.file) << "\"";
    if (site.line > 0) {
      out << " line=\"" << site.line << "\"";
    }
  }
  out << ">\n";
  if (!fails(finding, options)) {
    out << "      <skipped message=\"" << xml(why_skipped(finding)) << "\"/>\n      <system-out>";
    write_text(finding, stats, out);
    out << "</system-out>\n";
  } else {
    out << "      <failure type=\"" << finding_kind_name(finding.kind) << "/" << rung_name(finding.rung)
        << "\" message=\"" << xml(std::string(rung_name(finding.rung)) + " " + headline(finding)) << "\">";
    write_text(finding, stats, out);
    out << "</failure>\n";
  }
  out << "    </testcase>\n";
}

}  // namespace

Status write_junit(const Report& report, const SinkOptions& options, std::ostream& out) {
  std::size_t failures = 0;
  for (const Finding& finding : report.findings) {
    failures += fails(finding, options) ? 1 : 0;
  }
  const std::size_t skipped = report.findings.size() - failures;
  const bool calm = report.findings.empty();
  std::string counts = " tests=\"" + std::to_string(calm ? 1 : report.findings.size()) + "\" failures=\"" +
                       std::to_string(failures) + "\" errors=\"0\" skipped=\"" + std::to_string(skipped) + "\"";
  if (!options.deterministic && std::isfinite(report.stats.seconds)) {
    counts += " time=\"" + std::to_string(report.stats.seconds) + "\"";
  }
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"sooth\"" << counts << ">\n  <testsuite name=\""
      << xml("sooth" + (report.program.empty() ? "" : " " + report.program)) << "\"" << counts << ">\n";
  if (calm) {
    // A suite without tests is an error in the eyes of many services.
    out << "    <testcase classname=\"sooth\" name=\""
        << xml("nothing found in " + counted(report.stats.events, "event", "events")) << "\"/>\n";
  }
  for (const Finding& finding : report.findings) {
    write_case(finding, report.stats, options, out);
  }
  if (!report.notes.empty()) {
    out << "    <system-out>";
    for (const std::string& note : report.notes) {
      out << xml(note) << "\n";
    }
    out << "</system-out>\n";
  }
  out << "  </testsuite>\n</testsuites>\n";
  return {};
}

}  // namespace sooth
