// The flags of every command that records a program.
#pragma once

#include <CLI/CLI.hpp>

#include "launch/environment.h"

namespace sooth {

// Adds --schedule, --seed, --exclude and --filter to `command`; `options` must live as long as it.
void add_recording_options(CLI::App& command, RecordingOptions& options);

}  // namespace sooth
