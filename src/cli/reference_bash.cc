// Completion for bash: tables made from the commands, and the functions that use them.
#include "cli/reference_print.h"

namespace sooth {
namespace {

constexpr char kFunctions[] = R"bash(
# Whether the shell sees "--format=json" and "tree:hb" as several words, and completes the last one only.
_sooth_breaks_at() { [[ $COMP_WORDBREAKS == *"$1"* ]]; }

# Offers the words of $2 that begin with $1, what is typed of a value.
_sooth_offer() {
  local typed=$1 IFS=$' \t\n' i
  COMPREPLY=($(compgen -W "$2" -- "$typed"))
  if _sooth_breaks_at : && [[ $typed == *:* ]]; then
    local before=${typed%"${typed##*:}"}
    for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=${COMPREPLY[i]#"$before"}; done
  fi
  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *: ]] && compopt -o nospace
}

# Some of the words of $2, with commas between them.
_sooth_offer_list() {
  local typed=$1 before= word words=
  [[ $typed == *,* ]] && before=${typed%,*},
  for word in $2; do
    [[ ,$before == *",$word,"* ]] || words+=" $before$word"
  done
  _sooth_offer "$typed" "$words"
  compopt -o nospace
}

# The value of option $2 of command $1, of which $3 is typed. Status 1: the option takes none.
_sooth_complete_value() {
  local kind= choice=
  _sooth_value "$1" "$2"
  case ${kind%\?} in
    words) _sooth_offer "$3" "$choice" ;;
    list) _sooth_offer_list "$3" "$choice" ;;
    file) compopt -o default ;;
    directory) compopt -o dirnames ;;
    text) ;;
    *) return 1 ;;
  esac
}

# The program behind `--` and its arguments: as that program completes, if somebody told how.
_sooth_complete_program() {
  local i
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${COMP_WORDS[i]} == -- ]] && break
  done
  if declare -F _command_offset >/dev/null; then
    _command_offset $((i + 1))
  elif ((COMP_CWORD == i + 1)); then
    compopt -o filenames
    COMPREPLY=($(compgen -c -- "${COMP_WORDS[COMP_CWORD]}"))
  else
    compopt -o default
  fi
}

_sooth() {
  local words word current command=sooth i kind choice
  COMPREPLY=()
  # Not COMP_WORDS, in which ':' and '=' are words of their own.
  read -ra words <<<"${COMP_LINE:0:COMP_POINT}"
  [[ ${COMP_LINE:0:COMP_POINT} == *[[:blank:]] ]] && words+=("")
  current=${words[-1]}
  for ((i = 1; i < ${#words[@]} - 1; i++)); do
    word=${words[i]}
    if [[ $word == -- ]]; then
      _sooth_starts_program "$command" && _sooth_complete_program
      return
    elif [[ $word == -* ]]; then
      kind=
      [[ $word == *=* ]] || _sooth_value "$command" "$word"
      # The word behind an option that needs a value is no command; if it is the last one, it is what we complete.
      if [[ -n $kind && $kind != *'?' ]]; then
        i=$((i + 1))
        if ((i == ${#words[@]} - 1)); then
          _sooth_complete_value "$command" "$word" "$current"
          return
        fi
      fi
    elif _sooth_is_command "$command $word"; then
      command+=" $word"
    fi
  done
  if [[ $current == --*=* ]]; then
    _sooth_complete_value "$command" "${current%%=*}" "${current#*=}"
    if ! _sooth_breaks_at =; then
      for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=${current%%=*}=${COMPREPLY[i]}; done
    fi
  elif [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$(_sooth_options "$command")" -- "$current"))
  else
    COMPREPLY=($(compgen -W "$(_sooth_commands "$command")" -- "$current"))
    [[ -n $(_sooth_commands "$command") ]] || compopt -o default
  fi
}
complete -F _sooth sooth
)bash";

const char* kind_name(ValueKind kind) {
  switch (kind) {
    case ValueKind::kNone: return "";
    case ValueKind::kText: return "text";
    case ValueKind::kFile: return "file";
    case ValueKind::kDirectory: return "directory";
    case ValueKind::kWords: return "words";
    case ValueKind::kWordList: return "list";
  }
  return "";
}

// One line of a `case` for each command; `answer` gives its body, or nothing.
template <typename Answer>
std::string cases(const ReferenceCommand& root, Answer answer) {
  std::string out = "  case $1 in\n";
  for (const ReferenceCommand* command : all_commands(root)) {
    if (const std::string body = answer(*command); !body.empty()) {
      out += "    '" + command->path + "') " + body + " ;;\n";
    }
  }
  return out + "    *) return 1 ;;\n  esac\n";
}

std::string option_names(const ReferenceCommand& command) {
  std::vector<std::string> names;
  for (const ReferenceOption& option : command.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return "echo '" + join(names) + "'";
}

std::string value_lines(const ReferenceCommand& root) {
  std::string out = "  case $1\\ $2 in\n";
  for (const ReferenceCommand* command : all_commands(root)) {
    for (const ReferenceOption& option : command->options) {
      if (option.kind == ValueKind::kNone) {
        continue;
      }
      std::string patterns;
      for (const std::string& name : option.names) {
        patterns += (patterns.empty() ? "'" : " | '") + command->path + " " + name + "'";
      }
      out += "    " + patterns + ") kind=" + kind_name(option.kind) + (option.value_optional ? "\\?" : "") +
             (option.words.empty() ? "" : " choice='" + join(option.words) + "'") + " ;;\n";
    }
  }
  return out + "  esac\n";
}

}  // namespace

std::string bash_completion(const ReferenceCommand& root) {
  std::string out = "# Completion of sooth for bash. Made by `sooth reference --format bash`.\n\n";
  out += "# The options of command $1.\n_sooth_options() {\n" + cases(root, option_names) + "}\n\n";
  out += "# The commands below command $1.\n_sooth_commands() {\n" +
         cases(root,
               [](const ReferenceCommand& command) {
                 std::vector<std::string> names;
                 for (const ReferenceCommand& below : command.commands) {
                   names.push_back(below.name());
                 }
                 return names.empty() ? "" : "echo '" + join(names) + "'";
               }) +
         "}\n\n";
  out += "_sooth_is_command() {\n" + cases(root, [](const ReferenceCommand&) { return std::string("return 0"); }) +
         "}\n\n";
  out += "# Takes `-- PROGRAM ARGUMENTS`.\n_sooth_starts_program() {\n" +
         cases(root,
               [](const ReferenceCommand& command) { return std::string(command.starts_program ? "return 0" : ""); }) +
         "}\n\n";
  out +=
      "# Sets what kind of value option $2 of command $1 takes (with '?' behind it: or none), and the choice there "
      "is.\n"
      "_sooth_value() {\n" +
      value_lines(root) + "}\n";
  return out + kFunctions;
}

}  // namespace sooth
