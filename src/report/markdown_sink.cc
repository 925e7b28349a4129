// Markdown for a comment on a pull request: a table of what is new, and below it the details, folded. Comments have
// limits; this stays below 60,000 bytes and says what it leaves out.
#include <algorithm>
#include <ostream>
#include <sstream>

#include "report/describe.h"
#include "report/explain.h"
#include "report/rung_reason.h"
#include "report/sink.h"

namespace sooth {
namespace {

constexpr std::size_t kMaxBytes = 60'000;  // GitHub takes 65,536 characters
constexpr std::size_t kMaxRows = 100;

// Text in which nothing is markup: neither Markdown nor HTML, also in a cell of a table.
std::string plain(std::string_view text) {
  std::string escaped;
  for (const char c : printable(text)) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '@': escaped += "&#64;"; break;  // would notify somebody
      case '\\':
      case '`':
      case '*':
      case '_':
      case '[':
      case ']':
      case '#':
      case '|':
      case '~':
      case '!':
      case '$': escaped.push_back('\\'); [[fallthrough]];
      default: escaped.push_back(c);
    }
  }
  return escaped;
}

// Text as code: between more backticks than it has in a row. A bar would end the cell of a table even there.
std::string code(std::string_view text) {
  const std::string inner = printable(text);
  std::size_t longest = 0, run = 0;
  std::string cell;
  for (const char c : inner) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
    cell += c == '|' ? "\\|" : std::string(1, c);
  }
  if (inner.empty()) {
    return "";
  }
  const std::string fence(longest + 1, '`');
  const bool pad = inner.front() == '`' || inner.back() == '`' || (inner.front() == ' ' && inner.back() == ' ');
  return fence + (pad ? " " : "") + cell + (pad ? " " : "") + fence;
}

std::string places(const Finding& finding) {
  std::string text;
  for (const Access* access : accesses_primary_first(finding)) {
    text += (text.empty() ? "" : ", ") + code(short_place(access->place()));
  }
  return text;
}

std::string title(const Finding& finding) { return plain(headline(finding)); }

// Below its title in a folded block.
std::string details(const Finding& finding, const ReportStats& stats) {
  std::ostringstream out;
  out << "<details><summary><b>" << rung_name(finding.rung) << "</b> " << title(finding) << "</summary>\n\n"
      << plain(explanation(finding)) << "\n\n";
  for (const Access* access : accesses_primary_first(finding)) {
    out << "- " << plain(act_in(finding, *access)) << plain(with_locks(finding, *access))
        << plain(awaited(finding, *access)) << "\n  - " << code(place(access->place()));
    out << (access->place().function.empty() ? "" : " in " + code(function_text(access->place()))) << "\n";
    for (const Site& call : access->stack) {
      out << "  - called at " << code(place(call)) << (call.function.empty() ? "" : " in " + code(function_text(call)))
          << "\n";
    }
  }
  for (const ContextNote& note : context_notes(finding)) {
    out << "- " << plain(note.text) << (note.origin != nullptr ? " at " + code(place(note.origin->place())) : "")
        << "\n";
  }
  out << "\n"
      << rung_name(finding.rung) << ": " << plain(why_on_rung(finding, stats)) << ". Found by "
      << plain(listed(finding.found_by)) << ". " << code(finding.id) << "\n";
  for (const std::string& way : ways_there(finding)) {
    out << "\nHow: " << plain(way) << "\n";
  }
  if (finding.replay.has_value() && !finding.replay->command.empty()) {
    out << "\nReplay: " << code(finding.replay->command) << "\n";
  }
  out << "\n</details>\n";
  return out.str();
}

std::string verdict(const Report& report, const std::vector<const Finding*>& fresh) {
  if (fresh.empty()) {
    return report.findings.empty() ? "nothing found" : "nothing new";
  }
  std::string text;
  for (int rung = kRungCount - 1; rung >= 0; --rung) {
    const auto count =
        std::count_if(fresh.begin(), fresh.end(), [&](const Finding* finding) { return finding->rung == Rung(rung); });
    if (count > 0) {
      text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + std::string(rung_name(Rung(rung)));
    }
  }
  return counted(fresh.size(), "finding", "findings") + " (" + text + ")";
}

std::string footer(const Report& report, std::size_t fresh) {
  std::vector<std::string> rest;
  if (const std::size_t known = report.findings.size() - fresh; known > 0) {
    rest.push_back(std::to_string(known) + " known from the baseline");
  }
  if (report.suppressed > 0) {
    rest.push_back(std::to_string(report.suppressed) + " suppressed");
  }
  return rest.empty() ? "" : "\nNot shown: " + listed(rest) + ".\n";
}

std::string notes(const Report& report) {
  std::string text;
  for (const std::string& note : report.notes) {
    text += "- " + plain(note) + "\n";
  }
  return text.empty() ? "" : "\n<details><summary>What was not covered</summary>\n\n" + text + "\n</details>\n";
}

}  // namespace

Status write_markdown(const Report& report, const SinkOptions&, std::ostream& out) {
  const std::vector<const Finding*> fresh = new_findings(report);
  std::string text = "### Sooth: " + verdict(report, fresh) + "\n\n";
  if (!report.program.empty()) {
    text += code(report.program) + "\n\n";
  }
  std::size_t rows = 0;
  for (; rows < std::min(fresh.size(), kMaxRows) && text.size() < kMaxBytes / 2; ++rows) {
    const Finding& finding = *fresh[rows];
    text += rows == 0 ? "| proof | finding | where | found by |\n|---|---|---|---|\n" : "";
    text += "| " + std::string(rung_name(finding.rung)) + " | " + title(finding) + " | " + places(finding) + " | " +
            plain(listed(finding.found_by)) + " |\n";
  }
  const std::string rest = footer(report, fresh.size()) + notes(report);
  std::string blocks;
  std::size_t shown = 0;
  for (; shown < rows; ++shown) {
    const std::string block = details(*fresh[shown], report.stats);
    if (text.size() + blocks.size() + block.size() + std::min<std::size_t>(rest.size(), 4000) > kMaxBytes) {
      break;
    }
    blocks += "\n" + block;
  }
  if (rows < fresh.size()) {
    text += "\n... and " + std::to_string(fresh.size() - rows) + " more.\n";
  }
  out << text << blocks;
  if (shown < rows) {
    out << "\nDetails of " << rows - shown << " more are left out here.\n";
  }
  if (rest.size() <= 4000) {
    out << rest;
  } else {
    out << footer(report, fresh.size()) << "\n"
        << counted(report.notes.size(), "note", "notes") << " on what was not covered: see the whole report.\n";
  }
  return {};
}

}  // namespace sooth
