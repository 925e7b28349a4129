#include "runtime/clock.h"

namespace sooth::rt::virtual_clock {
namespace {

constexpr u64 kRealtimeStart = 946'684'800;  // seconds
constexpr u64 kMonotonicStart = 10'000;

u64 now_ = 0;
u64 worked_ = 0;

// Seconds that the clock shows at the start.
u64 start_of(int clock) {
  bool is_calendar =
      clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_REALTIME_ALARM || clock == CLOCK_TAI;
  return is_calendar ? kRealtimeStart : kMonotonicStart;
}

bool is_valid(const timespec& time) { return time.tv_nsec >= 0 && time.tv_nsec < static_cast<long>(kSecond); }

}  // namespace

bool on_ = false;

void start(bool on) { on_ = on; }

u64 now() { return __atomic_load_n(&now_, __ATOMIC_RELAXED); }
u64 worked() { return __atomic_load_n(&worked_, __ATOMIC_RELAXED); }

// Atomically: a thread that comes back from outside may advance the clock while another works.
void work(u64 time) {
  __atomic_fetch_add(&now_, time, __ATOMIC_RELAXED);
  __atomic_fetch_add(&worked_, time, __ATOMIC_RELAXED);
}

u64 advance_to(u64 moment) {
  u64 before = now();
  while (before < moment) {
    if (__atomic_compare_exchange_n(&now_, &before, moment, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      return moment - before;
  }
  return 0;
}

bool is_known(int clock) {
  return clock >= 0 && clock <= CLOCK_TAI && clock != CLOCK_PROCESS_CPUTIME_ID && clock != CLOCK_THREAD_CPUTIME_ID &&
         clock != 10;
}

timespec to_timespec(u64 time) { return {static_cast<time_t>(time / kSecond), static_cast<long>(time % kSecond)}; }

timespec show(u64 moment, int clock) {
  timespec time = to_timespec(moment);
  time.tv_sec += static_cast<time_t>(start_of(clock));
  return time;
}

u64 moment_of(const timespec& time, int clock) {
  u64 start = start_of(clock);
  if (time.tv_sec < static_cast<time_t>(start)) return 0;
  u64 seconds = static_cast<u64>(time.tv_sec) - start;
  return seconds >= kNever / kSecond ? kNever : seconds * kSecond + static_cast<u64>(time.tv_nsec);
}

u64 after(const timespec& duration) {
  u64 seconds = static_cast<u64>(duration.tv_sec);
  if (seconds >= kNever / kSecond) return kNever;
  u64 moment = now() + seconds * kSecond + static_cast<u64>(duration.tv_nsec);
  return moment < kNever ? moment : kNever;
}

timespec later(const timespec& duration, int clock) {
  timespec time;
  if (on_)
    time = show(now(), clock);
  else
    read_clock(clock, &time);
  constexpr time_t kFar = time_t{1} << 60;
  time_t seconds = duration.tv_sec < kFar ? duration.tv_sec : kFar;
  timespec carry = to_timespec(static_cast<u64>(time.tv_nsec + duration.tv_nsec));
  return {time.tv_sec + seconds + carry.tv_sec, carry.tv_nsec};
}

RealDeadline::RealDeadline(const timespec* time, int clock) : given_(time), clock_(clock) {
  if (!on_ || time == nullptr || !is_valid(*time)) return;
  moment_ = moment_of(*time, clock);
  u64 here = now();
  u64 left = moment_ > here ? moment_ - here : 0;
  read_clock(clock, &real_);
  timespec sum = to_timespec(static_cast<u64>(real_.tv_nsec) + left);
  real_ = {real_.tv_sec + sum.tv_sec, sum.tv_nsec};
  given_ = &real_;
}

RealDeadline::~RealDeadline() {
  if (moment_ >= kNever) return;
  timespec time;
  read_clock(clock_, &time);
  if (time.tv_sec != real_.tv_sec ? time.tv_sec > real_.tv_sec : time.tv_nsec >= real_.tv_nsec) advance_to(moment_);
}

u64 real_now() {
  timespec time;
  read_clock(CLOCK_MONOTONIC, &time);
  return static_cast<u64>(time.tv_sec) * kSecond + static_cast<u64>(time.tv_nsec);
}

}  // namespace sooth::rt::virtual_clock
