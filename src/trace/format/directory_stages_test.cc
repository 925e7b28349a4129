// The life of a trace directory: what an outsider finds after a kill, on a full disk, and in between.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#include <csignal>
#include <ctime>

#include "trace/format/directory_testing.h"
#include "trace/format/format.h"
#include "trace/format/stage_file.h"
#include "trace/versions.h"

namespace sooth {
namespace {

std::vector<std::string> files_in(const std::string& path) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

using Names = std::vector<std::string>;

TEST(DirectoryStages, IncompleteThenVersion) {
  const TemporaryDirectory directory;
  const std::string path = directory / "t";
  auto writer = create_trace_directory(
      path, {.exact = false, .columns = kStacks | kReaches, .program = "a\nb", .filtered = "tree"});
  ASSERT_TRUE(writer.ok());
  EXPECT_EQ(files_in(path), (Names{"events", "incomplete"}));
  auto read = read_directory(path);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_TRUE(read->info.incomplete);
  EXPECT_FALSE(read->info.exact);
  EXPECT_EQ(read->info.columns, kStacks | kReaches);
  EXPECT_EQ(read->info.program, "a b") << "one line";
  EXPECT_TRUE(read->events.empty());

  ASSERT_TRUE((*writer)->finish().ok());
  EXPECT_EQ(files_in(path), (Names{"events", "version"}));
  read = read_directory(path);
  ASSERT_TRUE(read.ok());
  EXPECT_FALSE(read->info.incomplete);
  EXPECT_EQ(read->info.filtered, "tree");
}

// A finished writer that dies between its last two steps leaves both files.
TEST(DirectoryStages, VersionCountsWhenBothAreThere) {
  const TemporaryDirectory directory;
  RandomDirectoryTrace random(3);
  const WholeTrace trace = random.trace({.events = 50});
  ASSERT_TRUE(write_directory(trace, directory / "t").ok());
  ASSERT_TRUE(write_incomplete(directory / "t", trace.info).ok());
  const auto read = read_directory(directory / "t");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(difference(trace, *read, kAllColumns), "");
}

TEST(DirectoryStages, AnotherFormatVersionIsNamed) {
  const TemporaryDirectory directory;
  RandomDirectoryTrace random(4);
  ASSERT_TRUE(write_directory(random.trace({}), directory / "t").ok());
  const std::string path = directory / "t/version";
  std::string text = file_content(path);
  const std::string first_line = "sooth-trace " + std::to_string(kTraceVersion) + "\n";
  ASSERT_EQ(text.substr(0, first_line.size()), first_line);
  text.replace(0, first_line.size(), "sooth-trace 1000\n");
  fill_file(path, text);
  EXPECT_EQ(read_directory(directory / "t").status().message(), path + ": is damaged") << "the check line covers it";

  text.resize(text.rfind("check "));
  char check[32];
  std::snprintf(check, sizeof check, "check %016llx\n",
                static_cast<unsigned long long>(XXH3_64bits(text.data(), text.size())));
  fill_file(path, text + check);
  EXPECT_EQ(read_directory(directory / "t").status().message(),
            path + ": the trace has format 1000, and this sooth reads " + std::to_string(kOldestTraceVersion) + " to " +
                std::to_string(kTraceVersion) + ": a newer sooth wrote it, which can read it");

  EXPECT_TRUE(check_format_version("x", "trace", 3, 2, 4).ok());
  EXPECT_EQ(
      check_format_version("x", "trace", 1, 2, 4).message(),
      "x: the trace has format 1, and this sooth reads 2 to 4: an older sooth wrote it; record the program again");
}

Event nth_event(std::uint64_t n) {
  return {.object = n * 64, .thread = ThreadId(n % 3), .site = SiteId(n % 9000), .size = 8, .op = Op::kWrite};
}

// Writes as fast as it can until it is killed; tells how many events it has appended through the pipe.
[[noreturn]] void write_for_ever(const std::string& path, int progress) {
  auto writer = create_trace_directory(path, {.columns = kValues, .program = ""});
  if (!writer.ok()) {
    ::_exit(1);
  }
  Tables& tables = (*writer)->tables();
  for (int i = 0; i < 3; ++i) {
    tables.add_thread("T" + std::to_string(i));
  }
  for (int i = 0; i < 9000; ++i) {
    tables.add_site({std::to_string(i), "", "", "", 0, 0, 0});
  }
  for (std::uint64_t n = 0;;) {
    std::vector<Event> events;
    std::vector<Value> values;
    for (std::size_t i = 0; i < 1000; ++i) {
      events.push_back(nth_event(n + i));
      values.push_back({n + i, 0, 8});
    }
    if (!(*writer)->append({EventId{n}, events, values, {}, {}, {}}).ok() || ::write(progress, "x", 1) != 1) {
      ::_exit(1);
    }
    n += events.size();
  }
}

TEST(DirectoryStages, AKilledWriterLeavesAPrefix) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 40);
  std::mt19937_64 random(from_environment("SOOTH_SEED", 1));
  std::uint64_t with_events = 0;
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(cases, 2000); ++i) {
    const TemporaryDirectory directory;
    const std::string path = directory / "t";
    int progress[2];
    ASSERT_EQ(::pipe(progress), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::close(progress[0]);
      write_for_ever(path, progress[1]);
    }
    ::close(progress[1]);
    // Some batches, then a moment in the middle of whatever it is doing.
    std::uint64_t appended = 0;
    char byte;
    for (std::uint64_t n = random() % 60; appended < n && ::read(progress[0], &byte, 1) == 1;) {
      ++appended;
    }
    const timespec moment{0, static_cast<long>(random() % 500'000)};
    ::nanosleep(&moment, nullptr);
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer failed by itself";
    while (::read(progress[0], &byte, 1) == 1) {
      ++appended;
    }
    ::close(progress[0]);

    if (!std::filesystem::exists(path + "/events")) {
      continue;  // killed before there was a trace
    }
    const auto read = read_directory(path);
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_TRUE(read->info.incomplete);
    EXPECT_LE(read->events.size(), (appended + 1) * 1000);
    EXPECT_GE(read->events.size() + format::kMaxSegmentEvents, appended * 1000) << "no more than a segment is lost";
    for (std::uint64_t n = 0; n < read->events.size(); ++n) {
      ASSERT_EQ(read->events[n], nth_event(n));
      ASSERT_EQ(read->values[n], (Value{n, 0, 8}));
    }
    with_events += read->events.empty() ? 0 : 1;
  }
  EXPECT_GT(with_events, 0u);
}

// A limit on the size of files stands for a full disk: write() fails in the same place, with another errno.
TEST(DirectoryStages, AFullDiskIsAnError) {
  RandomDirectoryTrace random(5);
  const WholeTrace trace = random.trace({.events = 30'000, .threads = 3, .sites = 100, .many_objects = true});
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  for (const rlim_t limit : {0, 10, 100, 4096, 20'000}) {
    const TemporaryDirectory directory;
    const rlimit small{limit, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const Status status = write_directory(trace, directory / "t");
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_EQ(status.code(), ExitCode::kInternal) << limit << ": " << status.message();
    EXPECT_NE(status.message().find("cannot write: File too large"), std::string::npos)
        << limit << ": " << status.message();
    EXPECT_FALSE(std::filesystem::exists(directory / "t/version"));
  }
  (void)std::signal(SIGXFSZ, old_handler);
}

TEST(DirectoryStages, ADiskThatIsReallyFull) {
  if (::access("/dev/full", W_OK) != 0) {
    GTEST_SKIP() << "there is no /dev/full";
  }
  const TemporaryDirectory directory;
  auto writer = create_trace_directory(directory / "t", {});
  ASSERT_TRUE(writer.ok());
  std::filesystem::create_symlink("/dev/full", directory / "t/version.tmp");
  const Status status = (*writer)->finish();
  EXPECT_EQ(status.code(), ExitCode::kInternal);
  EXPECT_NE(status.message().find("cannot write: No space left on device"), std::string::npos) << status.message();
  EXPECT_FALSE(std::filesystem::exists(directory / "t/version"));
}

}  // namespace
}  // namespace sooth
