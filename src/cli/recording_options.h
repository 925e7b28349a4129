// The flags of every command that records a program.
#pragma once

#include <CLI/CLI.hpp>

#include "launch/environment.h"

namespace sooth {

// Adds --schedule, --seed and --exclude to `command`; `options` must live as long as it.
void add_recording_options(CLI::App& command, RecordingOptions& options);
// Adds --filter: what is left out already inside the program. A command that analyses has a --filter of its own.
void add_recording_filter(CLI::App& command, RecordingOptions& options);

}  // namespace sooth
