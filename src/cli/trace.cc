// sooth trace: looks at, checks, converts, makes and thins out traces.
#include "cli/trace_commands.h"

namespace sooth {

void add_trace_command(CLI::App& root, CommandResult& result) {
  CLI::App* trace = root.add_subcommand("trace", "Look at, check, convert, make and thin out traces");
  trace->require_subcommand(1);
  trace->footer(
      "A TRACE is a directory that `sooth record` made, or a file in STD text (\"-\": standard input).\n"
      "`sooth trace COMMAND --help` explains a command.");
  for (const AddCommand add : {add_trace_info, add_trace_check, add_trace_cat, add_trace_convert, add_trace_gen,
                               add_trace_drop, add_trace_calls}) {
    add(*trace, result);
  }
}

}  // namespace sooth
