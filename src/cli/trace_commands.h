// The subcommands of `sooth trace`, one function each; trace.cc lists them in the order of the help.
#pragma once

#include "cli/command.h"

namespace sooth {

void add_trace_info(CLI::App& trace, CommandResult& result);
void add_trace_check(CLI::App& trace, CommandResult& result);
void add_trace_cat(CLI::App& trace, CommandResult& result);
void add_trace_convert(CLI::App& trace, CommandResult& result);
void add_trace_gen(CLI::App& trace, CommandResult& result);
void add_trace_drop(CLI::App& trace, CommandResult& result);
void add_trace_calls(CLI::App& trace, CommandResult& result);

// What a command answers that has nothing to say but whether it worked.
inline CommandResult answer(Status status) {
  return status.ok() ? CommandResult(ExitCode::kOk) : CommandResult(std::move(status));
}

}  // namespace sooth
