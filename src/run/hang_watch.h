// Whether a recorded run that does not end hangs, although its threads are not blocked: they wait in loops.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "launch/kept_input.h"

namespace sooth {

struct HangWatchJob {
  std::vector<std::string> words;  // the program
  std::string directory;           // of its recording
  std::string strategy;            // of the recording, for the run that is compared with it
  std::uint64_t seed = 1;
  std::chrono::milliseconds after{0};  // from the start of the program; then twice as long each time
  KeptInput input;
};

// The recorder cannot tell a loop that waits for ever from one that is patient: it lets sleeps take their time, and does
// not see what the program counts in registers. A controlled run can: its time is virtual, and control::kEndHangs ends it
// when no thread changes anything any more. So when the recorded run takes long, and none of its threads waits for
// anything outside of it, the program is run once more, under control, beside it. If that run hangs, and once more when it
// has time to give up, so does the recorded one.
//
// Nothing is done where a run beside the recorded one could disturb it, or where its input is not known.
class HangWatch {
 public:
  // `found` is called, once, from another thread.
  HangWatch(HangWatchJob job, pid_t recorded, std::function<void()> found);
  ~HangWatch();  // the program has ended: gives up
  HangWatch(const HangWatch&) = delete;
  HangWatch& operator=(const HangWatch&) = delete;

  // For whoever knows that the program has ended. Whether `found` was called.
  bool stop();

 private:
  void watch();
  // False: it has ended.
  bool pause(std::chrono::milliseconds time);
  bool keeps_to_itself();
  bool hangs_again();

  const HangWatchJob job_;
  const pid_t recorded_;
  const std::function<void()> found_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> has_found_{false};
  std::thread thread_;  // the last: it uses the others
};

// Whether the process can go on by itself only: each of its threads runs, sleeps or waits for another one, and it shares
// no memory with others but what is in `own`, a folder. Unknown: false.
bool waits_for_itself_only(pid_t process, const std::string& own);

}  // namespace sooth
