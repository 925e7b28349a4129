#include "run/hang_watch.h"

#include <gtest/gtest.h>
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

// Whether a process that does this, and has said so, waits for itself only.
bool is_alone_in(const std::function<void()>& before, const std::function<void()>& wait, long call) {
  const pid_t child = ::fork();
  if (child == 0) {
    before();
    for (;;) {
      wait();
    }
  }
  // Until it is there: nothing else ends this loop, and nothing else may.
  for (std::string now; now != std::to_string(call);) {
    std::ifstream("/proc/" + std::to_string(child) + "/syscall") >> now;
  }
  const bool alone = waits_for_itself_only(child, "/nowhere");
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return alone;
}

void nothing() {}

TEST(HangWatch, SleepsAreNotTheOutside) {
  EXPECT_TRUE(is_alone_in(
      nothing, [] { ::sleep(100); }, SYS_clock_nanosleep));
  EXPECT_FALSE(is_alone_in(
      nothing, [] { ::pause(); }, SYS_pause));
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  char byte;
  EXPECT_FALSE(is_alone_in(
      nothing, [&] { EXPECT_EQ(::read(ends[0], &byte, 1), 1); }, SYS_read));
}

TEST(HangWatch, MemoryOfAFileIsTheOutside) {
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
