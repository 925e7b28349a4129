#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "trace/text/std_syntax.h"
#include "trace/text/std_testing.h"

namespace sooth {
namespace {

// One event of thread "T0" at site "1", with room for objects 1 and 2 of every kind.
WholeTrace one_event(const Event& event) {
  WholeTrace trace;
  trace.tables.add_thread("T0");
  trace.tables.add_site({"1", "", "", "", 0, 0, 0});
  trace.events = {event};
  return trace;
}

std::string line_of(const WholeTrace& trace) {
  const auto text = write_text(trace);
  return text.ok() ? *text : "error: " + text.status().message();
}

TEST(StdWriter, WritesNumbersForWhatHasNoName) {
  EXPECT_EQ(line_of(one_event({.object = 0x10, .size = 4, .op = Op::kRead})), "T0|r(0x10:4)|1\n");
  EXPECT_EQ(line_of(one_event({.object = 0x7f01, .op = Op::kAcquire, .flags = kShared})), "T0|racq(0x7f01)|1\n");
  EXPECT_EQ(line_of(one_event({.op = Op::kBegin})), "T0|begin()|1\n");
  EXPECT_EQ(line_of(one_event({.op = Op::kFence, .order = MemoryOrder::kAcqRel})), "T0|fence.acq_rel()|1\n");
}

// A line as RAPID's parser wants it: six words, numbers for locations, nothing in front.
TEST(RapidWriter, WritesWhatRapidReads) {
  const std::string path = testing::TempDir() + "/rapid_" + std::to_string(::getpid()) + ".std";
  const auto writer = create_rapid_trace(path);
  ASSERT_TRUE(writer.ok());
  Tables& tables = (*writer)->tables();
  tables.add_thread("main");
  tables.add_thread("worker");
  tables.add_site({"a.cc:1:2", "", "", "", 0, 0, 0});
  tables.add_site({"b.cc:3:4", "", "", "", 0, 0, 0});
  tables.name_object(ObjectKind::kLock, 7, "m");
  const ThreadId worker{1};
  const SiteId second{1};
  const std::vector<Event> events = {
      {.op = Op::kBegin},
      {.object = 1, .op = Op::kFork},
      {.object = 7, .thread = worker, .site = second, .op = Op::kAcquire, .flags = kTry},
      {.object = 0x10, .thread = worker, .site = second, .size = 4, .op = Op::kWrite},
      {.object = 0x20, .thread = worker, .size = 4, .op = Op::kAtomicLoad, .order = MemoryOrder::kAcquire},
      {.object = 7, .thread = worker, .op = Op::kRelease},
      {.object = 8, .thread = worker, .op = Op::kAcquire, .flags = kShared},
      {.object = 8, .thread = worker, .op = Op::kRelease, .flags = kShared},
      {.thread = worker, .op = Op::kEnd},
      {.object = 1, .op = Op::kJoin},
      {.object = 0x10, .size = 4, .op = Op::kRead},
  };
  Batch batch;
  batch.events = events;
  ASSERT_TRUE((*writer)->append(batch).ok());
  ASSERT_TRUE((*writer)->finish().ok());
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  std::remove(path.c_str());
  EXPECT_EQ(text, "T0|fork(T1)|0\nT1|acq(0x7)|1\nT1|w(0x10:4)|1\nT1|rel(0x7)|0\nT0|join(T1)|0\nT0|r(0x10:4)|0\n");
}

TEST(StdWriter, WritesNamesAndDeclaresTheirNumbers) {
  WholeTrace trace = one_event({.object = 5, .op = Op::kAcquire});
  trace.tables.name_object(ObjectKind::kLock, 5, "m");
  EXPECT_EQ(line_of(trace), "# sooth: name lock 0x5 m\nT0|acq(m)|1\n");

  trace = one_event({.object = 1, .op = Op::kAcquire});
  trace.tables.name_object(ObjectKind::kLock, 1, "m");
  EXPECT_EQ(line_of(trace), "T0|acq(m)|1\n");

  trace = one_event({.object = 0x404040, .size = 4, .op = Op::kWrite});
  trace.events.push_back({.object = 0x404040, .size = 2, .op = Op::kWrite});
  trace.tables.name_object(ObjectKind::kMemory, 0x404040, "n");
  EXPECT_EQ(line_of(trace), "# sooth: name variable 0x404040:4 n\nT0|w(n)|1\nT0|w(0x404040:2)|1\n");
}

TEST(StdWriter, KeepsObjectsApartThatShareAName) {
  WholeTrace trace = one_event({.object = 1, .op = Op::kAcquire});
  trace.events.push_back({.object = 2, .op = Op::kAcquire});
  trace.tables.name_object(ObjectKind::kLock, 1, "m");
  trace.tables.name_object(ObjectKind::kLock, 2, "m");
  EXPECT_EQ(line_of(trace), "T0|acq(m)|1\n# sooth: name lock 0x2 m\nT0|acq(0x2)|1\n");

  trace = one_event({.object = 2, .op = Op::kFork});
  trace.tables.add_thread("T0");
  trace.tables.add_thread("");
  trace.events.push_back({.thread = ThreadId{1}, .op = Op::kBegin});
  EXPECT_EQ(line_of(trace), "# sooth: thread T2 \nT0|fork(T2)|1\n# sooth: thread T1 T0\nT1|begin()|1\n");
}

TEST(StdWriter, ChoosesTheBestLabel) {
  const auto label = [](Site site) {
    WholeTrace trace;
    trace.tables.add_thread("T0");
    trace.tables.add_site(std::move(site));
    trace.events = {{.op = Op::kEnd}};
    return line_of(trace).substr(9);
  };
  EXPECT_EQ(label({"a|b", "c", "", "", 0, 0, 0}), "a%7Cb\n");
  EXPECT_EQ(label({"", "a.c", "", "", 0, 3, 4}), "a.c:3:4\n");
  EXPECT_EQ(label({"", "a.c", "f", "m", 0, 3, 0}), "a.c:3\n");
  EXPECT_EQ(label({"", "", "f", "lib.so", 0x1a, 0, 0}), "lib.so+0x1a\n");
  EXPECT_EQ(label({}), "\n");
}

TEST(StdWriter, TellsWhatHoldsForTheWholeTrace) {
  WholeTrace trace;
  trace.info.exact = false;
  trace.info.columns = kAllColumns;
  trace.info.program = "./a.out 'x\ny'";
  EXPECT_EQ(line_of(trace), "# sooth: exact=no columns=values,branches,reaches program=./a.out 'x%0Ay'\n");
  const WholeTrace back = must_read(line_of(trace));
  EXPECT_FALSE(back.info.exact);
  EXPECT_EQ(back.info.program, trace.info.program);
}

TEST(StdWriter, RefusesWhatTextCannotSay) {
  const std::pair<Event, const char*> cases[] = {
      {{.object = 8, .size = 1, .op = Op::kRead, .order = MemoryOrder::kRelaxed}, "memory order"},
      {{.object = 8, .size = 1, .op = Op::kAtomicLoad}, "memory order"},
      {{.object = 8, .size = 1, .op = Op::kAtomicLoad, .order = MemoryOrder(9)}, "memory order"},
      {{.object = 8, .size = 1, .op = Op::kRead, .flags = kShared}, "flags"},
      {{.object = 8, .size = 1, .op = Op::kRead, .reserved = 1}, "flags"},
      {{.op = Op(200)}, "operation"},
      {{.object = 1, .size = 1, .op = Op::kAcquire}, "size"},
      {{.object = 1, .op = Op::kBegin}, "no object"},
      {{.object = 1, .op = Op::kFork}, "no thread 1"},
      {{.object = 1ull << 32, .op = Op::kFork}, "no thread 4294967296"},
      {{.object = 1, .op = Op::kEnter}, "no function 1"},
      {{.thread = ThreadId{1}, .op = Op::kEnd}, "no thread 1"},
      {{.site = SiteId{1}, .op = Op::kEnd}, "no site 1"},
  };
  for (const auto& [event, reason] : cases) {
    const auto text = write_text(one_event(event));
    ASSERT_FALSE(text.ok()) << reason;
    EXPECT_EQ(text.status().code(), ExitCode::kBadInput);
    EXPECT_NE(text.status().message().find("event 0 cannot be written as text: "), std::string::npos);
    EXPECT_NE(text.status().message().find(reason), std::string::npos) << text.status().message();
  }
  WholeTrace overlap = one_event({.object = kNamedMemoryBegin, .size = 1, .op = Op::kRead});
  overlap.tables.name_object(ObjectKind::kMemory, kNamedMemoryBegin, "x");
  overlap.events.push_back({.object = kNamedMemoryBegin, .size = 4, .op = Op::kRead});
  EXPECT_NE(line_of(overlap).find("event 1 cannot be written as text: its bytes overlap"), std::string::npos);
}

TEST(StdWriter, RefusesBatchesThatDoNotFit) {
  const WholeTrace trace = one_event({.op = Op::kEnd});
  const auto status_of = [&](auto change) {
    const TemporaryPath file;
    auto writer = create_std_trace(file.path(), {});
    (*writer)->tables() = trace.tables;
    Batch batch = as_batch(trace);
    change(batch);
    return (*writer)->append(batch);
  };
  const Value values[2] = {{1, 0, 1}, {}};
  const Branch branch[1] = {{EventId{2}, ThreadId{0}, SiteId{0}, 0}};
  const Reach reach[1] = {{EventId{0}, 0, 1}};
  EXPECT_TRUE(status_of([](Batch&) {}).ok());
  EXPECT_FALSE(status_of([](Batch& batch) { batch.first = EventId{1}; }).ok());
  EXPECT_FALSE(status_of([&](Batch& batch) { batch.values = values; }).ok());
  EXPECT_FALSE(status_of([&](Batch& batch) { batch.values = std::span(values).first(1); }).ok());
  EXPECT_FALSE(status_of([&](Batch& batch) { batch.branches = branch; }).ok());
  EXPECT_FALSE(status_of([&](Batch& batch) { batch.reaches = reach; }).ok());
}

TEST(StdWriter, NeverOverwritesAndNeverLeavesHalfATrace) {
  const TemporaryPath file;
  file.fill("precious");
  const auto refused = create_std_trace(file.path(), {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().message(), file.path() + ": already exists; remove it or choose another name");
  EXPECT_EQ(file.content(), "precious");
  EXPECT_FALSE(create_std_trace("/nonexistent/t.std", {}).ok());

  const TemporaryPath unfinished;
  { ASSERT_TRUE(create_std_trace(unfinished.path(), {}).ok()); }
  EXPECT_NE(::access(unfinished.path().c_str(), F_OK), 0);
}

TEST(StdWriter, TakesItsNameWhenItIsFinished) {
  const TemporaryPath file;
  const std::string unfinished = file.path() + ".incomplete-" + std::to_string(::getpid());
  auto writer = create_std_trace(file.path(), {});
  ASSERT_TRUE(writer.ok());
  EXPECT_NE(::access(file.path().c_str(), F_OK), 0) << "a kill would leave half a trace";
  EXPECT_EQ(::access(unfinished.c_str(), F_OK), 0);
  EXPECT_TRUE((*writer)->finish().ok());
  EXPECT_EQ(::access(file.path().c_str(), F_OK), 0);
  EXPECT_NE(::access(unfinished.c_str(), F_OK), 0);

  const TemporaryPath taken;
  writer = create_std_trace(taken.path(), {});
  ASSERT_TRUE(writer.ok());
  taken.fill("precious");  // somebody else was faster
  EXPECT_EQ((*writer)->finish().message(), taken.path() + ": already exists; remove it or choose another name");
  writer->reset();
  EXPECT_EQ(taken.content(), "precious");
}

TEST(StdWriter, DeclaresLaterNames) {
  const TemporaryPath file;
  auto writer = create_std_trace(file.path(), {});
  Tables& tables = (*writer)->tables();
  tables.add_thread("T0");
  tables.add_site({"1", "", "", "", 0, 0, 0});
  const Event lock[1] = {{.object = 1, .op = Op::kAcquire}};
  const auto append = [&](std::uint64_t first) {
    Batch batch;
    batch.first = EventId{first};
    batch.events = lock;
    return (*writer)->append(batch).ok();
  };
  EXPECT_TRUE(append(0));
  tables.name_object(ObjectKind::kLock, 1, "a");
  EXPECT_TRUE(append(1));
  tables.name_object(ObjectKind::kLock, 1, "b");
  EXPECT_TRUE(append(2));
  tables.name_object(ObjectKind::kLock, 1, "a");
  ASSERT_TRUE((*writer)->finish().ok());
  EXPECT_FALSE((*writer)->finish().ok());
  EXPECT_EQ(file.content(),
            "T0|acq(0x1)|1\n# sooth: name lock 0x1 a\nT0|acq(a)|1\n# sooth: name lock 0x1 b\nT0|acq(a)|1\n"
            "# sooth: name lock 0x1 a\n");
  const WholeTrace back = must_read(file.content());
  EXPECT_EQ(back.events, (std::vector<Event>(3, lock[0])));
  EXPECT_EQ(*back.tables.object_name(ObjectKind::kLock, 1), "a");
}

TEST(StdWriter, ReportsAFullDisk) {
  if (::access("/dev/full", W_OK) != 0) {
    GTEST_SKIP() << "no /dev/full here";
  }
  // Standard output is the one file that may exist already.
  const int saved = ::dup(STDOUT_FILENO);
  ASSERT_NE(std::freopen("/dev/full", "w", stdout), nullptr);
  TraceInfo info;
  info.program = "x";
  auto writer = create_std_trace("-", info);
  const Status status = (*writer)->finish();
  std::fflush(stdout);
  ::dup2(saved, STDOUT_FILENO);
  ::close(saved);
  EXPECT_EQ(status.code(), ExitCode::kInternal);
  EXPECT_EQ(status.message(), "standard output: No space left on device");
}

}  // namespace
}  // namespace sooth
