#include "run/coverage.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <utility>

#include "launch/engine.h"
#include "report/describe.h"

namespace sooth {
namespace {

// Notes of a recording name its directory, which is gone when the report is read.
std::string without_directory(std::string note, const std::string& directory) {
  for (std::size_t at = note.find(directory); at != std::string::npos; at = note.find(directory)) {
    note.replace(at, directory.size(), "the recording");
  }
  return note;
}

}  // namespace

std::string note_on_unseen(const ProgramRecording& recording) {
  if (engine() == Engine::kValgrind) {
    return "";  // everything is seen
  }
  std::string names;
  for (const std::string& name : recording.unseen) {
    names += (names.empty() ? "" : ", ") + name;
  }
  return names.empty()
             ? ""
             : "calls into " + names + " (not instrumented) are not seen, and what orders threads inside may be missed";
}

std::vector<Gap> gaps_of_recording(const ProgramRecording& recording, const RecordingOptions& options) {
  std::vector<Gap> gaps;
  for (const auto& [directory, completed] : recording.made) {
    if (!completed.ok()) {
      gaps.push_back({GapKind::kRecording,
                      "A process was not analysed: " + without_directory(completed.status().message(), directory)});
      continue;
    }
    for (const std::string& note : completed->notes) {
      gaps.push_back({GapKind::kRecording, without_directory(note, directory)});
    }
  }
  const bool calls = std::any_of(recording.made.begin(), recording.made.end(), [](const MadeRecording& each) {
    return each.completed.ok() && each.completed->has_calls;
  });
  for (const std::string& pattern : options.exclude) {
    gaps.push_back({GapKind::kExcludedCode, "What code does that matches " + pattern + " was not recorded (--exclude)" +
                                                (calls ? "; calls of it were." : ".")});
  }
  if (engine() == Engine::kLocks) {
    gaps.push_back(
        {GapKind::kRecording,
         "Accesses to memory were not recorded (--engine locks): races were not looked for, and what atomics "
         "order is not known."});
  } else if (engine() == Engine::kValgrind) {
    gaps.push_back(
        {GapKind::kRecording,
         "The program is not instrumented, and ran under Valgrind (--engine valgrind): whether a load or store "
         "is atomic is known from debug information only."});
  } else if (std::string note = note_on_unseen(recording); !note.empty()) {
    gaps.push_back({GapKind::kLibrary, std::move(note)});
  }
  if (recording.input_cut) {
    gaps.push_back({GapKind::kControl, "Other runs read the first " + std::to_string(kMostInput >> 20) +
                                           " MB of what the recorded run had as standard input."});
  }
  if (recording.end.signal == SIGKILL && !recording.timed_out) {
    gaps.push_back({GapKind::kRecording, "The recorded run was killed: what it would have done is not known."});
  } else if (recording.hung) {
    char text[160];
    std::snprintf(text, sizeof text,
                  "The recorded run was ended after %.1f s, because a controlled run of the program hung "
                  "(--hang-after).",
                  recording.seconds);
    gaps.push_back({GapKind::kRecording, text});
  } else if (recording.interrupted) {
    char text[160];
    std::snprintf(
        text, sizeof text,
        "The recorded run did not end by itself: it was interrupted after %.1f s. If it hung, --timeout tells "
        "where.",
        recording.seconds);
    gaps.push_back({GapKind::kRecording, text});
  }
  return gaps;
}

std::vector<Gap> gaps_of_runs(const Report& report, const ControlCounts& control) {
  std::vector<Gap> gaps;
  const auto open = std::count_if(report.findings.begin(), report.findings.end(), [](const Finding& finding) {
    return finding.rung == Rung::kSuspected && !finding.failure.has_value();
  });
  if (open > 0) {
    gaps.push_back({GapKind::kUnknown, counted(static_cast<std::uint64_t>(open), "finding is", "findings are") +
                                           " only suspected: no run got there, and there is no proof."});
  }
  const auto missed = std::count_if(report.findings.begin(), report.findings.end(), [](const Finding& finding) {
    return finding.replay.has_value() && finding.replay->command.empty() && finding.rung < Rung::kConfirmed;
  });
  if (missed > 0) {
    gaps.push_back(
        {GapKind::kTrials, counted(static_cast<std::uint64_t>(missed), "finding was", "findings were") +
                               " not reached by any controlled run. That does not show that nothing can reach " +
                               (missed == 1 ? "it." : "them.")});
  }
  if (control.external > 0) {
    gaps.push_back(
        {GapKind::kControl,
         "Something from outside (a file, a socket, a signal, the time) took part in controlled runs: a replay may "
         "differ."});
  }
  if (control.truncated > 0) {
    gaps.push_back(
        {GapKind::kControl, "Controlled runs did more than their log can hold: what came later was not judged."});
  }
  return gaps;
}

}  // namespace sooth
