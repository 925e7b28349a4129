#include "cli/command.h"

namespace sooth {

void add_trace_command(CLI::App& root, CommandResult& result) {
  CLI::App* command = root.add_subcommand("trace", "");
  command->callback([&result] { result = Status::internal("not built yet"); });
}

}  // namespace sooth
