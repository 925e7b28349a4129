// A program that is run to its end with its output caught: one of many, so it gets nothing of ours and leaves nothing
// behind.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "launch/child_process.h"
#include "launch/kept_input.h"

namespace sooth {

struct CaptureLimits {
  std::chrono::milliseconds timeout{0};       // then the process group is killed; 0: none
  std::size_t max_output = 1 << 20;           // bytes kept of each stream: its end
  const std::atomic<bool>* cancel = nullptr;  // the group is killed soon after it has become true
  // When it is given up in the same way, whatever the timeout.
  std::chrono::steady_clock::time_point give_up_at = std::chrono::steady_clock::time_point::max();
  KeptInput input = {};                  // what it reads
  const Isolation* isolation = nullptr;  // name spaces of its own, but for the folder `shared`
  std::string shared = {};
};

struct Captured {
  ProgramEnd end;
  bool timed_out = false;
  bool cancelled = false;
  std::string output, errors;     // the end of each stream
  std::uint64_t output_hash = 0;  // of both whole streams, but not of how they were mixed
};

// Addresses are not randomised, no core file is written. When the program is over, what is left of its
// process group is killed, and output that comes later is not waited for. May be called from several threads at a time.
Result<Captured> run_captured(const std::vector<std::string>& words, const std::vector<std::string>& environment,
                              const CaptureLimits& limits);

}  // namespace sooth
