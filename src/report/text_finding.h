// A finding in about ten lines, for the text report.
#pragma once

#include <iosfwd>
#include <string>

#include "race/finding.h"
#include "report/sink.h"

namespace sooth {

// ANSI sequences, or nothing.
class Paint {
 public:
  explicit Paint(bool on) : on_(on) {}

  std::string bold(const std::string& text) const { return in("1", text); }
  std::string dim(const std::string& text) const { return in("2", text); }
  std::string red(const std::string& text) const { return in("1;31", text); }
  std::string rung(Rung rung) const;

 private:
  std::string in(const char* code, const std::string& text) const {
    return on_ ? "\x1b[" + std::string(code) + "m" + text + "\x1b[0m" : text;
  }

  bool on_;
};

// What stands in front of everything else: place, rung, what it is, id.
void write_headline(const Finding& finding, const SinkOptions& options, const Paint& paint, std::ostream& out);

// The headline, each place with its line of code and who does what there, why it can happen, how sure that is, and how
// to see it again. At most 15 lines for findings with two places; no line is longer than options.width as far as names
// allow. `following`: what it leads to, which takes a line each.
void write_brief(const Finding& finding, const std::vector<const Finding*>& following, const ReportStats& stats,
                 const SinkOptions& options, const Paint& paint, std::ostream& out);

// "perhaps because of the race ID, which happened before it", of a failure after races.
std::string perhaps_because(const Finding& finding);

// ", reached in 9 of 10 runs"; nothing when only the run along the witness got there, which is no trial.
std::string how_often_reached(const ReplaySummary& replay);

// "  label: " and the text, broken at blanks into lines of at most `width` columns, the later ones indented.
void write_wrapped(const std::string& label, const std::string& text, std::uint32_t width, std::ostream& out);
// The same from the first column on.
void write_paragraph(const std::string& text, std::uint32_t width, std::ostream& out);

}  // namespace sooth
