// Manual pages, in man(7).
#include <algorithm>
#include <cctype>
#include <string_view>

#include "cli/reference_print.h"
#include "cli/version.h"

namespace sooth {
namespace {

constexpr std::size_t kLineWidth = 76;

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string escaped(char c) {
  switch (c) {
    case '\\': return "\\e";
    case '-': return "\\-";
    case '\'': return "\\(aq";
    case '"': return "\\(dq";
    case '^': return "\\(ha";
    case '~': return "\\(ti";
    case '`': return "\\(ga";
    default: return {c};
  }
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += escaped(c);
  }
  return out;
}

std::string bold(std::string_view text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + escaped(text) + "\\fR"; }

// Prose: what is between backticks becomes bold.
std::string marked_up(std::string_view text) {
  std::string out;
  bool code = false;
  for (const char c : text) {
    if (c == '`') {
      code = !code;
      out += code ? "\\fB" : "\\fR";
    } else {
      out += escaped(c);
    }
  }
  return out;
}

// Lines of a width that people can edit; none begins with what roff takes for a request. `text` is escaped.
void add_filled(std::string& out, std::string_view text) {
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) {
      continue;
    }
    if (column > 0) {
      const bool fits = column + 1 + word.size() <= kLineWidth;
      out += fits ? ' ' : '\n';
      column = fits ? column + 1 : 0;
    }
    if (column == 0 && word.front() == '.') {
      out += "\\&";
    }
    out += word;
    column += word.size();
  }
  out += '\n';
}

void add_line(std::string& out, const std::string& line) {
  out += (line.starts_with('.') ? "\\&" : "") + marked_up(line) + "\n";
}

void add_text(std::string& out, const std::string& text) {
  bool first = true;
  for (const TextBlock& block : text_blocks(text)) {
    out += first ? "" : ".PP\n";
    first = false;
    if (!block.verbatim) {
      add_filled(out, marked_up(block.lines.front()));
      continue;
    }
    out += ".RS 2\n.nf\n";
    for (const std::string& line : block.lines) {
      add_line(out, line);
    }
    out += ".fi\n.RE\n";
  }
}

// The list inside a help text, like the formats and what each is for, is indented as the text is.
void add_help(std::string& out, const std::string& help) {
  for (const TextBlock& block : text_blocks(help)) {
    out += block.verbatim ? ".RS\n" : "";
    for (const std::string& line : block.lines) {
      out += block.verbatim && &line != &block.lines.front() ? ".br\n" : "";
      add_filled(out, marked_up(line));
    }
    out += block.verbatim ? ".RE\n" : "";
  }
}

void add_option(std::string& out, const ReferenceOption& option) {
  out += ".TP\n";
  std::string names;
  for (const std::string& name : option.names) {
    names += (names.empty() ? "" : ", ") + (name.starts_with('-') ? bold(name) : italic(name));
  }
  out += names + (option.value.empty() ? "" : " " + italic(option.value)) + "\n";
  std::string remarks = option.required ? "Required." : "";
  if (!option.preset.empty()) {
    remarks += std::string(remarks.empty() ? "" : " ") + "Default: " + option.preset + ".";
  }
  // Behind the text, unless a list follows it: behind that nothing would be indented.
  if (remarks.empty()) {
    add_help(out, option.help);
  } else if (option.help.find('\n') != std::string::npos) {
    add_help(out, remarks + " " + option.help);
  } else {
    add_help(out, option.help + (option.help.ends_with('.') ? " " : ". ") + remarks);
  }
}

void add_options(std::string& out, const char* title, const std::vector<ReferenceOption>& options) {
  out += options.empty() ? "" : std::string(".SH ") + title + "\n";
  for (const ReferenceOption& option : options) {
    add_option(out, option);
  }
}

void add_man_examples(std::string& out, const ReferenceCommand& command) {
  out += command.examples.empty() ? "" : ".SH EXAMPLES\n";
  for (const CommandExample& example : command.examples) {
    out += ".TP\n.nf\n" + bold(example.line) + "\n.fi\n";
    add_filled(out, marked_up(std::string(example.purpose) + "."));
  }
}

// "sooth trace gen" in bold, the rest as it is.
std::string synopsis(const ReferenceCommand& command) {
  const std::size_t common = command.synopsis.starts_with(command.path) ? command.path.size() : 0;
  return bold(std::string_view(command.synopsis).substr(0, common)) + escaped(command.synopsis.substr(common));
}

// Whom a page refers to: its children, its parent, and the whole.
std::vector<std::string> related(const ReferenceCommand& root, const ReferenceCommand& command) {
  std::vector<std::string> names;
  for (const ReferenceCommand* other : all_commands(root)) {
    const bool above = command.path.starts_with(other->path + " ");
    const bool below = other->path.starts_with(command.path + " ");
    if (above || below) {
      names.push_back(man_name(*other));
    }
  }
  return names;
}

}  // namespace

std::string man_name(const ReferenceCommand& command) {
  std::string name = command.path;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string man_page(const ReferenceCommand& root, const ReferenceCommand& command) {
  std::string out = ".\\\" Made by `sooth reference --format man`.\n.TH " + escaped(upper(man_name(command))) + " 1 " +
                    kVersionDate + " \"sooth " + kVersion + "\" \"User Commands\"\n.SH NAME\n";
  // Not escaped: programs that index manual pages read this line, and few of them know roff.
  std::string summary = command.summary.substr(0, command.summary.find_last_not_of('.') + 1);
  summary[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(summary[0])));
  out +=
      man_name(command) + " \\- " + summary + "\n.SH SYNOPSIS\n.nf\n" + synopsis(command) + "\n.fi\n.SH DESCRIPTION\n";
  add_text(out, command.summary + (command.summary.ends_with('.') ? "" : ".") + "\n\n" + command.text);
  if (!command.commands.empty()) {
    out += ".SH COMMANDS\n";
    for (const ReferenceCommand& below : command.commands) {
      out += ".TP\n" + bold(below.name()) + "\n";
      add_filled(out, marked_up(below.summary + "."));
    }
  }
  add_options(out, "ARGUMENTS", command.positionals);
  add_options(out, "OPTIONS", command.options);
  add_man_examples(out, command);
  out += ".SH SEE ALSO\n";
  const std::vector<std::string> names = related(root, command);
  for (const std::string& name : names) {
    out += ".BR " + escaped(name) + " (1)" + (&name == &names.back() ? "" : ",") + "\n";
  }
  return out;
}

}  // namespace sooth
