#include "run/coverage.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <set>

#include "report/describe.h"
#include "report/files.h"
#include "symbol/elf_file.h"
#include "trace/process_file.h"
#include "trace/stream_format.h"

namespace sooth {
namespace {

// The names of the files that ran in a process without being instrumented. Our own library, the dynamic linker and what comes from no file
// are not worth a word.
void add_uninstrumented(const std::string& directory, std::set<std::string>& names) {
  const std::string path = directory + "/" + stream::kProcessFile;
  const Result<std::string> text = read_whole_file(path);
  if (!text.ok()) {
    return;  // whoever reads the recording tells
  }
  const Result<RecordedProcess> process = parse_process(*text, path);
  if (!process.ok()) {
    return;
  }
  for (const RecordedModule& module : process->modules) {
    const std::string name = std::filesystem::path(module.path).filename().string();
    if (!module.path.starts_with('/') || name.starts_with("ld-linux") || names.contains(name)) {
      continue;
    }
    const Result<BinaryInfo> file = inspect_binary(module.path);
    if (file.ok() && file->tsan == Tsan::kNone && !file->contains_sooth) {
      names.insert(name);
    }
  }
}

// Notes of a recording name its directory, which is gone when the report is read.
std::string without_directory(std::string note, const std::string& directory) {
  for (std::size_t at = note.find(directory); at != std::string::npos; at = note.find(directory)) {
    note.replace(at, directory.size(), "the recording");
  }
  return note;
}

}  // namespace

std::vector<std::string> gaps_of_recording(const ProgramRecording& recording, const RecordingOptions& options) {
  std::vector<std::string> notes;
  std::set<std::string> uninstrumented;
  for (const auto& [directory, completed] : recording.made) {
    add_uninstrumented(directory, uninstrumented);
    if (!completed.ok()) {
      notes.push_back("A process was not analysed: " + without_directory(completed.status().message(), directory));
      continue;
    }
    for (const std::string& note : completed->notes) {
      notes.push_back(without_directory(note, directory));
    }
  }
  for (const std::string& pattern : options.exclude) {
    notes.push_back("Accesses of files that match " + pattern + " were not recorded (--exclude).");
  }
  if (!uninstrumented.empty()) {
    const std::vector<std::string> names(uninstrumented.begin(), uninstrumented.end());
    notes.push_back("What these did to memory by themselves was not recorded, because they are not instrumented: " +
                    listed(names) + ".");
  }
  if (recording.end.signal == SIGKILL) {
    notes.push_back("The recorded run was killed: what it would have done is not known.");
  }
  return notes;
}

std::vector<std::string> gaps_of_runs(const Report& report, const ControlCounts& control) {
  std::vector<std::string> notes;
  const auto missed = std::count_if(report.findings.begin(), report.findings.end(), [](const Finding& finding) {
    return finding.replay.has_value() && finding.replay->command.empty() && finding.rung < Rung::kConfirmed;
  });
  if (missed > 0) {
    notes.push_back(counted(static_cast<std::uint64_t>(missed), "finding was", "findings were") +
                    " not reached by any controlled run. That does not show that nothing can reach " +
                    (missed == 1 ? "it." : "them."));
  }
  if (control.external > 0) {
    notes.push_back(
        "Something from outside (a file, a socket, a signal, the time) took part in controlled runs: a replay may "
        "differ.");
  }
  if (control.truncated > 0) {
    notes.push_back("Controlled runs did more than their log can hold: what came later was not judged.");
  }
  struct stat input {};
  if (control.runs > 0 && ::fstat(STDIN_FILENO, &input) == 0 && (S_ISREG(input.st_mode) || S_ISFIFO(input.st_mode))) {
    notes.push_back(
        "Controlled runs had an empty standard input; the recorded run had one with something in it, or could have.");
  }
  return notes;
}

}  // namespace sooth
