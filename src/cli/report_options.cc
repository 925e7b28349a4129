#include "cli/report_options.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <sstream>

#include "cli/config.h"
#include "cli/usage.h"
#include "cli/version.h"
#include "report/baseline.h"
#include "report/consequence.h"
#include "report/files.h"
#include "report/fingerprint.h"
#include "report/group.h"
#include "report/redact.h"
#include "report/sink.h"
#include "report/suppressions.h"

namespace sooth {
namespace {

constexpr char kNever[] = "never";

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const SinkInfo& sink : sinks()) {
    names.emplace_back(sink.name);
  }
  return names;
}

std::string format_help() {
  std::string help = "How to print the report:";
  for (const SinkInfo& sink : sinks()) {
    help += "\n  " + std::string(sink.name) + ": " + std::string(sink.summary);
  }
  return help;
}

std::vector<std::string> fail_on_names() {
  std::vector<std::string> names;
  for (int i = 0; i < kRungCount; ++i) {
    names.emplace_back(rung_name(Rung(i)));
  }
  names.emplace_back(kNever);
  return names;
}

// The text is for people and must not get into what the program writes; the other formats are asked for by programs.
bool to_standard_error(const ReportOptions& options) { return options.beside_program && options.format == "text"; }
int descriptor(const ReportOptions& options) { return to_standard_error(options) ? STDERR_FILENO : STDOUT_FILENO; }

bool wants_color(const ReportOptions& options) {
  if (options.color != "auto") {
    return options.color == "always";
  }
  const char* no_color = std::getenv("NO_COLOR");  // no-color.org: any value but the empty one
  return options.output.empty() && (no_color == nullptr || *no_color == '\0') && ::isatty(descriptor(options)) == 1;
}

// Columns of the terminal that the text goes to; 0: it goes to none.
std::uint32_t width_of(const ReportOptions& options) {
  constexpr std::uint32_t kNarrowest = 40;
  if (!options.output.empty() || ::isatty(descriptor(options)) != 1) {
    return 0;
  }
  struct winsize size {};
  if (::ioctl(descriptor(options), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
    return 80;
  }
  return std::max<std::uint32_t>(size.ws_col, kNarrowest);
}

Status write_to(std::FILE* stream, const char* name, const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stream) != text.size() || std::fflush(stream) != 0) {
    return Status::internal("cannot write the report to " + std::string(name));
  }
  return {};
}

Status write_report(const Report& report, const ReportOptions& options) {
  const SinkInfo* sink = find_sink(options.format);
  if (sink == nullptr) {
    return Status::usage("there is no format \"" + options.format + "\"");
  }
  SinkOptions how;
  how.color = wants_color(options);
  how.stats = options.stats;
  how.verbose = options.verbose;
  how.width = width_of(options);
  how.deterministic = options.no_times;
  how.version = kVersion;
  how.sources = !options.redact;
  how.fail_on = rung_from_name(options.fail_on);  // no rung is called "never"
  std::ostringstream text;
  SOOTH_RETURN_IF_ERROR(sink->write(report, how, text));
  return deliver_text(text.str(), options);
}

}  // namespace

Status deliver_text(const std::string& text, const ReportOptions& options) {
  if (!options.output.empty()) {
    return write_whole_file(options.output, text);
  }
  return to_standard_error(options) ? write_to(stderr, "standard error", text)
                                    : write_to(stdout, "standard output", text);
}

Status check_writable(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    return Status::usage("cannot write " + file + ": " + folder.string() + ": " + std::strerror(errno));
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) {
    return Status::usage("cannot write " + file + ": it is a directory");
  }
  return {};
}

Status check_report_options(const ReportOptions& options) {
  Suppressions suppressions;
  for (const std::string& path : options.suppressions) {
    SOOTH_RETURN_IF_ERROR(suppressions.read(path));
  }
  if (!options.baseline.empty()) {
    Report none;
    SOOTH_RETURN_IF_ERROR(apply_baseline(none, options.baseline, options.identity()));
  }
  return options.output.empty() ? Status() : check_writable(options.output);
}

std::string date_of_report(const ReportOptions& options) {
  std::time_t now = std::time(nullptr);
  if (const char* epoch = std::getenv("SOURCE_DATE_EPOCH"); epoch != nullptr && *epoch != '\0') {
    now = static_cast<std::time_t>(std::strtoll(epoch, nullptr, 10));
  } else if (options.no_times) {
    return "";
  }
  std::tm parts{};
  char text[32];
  return ::gmtime_r(&now, &parts) != nullptr && std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts) > 0
             ? text
             : "";
}

void add_identity_options(CLI::App& command, ReportOptions& options) {
  command
      .add_option("--user-code", options.user_code,
                  "What is your own code: functions, files or modules that match, as in suppressions; may be repeated")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  command
      .add_option("--source-root", options.source_root,
                  "The folder that ids name files in (default: the working copy that they are in)")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
}

void add_report_options(CLI::App& command, ReportOptions& options) {
  command.add_option("--format", options.format, format_help())->check(one_of(format_names()))->capture_default_str();
  command.add_option("-o,--output", options.output, "Write the report to this file")
      ->type_name("FILE")
      ->check([](const std::string& path) { return path.empty() ? "needs the name of a file" : ""; });
  command.add_option("--color", options.color, "Color the text: on a terminal, always or never")
      ->check(one_of({"auto", "always", kNever}))
      ->capture_default_str();
  command.add_option("--fail-on", options.fail_on, "Exit with 66 when a finding stands on this rung or above it")
      ->check(one_of(fail_on_names()))
      ->capture_default_str();
  command
      .add_option("--suppressions", options.suppressions,
                  "Leave out what this file lists, in ThreadSanitizer's syntax (race:NAME); may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);  // one file each time: what follows may be the report
  command.add_option("--baseline", options.baseline, "Do not fail on findings that this older JSON report has, too")
      ->type_name("OLD.json");
  add_identity_options(command, options);
  command.add_flag("--verbose", options.verbose, "With stacks, witnesses and where things come from (text)");
  command.add_flag("--redact", options.redact,
                   "Without folders, arguments, values and source lines, for a report that is to be shared");
  command.add_flag("--stats", options.stats, "With figures about the trace and the analyses");
  command.add_flag("--no-times", options.no_times, "Without measured times, so that equal runs give equal reports");
}

Result<ExitCode> deliver(Report& report, const ReportOptions& options) {
  note_config(report);
  fill_fingerprints(report, options.identity());
  merge_equal_findings(report);
  Suppressions suppressions;
  for (const std::string& path : options.suppressions) {
    SOOTH_RETURN_IF_ERROR(suppressions.read(path));
  }
  suppressions.apply(report);
  find_consequences(report, options.identity().user_code);  // of what is left: nothing follows from what nobody sees
  if (!options.baseline.empty()) {
    SOOTH_RETURN_IF_ERROR(apply_baseline(report, options.baseline, options.identity()));
  }
  if (options.redact) {
    Report shared = report;
    redact(shared);
    SOOTH_RETURN_IF_ERROR(write_report(shared, options));
  } else {
    SOOTH_RETURN_IF_ERROR(write_report(report, options));
  }
  return exit_code_for(report, rung_from_name(options.fail_on));  // no rung is called "never"
}

}  // namespace sooth
