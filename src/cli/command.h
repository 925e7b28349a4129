// What every subcommand looks like: a function that adds itself, its flags and its help to the command line.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/ids.h"
#include "base/status.h"

namespace sooth {

// What the chosen subcommand answered: the exit code, or the error that main prints as one sentence.
using CommandResult = Result<ExitCode>;

// Adds a subcommand to `root`; when it is chosen, its callback runs it and leaves the answer in `result`.
using AddCommand = void (*)(CLI::App& root, CommandResult& result);

// One file each; main.cc lists them in the order of the help.
void add_analyze_command(CLI::App& root, CommandResult& result);
void add_baseline_command(CLI::App& root, CommandResult& result);
void add_campaign_command(CLI::App& root, CommandResult& result);
void add_compiler_commands(CLI::App& root, CommandResult& result);
void add_confirm_command(CLI::App& root, CommandResult& result);
void add_doctor_command(CLI::App& root, CommandResult& result);
void add_explore_command(CLI::App& root, CommandResult& result);
void add_help_command(CLI::App& root, CommandResult& result);
void add_merge_command(CLI::App& root, CommandResult& result);
void add_record_command(CLI::App& root, CommandResult& result);
void add_reference_command(CLI::App& root, CommandResult& result);
void add_replay_command(CLI::App& root, CommandResult& result);
void add_report_command(CLI::App& root, CommandResult& result);
void add_run_command(CLI::App& root, CommandResult& result);
void add_test_command(CLI::App& root, CommandResult& result);
void add_trace_command(CLI::App& root, CommandResult& result);
void add_view_command(CLI::App& root, CommandResult& result);
void add_witness_command(CLI::App& root, CommandResult& result);

// The type of options that take names of analyses with commas between them.
inline constexpr char kAnalysesType[] = "ANALYSIS,...";

// Whether `sooth NAME` takes `-- PROGRAM ARGUMENTS`.
bool starts_program(std::string_view name);

// Takes the program's words out of ours, before they are parsed: an option of the program is none of ours.
void take_program_words(std::vector<std::string>& arguments);

// What the user wrote behind `--`: a program to start, and its arguments. Empty for commands that start none.
const std::vector<std::string>& program_words();

// Tells the user something besides the result: one line on standard error, whatever bytes are in it.
void say(const std::string& sentence);

// Prints what `--help` of the command at `path` ("sooth trace gen") prints; of the whole tool when there is none.
void print_help(CLI::App& root, const std::string& path);

// `sooth cc` and `sooth c++` pass on arguments that only a compiler understands, so they are not parsed as those of
// other commands are. `arguments` are all of ours; nullopt when they are for another command, or ask for --help, which
// is printed as that of others is. Returns only to tell of an error, or for --print-command.
std::optional<CommandResult> run_compiler_wrapper(std::span<const std::string> arguments);

}  // namespace sooth
