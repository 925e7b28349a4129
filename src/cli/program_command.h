// The command line of commands that start a program: `sooth NAME [OPTIONS] -- PROGRAM ARGUMENTS`.
#pragma once

#include <functional>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/command.h"

namespace sooth {

// When `command` is chosen, leaves in `result` what `run` answers; or, without calling it, a sentence that says how to
// write the command when a word in front of `--` is no option, or when there is no program.
void run_with_program(CLI::App& command, CommandResult& result, std::function<CommandResult()> run);

// The same for a command with an operand of its own, `sooth NAME [OPTIONS] OPERAND -- PROGRAM ARGUMENTS`. `operand`
// returns how to show it in the sentence. Whether there is a program is for `run` to say.
void run_with_program(CLI::App& command, CommandResult& result, std::function<std::string()> operand,
                      std::function<CommandResult()> run);

}  // namespace sooth
