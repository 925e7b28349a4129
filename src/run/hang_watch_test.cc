#include "run/hang_watch.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <functional>
#include <string>

namespace sooth {
namespace {

// What the kernel tells of the call that a process is in; empty: nothing, as in some sandboxes.
std::string call_of(pid_t process) {
  std::string call;
  std::ifstream("/proc/" + std::to_string(process) + "/syscall") >> call;
  return call;
}

// Whether a process that does this, and is in that call, waits for itself only. It is known to have got there by nothing
// else.
bool is_alone_in(const std::function<void()>& before, const std::function<void()>& wait, long call) {
  const pid_t child = ::fork();
  if (child == 0) {
    before();
    for (;;) {
      wait();
    }
  }
  for (std::string now = "running"; !now.empty() && now != std::to_string(call); now = call_of(child)) {
    ::sched_yield();
  }
  const bool alone = waits_for_itself_only(child, "/nowhere");
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return alone;
}

// Of other processes than the one that asks.
bool kernel_tells_calls() {
  const pid_t child = ::fork();
  if (child == 0) {
    ::sleep(100);
    ::_exit(0);
  }
  const bool tells = !call_of(child).empty();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return tells;
}

void nothing() {}

TEST(HangWatch, SleepsAreNotTheOutside) {
  if (!kernel_tells_calls()) {
    GTEST_SKIP() << "there is no /proc/PID/syscall here";
  }
  EXPECT_TRUE(is_alone_in(
      nothing, [] { ::sleep(100); }, SYS_clock_nanosleep));
  EXPECT_FALSE(is_alone_in(
      nothing,
      [] {
        sigset_t none;
        ::sigemptyset(&none);
        ::sigsuspend(&none);
      },
      SYS_rt_sigsuspend));
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  char byte;
  EXPECT_FALSE(is_alone_in(
      nothing, [&] { EXPECT_EQ(::read(ends[0], &byte, 1), 1); }, SYS_read));
}

TEST(HangWatch, MemoryOfAFileIsTheOutside) {
  if (!kernel_tells_calls()) {
    GTEST_SKIP() << "there is no /proc/PID/syscall here";
  }
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(::ftruncate(::fileno(file), 4096), 0);
  const auto map = [&] { ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, ::fileno(file), 0); };
  EXPECT_FALSE(is_alone_in(
      map, [] { ::sleep(100); }, SYS_clock_nanosleep));
  std::fclose(file);
}

TEST(HangWatch, OfAProcessThatIsGoneNothingIsKnown) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(waits_for_itself_only(child, "/nowhere"));
}

}  // namespace
}  // namespace sooth
