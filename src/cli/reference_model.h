// What the command line takes, as plain data, read off the tree of CLI11: whoever declares an option documents it, in
// `--help`, docs/commands.md, the manual pages and the completions of shells.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/examples.h"

namespace sooth {

// What a shell offers for a value.
enum class ValueKind : std::uint8_t {
  kNone,       // a flag has none
  kText,       // nothing: a number, a name
  kFile,       // files
  kDirectory,  // directories
  kWords,      // one of `words`
  kWordList,   // some of `words`, with commas between them
};

struct ReferenceOption {
  std::vector<std::string> names;  // "-o", "--output"; one without dashes for a positional argument
  std::string value;               // how documentation calls the value: "FILE", "text|json"; empty for a flag
  ValueKind kind = ValueKind::kNone;
  std::vector<std::string> words;  // one that ends in ':' goes on: "pct:"
  std::string help;                // lines that begin with two spaces are a list
  std::string preset;              // the default, as text
  bool required = false;
  bool value_optional = false;
  bool repeatable = false;
};

struct ReferenceCommand {
  std::string path;      // "sooth trace gen"
  std::string summary;   // one line, no full stop
  std::string synopsis;  // "sooth run [OPTIONS] -- PROGRAM ARGUMENTS"
  std::string text;      // paragraphs; lines that begin with two spaces are as they are
  std::vector<ReferenceOption> positionals, options;
  std::vector<ReferenceCommand> commands;
  std::vector<CommandExample> examples;
  bool starts_program = false;  // takes `-- PROGRAM ARGUMENTS`

  // The last word of the path.
  std::string name() const { return path.substr(path.rfind(' ') + 1); }
};

// The tree below `root`, without commands and options that are hidden from `--help` (those in the group ""). Nothing is
// changed; CLI11 shows the checks of an option to those only who may.
ReferenceCommand read_reference(CLI::App& root);

// `command` and all below it, each before what is below it.
std::vector<const ReferenceCommand*> all_commands(const ReferenceCommand& command);

// The command at `path`, or nullptr.
const ReferenceCommand* find_command(const ReferenceCommand& root, const std::string& path);

// `words` with `separator` between them.
std::string join(const std::vector<std::string>& words, const std::string& separator = " ");

// The first line or sentence of a help text, without the mark at its end: what a menu has room for.
std::string brief(const std::string& help);

// `text` in pieces: paragraphs (lines joined by spaces), and blocks of lines that begin with two spaces, each as it is.
struct TextBlock {
  bool verbatim = false;
  std::vector<std::string> lines;  // a paragraph is one; those of a block are without the two spaces
};
std::vector<TextBlock> text_blocks(const std::string& text);

}  // namespace sooth
