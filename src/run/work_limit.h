// How work that may take any time is stopped.
#pragma once

#include <atomic>
#include <chrono>

namespace sooth {

// While one exists, SIGINT, SIGTERM, SIGHUP and other signals that end a process (PIPE, USR1, USR2, ALRM, VTALRM, PROF,
// XCPU) end the work early instead, so that what was found is not lost; a second one of the first
// three ends the process. One at a time. `budget` counts from its construction; 0: there is none.
class WorkLimit {
 public:
  using Now = std::chrono::steady_clock::time_point (*)();
  // `now`: the clock; tests have one of their own.
  explicit WorkLimit(std::chrono::milliseconds budget, Now now = std::chrono::steady_clock::now);
  ~WorkLimit();
  WorkLimit(const WorkLimit&) = delete;
  WorkLimit& operator=(const WorkLimit&) = delete;

  // No more work is to be started. From any thread.
  bool reached() const { return reached(1); }
  // Nor of work that may take only this share of the budget, from 0 to 1.
  bool reached(double share) const { return interrupted() || out_of_time(share); }
  bool interrupted() const { return interrupt().load(std::memory_order_relaxed); }
  bool out_of_time(double share = 1) const;
  std::chrono::milliseconds elapsed() const;
  // When the budget is spent; far away when there is none.
  std::chrono::steady_clock::time_point end() const;
  double spent() const;  // the share of the budget that has passed; 0 without one
  // What is under way is to be given up.
  static const std::atomic<bool>& interrupt();
  // The first signal that asked for it since the construction; 0: none.
  static int signal();

 private:
  Now now_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::milliseconds budget_;
};

}  // namespace sooth
