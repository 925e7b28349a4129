// The command line: parses, runs one subcommand, turns errors into a sentence and an exit code.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/config.h"
#include "cli/usage.h"
#include "cli/version.h"
#include "report/describe.h"

namespace sooth {
namespace {

constexpr AddCommand kCommands[] = {
    add_run_command,     add_analyze_command, add_baseline_command,  add_campaign_command, add_compiler_commands,
    add_confirm_command, add_doctor_command,  add_explore_command,   add_help_command,     add_merge_command,
    add_record_command,  add_replay_command,  add_report_command,    add_test_command,     add_trace_command,
    add_view_command,    add_witness_command, add_reference_command,
};

int fail(const Status& status) {
  std::fflush(stdout);
  std::fprintf(stderr, "sooth: %s\n", printable(status.message()).c_str());
  return raw(status.code());
}

// How the command that the user has chosen is called: "sooth trace gen".
std::string chosen_path(const CLI::App& root) {
  std::string path = root.get_name();
  for (const CLI::App* command = &root; !command->get_subcommands().empty();) {
    command = command->get_subcommands().front();
    path += " " + command->get_name();
  }
  return path;
}

// What was printed must have arrived: 70 instead of a success that nobody can read.
int delivered(int code) {
  std::cout.flush();
  const bool arrived = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
  const bool success = code == raw(ExitCode::kOk) || code == raw(ExitCode::kFindings);
  return arrived || !success ? code : fail(Status::internal("cannot write to standard output"));
}

int answer(const CommandResult& result) { return result.ok() ? raw(*result) : fail(result.status()); }

int run(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const std::optional<CommandResult> result = run_compiler_wrapper(arguments)) {
    return answer(*result);
  }
  CLI::App root{
      "Finds data races and deadlocks in C and C++ programs, also those that have not happened yet, and proves them.",
      "sooth"};
  root.set_version_flag("--version", std::string("sooth ") + kVersion);
  root.require_subcommand(1);
  root.footer(
      "`sooth help COMMAND` explains a command. Exit status: 0 nothing found, 66 findings, 64 wrong usage,\n"
      "65 bad input, 67 a replay that diverged, 70 our own fault or the machine's.");
  CommandResult result = ExitCode::kOk;
  for (AddCommand add : kCommands) {
    add(root, result);
  }
  add_config_options(root);
  try {
    take_program_words(arguments);
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants a vector
    root.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    print_help(root, chosen_path(root));
    return raw(ExitCode::kOk);
  } catch (const CLI::Success& done) {  // --version
    return root.exit(done);
  } catch (const CLI::FileError& error) {  // of the configuration
    return fail(Status::bad_input(error.what()));
  } catch (const CLI::ParseError& error) {
    return fail(explain_usage(root, error));
  }
  return answer(result);
}

}  // namespace
}  // namespace sooth

int main(int argc, char** argv) {
  // A file that may not grow any more (ulimit -f) is an error, with a sentence, and no end without one that leaves
  // temporary folders behind. A handler, as programs that we start would inherit that the signal is ignored.
  if (std::signal(SIGXFSZ, [](int) {}) == SIG_IGN) {
    std::signal(SIGXFSZ, SIG_IGN);
  }
  try {
    return sooth::delivered(sooth::run(argc, argv));
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "sooth: out of memory\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sooth: internal error: %s\n", error.what());
  }
  return sooth::raw(sooth::ExitCode::kInternal);
}
