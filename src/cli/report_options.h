// The flags of every command that ends in a report, and what happens to a report at the end.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/status.h"
#include "race/finding.h"
#include "report/identity.h"

namespace sooth {

// As the user gave them; add_report_options lets only valid words through.
struct ReportOptions {
  std::string format = "text";
  std::string output;                     // file; empty for standard output
  std::string color = "auto";             // "auto", "always", "never"
  std::string fail_on = "predicted";      // a rung, or "never"
  std::vector<std::string> suppressions;  // files
  std::string baseline;                   // file; empty for none
  std::vector<std::string> user_code;     // patterns; empty: all but the standard library and the system
  std::string source_root;                // folder; empty: by version control
  bool stats = false;
  bool verbose = false;
  bool redact = false;
  bool no_times = false;
  bool beside_program = false;  // the program writes to standard output, too: text goes to standard error

  IdentityOptions identity() const { return {UserCode(user_code), source_root}; }
};

// Adds --format, -o and all other options that have to do with the report to `command`. `options`
// must live as long as `command`.
void add_report_options(CLI::App& command, ReportOptions& options);

// Those of them that say what findings are called: --user-code and --source-root.
void add_identity_options(CLI::App& command, ReportOptions& options);

// Whether the files that the user named can be read and written: told before a program runs, whose result would be lost.
Status check_report_options(const ReportOptions& options);
// Whether a file of this name can be written.
Status check_writable(const std::string& file);

// When a report is made: now, or as SOURCE_DATE_EPOCH says; empty where equal runs must give equal reports.
std::string date_of_report(const ReportOptions& options);

// Gives findings their ids, merges equal ones, takes away what is suppressed, marks what is known, and writes the
// report where the user wants it. The exit code says whether it holds something to fail on. `report` is as written
// afterwards.
Result<ExitCode> deliver(Report& report, const ReportOptions& options);

// Writes a text that is no report where the user wants it.
Status deliver_text(const std::string& text, const ReportOptions& options);

}  // namespace sooth
