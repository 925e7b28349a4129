// Work on bytes from somebody else, in a child process that can do nothing but compute and answer.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/status.h"

namespace sooth {

struct CageLimits {
  std::uint64_t memory = std::uint64_t{1} << 30;  // bytes, beyond what this process has mapped when it forks
  unsigned cpu_seconds = 20;
  unsigned wall_seconds = 600;  // for who waits without computing; generous, because machines are busy
  std::uint64_t answer = std::uint64_t{1} << 20;  // bytes
};

// Runs `work` in a forked child and returns its answer. The child has no descriptors but the one for its answer, may
// open no file and start no process, and leaves no core. Where the kernel has seccomp, it has no system call either but
// those for memory, its answer and its end: no file system, no network, no signals to others. It may use malloc() and
// whatever other threads hold no lock of.
// bad_input when it crashes, is out of memory or time, or answers too much: a sentence that says what happened to "the
// child process". internal when there can be no child.
// Not in the child under sanitizers: the limit of memory, because they map terabytes.
Result<std::string> run_caged(const CageLimits& limits, const std::function<std::string()>& work);

// In the child, for libraries that end a process in their own way: no handlers, no buffers.
[[noreturn]] void leave_cage();

}  // namespace sooth
