// The flags of every command that ends in a report, and what happens to a report at the end.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/status.h"
#include "race/finding.h"

namespace sooth {

// As the user gave them; add_report_options lets only valid words through.
struct ReportOptions {
  std::string format = "text";
  std::string output;                     // file; empty for standard output
  std::string color = "auto";             // "auto", "always", "never"
  std::string fail_on = "predicted";      // a rung, or "never"
  std::vector<std::string> suppressions;  // files
  std::string baseline;                   // file; empty for none
  bool stats = false;
  bool no_times = false;
};

// Adds --format, -o, --color, --fail-on, --suppressions, --baseline, --stats and --no-times to `command`. `options`
// must live as long as `command`.
void add_report_options(CLI::App& command, ReportOptions& options);

// Gives findings their ids, merges equal ones, takes away what is suppressed, marks what is known, and writes the
// report where the user wants it. The exit code says whether it holds something to fail on. `report` is as written
// afterwards.
Result<ExitCode> deliver(Report& report, const ReportOptions& options);

// Writes a text that is no report where the user wants it.
Status deliver_text(const std::string& text, const ReportOptions& options);

}  // namespace sooth
