// What --help prints.
#include <algorithm>
#include <string_view>

#include "cli/reference_print.h"

namespace sooth {
namespace {

constexpr std::size_t kNameColumn = 2, kTextColumn = 24;

// Puts the words of `text` behind what `out` ends with, which is `column` characters long; further lines begin with
// `indent` blanks.
void add_wrapped(std::string& out, std::string_view text, std::size_t column, std::size_t indent, std::size_t width) {
  bool first = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) {
      continue;
    }
    const std::size_t blank = first ? 0 : 1;
    if (!first && column + blank + word.size() > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else {
      out += std::string(blank, ' ');
      column += blank;
    }
    out += word;
    column += word.size();
    first = false;
  }
  out += '\n';
}

void add_paragraphs(std::string& out, const std::string& text, std::size_t width) {
  for (const TextBlock& block : text_blocks(text)) {
    out += '\n';
    for (const std::string& line : block.lines) {
      if (block.verbatim) {
        out += "  " + line + "\n";
      } else {
        add_wrapped(out, line, 0, 0, width);
      }
    }
  }
}

// `name` in the left column, `text` in the right one; below it where the name is too long.
void add_row(std::string& out, const std::string& name, const std::string& text, std::size_t width) {
  const std::size_t column = std::min(kTextColumn, width / 3);
  std::string row = std::string(kNameColumn, ' ') + name;
  if (row.size() + 2 > column) {
    out += row + "\n";
    row.clear();
  }
  row.resize(column, ' ');
  out += row;
  std::size_t at = column;
  for (const TextBlock& block : text_blocks(text)) {
    for (const std::string& line : block.lines) {
      out += at == 0 ? std::string(column, ' ') : "";
      // A list inside a help text: "  json: for programs".
      add_wrapped(out, (block.verbatim ? "- " : "") + line, column, column + (block.verbatim ? 2 : 0), width);
      at = 0;
    }
  }
}

std::string with_remarks(const ReferenceOption& option) {
  std::string remarks = option.required ? "required" : "";
  if (!option.preset.empty()) {
    remarks += (remarks.empty() ? "default: " : ", default: ") + option.preset;
  }
  if (remarks.empty()) {
    return option.help;
  }
  std::size_t end = std::min(option.help.find('\n'), option.help.size());  // a list may follow
  end -= end > 0 && option.help[end - 1] == ':' ? 1 : 0;
  return option.help.substr(0, end) + " (" + remarks + ")" + option.help.substr(end);
}

void add_rows(std::string& out, const char* title, const std::vector<ReferenceOption>& options, std::size_t width) {
  out += options.empty() ? "" : std::string("\n") + title + ":\n";
  for (const ReferenceOption& option : options) {
    add_row(out, join(option.names, ", ") + (option.value.empty() ? "" : " " + option.value), with_remarks(option),
            width);
  }
}

}  // namespace

std::string help_page(const ReferenceCommand& command, std::size_t width) {
  std::string out;
  add_wrapped(out, command.summary + (command.summary.ends_with('.') ? "" : "."), 0, 0, width);
  out += '\n';
  add_wrapped(out, "Usage: " + command.synopsis, 0, 4, width);
  add_paragraphs(out, command.text, width);
  out += command.examples.empty() ? "" : "\nExamples:\n";
  for (const CommandExample& example : command.examples) {
    out += "  " + std::string(example.line) + "\n" + std::string(6, ' ');
    add_wrapped(out, example.purpose, 6, 6, width);
  }
  out += command.commands.empty() ? "" : "\nCommands:\n";
  for (const ReferenceCommand& below : command.commands) {
    add_row(out, below.name(), below.summary, width);
  }
  add_rows(out, "Arguments", command.positionals, width);
  add_rows(out, "Options", command.options, width);
  return out;
}

}  // namespace sooth
