// A program that sooth starts and waits for, as if it had been started alone.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "launch/spawn.h"

namespace sooth {

// How a program ended.
struct ProgramEnd {
  int status = 0;  // of exit(); meaningless when killed
  int signal = 0;  // that killed it; 0: it ended by itself

  // From what waitpid() tells of a process that is over.
  static ProgramEnd from_wait_status(int status);
  // As a shell tells it: the status, or 128 + signal.
  int shell_status() const { return signal != 0 ? 128 + signal : status; }
  // "status 3", "signal 9 (Killed)".
  std::string describe() const;

  friend bool operator==(const ProgramEnd&, const ProgramEnd&) = default;
};

// Standard streams, other descriptors, process group, signal mask and dispositions are inherited by the program
// unchanged, unless SpawnOptions say otherwise.
//
// What the terminal sends reaches both processes, and only the program decides what becomes of it: sooth outlives it. A
// signal that somebody sends to sooth alone (TERM, HUP, INT, QUIT, USR1, WINCH, ALRM, CONT, TSTP) is passed on. When
// the program stops, sooth stops, so that the shell's job control works. USR2 is for sooth itself.
//
// When sooth dies, the program goes on.
class ChildProcess {
 public:
  // `words`: name, as for execvp(), and arguments. `environment`: NAME=VALUE each. Blocks the signals above in the
  // calling thread until take_signals_again(): call it from one thread, before others are started. The error says why
  // there is no program.
  static Result<ChildProcess> start(const std::vector<std::string>& words, const std::vector<std::string>& environment,
                                    const SpawnOptions& options = {});

  ChildProcess(ChildProcess&& other) noexcept
      : pid_(other.pid_), ended_(other.ended_.load()), timed_out_(other.timed_out_), interrupted_(other.interrupted_) {}

  pid_t pid() const { return pid_; }
  // Whether wait() has seen the end. May be asked from other threads.
  bool ended() const { return ended_.load(std::memory_order_acquire); }
  // Returns when the program has ended. `on_usr2` is called for each SIGUSR2 sent to sooth. After `timeout`, if that is
  // not 0, the program is killed.
  ProgramEnd wait(const std::function<void()>& on_usr2, std::chrono::milliseconds timeout = {});
  // Kills it as if its time were over. From another thread, before wait() has returned.
  void give_up();
  // Whether wait() has killed it. For the thread that called wait().
  bool timed_out() const { return timed_out_; }
  // Whether INT, TERM or HUP came while it waited: somebody wants an end. Likewise.
  bool interrupted() const { return interrupted_; }

 private:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}
  // True when the program has ended, with how in `end`.
  bool reap(ProgramEnd& end);

  pid_t pid_;
  std::atomic<bool> ended_{false};
  std::atomic<bool> given_up_{false};
  bool timed_out_ = false;
  bool interrupted_ = false;
};

// Undoes what ChildProcess::start() did to the signals of the calling thread, for a command that goes on when the
// program is over. A signal that came since the end of wait() takes effect now.
void take_signals_again();

// What start() does to the signals of the calling thread, for a command that has something to lose before a program
// runs, or afterwards.
void hold_signals();
// Forgets those that ask for an end and came since then: it is near anyway.
void forget_held_signals();

}  // namespace sooth
