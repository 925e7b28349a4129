// What a report does not speak of.
#pragma once

#include <string>
#include <vector>

#include "launch/environment.h"
#include "race/finding.h"
#include "run/confirm_findings.h"
#include "run/record_program.h"

namespace sooth {

// What did not get into the recordings: excluded code, libraries that are not instrumented, ends that came too early,
// processes whose recording cannot be read.
std::vector<Gap> gaps_of_recording(const ProgramRecording& recording, const RecordingOptions& options);

// Which libraries nobody looked into, as a sentence; empty when there are none.
std::string note_on_unseen(const ProgramRecording& recording);

// What controlled runs did not reach, and what they could not control. `report` is as they left it.
std::vector<Gap> gaps_of_runs(const Report& report, const ControlCounts& control);

}  // namespace sooth
