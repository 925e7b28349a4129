// Virtual time: clocks and deadlines that depend on the schedule alone, so that a run can be repeated to the last
// printed time.
//
// The clock of a process starts at a fixed moment, 2000-01-01 00:00:00 UTC (CLOCK_MONOTONIC: 10,000 s), and never goes
// back. It
//
//   ticks   while threads work: kStep for each scheduling point (for each 64 accesses of a quantum; in controlled runs, for each
//           operation and 64 accesses, so that schedules followed again see equal times), kYield when a thread yields and kReading when it is read. These are about what such a step takes in a recording, so a thread that works, or waits in a
//           loop, sees time pass as it is used to, and a loop that only looks at the clock ends;
//   jumps   to the earliest deadline when no thread is ready, or the only one that is yields: often, if it is far ahead.
//           Deadlines less than kSlack behind the earliest fire with it, as the kernel's timers do: threads that slept
//           equally long wake up together, and the strategy decides among them.
//
// A deadline fires when the clock has come to it, never before: its thread is ready then, in the order of deadlines,
// and those that are equal in the order in which the threads blocked. So sleeping costs no real time, and a watchdog
// does not fire because a thread that works is slow.
//
// While a thread is outside (turn.h: in read(), accept(), sigwait(), ...) and nobody is ready, the clock does not jump:
// what happens next is up to the world, which has real time. The earliest deadline is waited for in real time, less
// what was waited in this way since its thread blocked, and then fires; the log of a controlled run says so, for the
// seed alone does not repeat that.
//
// Only threads that are recorded have virtual time; others, and those of a process that does not use it, have the
// system's. The child of a fork goes on from its parent's clock; a program that is executed starts anew.
#pragma once

#include "runtime/sys.h"

namespace sooth::rt::virtual_clock {

// Nanoseconds. A moment of virtual time is their number since the start.
inline constexpr u64 kSecond = 1'000'000'000;
inline constexpr u64 kStep = 200;
inline constexpr u64 kYield = 5'000;
inline constexpr u64 kReading = 1'000;
inline constexpr u64 kSlack = 50'000;
// Deadlines more than 146 years ahead are none.
inline constexpr u64 kNever = u64{1} << 62;

extern bool on_;
SOOTH_INLINE bool is_on() { return on_; }
// What steps are about that depend on the time.
SOOTH_INLINE uptr object() { return reinterpret_cast<uptr>(&on_); }

// Before the first thread has the turn; in the child of a fork again, which changes nothing.
void start(bool on);

u64 now();
// What was worked, by all threads: the time without the jumps.
u64 worked();
void work(u64 time);
// The clock shows `moment` or later. Returns how far it jumped.
u64 advance_to(u64 moment);

// CLOCK_REALTIME, CLOCK_MONOTONIC and their kin; not those of processor time, nor what the program made up.
bool is_known(int clock);
timespec to_timespec(u64 time);
// A moment as a known clock shows it.
timespec show(u64 moment, int clock);
// The moment that a known clock shows so; 0 if it is before the start, kNever if it is too far ahead.
u64 moment_of(const timespec& time, int clock);
// So long after now. Both for valid durations that are not negative.
u64 after(const timespec& duration);
// The same as a known clock shows it, virtual time or not.
timespec later(const timespec& duration, int clock);

// A deadline for a function of libc that waits outside, on the system's clocks. Usable as its argument; virtual time,
// if it is on, follows when the deadline has passed. Without virtual time, or for a deadline that is not valid, it is
// what it was made from.
class RealDeadline {
 public:
  RealDeadline(const timespec* time, int clock);
  ~RealDeadline();
  RealDeadline(const RealDeadline&) = delete;
  RealDeadline& operator=(const RealDeadline&) = delete;
  operator const timespec*() const { return given_; }

 private:
  const timespec* given_;
  timespec real_{};
  int clock_;
  u64 moment_ = kNever;
};

// Nanoseconds of the system's CLOCK_MONOTONIC.
u64 real_now();

}  // namespace sooth::rt::virtual_clock
