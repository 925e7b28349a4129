// What is wrong with a command line, as one sentence that says what was meant.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/status.h"

namespace sooth {

// A check that lets only these words through.
CLI::Validator one_of(std::vector<std::string> words);

// "--output", "-o", ...: those that `--help` shows.
std::vector<std::string> visible_options(const CLI::App& command);
// The commands below it that `--help` shows.
std::vector<std::string> visible_commands(const CLI::App& command);

// `path` is how the command is called, "sooth trace gen".
Status no_such_option(const CLI::App& command, const std::string& path, const std::string& word);
Status no_such_command(const CLI::App& parent, const std::string& path, const std::string& word);

// Why the command line below `root` could not be parsed.
Status explain_usage(const CLI::App& root, const CLI::ParseError& error);

}  // namespace sooth
