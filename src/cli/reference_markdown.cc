// docs/commands.md.
#include <cctype>

#include "cli/reference_print.h"

namespace sooth {
namespace {

// Words of ours are no markup, but for what is between backticks.
std::string escaped(const std::string& text) {
  std::string out;
  bool code = false;
  for (const char c : text) {
    code = c == '`' ? !code : code;
    out += !code && (c == '*' || c == '_' || c == '<' || c == '[' || c == '|') ? "\\" : "";
    out += c;
  }
  return out;
}

// How documents on the same page refer to a heading.
std::string anchor(const std::string& heading) {
  std::string out;
  for (const char c : heading) {
    if (c == ' ') {
      out += '-';
    } else if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-') {
      out += c;
    }
  }
  return out;
}

void add_blocks(std::string& out, const std::string& text) {
  for (const TextBlock& block : text_blocks(text)) {
    out += '\n';
    for (const std::string& line : block.lines) {
      out += (block.verbatim ? "    " + line : escaped(line)) + "\n";
    }
  }
}

// The list inside a help text, like the formats and what each is for, becomes a list below the option.
void add_markdown_help(std::string& out, const std::string& help) {
  bool first = true;
  for (const TextBlock& block : text_blocks(help)) {
    for (const std::string& line : block.lines) {
      out += block.verbatim ? "\n  - " + escaped(line) : (first ? ": " : " ") + escaped(line);
      first = false;
    }
  }
}

void add_markdown_option(std::string& out, const ReferenceOption& option) {
  out += "- ";
  for (std::size_t i = 0; i < option.names.size(); ++i) {
    const bool last = i + 1 == option.names.size();
    out += (i > 0 ? ", `" : "`") + option.names[i] + (last && !option.value.empty() ? " " + option.value : "") + "`";
  }
  std::string remarks = option.required ? "required" : "";
  if (!option.preset.empty()) {
    remarks += (remarks.empty() ? "default " : ", default ") + escaped(option.preset);
  }
  out += remarks.empty() ? "" : " (" + remarks + ")";
  add_markdown_help(out, option.help);
  out += '\n';
}

void add_markdown_examples(std::string& out, const ReferenceCommand& command) {
  out += command.examples.empty() ? "" : "\nExamples:\n";
  for (const CommandExample& example : command.examples) {
    out += "\n    # " + std::string(example.purpose) + "\n    " + std::string(example.line) + "\n";
  }
}

void add_command(std::string& out, const ReferenceCommand& command) {
  out += "\n## " + command.path + "\n\n" + escaped(command.summary) + ".\n\n    " + command.synopsis + "\n";
  add_blocks(out, command.text);
  add_markdown_examples(out, command);
  for (const auto* list : {&command.positionals, &command.options}) {
    out += list->empty() ? "" : "\n";
    for (const ReferenceOption& option : *list) {
      add_markdown_option(out, option);
    }
  }
}

}  // namespace

std::string markdown_page(const ReferenceCommand& root) {
  const std::vector<const ReferenceCommand*> all = all_commands(root);
  std::string out = "# Commands\n\n<!-- Made by `" + root.path +
                    " reference --format markdown`; a test compares. Change the declarations in src/cli/. -->\n\n" +
                    escaped(root.summary) + "\n\n";
  for (const ReferenceCommand* command : all) {
    if (command != &root) {
      out += "- [`" + command->path + "`](#" + anchor(command->path) + "): " + escaped(command->summary) + "\n";
    }
  }
  add_blocks(out, root.text);
  out += "\nEvery command has `-h` and `--help`; the manual pages (`man sooth-run`) say the same as this page.\n";
  for (const ReferenceCommand* command : all) {
    if (command != &root) {
      add_command(out, *command);
    }
  }
  return out;
}

}  // namespace sooth
