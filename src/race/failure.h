// How a run of the program failed, as it stands in a report: a finding of the kinds crash, hang and deadlock has one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sooth {

struct FailureSummary {
  std::string outcome;       // "killed by signal 6 (Aborted)", "a deadlock", "a hang", "exit status 1"
  std::uint32_t signal = 0;  // that killed the process; 0: none
  std::uint32_t status = 0;  // of exit(), when it ended by itself
  std::string message;       // what it said: a failed assertion, an exception, a complaint of glibc; may be empty
  bool recorded = false;     // the recorded run failed so; else controlled runs did
  // Only runs in which a thread that could run was kept from it for longer than a time-out failed so.
  bool by_delay = false;
  std::vector<std::string> after;  // ids of races that were seen to happen before it, and may be the cause

  friend bool operator==(const FailureSummary&, const FailureSummary&) = default;
};

}  // namespace sooth
