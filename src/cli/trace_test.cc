// The commands of `sooth trace` as the user calls them, up to what main does with the answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "trace/memory_trace.h"

namespace sooth {
namespace {

namespace fs = std::filesystem;

struct Answer {
  ExitCode code = ExitCode::kOk;
  std::string error;
  std::string out;
};

class TraceCommandTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) / (std::string("sooth_trace_") + test->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  // `sooth trace ARGS`.
  static Answer trace(std::vector<std::string> args) {
    CLI::App root;
    CommandResult result = ExitCode::kOk;
    add_trace_command(root, result);
    args.insert(args.begin(), "trace");
    std::vector<std::string> reversed(args.rbegin(), args.rend());
    ::testing::internal::CaptureStdout();
    try {
      root.parse(reversed);
    } catch (const CLI::ParseError& error) {
      return {ExitCode::kUsage, error.what(), ::testing::internal::GetCapturedStdout()};
    }
    std::string out = ::testing::internal::GetCapturedStdout();
    return result.ok() ? Answer{*result, "", out} : Answer{result.status().code(), result.status().message(), out};
  }

  void write(const std::string& name, const MemoryTrace& trace) const {
    const auto writer = create_trace(path(name), TraceFormat::kDirectory, trace.info);
    ASSERT_TRUE(writer.ok()) << writer.status().message();
    (*writer)->tables() = trace.tables;
    ASSERT_TRUE((*writer)->append(trace.batch()).ok());
    ASSERT_TRUE((*writer)->finish().ok());
  }

  fs::path folder_;
};

MemoryTrace small_trace(const std::vector<Op>& ops) {
  MemoryTrace trace;
  trace.tables.add_thread("T0");
  trace.tables.add_site({"a.c:1", "a.c", "f", "", 0, 1, 0});
  trace.tables.name_object(ObjectKind::kLock, 1, "m");
  for (const Op op : ops) {
    trace.events.push_back({1, ThreadId{0}, SiteId{0}, is_access(op) ? 8u : 0u, op, MemoryOrder::kNotAtomic, 0, 0});
  }
  return trace;
}

std::string bytes_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Every file of a directory with its content.
std::vector<std::pair<std::string, std::string>> content(const std::string& folder) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    files.emplace_back(entry.path().filename().string(), bytes_of(entry.path().string()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST_F(TraceCommandTest, GeneratedTracesAreWellFormedAndCounted) {
  const std::string a = path("a");
  EXPECT_EQ(trace({"gen", "--events", "20k", "--threads", "3", "-o", a}).error, "");
  EXPECT_EQ(trace({"check", a}).out, a + ": well-formed, 20000 events\n");
  const auto json = nlohmann::json::parse(trace({"info", "--json", a}).out);
  EXPECT_EQ(json["events"], 20'000);
  EXPECT_EQ(json["threads"], 3);
  EXPECT_EQ(json["locks"], 16);
  EXPECT_EQ(json["sites"], 200);
  EXPECT_EQ(json["exact"], true);
  EXPECT_EQ(json["complete"], true);
  EXPECT_EQ(json["kinds"]["fork"], 2);
  const std::string text = trace({"info", a}).out;
  EXPECT_NE(text.find("threads:        3\n"), std::string::npos) << text;
  EXPECT_NE(text.find("              2  fork\n"), std::string::npos) << text;
}

TEST_F(TraceCommandTest, MalformedTracesAreNamedWithTheirEvent) {
  write("bad", small_trace({Op::kWrite, Op::kRelease}));
  const Answer answer = trace({"check", path("bad")});
  EXPECT_EQ(answer.code, ExitCode::kBadInput);
  EXPECT_EQ(answer.error, path("bad") + ": event 1 (T0): releases lock m which it does not hold");
  const Answer drop = trace({"drop", path("bad"), "--kind", "w", "-o", path("out")});
  EXPECT_EQ(drop.code, ExitCode::kBadInput);
  EXPECT_EQ(drop.error, answer.error);
  EXPECT_FALSE(fs::exists(path("out"))) << "a half-made trace is left behind";
}

TEST_F(TraceCommandTest, ValuesAreCheckedInExactTracesOnly) {
  MemoryTrace lying = small_trace({Op::kWrite, Op::kRead});
  lying.info.columns = kValues;
  lying.values = {{1, 0, 8}, {2, 0, 8}};
  write("exact", lying);
  lying.info.exact = false;
  write("loose", lying);
  EXPECT_EQ(trace({"check", path("exact")}).error,
            path("exact") + ": event 1 (T0): reads 0x2 from 0x1, where the last writes left 0x1");
  EXPECT_EQ(trace({"check", path("loose")}).out, path("loose") + ": well-formed, 2 events\n" + path("loose") +
                                                     ": values were not checked: the trace is not exact\n");
}

TEST_F(TraceCommandTest, ConvertingCopiesEveryByte) {
  MemoryTrace full = small_trace({Op::kCallBegin, Op::kWrite, Op::kRead, Op::kCallEnd});
  full.info = {false, kAllColumns, false, 0, "prog --flag"};
  const StackId stack = full.tables.intern_stack(kNoStack, SiteId{0});
  full.values = {{}, {1, 0, 8}, {1, 0, 4}, {}};
  full.stacks = {kNoStack, stack, stack, kNoStack};
  full.branches = {{EventId{1}, ThreadId{0}, SiteId{0}, 1}, {EventId{4}, ThreadId{0}, SiteId{0}, 0}};
  full.reaches = {{EventId{0}, 64, 8}};
  write("full", full);
  EXPECT_EQ(trace({"convert", path("full"), path("copy")}).error, "");
  EXPECT_EQ(content(path("copy")), content(path("full")));
}

TEST_F(TraceCommandTest, TextAndDirectoryHoldTheSameTrace) {
  ASSERT_EQ(trace({"gen", "--events", "5k", "--nesting", "2", "-o", path("a")}).error, "");
  EXPECT_EQ(trace({"convert", path("a"), path("a.std")}).error, "");
  EXPECT_EQ(trace({"convert", path("a.std"), path("b")}).error, "");
  EXPECT_EQ(trace({"convert", path("b"), path("b.text"), "--to", "std"}).error, "");
  EXPECT_EQ(trace({"convert", path("b"), "-o", path("c.text"), "--format", "std"}).error, "")
      << "as the other commands";
  EXPECT_EQ(bytes_of(path("a.std")), bytes_of(path("b.text")));
  EXPECT_EQ(trace({"check", path("a.std")}).out, path("a.std") + ": well-formed, 5000 events\n");
}

TEST_F(TraceCommandTest, CatPrintsAStretch) {
  write("a", small_trace({Op::kAcquire, Op::kWrite, Op::kRead, Op::kRelease}));
  EXPECT_EQ(trace({"cat", path("a"), "--from", "1", "--count", "2"}).out, "T0|w(0x1:8)|a.c:1\nT0|r(0x1:8)|a.c:1\n");
  EXPECT_EQ(trace({"cat", path("a"), "--from", "3"}).out, "T0|rel(m)|a.c:1\n");
  EXPECT_EQ(trace({"cat", path("a"), "--count", "0"}).out, "");
  EXPECT_EQ(trace({"cat", path("a"), "--from", "4"}).error, "");
  const Answer behind = trace({"cat", path("a"), "--from", "5"});
  EXPECT_EQ(behind.code, ExitCode::kUsage);
  EXPECT_EQ(behind.error, path("a") + ": --from 5 is behind the end: there are 4 events");
}

TEST_F(TraceCommandTest, NothingIsReplacedUnasked) {
  ASSERT_EQ(trace({"gen", "--events", "100", "-o", path("a")}).error, "");
  const auto before = content(path("a"));
  const Answer refused = trace({"gen", "--events", "200", "-o", path("a")});
  EXPECT_EQ(refused.code, ExitCode::kUsage);
  EXPECT_EQ(refused.error, path("a") + " exists already: give --force to replace it, or another name");
  EXPECT_EQ(content(path("a")), before);
  EXPECT_EQ(trace({"convert", path("a"), path("a"), "--force"}).error, "") << "onto itself";
  EXPECT_EQ(content(path("a")), before);
  EXPECT_EQ(trace({"gen", "--events", "200", "--force", "-o", path("a")}).error, "");
  EXPECT_EQ(trace({"check", path("a")}).out, path("a") + ": well-formed, 200 events\n");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1) << "nothing lies about";

  fs::create_directories(path("precious"));
  EXPECT_EQ(trace({"gen", "--force", "-o", path("precious")}).error,
            path("precious") + " is neither a file nor a trace: --force does not replace it");
}

TEST_F(TraceCommandTest, DroppingCountsReasonsAndGivesUpExactness) {
  write("a", small_trace({Op::kAcquire, Op::kWrite, Op::kRead, Op::kRelease}));
  EXPECT_EQ(trace({"drop", path("a"), "--kind", "acq", "--kind", "w", "-o", path("b")}).out,
            "dropped 3 of 4 events\n              3  by kind\n");
  const auto json = nlohmann::json::parse(trace({"info", "--json", path("b")}).out);
  EXPECT_EQ(json["events"], 1);
  EXPECT_EQ(json["exact"], false);
  EXPECT_EQ(trace({"drop", path("a"), "--function", "f", "-o", path("c")}).out,
            "dropped 4 of 4 events\n              4  by function\n");
}

TEST_F(TraceCommandTest, WrongUsageIsExplained) {
  struct Case {
    std::vector<std::string> args;
    std::string error;
  };
  const std::vector<Case> cases = {
      {{}, "A subcommand is required"},
      {{"info"}, "TRACE is required"},
      {{"info", "a", "b"}, "The following argument was not expected: b"},
      {{"gen"}, "--output is required"},
      {{"gen", "--events", "5", "-o", path("x")}, "4 threads need at least 14 events to begin and end"},
      {{"gen", "--events", "ten", "-o", path("x")},
       "--events: \"ten\" is not a count: write digits and perhaps k, M or G, like 10M"},
      {{"gen", "--threads", "5G", "-o", path("x")}, "--threads: 5G is too large"},
      {{"gen", "--format", "sooth", "-o", "-"},
       "a trace directory cannot be written to standard output: give -o a name"},
      {{"gen", "--format", "xml", "-o", path("x")}, "--format: there is no value `xml`; there are: std, rapid, sooth"},
      {{"gen", "-o", ""}, "the name of the new trace is empty"},
      {{"drop", "a", "-o", "b"}, "nothing to drop: give --function, --site, --kind or --functions-with-sync"},
  };
  for (const Case& c : cases) {
    const Answer answer = trace(c.args);
    EXPECT_EQ(answer.code, ExitCode::kUsage) << c.error;
    EXPECT_EQ(answer.error, c.error);
  }
  EXPECT_FALSE(fs::exists(path("x")));
}

TEST_F(TraceCommandTest, MissingTracesAreBadInput) {
  for (const char* command : {"info", "check", "cat"}) {
    const Answer answer = trace({command, path("nope")});
    EXPECT_EQ(answer.code, ExitCode::kBadInput);
    EXPECT_EQ(answer.error, path("nope") + ": No such file or directory");
  }
}

}  // namespace
}  // namespace sooth
