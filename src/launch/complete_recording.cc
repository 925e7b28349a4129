#include "launch/complete_recording.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include "launch/recording_set.h"
#include "launch/symbolize_recording.h"
#include "launch/unseen_libraries.h"
#include "trace/format/small_file.h"
#include "trace/recording/call_reaches.h"
#include "trace/recording/deep_file.h"
#include "trace/recording/recording_checks.h"

namespace sooth {
namespace {

namespace fs = std::filesystem;

std::string stop_note(const std::string& directory, stream::StopReason reason) {
  const std::string ends = directory + " ends before the program did: ";
  switch (reason) {
    case stream::StopReason::kNone: return "";
    case stream::StopReason::kDiskFull: return ends + "the disk was full";
    case stream::StopReason::kSizeLimit: return ends + "it had reached the size of --max-trace";
    case stream::StopReason::kSignal: return ends + "it was stopped by SIGUSR2";
    case stream::StopReason::kTooManySites:
      return ends + "more than " + std::to_string(stream::kMaxSites) + " places in the program made accesses";
    case stream::StopReason::kTooManyThreads:
      return ends + "it had more than " + std::to_string(stream::kMaxThreads) + " threads";
    case stream::StopReason::kFileTooLarge: return ends + "its file had grown as large as files may be (ulimit -f)";
    case stream::StopReason::kQuota: return ends + "the disk quota was used up";
    case stream::StopReason::kInputOutput: return ends + "the disk reported an error";
    case stream::StopReason::kNoMemory: return ends + "there was no memory for it in the program (ulimit -v)";
    case stream::StopReason::kNoDescriptor: return ends + "the program had no file descriptor left for it (ulimit -n)";
    case stream::StopReason::kSignalUnderValgrind:
      return ends + "a signal came, and under Valgrind its moment is not certain";
  }
  return ends + "the reason is not known";
}

std::string thinning_note(const std::string& directory, const RecordingState& state) {
  if (state.left_out == 0) {
    return "";
  }
  std::string note = directory + " is without " + std::to_string(state.left_out) +
                     " accesses to memory that one thread had to itself (--thin-from)";
  if (state.handed_over > 0) {
    note += "; " + std::to_string(state.handed_over * 8) +
            " bytes of it were touched by other threads later, and races with what was left out are not seen";
  }
  return note;
}

bool still_written(const RecordingState& state) {
  return !state.ended && ::kill(static_cast<pid_t>(state.pid), 0) == 0;
}

Status drop_reserve(const std::string& path, std::uint64_t used) {
  std::error_code error;
  if (fs::file_size(path, error) > used && !error && ::truncate(path.c_str(), static_cast<off_t>(used)) != 0) {
    return Status::internal(path + ": " + std::strerror(errno));
  }
  return {};
}

std::uint64_t size_of(const std::string& directory) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::uint64_t size = entry->file_size(error);
    bytes += error ? 0 : size;
  }
  return bytes;
}

Status complete_reaches(const std::string& directory) {
  const std::string path = directory + "/" + stream::kReachesFile;
  Result<std::optional<std::string>> rows = read_small_file(path);
  if (!rows.ok() || !rows->has_value()) {
    return rows.ok() ? Status() : std::move(rows).status();
  }
  return seal_file(path, seal_reaches(std::move(**rows)), sizeof(stream::ReachRow));
}

Status complete_deep(const std::string& directory) {
  const std::string path = directory + "/" + stream::kDeepFile;
  Result<std::optional<std::string>> bytes = read_small_file(path);
  if (!bytes.ok() || !bytes->has_value()) {
    return bytes.ok() ? Status() : std::move(bytes).status();
  }
  return seal_file(path, seal_deep_file(std::move(**bytes)), sizeof(stream::DeepSeal));
}

}  // namespace

Result<CompletedRecording> complete_recording(const std::string& directory) {
  const Result<RecordingState> state = read_recording_state(directory);
  if (!state.ok()) {
    return state.status();
  }
  CompletedRecording result;
  result.threads = state->threads;
  result.left_out = state->left_out;
  if (still_written(*state)) {
    result.notes.push_back("process " + std::to_string(state->pid) + " still runs and records in " + directory +
                           ", which is left without symbols");
    result.bytes = size_of(directory);
    return result;
  }
  SOOTH_RETURN_IF_ERROR(drop_reserve(directory + "/" + stream::kStreamsFile, state->stream_bytes()));
  Result<std::vector<std::string>> notes = write_recording_symbols(directory, state->sites);
  if (!notes.ok()) {
    return notes.status();
  }
  SOOTH_RETURN_IF_ERROR(complete_reaches(directory));
  SOOTH_RETURN_IF_ERROR(complete_deep(directory));
  SOOTH_RETURN_IF_ERROR(finish_recording(directory));
  result.has_calls = state->has_calls;
  result.unseen = unseen_libraries(directory).loaded;
  result.notes = std::move(*notes);
  if (const std::string note = stop_note(directory, state->stop); !note.empty()) {
    result.notes.push_back(note);
  }
  if (const std::string note = thinning_note(directory, *state); !note.empty()) {
    result.notes.push_back(note);
  }
  result.bytes = size_of(directory);
  return result;
}

}  // namespace sooth
