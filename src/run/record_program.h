// Runs a program once and records it.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "launch/child_process.h"
#include "launch/complete_recording.h"
#include "launch/environment.h"
#include "launch/kept_input.h"

namespace sooth {

struct RecordJob {
  std::vector<std::string> words;  // the program's name and arguments
  std::string directory;  // for the first process; others make neighbours (launch/recording_set.h). Empty: a free one
  RecordingOptions options;
  std::chrono::milliseconds timeout{0};     // then the program is killed; 0: never
  std::chrono::milliseconds hang_after{0};  // then it is watched for a hang (run/hang_watch.h), and killed; 0: never
  std::string input_spool;  // a file for what it reads from standard input, made when needed; empty: not kept
  // Told before the program starts, one sentence each.
  std::function<void(const std::string&)> warn = [](const std::string&) {};
};

struct MadeRecording {
  std::string directory;
  Result<CompletedRecording> completed;  // or why it is left as the program left it
};

struct ProgramRecording {
  ProgramEnd end;
  bool interrupted = false;         // somebody has sent sooth a signal that asks to end, and the program has got it too
  bool timed_out = false;           // it was killed, because its time was over
  bool hung = false;                // ... as it hung
  double seconds = 0;               // that the program took
  std::vector<MadeRecording> made;  // the first process first; only of processes that recorded something
  std::set<std::string> unseen;     // libraries that are not instrumented, and whose calls are not seen: file names
  std::string why_none;             // a sentence, when there are none
  KeptInput input;                  // what it read
  bool input_cut = false;           // ... but for the rest of it
};

inline constexpr std::uint64_t kMostInput = std::uint64_t{64} << 20;  // bytes of standard input that are kept

// The program has our streams, and signals reach it, as with ChildProcess, whose remarks on signals hold here too.
// Fails only when there is no program to run, or no place for the recording; whatever goes wrong afterwards is told in
// the answer.
Result<ProgramRecording> record_program(const RecordJob& job);

// The same program once more, for what another schedule shows: it gets nothing of ours and prints nowhere.
struct RecordAgain {
  std::vector<std::string> words;
  std::string directory;
  RecordingOptions options;
  std::chrono::milliseconds timeout{0};       // then it is killed; 0: none
  const std::atomic<bool>* cancel = nullptr;  // likewise, soon after it has become true
  std::chrono::steady_clock::time_point give_up_at = std::chrono::steady_clock::time_point::max();  // likewise
  KeptInput input = {};
};

struct AgainRecorded {
  ProgramEnd end;
  bool timed_out = false;
  std::string errors;  // the end of what it printed there
  std::vector<MadeRecording> made;
};

Result<AgainRecorded> record_again(const RecordAgain& job);

}  // namespace sooth
