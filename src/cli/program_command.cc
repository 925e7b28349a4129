#include "cli/program_command.h"

#include <utility>
#include <vector>

#include "cli/usage.h"

namespace sooth {
namespace {

// `call` is what to write in front of `--`.
Status check_extras(const CLI::App& command, const std::string& call) {
  const std::vector<std::string> extras = command.remaining();
  if (extras.empty()) {
    return {};
  }
  const std::string& word = extras.front();
  return word.starts_with('-') ? no_such_option(command, "sooth " + command.get_name(), word)
                               : Status::usage("write `--` in front of the program: `" + call + " -- " + word + "`");
}

CommandResult run_if(const Status& usage, const std::function<CommandResult()>& run) {
  return usage.ok() ? run() : usage;
}

}  // namespace

void run_with_program(CLI::App& command, CommandResult& result, std::function<CommandResult()> run) {
  command.allow_extras();
  command.callback([&command, &result, run = std::move(run)] {
    const std::string call = "sooth " + command.get_name();
    Status usage = check_extras(command, call);
    if (usage.ok() && program_words().empty()) {
      usage = Status::usage(command.get_name() + " needs a program: `" + call + " [OPTIONS] -- PROGRAM ARGUMENTS`");
    }
    result = run_if(usage, run);
  });
}

void run_with_program(CLI::App& command, CommandResult& result, std::function<std::string()> operand,
                      std::function<CommandResult()> run) {
  command.allow_extras();
  command.callback([&command, &result, operand = std::move(operand), run = std::move(run)] {
    result = run_if(check_extras(command, "sooth " + command.get_name() + " " + operand()), run);
  });
}

}  // namespace sooth
