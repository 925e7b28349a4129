// What a command takes from sooth.toml. docs/configuration.md.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "base/status.h"
#include "cli/config_file.h"
#include "race/finding.h"

namespace sooth {

// Adds --config and --no-config to every command below `root` that reads the file, and lets it take from the file what
// the command line does not say. What is wrong with the file is thrown as CLI::FileError.
void add_config_options(CLI::App& root);

// Gives the options of `command` (called `path` from the root on, "trace gen") the values that `file` has for them,
// unless they have one. `root` is for telling what is a command and an option at all. Returns their names, in the order
// of the file.
Result<std::vector<std::string>> apply_config(CLI::App& root, CLI::App& command, const std::string& path,
                                              const ConfigFile& file);

// Tells in the report which file was used and for what; nothing when there was none. Once, however often it is called.
void note_config(Report& report);

}  // namespace sooth
