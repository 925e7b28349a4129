// Whether runs may be ended in which all threads wait in loops.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "base/status.h"
#include "launch/controlled_run.h"

namespace sooth {

// control::kEndHangs ends a run when all its threads have for long done nothing but look at the same things again. That
// saves the time after which it would have been killed, and is a hang, unless a thread counts its rounds and gives up
// later: nobody sees what is in its registers. So the first run that was ended while its threads were in certain
// functions is made again, the very first with all of the time that runs have. If it ends by itself, no run is ended any
// more.
// Thread safe.
class EndedHangs {
 public:
  // Whether to ask for kEndHangs.
  bool are_ended();
  // `ended` is of RunState::kHung, `again` makes the run once more without kEndHangs, patiently or not. Returns the
  // former if the program hangs, else what the latter did.
  Result<RunOutcome> judge(RunOutcome ended, const std::function<Result<RunOutcome>(bool patiently)>& again);

 private:
  std::mutex mutex_;
  bool are_ended_ = true;
  std::map<std::string, bool> hangs_;  // by the functions that the threads are in
};

}  // namespace sooth
