#include "launch/captured_process.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "launch/claimed_file.h"
#include "launch/descendants.h"
#include "launch/environment.h"
#include "schedule/protocol.h"

namespace sooth {
namespace {

using Clock = std::chrono::steady_clock;

TEST(CapturedProcessTest, IsGivenUpWhenTheTimeOfAllIsOver) {
  CaptureLimits limits;
  limits.timeout = std::chrono::minutes(10);
  limits.give_up_at = Clock::now();
  const Result<Captured> captured = run_captured({"sleep", "600"}, current_environment(), limits);
  ASSERT_TRUE(captured.ok()) << captured.status().message();
  EXPECT_TRUE(captured->cancelled);   // nobody knows how it would have ended:
  EXPECT_FALSE(captured->timed_out);  // that is no hang
}

bool is_running(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  return std::getline(file, text) && text.substr(text.rfind(')') + 2, 1) != "Z";
}

TEST(CapturedProcessTest, NothingItStartsOutlivesIt) {
  adopt_orphans();
  const std::string file = testing::TempDir() + "captured_process_test.pids";
  std::vector<std::string> environment = current_environment();
  environment.push_back(std::string(control::kControlVariable) + "=" + file);
  // Once with a parent that ends before, once without; and the run is killed, or ends by itself.
  for (const char* rest : {"exec sleep 600", "exit 0"}) {
    std::filesystem::remove(file);
    CaptureLimits limits;
    limits.timeout = std::chrono::seconds(2);
    const std::string script = "setsid sh -c 'echo $$ >> " + file + "; exec sleep 600' & " +
                               "(setsid sh -c 'echo $$ >> " + file + "; exec sleep 600' &) ; " + "while [ $(wc -l < " +
                               file + ") -lt 2 ]; do sleep 0.01; done; " + rest;
    std::ofstream(file).flush();
    ASSERT_TRUE(run_captured({"sh", "-c", script}, environment, limits).ok());
    std::ifstream list(file);
    int pids = 0;
    for (int pid = 0; list >> pid; ++pids) {
      EXPECT_FALSE(is_running(pid)) << rest;
    }
    EXPECT_EQ(pids, 2) << rest;
  }
  std::filesystem::remove(file);
}

TEST(ClaimedFileTest, NamesAreGivenOnceAndComeBack) {
  const std::filesystem::path before = std::filesystem::current_path();
  const std::filesystem::path folder = testing::TempDir() + "claimed_file_test";
  std::filesystem::create_directory(folder);
  std::filesystem::current_path(folder);
  {
    const Result<ClaimedFile> first = ClaimedFile::create("bin/prog", ".json");
    const Result<ClaimedFile> second = ClaimedFile::create("bin/prog", ".json");
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(first->path(), "sooth-prog.json");
    EXPECT_EQ(second->path(), "sooth-prog-2.json");
    std::ofstream(second->path()) << "{}";
  }
  EXPECT_FALSE(std::filesystem::exists("sooth-prog.json"));
  EXPECT_TRUE(std::filesystem::exists("sooth-prog-2.json"));  // somebody has written it
  std::filesystem::current_path(before);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace sooth
