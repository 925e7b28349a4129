// Completion for fish: one line for each option, with the command that it belongs to as its condition.
#include <string_view>

#include "cli/reference_print.h"

namespace sooth {
namespace {

constexpr char kFishFunctions[] = R"fish(# Completion of sooth for fish. Made by `sooth reference --format fish`.

# The words of the line that are no options, up to `--`: the command, and perhaps one below it.
function __sooth_command
    set -l words
    for word in (commandline -opc)
        switch $word
            case --
                break
            case '-*'
            case '*'
                set -a words $word
        end
    end
    string join -- ' ' $words
end

# Whether the command of the line is the one of the arguments, and a program has not begun.
function __sooth_at
    contains -- -- (commandline -opc); and return 1
    set -l command (__sooth_command)
    string match -q -- "$argv" $command; or string match -q -- "$argv *" $command
end

# Whether the line has the command of the arguments and nothing behind it: here goes a command below it.
function __sooth_before_command
    not contains -- -- (commandline -opc); and test "$argv" = (__sooth_command)
end

function __sooth_program
    set -l words (commandline -opc) (commandline -ct)
    set -l mark (contains -i -- -- $words)
    and complete -C (string join -- ' ' (string escape -- $words[(math $mark + 1)..-2]) $words[-1])
end

complete -c sooth -f
complete -c sooth -n 'contains -- -- (commandline -opc)' -a '(__sooth_program)'
)fish";

std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    out += c == '\'' || c == '\\' ? "\\" : "";
    out += c;
  }
  return out + "'";
}

std::string value(const ReferenceOption& option) {
  switch (option.kind) {
    case ValueKind::kNone: return "";
    case ValueKind::kText: return " -x";
    case ValueKind::kFile: return " -r -F";
    case ValueKind::kDirectory:
      return option.value_optional ? " -a '(__fish_complete_directories)'" : " -x -a '(__fish_complete_directories)'";
    case ValueKind::kWords: return " -x -a " + shell_quoted(join(option.words));
    case ValueKind::kWordList: return " -x -a " + shell_quoted("(__fish_append , " + join(option.words) + ")");
  }
  return "";
}

void add_option(std::string& out, const std::string& condition, const ReferenceOption& option) {
  out += "complete -c sooth -n " + condition;
  for (const std::string& name : option.names) {
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  out += value(option) + " -d " + shell_quoted(brief(option.help)) + "\n";
}

}  // namespace

std::string fish_completion(const ReferenceCommand& root) {
  std::string out = kFishFunctions;
  for (const ReferenceCommand* command : all_commands(root)) {
    out += "\n# " + command->path + "\n";
    for (const ReferenceCommand& below : command->commands) {
      out += "complete -c sooth -n " + shell_quoted("__sooth_before_command " + command->path) + " -a " +
             shell_quoted(below.name()) + " -d " + shell_quoted(brief(below.summary)) + "\n";
    }
    const std::string condition =
        shell_quoted((command->commands.empty() ? "__sooth_at " : "__sooth_before_command ") + command->path);
    if (!command->positionals.empty()) {
      out += "complete -c sooth -n " + condition + " -F\n";
    }
    for (const ReferenceOption& option : command->options) {
      add_option(out, condition, option);
    }
  }
  return out;
}

}  // namespace sooth
