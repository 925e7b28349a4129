// Completion for zsh: one function for each command, which tells `_arguments` what there is.
#include <algorithm>

#include "cli/reference_print.h"

namespace sooth {
namespace {

// For a text between single quotes.
std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out + "'";
}

// In specifications of _arguments and _describe, brackets and colons mean something.
std::string escaped(const std::string& text, const char* special) {
  std::string out;
  for (const char c : text) {
    out += std::string_view(special).find(c) != std::string_view::npos ? "\\" : "";
    out += c;
  }
  return out;
}

std::string function_name(const ReferenceCommand& command) {
  std::string name = "_" + command.path;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ' ' || c == '+'; }, '_');
  return name;
}

// Words of an action.
std::string action_words(const std::vector<std::string>& words) { return escaped(join(words), ":"); }

// The action that completes a value. Words that go on ("pct:") get no space behind them.
std::string action(const ReferenceOption& option) {
  switch (option.kind) {
    case ValueKind::kNone:
    case ValueKind::kText: return " ";
    case ValueKind::kFile: return "_files";
    case ValueKind::kDirectory: return "_files -/";
    case ValueKind::kWords: return "_sooth_words " + action_words(option.words);
    case ValueKind::kWordList: return "_values -s , analysis " + action_words(option.words);
  }
  return " ";
}

std::string message(const ReferenceOption& option) {
  return escaped(option.value.empty() ? option.names.front() : option.value, ":[]\\");
}

void add_zsh_option(std::string& out, const ReferenceOption& option) {
  for (const std::string& name : option.names) {
    const bool is_long = name.starts_with("--");
    std::string exclusive;
    if (!option.repeatable && option.names.size() > 1) {
      for (const std::string& other : option.names) {
        exclusive += (exclusive.empty() ? "(" : " ") + other;
      }
      exclusive += ")";
    }
    const bool takes = option.kind != ValueKind::kNone;
    std::string spec = exclusive + (option.repeatable ? "*" : "") + name +
                       (takes && is_long ? "="
                        : takes          ? "+"
                                         : "") +
                       "[" + escaped(brief(option.help), "[]:\\") + "]";
    if (takes) {
      spec += (option.value_optional ? "::" : ":") + message(option) + ":" + action(option);
    }
    out += "    " + shell_quoted(spec) + "\n";
  }
}

void add_arguments(std::string& out, const ReferenceCommand& command) {
  out += "  local -a options=(\n";
  for (const ReferenceOption& option : command.options) {
    add_zsh_option(out, option);
  }
  for (const ReferenceOption& option : command.positionals) {
    out += "    " +
           shell_quoted(std::string(option.repeatable ? "*"
                                    : option.required ? ""
                                                      : ":") +
                        ":" + message(option) + ":_files") +
           "\n";
  }
  out += "  )\n";
}

// A command with commands below it: the first word that is no option says which; the rest of the line is theirs.
std::string branching_function(const ReferenceCommand& command) {
  std::string out = function_name(command) + "() {\n  local curcontext=$curcontext state line\n";
  add_arguments(out, command);
  out +=
      "  _arguments -C $options '1: :->command' '*:: :->rest' && return\n  case $state in\n    command)\n"
      "      local -a commands=(\n";
  for (const ReferenceCommand& below : command.commands) {
    out += "        " + shell_quoted(escaped(below.name(), ":\\") + ":" + escaped(brief(below.summary), "\\")) + "\n";
  }
  out += "      )\n      _describe command commands ;;\n    rest)\n      case $line[1] in\n";
  for (const ReferenceCommand& below : command.commands) {
    out += "        " + below.name() + ") " + function_name(below) + " ;;\n";
  }
  return out + "      esac ;;\n  esac\n}\n\n";
}

std::string leaf_function(const ReferenceCommand& command) {
  std::string out = function_name(command) + "() {\n";
  if (command.starts_program) {
    out += "  _sooth_program && return\n";
  }
  add_arguments(out, command);
  return out + "  _arguments $options\n}\n\n";
}

}  // namespace

std::string zsh_completion(const ReferenceCommand& root) {
  std::string out = R"zsh(#compdef sooth
# Completion of sooth for zsh. Made by `sooth reference --format zsh`.

# Offers words; those that end in ':' go on.
_sooth_words() {
  local -a whole=(${@:#*:}) open=(${(M)@:#*:})
  compadd -- $whole
  compadd -S '' -- $open
}

# Behind `--` stands a program with its arguments, which complete as they do without us.
_sooth_program() {
  local mark=$words[(i)--]
  ((mark < CURRENT)) || return 1
  shift $mark words
  ((CURRENT -= mark))
  _normal
  return 0
}

)zsh";
  std::vector<const ReferenceCommand*> all = all_commands(root);
  for (const ReferenceCommand* command : all) {
    out += command->commands.empty() ? leaf_function(*command) : branching_function(*command);
  }
  return out + "_sooth \"$@\"\n";
}

}  // namespace sooth
