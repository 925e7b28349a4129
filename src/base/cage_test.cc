#include "base/cage.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace sooth {
namespace {

std::string reason() { return std::strerror(errno); }

std::string why_not(const std::function<std::string()>& work, CageLimits limits = {}) {
  const Result<std::string> answer = run_caged(limits, work);
  EXPECT_FALSE(answer.ok());
  EXPECT_TRUE(answer.ok() || answer.status().code() == ExitCode::kBadInput);
  return answer.ok() ? "" : answer.status().message();
}

TEST(Cage, AnswersWithAllBytes) {
  const std::string long_text(300'000, 'x');
  for (const std::string& text : {std::string(), std::string("a\0b.", 4), long_text}) {
    const Result<std::string> answer = run_caged({}, [&] { return text; });
    ASSERT_TRUE(answer.ok()) << answer.status().message();
    EXPECT_EQ(*answer, text);
  }
}

TEST(Cage, WhatTheChildChangesStaysThere) {
  int number = 1;
  ASSERT_TRUE(run_caged({}, [&] { return std::to_string(++number); }).ok());
  EXPECT_EQ(number, 1);
}

TEST(Cage, ACrashIsASentence) {
  EXPECT_EQ(why_not([]() -> std::string { ::raise(SIGSEGV), ::_exit(0); }), "the child process was ended by SIGSEGV");
  EXPECT_EQ(why_not([]() -> std::string { ::signal(SIGABRT, SIG_DFL), std::abort(); }),
            "the child process was ended by SIGABRT");
  EXPECT_EQ(why_not([]() -> std::string { leave_cage(); }), "the child process gave up");
  EXPECT_EQ(why_not([]() -> std::string { ::_exit(0); }), "the child process gave up") << "without an answer";
}

TEST(Cage, LimitsTimeMemoryAndTheAnswer) {
  CageLimits limits;
  limits.cpu_seconds = 1;
  const auto spin = []() -> std::string {
    volatile bool goes_on = true;
    while (goes_on) {
    }
    return "";
  };
  EXPECT_EQ(why_not(spin, limits), "the child process took too long and was ended");
  limits.wall_seconds = 1;
  limits.cpu_seconds = 60;
  EXPECT_EQ(why_not(spin, limits), "the child process took too long and was ended");
  EXPECT_EQ(why_not([] { return std::string(2 << 20, 'x'); }), "the child process answered too much");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_EQ(why_not([] { return std::string(std::size_t{4} << 30, 'x'); }), "the child process had not enough memory");
#endif
}

// Each must fail, and say why.
TEST(Cage, HasNoFilesNoNetworkNoProcesses) {
  const int inherited = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int above = ::fcntl(inherited, F_DUPFD, 20);
  const auto tries = [&]() -> std::string {
    std::string allowed;
    const auto expect_failure = [&](const char* what, bool done) { allowed += done ? std::string(what) + " " : ""; };
    expect_failure("open", ::open("/etc/hostname", O_RDONLY) >= 0);
    expect_failure("create", ::open("/tmp/sooth_cage_test", O_RDWR | O_CREAT, 0600) >= 0);
    expect_failure("inherited", ::fcntl(above, F_GETFD) >= 0);
    expect_failure("socket", ::socket(AF_INET, SOCK_STREAM, 0) >= 0);
    expect_failure("fork", ::fork() >= 0);
    expect_failure("exec", ::execl("/bin/true", "true", nullptr) == 0);
    expect_failure("kill", ::kill(::getppid(), 0) == 0);
    expect_failure("unlink", ::unlink("/tmp/sooth_cage_test") == 0 || errno == ENOENT);
    expect_failure("code", ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                                  0) != MAP_FAILED);
    expect_failure("mmap", ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
                               MAP_FAILED);  // that one is allowed
    return allowed;
  };
  const Result<std::string> answer = run_caged({}, tries);
  ASSERT_TRUE(answer.ok()) << answer.status().message() << ' ' << reason();
  EXPECT_EQ(*answer, "");
  ::close(above);
  ::close(inherited);
}

}  // namespace
}  // namespace sooth
