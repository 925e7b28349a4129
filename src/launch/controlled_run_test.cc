// What controlled runs are made of; whole ones are tested with the tool, tests/cli/replay.py.
#include "launch/controlled_run.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "launch/captured_process.h"
#include "launch/control_files.h"
#include "launch/environment.h"

namespace sooth {
namespace {

using namespace std::chrono_literals;

Captured sh(const std::string& script, const CaptureLimits& limits = {}) {
  const Result<Captured> captured = run_captured({"sh", "-c", script}, current_environment(), limits);
  EXPECT_TRUE(captured.ok());
  return captured.ok() ? *captured : Captured{};
}

// A pipe whose other end every process that is started inherits: at its end when all of them are gone.
class Lifeline {
 public:
  Lifeline() { EXPECT_EQ(::pipe(ends_), 0); }
  ~Lifeline() { ::close(ends_[0]); }
  bool all_gone() {
    ::close(ends_[1]);
    pollfd end{ends_[0], POLLIN, 0};
    char byte = 0;
    return ::poll(&end, 1, 10'000) == 1 && ::read(ends_[0], &byte, 1) == 0;
  }

 private:
  int ends_[2];
};

TEST(RunCaptured, HasStatusAndBothStreams) {
  const Captured captured = sh("echo out; echo err >&2; exit 3");
  EXPECT_EQ(captured.end.status, 3);
  EXPECT_EQ(captured.output, "out\n");
  EXPECT_EQ(captured.errors, "err\n");
  EXPECT_FALSE(captured.timed_out);
  EXPECT_EQ(sh("kill -SEGV $$").end.signal, SIGSEGV);
  EXPECT_EQ(run_captured({"/no/such/program"}, {}, {}).status().message(),
            "cannot start /no/such/program: No such file or directory");
}

TEST(RunCaptured, GivesNoInputAGroupOfItsOwnAndNoCoreFile) {
  const Captured captured = sh("cat; set -- $(cat /proc/self/stat); test $5 = $$ && echo leader; ulimit -c");
  EXPECT_EQ(captured.output, "leader\n0\n") << captured.errors;
}

TEST(RunCaptured, KeepsTheEndOfLongOutputAndHashesAllOfIt) {
  CaptureLimits limits;
  limits.max_output = 1000;
  const std::string script = "head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2; echo end";
  const Captured captured = sh(script, limits);
  EXPECT_EQ(captured.output.size(), 1000u);
  EXPECT_EQ(captured.output.substr(996), "end\n");
  EXPECT_EQ(captured.errors, std::string(1000, '\0'));
  EXPECT_EQ(sh(script, limits).output_hash, captured.output_hash);
  EXPECT_NE(sh("echo; " + script, limits).output_hash, captured.output_hash) << "the difference is not in what is kept";
  EXPECT_NE(sh("echo a; echo b >&2").output_hash, sh("echo b; echo a >&2").output_hash);
}

TEST(RunCaptured, KillsTheWholeGroupWhenTimeIsOver) {
  Lifeline lifeline;
  CaptureLimits limits;
  limits.timeout = 200ms;
  const Captured captured = sh("echo started; sleep 1000 & sleep 1000", limits);
  EXPECT_TRUE(captured.timed_out);
  EXPECT_EQ(captured.end.signal, SIGKILL);
  EXPECT_EQ(captured.output, "started\n");
  EXPECT_TRUE(lifeline.all_gone());
}

TEST(RunCaptured, LeavesNothingBehind) {
  Lifeline lifeline;
  const Captured captured = sh("sleep 1000 & exit 5");
  EXPECT_EQ(captured.end.status, 5);
  EXPECT_FALSE(captured.timed_out);
  EXPECT_TRUE(lifeline.all_gone());
}

TEST(RunCaptured, CanBeCancelled) {
  std::atomic<bool> cancel{false};
  CaptureLimits limits;
  limits.cancel = &cancel;
  EXPECT_FALSE(sh("exit 0", limits).cancelled);
  std::thread other([&] { cancel = true; });
  const Captured captured = sh("sleep 1000", limits);
  other.join();
  EXPECT_TRUE(captured.cancelled);
  EXPECT_FALSE(captured.timed_out);
}

TEST(RunCaptured, ManyAtATime) {
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&right, t] {
      for (int i = 0; i < 10; ++i) {
        const std::string word = std::to_string(t) + "-" + std::to_string(i);
        right += sh("echo " + word + "; echo " + word + " >&2").output == word + "\n" ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(right, 40);
}

TEST(ChildProcess, IsKilledWhenTimeIsOver) {
  Result<ChildProcess> child = ChildProcess::start({"sleep", "1000"}, current_environment());
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(child->wait([] {}, 100ms).signal, SIGKILL);
  EXPECT_TRUE(child->timed_out());
  Result<ChildProcess> fast = ChildProcess::start({"true"}, current_environment());
  ASSERT_TRUE(fast.ok());
  EXPECT_EQ(fast->wait([] {}, 100s).status, 0);
  EXPECT_FALSE(fast->timed_out());
}

TEST(ControlledEnvironment, NamesTheFilesAndRecordsNothing) {
  const auto environment = controlled_environment({"A=1", "SOOTH_RECORD=/d", "SOOTH_SCHEDULE=os", "SOOTH_CONTROL=/old"},
                                                  "/rt.so", "/c", "/l");
  ASSERT_TRUE(environment.ok());
  EXPECT_EQ(*environment, (std::vector<std::string>{"A=1", "LD_PRELOAD=/rt.so", "SOOTH_CONTROL=/c",
                                                    "SOOTH_CONTROL_LOG=/l", "GOMP_SPINCOUNT=0"}));
  EXPECT_FALSE(controlled_environment({}, "/a b/rt.so", "/c", "/l").ok());
}

// What the library does, in this process.
void write_log(const std::string& path, const std::vector<control::LogRecord>& records) {
  const int fd = ::open(path.c_str(), O_RDWR);
  ASSERT_GE(fd, 0);
  const std::size_t bytes = sizeof(control::LogHeader) + records.size() * sizeof(control::LogRecord);
  void* mapping = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  ASSERT_NE(mapping, MAP_FAILED);
  auto* header = static_cast<control::LogHeader*>(mapping);
  header->state = control::RunState::kEnded;
  header->count = records.size();
  std::memcpy(header + 1, records.data(), records.size() * sizeof(control::LogRecord));
  ::munmap(mapping, bytes);
}

TEST(ControlFiles, CarryThePlanThereAndTheLogBack) {
  std::string directory;
  {
    const Result<ControlFiles> files = ControlFiles::create("plan", 100);
    ASSERT_TRUE(files.ok()) << files.status().message();
    directory = std::filesystem::path(files->log_path()).parent_path();
    std::ifstream control(files->control_path());
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(control), {}), "plan");
    Result<RunLog> log = files->read_log();
    ASSERT_TRUE(log.ok());
    EXPECT_EQ(log->state, control::RunState::kNotStarted);
    write_log(files->log_path(),
              {{control::RecordKind::kStretch, 0, 3, 1, 2, 6}, {control::RecordKind::kSpin, 0, 3, 0, 0, 0}});
    log = files->read_log();
    ASSERT_TRUE(log.ok()) << log.status().message();
    ASSERT_EQ(log->processes.size(), 1u);
    EXPECT_EQ(log->processes[0].stretches[0].end, control::StretchEnd::kEnded);
    EXPECT_EQ(log->processes[0].spins, 1u);
    write_log(files->log_path(), {{static_cast<control::RecordKind>(99), 0, 0, 0, 0, 0}});
    EXPECT_FALSE(files->read_log().ok());
  }
  EXPECT_FALSE(std::filesystem::exists(directory));
}

}  // namespace
}  // namespace sooth
