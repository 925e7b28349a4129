// sooth view: a report as a page in the browser.
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "cli/command.h"
#include "cli/report_options.h"
#include "report/json.h"

extern char** environ;

namespace sooth {
namespace {

struct ViewFlags {
  std::string path;
  ReportOptions report;
};

// "sooth-account.html" for "runs/sooth-account.json".
std::string page_name(const std::string& report) {
  const std::string stem = report == "-" ? "" : std::filesystem::path(report).stem().string();
  return (stem.empty() ? "sooth" : stem) + ".html";
}

// A folder of our own, so that nobody else decides what lies under the name. It stays: browsers read the file later.
Result<std::string> page_path(const std::string& report) {
  std::error_code error;
  std::filesystem::path base = std::filesystem::temp_directory_path(error);
  std::string folder = (error ? std::filesystem::path("/tmp") : base) / "sooth-view-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) {
    return Status::internal(folder + ": cannot make a folder for the page: " + std::strerror(errno) +
                            "; name a file with -o");
  }
  return folder + "/" + page_name(report);
}

// $BROWSER is a list of commands that are tried in turn; the first is what its owner prefers. Others of its kind put
// arguments in it, which a shell would split: only plain names are taken here, the rest is for xdg-open, which knows
// all of it.
std::string opener() {
  const char* chosen = std::getenv("BROWSER");
  const std::string browser = chosen == nullptr ? "" : std::string(chosen).substr(0, std::string(chosen).find(':'));
  return browser.empty() || browser.find_first_of(" %") != std::string::npos ? "xdg-open" : browser;
}

// Whether a browser was started. It outlives us and says nothing into our terminal.
bool start(const std::string& program, const std::string& page) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
  }
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  std::string words[] = {program, page};
  char* arguments[] = {words[0].data(), words[1].data(), nullptr};
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, arguments[0], &files, &attributes, arguments, environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  return error == 0;
}

CommandResult view(ViewFlags& options) {
  Result<Report> report = read_report(options.path);
  if (!report.ok()) {
    return std::move(report).status();
  }
  if (options.report.output.empty()) {
    Result<std::string> path = page_path(options.path);
    if (!path.ok()) {
      return path.status();
    }
    options.report.output = std::move(*path);
  }
  options.report.format = "html";
  options.report.fail_on = "never";
  if (const Result<ExitCode> written = deliver(*report, options.report); !written.ok()) {
    return written.status();
  }
  const std::string page = std::filesystem::absolute(options.report.output).string();
  if (::isatty(STDOUT_FILENO) == 1 && !start(opener(), page)) {
    say("there is no browser here that could be started (" + opener() + "); open the page yourself");
  }
  std::printf("%s\n", page.c_str());
  return ExitCode::kOk;
}

}  // namespace

void add_view_command(CLI::App& root, CommandResult& result) {
  CLI::App* command = root.add_subcommand("view", "Look at a stored report in the browser");
  auto options = std::make_shared<ViewFlags>();
  command->add_option("REPORT", options->path, "A report that --format json wrote; - for standard input")
      ->required()
      ->type_name("");
  command->add_option("-o,--output", options->report.output, "Write the page to this file and keep it")
      ->type_name("FILE")
      ->check([](const std::string& path) { return path.empty() ? "needs the name of a file" : ""; });
  command->footer(
      "Opens the page with $BROWSER or xdg-open and prints where it is; only prints when standard output is no "
      "terminal.\n"
      "`sooth report REPORT --format html -o FILE` makes the same page, with suppressions and a baseline.");
  command->callback([options, &result] { result = view(*options); });
}

}  // namespace sooth
