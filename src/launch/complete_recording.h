// What is done to a recording once its program is over.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace sooth {

struct CompletedRecording {
  std::uint32_t threads = 0;
  std::uint64_t bytes = 0;          // of the whole directory
  std::uint64_t left_out = 0;       // accesses, because one thread had the memory to itself
  std::vector<std::string> notes;   // what the user should know, one sentence each
  std::vector<std::string> unseen;  // UnseenLibraries::loaded
  bool has_calls = false;           // code was left out, and calls of it may be in the recording
};

// Finds the names of its places and variables, drops the room that the program had reserved and not used, and marks it
// as whole. One that a process still writes to is left alone, and a note says so. After an error the recording is as
// readable as it was.
Result<CompletedRecording> complete_recording(const std::string& directory);

}  // namespace sooth
