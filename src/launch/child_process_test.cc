#include "launch/child_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "launch/descendants.h"
#include "launch/environment.h"
#include "launch/program_path.h"

namespace sooth {
namespace {

ProgramEnd run(
    const std::string& script, const std::function<void()>& on_usr2 = [] {}) {
  Result<ChildProcess> child = ChildProcess::start({"sh", "-c", script}, current_environment());
  EXPECT_TRUE(child.ok());
  return child->wait(on_usr2);
}

TEST(ChildProcess, HasTheStatusOfTheProgram) {
  EXPECT_EQ(run("exit 0").shell_status(), 0);
  EXPECT_EQ(run("exit 3").shell_status(), 3);
  EXPECT_EQ(run("exit 255").describe(), "status 255");
}

TEST(ChildProcess, TellsTheSignalThatKilledIt) {
  const ProgramEnd end = run("kill -9 $$");
  EXPECT_EQ(end.shell_status(), 128 + SIGKILL);
  EXPECT_EQ(end.describe(), "signal 9 (Killed)");
  EXPECT_EQ(run("kill -SEGV $$").signal, SIGSEGV);
}

TEST(ChildProcess, SaysWhyThereIsNone) {
  const Result<ChildProcess> missing = ChildProcess::start({"/no/such/program"}, {});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().message(), "cannot start /no/such/program: No such file or directory");
  EXPECT_FALSE(ChildProcess::start({"/etc/passwd"}, {}).ok());
}

// Runs that are watched meanwhile, in other threads, wait for what is left behind and over: that is not this one's.
TEST(ChildProcess, IsNotTakenForAnOrphan) {
  Result<ChildProcess> child = ChildProcess::start({"sh", "-c", "exit 3"}, current_environment());
  ASSERT_TRUE(child.ok());
  siginfo_t over{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child->pid()), &over, WEXITED | WNOWAIT), 0);
  end_descendants(child->pid(), "NO=SUCH");
  EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(child->pid()), &over, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(child->wait([] {}).status, 3);
}

// The program signals us, waits for what we make of it, and says so in its status.
TEST(ChildProcess, PassesOnWhatOthersSend) {
  for (const char* signal : {"TERM", "HUP", "INT", "QUIT", "USR1", "WINCH"}) {
    // $$ is the program; the signal comes from a process of its own, as from another terminal.
    const ProgramEnd end = run(std::string("trap 'exit 7' ") + signal + "; sh -c 'kill -" + signal + " " +
                               std::to_string(::getpid()) + "'; while :; do :; done");
    EXPECT_EQ(end.status, 7) << signal;
  }
}

TEST(ChildProcess, KeepsUsr2ForItself) {
  const std::string file = testing::TempDir() + "usr2-" + std::to_string(::getpid());
  const ProgramEnd end = run("trap 'exit 7' USR2; kill -USR2 " + std::to_string(::getpid()) + "; until test -e " +
                                 file + "; do :; done; exit 5",
                             [&] { std::ofstream(file) << "x"; });
  EXPECT_EQ(end.status, 5);
  std::remove(file.c_str());
}

TEST(ChildProcess, StartsWithTheSignalMaskThatWeWereStartedWith) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(run("grep -q 'SigBlk:[[:space:]]0*$' /proc/self/status").shell_status(), 0);
  }
}

TEST(FindProgram, LooksWhereExecvpLooks) {
  EXPECT_TRUE(find_program("sh").ok());
  EXPECT_EQ(*find_program("/bin/sh"), "/bin/sh");
  EXPECT_NE(find_program("no-such-program-here").status().message().find("no such program in PATH"), std::string::npos);
  EXPECT_FALSE(find_program("/").ok());
  EXPECT_FALSE(find_program("/etc/passwd").ok());
  EXPECT_EQ(find_program("").status().code(), ExitCode::kUsage);
}

}  // namespace
}  // namespace sooth
