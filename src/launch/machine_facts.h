// What this machine lets Sooth do, found out by trying. doctor.h says what it means.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace sooth {

// A program that Sooth, or who uses it, may want to start.
struct FoundTool {
  std::string name;   // "gdb"
  std::string path;   // empty: not in PATH
  std::string error;  // it is there, but cannot do what it is for; empty: it can, or that was not tried
};

// The program that the user asks about.
struct ProgramFacts {
  std::string path;
  std::string refusal;  // why it cannot be recorded; empty: it can
  bool instrumented = false;
  bool has_lines = false;           // debug information
  std::vector<std::string> unseen;  // libraries that it needs and that are not instrumented
};

struct MachineFacts {
  std::string runtime_error;  // why our run time library was not found; empty: it was
  bool has_deep_pass = false;
  std::string proc_error;           // why /proc does not tell what programs do; empty: it does
  std::optional<int> ptrace_scope;  // of the Yama module; none: the kernel has none
  bool fixes_addresses = true;      // personality(ADDR_NO_RANDOMIZE) is allowed
  bool has_seccomp = true;
  bool makes_namespaces = true;    // this user may make user namespaces
  std::string scratch;             // directory of recordings that do not stay
  std::string scratch_error;       // why no file can be made there
  std::uint64_t scratch_free = 0;  // bytes
  std::string here;                // the working directory
  std::uint64_t here_free = 0;     // bytes
  std::uint64_t memory = 0;        // bytes that are available
  std::uint64_t memory_limit = 0;  // of the control group and of ulimit -v; 0: none
  std::uint64_t file_limit = 0;    // ulimit -f, in bytes; 0: none
  std::uint32_t cores = 0;         // that we may use
  FoundTool compiler, clang;       // `error`: from compiling a program for threads
  std::string trial_error;         // from recording it; empty: it was recorded, or there was none to record
  FoundTool deep_clang, gdb, valgrind, browser;
  std::optional<ProgramFacts> program;
};

// `program`: the one that the user asks about; empty for none. `self`: our executable, which compiles and records a
// small program. Takes a second or two.
MachineFacts gather_facts(const std::string& program, const std::string& self);

}  // namespace sooth
