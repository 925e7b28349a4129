// Programs about time, for clock_test.py: the argument chooses one. Each prints what must not depend on real time.
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

std::mutex mutex;
std::condition_variable condition;

long milliseconds_since(Clock::time_point begin) {
  return static_cast<long>(std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count());
}

void say(const std::string& text) {
  std::lock_guard guard(mutex);
  std::printf("%s\n", text.c_str());
}

timespec in(int clock, long milliseconds) {
  timespec time;
  clock_gettime(clock, &time);
  time.tv_sec += milliseconds / 1000;
  time.tv_nsec += milliseconds % 1000 * 1'000'000;
  if (time.tv_nsec >= 1'000'000'000) {
    ++time.tv_sec;
    time.tv_nsec -= 1'000'000'000;
  }
  return time;
}

// Threads that sleep, 66 seconds in all, through every function that does it.
void sleeps() {
  const Clock::time_point begin = Clock::now();
  std::vector<std::thread> threads;
  for (int i = 11; i > 0; --i) {
    threads.emplace_back([i] {
      const timespec time = {i, 0};
      switch (i % 6) {
        case 0: sleep(static_cast<unsigned>(i)); break;
        case 1: usleep(static_cast<useconds_t>(i) * 1'000'000); break;
        case 2: nanosleep(&time, nullptr); break;
        case 3: clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr); break;
        case 4: thrd_sleep(&time, nullptr); break;
        default: {
          const timespec until = in(CLOCK_REALTIME, i * 1000);
          clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, nullptr);
        }
      }
      say("slept " + std::to_string(i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const long passed = milliseconds_since(begin);
  std::printf("%s\n", passed >= 11'000 && passed < 11'100 ? "together 11 seconds" : "too early or too late");
}

// One wait of each kind that times out, an hour each, and one that does not.
void timed_waits() {
  std::unique_lock lock(mutex);
  std::printf("condition %d\n", condition.wait_for(lock, 1h) == std::cv_status::timeout);
  std::printf("calendar %d\n", condition.wait_until(lock, std::chrono::system_clock::now() + 1h) == std::cv_status::timeout);
  bool ready = false;
  std::thread notifier([&] {
    std::this_thread::sleep_for(10s);
    std::lock_guard guard(mutex);
    ready = true;
    condition.notify_one();
  });
  const Clock::time_point begin = Clock::now();
  std::printf("notified %d", condition.wait_for(lock, 1h, [&] { return ready; }));
  std::printf(" after %ld s\n", milliseconds_since(begin) / 1000);
  lock.unlock();
  notifier.join();

  pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
  pthread_rwlock_t written = PTHREAD_RWLOCK_INITIALIZER;
  sem_t empty;
  sem_init(&empty, 0, 0);
  pthread_mutex_lock(&held);
  pthread_rwlock_wrlock(&written);
  std::thread waiter([&] {
    timespec time = in(CLOCK_REALTIME, 3'600'000);
    std::printf("mutex %d\n", pthread_mutex_timedlock(&held, &time) == ETIMEDOUT);
    time = in(CLOCK_REALTIME, 3'600'000);
    std::printf("rwlock %d\n", pthread_rwlock_timedrdlock(&written, &time) == ETIMEDOUT);
    time = in(CLOCK_REALTIME, 3'600'000);
    std::printf("semaphore %d\n", sem_timedwait(&empty, &time) == -1 && errno == ETIMEDOUT);
    std::promise<void> never;
    std::printf("future %d\n", never.get_future().wait_for(1h) == std::future_status::timeout);
    std::counting_semaphore<> zero(0);
    std::printf("c++ semaphore %d\n", zero.try_acquire_for(1h));
    std::timed_mutex timed;
    std::lock_guard guard(timed);
    std::thread([&] { std::printf("timed_mutex %d\n", timed.try_lock_for(1h)); }).join();
    sleep(7200);
  });
  timespec time = in(CLOCK_REALTIME, 3'600'000);
  std::printf("join %d\n", pthread_timedjoin_np(waiter.native_handle(), nullptr, &time) == ETIMEDOUT);
  waiter.join();
}

// A watchdog ends the program after ten seconds unless the work is done. The work is long, but it never waits.
void watchdog() {
  std::atomic<bool> done{false};
  std::thread([&] {
    sleep(10);
    if (!done) abort();
  }).detach();
  long sum = 0;
  std::thread worker([&] {
    for (long i = 0; i < 300'000; ++i) {
      std::lock_guard guard(mutex);
      sum += i;
    }
    done = true;
  });
  worker.join();
  std::printf("sum %ld\n", sum);
}

// Loops that look at a clock, or at the flag of a thread that sleeps.
void polling() {
  const Clock::time_point end = Clock::now() + 200ms;
  long readings = 0;
  while (Clock::now() < end) ++readings;
  std::printf("read the clock more than once: %d\n", readings > 1);
  const time_t start = time(nullptr);
  while (time(nullptr) == start) {
  }
  std::printf("a second has begun\n");

  std::atomic<bool> flag{false};
  volatile bool plain = false;
  auto later = [](auto set, std::chrono::milliseconds delay) {
    return std::thread([=] {
      std::this_thread::sleep_for(delay);
      set();
    });
  };
  std::thread setter = later([&] { flag = true; }, 5s);
  while (!flag) usleep(100);
  setter.join();
  std::printf("slept until the flag was set\n");
  flag = false;
  setter = later([&] { flag = true; }, 3h);
  while (!flag) sched_yield();
  setter.join();
  std::printf("yielded until the flag was set\n");
  flag = false;
  setter = later([&] { flag = true; }, 20ms);
  while (!flag) {
  }
  setter.join();
  std::printf("spun until the flag was set\n");
  setter = later([&] { plain = true; }, 5s);
  while (!plain) usleep(1000);
  setter.join();
  std::printf("slept until the plain flag was set\n");
  std::atomic<bool> stop{false};
  std::atomic<long> work{0};
  std::thread worker([&] {
    while (!stop) ++work;
  });
  usleep(20'000);
  stop = true;
  worker.join();
  std::printf("worked until told to stop: %d\n", work > 0);
}

// Two threads wake in turn; the plain accesses have no other order than the time.
void ping_pong() {
  std::string order;
  auto play = [&](char name, std::chrono::milliseconds first) {
    std::this_thread::sleep_for(first);
    for (int i = 0; i < 20; ++i) {
      order += name;
      std::this_thread::sleep_for(20ms);
    }
  };
  std::thread ping(play, 'a', 10ms), pong(play, 'b', 20ms);
  ping.join();
  pong.join();
  std::printf("%s\n", order.c_str());
}

void print(const char* name, const timespec& time) { std::printf("%s %lld.%09ld\n", name, static_cast<long long>(time.tv_sec), time.tv_nsec); }

// All clocks, to the last digit, in threads that a schedule mixes.
void times() {
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([n] {
      for (int i = 0; i < 5; ++i) {
        usleep(static_cast<useconds_t>(100 * ((n + i) % 3)));
        std::lock_guard guard(mutex);
        std::printf("thread %d ", n);
        timespec time;
        for (clockid_t clock : {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID, CLOCK_MONOTONIC_RAW,
                                CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC_COARSE, CLOCK_BOOTTIME, CLOCK_TAI}) {
          if (clock_gettime(clock, &time) != 0) std::abort();
          print(std::to_string(clock).c_str(), time);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  timespec spec;
  timespec_get(&spec, TIME_UTC);
  print("timespec_get", spec);
  timeval value;
  gettimeofday(&value, nullptr);
  struct tms t;
  const clock_t since = ::times(&t);
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%lld %lld.%06ld %ld %ld %ld %lld.%06ld\n", static_cast<long long>(time(nullptr)), static_cast<long long>(value.tv_sec), value.tv_usec,
              static_cast<long>(clock()), static_cast<long>(since), static_cast<long>(t.tms_utime), static_cast<long long>(usage.ru_utime.tv_sec),
              usage.ru_utime.tv_usec);
}

// No clock goes back, not even for a thread that compares with what another has seen.
void monotonic() {
  std::atomic<long long> latest{0};
  auto look = [&] {
    for (int i = 0; i < 300; ++i) {
      const long long before = latest;
      const long long now = Clock::now().time_since_epoch().count();
      if (now <= before) std::abort();
      latest = now;
      if (i % 7 == 0) usleep(static_cast<useconds_t>(i));
    }
  };
  std::thread a(look), b(look);
  a.join();
  b.join();
  std::printf("never back\n");
}

// Many threads with the same deadline: all that wake are awake together, so that the schedule decides who is first.
void together() {
  std::string order;
  const timespec until = in(CLOCK_MONOTONIC, 60'000);
  std::vector<std::thread> threads;
  for (char name = 'a'; name < 'f'; ++name) {
    threads.emplace_back([&, name] {
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
      for (int i = 0; i < 3; ++i) {
        std::lock_guard guard(mutex);
        order += name;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("%s\n", order.c_str());
}

// Its input comes from another process, which takes its real time; a timed wait in another thread ends before it, or after.
void reader(long limit) {
  bool read_first = false, timed_out = false;
  std::thread waiter([&] {
    std::unique_lock lock(mutex);
    timed_out = !condition.wait_for(lock, std::chrono::milliseconds(limit), [&] { return read_first; });
    if (timed_out) std::printf("timed out\n");
  });
  char byte;
  const bool got = read(0, &byte, 1) == 1;
  {
    std::lock_guard guard(mutex);
    read_first = true;
    if (!timed_out) std::printf("read first\n");
  }
  condition.notify_one();
  waiter.join();
  std::printf("got %d\n", got);
}

// Time-outs of poll and its kin are real when there is something to wait for; the clock follows.
void polls() {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  auto passed = [](auto wait) {
    const Clock::time_point begin = Clock::now();
    wait();
    return milliseconds_since(begin);
  };
  pollfd set = {ends[0], POLLIN, 0};
  std::printf("poll %d\n", passed([&] { poll(&set, 1, 50); }) >= 50);
  std::printf("nothing to poll %ld\n", passed([&] { poll(nullptr, 0, 3'600'000); }) / 1000);
  std::printf("nothing to select %ld\n", passed([&] {
    timeval time = {3600, 0};
    select(0, nullptr, nullptr, nullptr, &time);
  }) / 1000);
  std::printf("select %d\n", passed([&] {
    timeval time = {0, 50'000};
    fd_set in_set;
    FD_ZERO(&in_set);
    FD_SET(ends[0], &in_set);
    select(ends[0] + 1, &in_set, nullptr, nullptr, &time);
  }) >= 50);
  std::thread writer([&] {
    sleep(1);
    if (write(ends[1], "x", 1) != 1) std::abort();
  });
  std::printf("ready %d\n", poll(&set, 1, 60'000));
  writer.join();
}

// A condition in shared memory is waited for outside.
void shared() {
  auto* memory = static_cast<char*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  auto* semaphore = reinterpret_cast<sem_t*>(memory);
  sem_init(semaphore, 1, 0);
  const Clock::time_point begin = Clock::now();
  const timespec time = in(CLOCK_REALTIME, 100);
  const bool timed_out = sem_timedwait(semaphore, &time) == -1 && errno == ETIMEDOUT;
  std::printf("timed out %d %d\n", timed_out, milliseconds_since(begin) >= 100 && milliseconds_since(begin) < 1000);
}

// The child of a fork goes on where its parent was.
void forked() {
  sleep(100);
  timespec before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  const pid_t child = fork();
  clock_gettime(CLOCK_MONOTONIC, &after);
  if (child == 0) {
    sleep(50);
    _exit(after.tv_sec == before.tv_sec && after.tv_nsec > before.tv_nsec ? 7 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("child %d\n", WEXITSTATUS(status));
}

// A thread that yields a few times, or looks and sleeps in a loop, has not waited until a far deadline of another.
void patient() {
  for (const bool sleeps : {false, true}) {
    std::condition_variable condition;
    bool done = false;
    std::atomic<int> rounds{0};
    std::thread worker([&] {
      for (; rounds < (sleeps ? 2000 : 20); ++rounds)
        sleeps ? std::this_thread::sleep_for(std::chrono::milliseconds(1)) : std::this_thread::yield();
      std::lock_guard guard(mutex);
      done = true;
      condition.notify_one();
    });
    {
      std::unique_lock lock(mutex);
      const bool notified = condition.wait_for(lock, std::chrono::seconds(100), [&] { return done; });
      std::printf("notified %d\n", notified);
    }
    worker.join();
  }
}

// A handler and a cancellation end a sleep.
void interrupted() {
  signal(SIGUSR1, [](int) {});
  std::atomic<bool> slept{false};
  std::thread sleeper([&] {
    const timespec time = {100, 0};
    timespec rest = {0, 0};
    const int result = nanosleep(&time, &rest);
    std::printf("interrupted %d, left %ld\n", result == -1 && errno == EINTR, rest.tv_sec);
    slept = true;
  });
  // The main thread works, so the sleep cannot end by itself. The first signal may come before it begins.
  while (!slept) {
    for (int i = 0; i < 100; ++i) std::lock_guard guard(mutex);
    pthread_kill(sleeper.native_handle(), SIGUSR1);
  }
  sleeper.join();
  pthread_t cancelled;
  pthread_create(&cancelled, nullptr, [](void*) -> void* {
    sleep(1000);
    return nullptr;
  }, nullptr);
  for (int i = 0; i < 1000; ++i) std::lock_guard guard(mutex);
  pthread_cancel(cancelled);
  void* result = nullptr;
  pthread_join(cancelled, &result);
  std::printf("cancelled %d\n", result == PTHREAD_CANCELED);
}

}  // namespace

int main(int argc, char** argv) {
  setvbuf(stdout, nullptr, _IOFBF, 1 << 16);
  const std::string name = argc > 1 ? argv[1] : "";
  if (name == "sleeps") sleeps();
  else if (name == "timed_waits") timed_waits();
  else if (name == "watchdog") watchdog();
  else if (name == "polling") polling();
  else if (name == "ping_pong") ping_pong();
  else if (name == "times") times();
  else if (name == "monotonic") monotonic();
  else if (name == "together") together();
  else if (name == "reader") reader(std::atol(argv[2]));
  else if (name == "polls") polls();
  else if (name == "shared") shared();
  else if (name == "forked") forked();
  else if (name == "interrupted") interrupted();
  else if (name == "patient") patient();
  else return 64;
  std::fflush(stdout);
  return 0;
}
