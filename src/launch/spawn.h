// Makes a process become another program. ChildProcess and ControlledProgram are built on it.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <string>
#include <vector>

#include "base/status.h"

namespace sooth {

class Isolation;

struct SpawnOptions {
  int input = -1, output = -1, errors = -1;  // descriptors, above 2, that become its standard streams; -1: it has ours
  bool own_group = false;                // it leads a process group of its own, and dies with the thread that starts it
  bool fixed_addresses = false;          // address space randomisation off, where the system allows it
  bool no_core = false;                  // leaves no core file
  const Isolation* isolation = nullptr;  // it gets name spaces of its own
  const char* shared = nullptr;          // ... but for this folder
};

// How sooth itself was started: what a program gets, whatever sooth has changed since.
struct InheritedSignals {
  sigset_t mask;
  void (*on_child)(int);
};

// As found by the first call, which belongs in front of whatever changes them. Sets SIGCHLD to its default: ignored (a
// parent may have left it so), the kernel would throw the status of a program away.
const InheritedSignals& inherited_signals();

// `words`: name, as for execvp(), and arguments. `environment`: NAME=VALUE each. Returns when the process is the
// program; the error says why there is none. May be called from several threads at a time.
Result<pid_t> spawn_program(const std::vector<std::string>& words, const std::vector<std::string>& environment,
                            const SpawnOptions& options);

}  // namespace sooth
