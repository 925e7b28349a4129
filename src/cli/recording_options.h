// The flags of every command that records a program.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "launch/environment.h"

namespace sooth {

// Adds --schedule, --seed, --exclude and --reach to `command`; `options` must live as long as it.
void add_recording_options(CLI::App& command, RecordingOptions& options);
// Adds what is left out already inside the program, as the flag `name`: a command that analyses has a --filter of its
// own.
void add_recording_filter(CLI::App& command, const std::string& name, RecordingOptions& options);
// Adds --thin-from.
// --engine: how the program is seen. Chosen for the process (launch/engine.h) as it is parsed.
void add_engine_option(CLI::App& command);
void add_thinning_option(CLI::App& command, RecordingOptions& options);

}  // namespace sooth
