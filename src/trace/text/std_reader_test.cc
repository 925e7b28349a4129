#include <gtest/gtest.h>

#include <random>
#include <string>

#include "trace/text/std_syntax.h"
#include "trace/text/std_testing.h"

namespace sooth {
namespace {

constexpr std::uint64_t kX = kNamedMemoryBegin;

struct OpCase {
  std::string text;  // the second field
  Event event;       // of thread 0 at site 0 (1 after a function)
};

TEST(StdReader, ReadsEveryOperation) {
  const auto memory = [](Op op, std::uint64_t address = kX, std::uint32_t size = 1,
                         MemoryOrder order = MemoryOrder::kNotAtomic) {
    return Event{.object = address, .size = size, .op = op, .order = order};
  };
  const auto object = [](Op op, std::uint64_t number = 1, std::uint8_t flags = 0) {
    return Event{.object = number, .op = op, .flags = flags};
  };
  const OpCase cases[] = {
      {"r(x)", memory(Op::kRead)},
      {"w(x)", memory(Op::kWrite)},
      {" w ( x ) ", memory(Op::kWrite)},
      {"r(V123.4[5])", memory(Op::kRead)},
      {"r(f(a)(b))", memory(Op::kRead)},
      {"w(0x1f00:16)", memory(Op::kWrite, 0x1f00, 16)},
      {"w(0x1F00)", memory(Op::kWrite, 0x1f00, 1)},
      {"w(0x0:4294967295)", memory(Op::kWrite, 0, 4294967295u)},
      {"r(0xffffffffffffffff:1)", memory(Op::kRead, ~std::uint64_t{0}, 1)},
      {"r(0X12)", memory(Op::kRead)},
      {"alloc(0x10:64)", memory(Op::kAlloc, 0x10, 64)},
      {"free(x)", memory(Op::kFree)},
      {"aload(x)", memory(Op::kAtomicLoad, kX, 1, MemoryOrder::kSeqCst)},
      {"aload.relaxed(x)", memory(Op::kAtomicLoad, kX, 1, MemoryOrder::kRelaxed)},
      {"aload.consume(x)", memory(Op::kAtomicLoad, kX, 1, MemoryOrder::kConsume)},
      {"aload.acquire(x)", memory(Op::kAtomicLoad, kX, 1, MemoryOrder::kAcquire)},
      {"astore.release(0x8:8)", memory(Op::kAtomicStore, 8, 8, MemoryOrder::kRelease)},
      {"armw.acq_rel(x)", memory(Op::kAtomicRmw, kX, 1, MemoryOrder::kAcqRel)},
      {"armw.seq_cst(x)", memory(Op::kAtomicRmw, kX, 1, MemoryOrder::kSeqCst)},
      {"fence", {.op = Op::kFence, .order = MemoryOrder::kSeqCst}},
      {"fence.seq_cst()", {.op = Op::kFence, .order = MemoryOrder::kSeqCst}},
      {"fence.acquire", {.op = Op::kFence, .order = MemoryOrder::kAcquire}},
      {"acq(l)", object(Op::kAcquire)},
      {"rel(l)", object(Op::kRelease)},
      {"acq(0x7fff1234)", object(Op::kAcquire, 0x7fff1234)},
      {"racq(l)", object(Op::kAcquire, 1, kShared)},
      {"rrel(l)", object(Op::kRelease, 1, kShared)},
      {"tryacq(l)", object(Op::kAcquire, 1, kTry)},
      {"rtimedacq(l)", object(Op::kAcquire, 1, kTimed | kShared)},
      {"tryfail(l)", object(Op::kAcquireFailed, 1, kTry)},
      {"rtimeout(l)", object(Op::kAcquireFailed, 1, kTimed | kShared)},
      {"notify(s)", object(Op::kNotify)},
      {"wait(s)", object(Op::kWait)},
      {"notifyone(c)", object(Op::kCondNotify)},
      {"notifyall(c)", object(Op::kCondNotify, 1, kEverybody)},
      {"condwait(c)", object(Op::kCondWait)},
      {"condtimeout(c)", object(Op::kCondWait, 1, kTimed)},
      {"arrive(b)", object(Op::kBarrierArrive)},
      {"leave(b)", object(Op::kBarrierLeave)},
      {"post(s)", object(Op::kSemPost)},
      {"sem_wait(0x0)", object(Op::kSemWait, 0)},
      {"fork(T1)", object(Op::kFork, 1)},
      {"join(T1)", object(Op::kJoin, 1)},
      {"begin", {.op = Op::kBegin}},
      {"begin()", {.op = Op::kBegin}},
      {"end", {.op = Op::kEnd}},
      {"hb(m)", object(Op::kHappensBefore)},
      {"ha(m)", object(Op::kHappensAfter)},
      {"enter(f)", {.object = 0, .site = SiteId{1}, .op = Op::kEnter}},
      {"exit()", {.object = 0, .site = SiteId{1}, .op = Op::kExit}},
      {"callbegin(c)", object(Op::kCallBegin)},
      {"callend(c)", object(Op::kCallEnd)},
      {"misuse.double_lock(l)", {.object = 1, .size = raw(MisuseKind::kDoubleLock), .op = Op::kMisuse}},
      {"misuse.bad_read_lock(0x7f)", {.object = 0x7f, .size = raw(MisuseKind::kReadLockBad), .op = Op::kMisuse}},
      {"misuse.thread_leak(T1)", {.object = 1, .size = raw(MisuseKind::kThreadLeak), .op = Op::kMisuse}},
  };
  for (const OpCase& c : cases) {
    const WholeTrace trace = must_read("T0|" + c.text + "|345\n");
    ASSERT_EQ(trace.events.size(), 1u) << c.text;
    EXPECT_EQ(trace.events[0], c.event) << c.text;
    EXPECT_EQ(trace.tables.thread_name(ThreadId{0}), "T0");
    EXPECT_EQ(trace.tables.site(trace.events[0].site).label, "345") << c.text;
  }
}

TEST(StdReader, RefusesWithTheLineAndTheReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"T0|foo(x)|1", "unknown operation `foo`"},
      {"T0|R(x)|1", "unknown operation `R`"},
      {"T0||1", "unknown operation ``"},
      {"T0|r.acquire(x)|1", "unknown operation `r.acquire`"},
      {"T0|aload.not_atomic(x)|1", "unknown operation `aload.not_atomic`"},
      {"T0|aload.(x)|1", "unknown operation `aload.`"},
      {"T0|misuse(l)|1", "unknown operation `misuse`"},
      {"T0|misuse.unknown(l)|1", "unknown operation `misuse.unknown`"},
      {"T0|misuse.double_lock()|1", "`misuse.double_lock` needs an argument"},
      {"T0", "expected THREAD|OPERATION(ARGUMENT)|LOCATION, found `T0`"},
      {"T0|r(x)", "expected THREAD|OPERATION(ARGUMENT)|LOCATION, found `T0|r(x)`"},
      {"T0|r(x|1", "the parenthesis of `r(x` is not closed"},
      {"T0|r(x)y|1", "the parenthesis of `r(x)y` is not closed"},
      {"T0|r|1", "`r` needs an argument"},
      {"T0|acq( )|1", "`acq` needs an argument"},
      {"T0|fork()|1", "`fork` needs an argument"},
      {"T0|begin(x)|1", "`begin` takes no argument"},
      {"T0|branch(x)|1", "`branch` takes no argument"},
      {"|r(x)|1", "a thread needs a name"},
      {"T0|r(0x12:4g)|1", "expected 0xADDRESS:SIZE, found `0x12:4g`"},
      {"T0|r(0x)|1", "expected 0xADDRESS:SIZE, found `0x`"},
      {"T0|r(0x:4)|1", "expected 0xADDRESS:SIZE, found `0x:4`"},
      {"T0|r(0x1:)|1", "expected 0xADDRESS:SIZE, found `0x1:`"},
      {"T0|r(0x1:4294967296)|1", "expected 0xADDRESS:SIZE, found `0x1:4294967296`"},
      {"T0|r(0x10000000000000000:1)|1", "expected 0xADDRESS:SIZE, found `0x10000000000000000:1`"},
      {"T0|acq(0x12:4)|1", "expected 0xNUMBER, found `0x12:4`"},
      {"T0|r(x)|1|", "expected =VALUE in the fourth and last field, found ``"},
      {"T0|r(x)|1|7", "expected =VALUE in the fourth and last field, found `7`"},
      {"T0|r(x)|1|=7|8", "expected =VALUE in the fourth and last field, found `=7|8`"},
      {"T0|r(0x8:1)|1|=256", "the value `256` is no number or does not fit the 1 bytes of the access"},
      {"T0|r(x)|1|=z", "the value `z` is no number or does not fit the 8 bytes of the access"},
      {"T0|acq(l)|1|=1", "`acq` has no fourth field"},
      {"T0|branch|1|=z", "the outcome `z` is no number of 64 bits"},
      {"T0|callbegin(c)|1|=0x10", "expected a reach of the form 0xADDRESS:LENGTH, found `0x10`"},
      {"T0|callbegin(c)|1|=0x10:1,", "expected a reach of the form 0xADDRESS:LENGTH, found ``"},
      {"T0|r(a\x01z)|1", "control characters in the name `a%01z`"},
      {"# sooth: exact=maybe", "unknown item `exact=maybe` in a `# sooth:` line"},
      {"# sooth: columns=values,", "unknown item `columns=values,` in a `# sooth:` line"},
      {"# sooth: name lick 0x1 L",
       "expected variable, lock, signal, barrier, semaphore, message or call, found `lick`"},
      {"# sooth: name thread 0x1 L",
       "expected variable, lock, signal, barrier, semaphore, message or call, found `thread`"},
      {"# sooth: name lock 1 L", "expected 0xNUMBER, found `1`"},
      {"# sooth: name lock 0x1", "a name is missing"},
      {"# sooth: thread", "a thread is missing"},
      {"# sooth: thread T9 worker", "the thread `T9` already has a name"},
  };
  for (const auto& [line, reason] : cases) {
    const auto trace = read_text(std::string("# sooth: thread T9 x\n\n") + line + "\nT0|r(x)|2\n");
    ASSERT_FALSE(trace.ok()) << line;
    EXPECT_EQ(trace.status().code(), ExitCode::kBadInput);
    EXPECT_EQ(trace.status().message(), std::string("t.std: line 3: ") + reason);
  }
}

TEST(StdReader, SaysWhenTheFileIsNoText) {
  const std::string binary(
      "\x7f"
      "ELF\x02\x01\x01\0\0\0",
      10);
  EXPECT_EQ(read_text(binary).status().message(), "t.std: this is not a trace: line 1 holds a NUL byte");
  EXPECT_EQ(read_text(std::string("T0|r(x)|1\nT0|r(a\0b)|1", 21)).status().message(),
            "t.std: this is not a trace: line 2 holds a NUL byte");
  EXPECT_NE(read_text(std::string(3'000'000, '\0')).status().message().find("is not a trace"), std::string::npos);
}

TEST(StdReader, AcceptsWhatPeopleWrite) {
  EXPECT_TRUE(must_read("").events.empty());
  EXPECT_TRUE(must_read("\n\r\n  \n# nothing\n  # here |||\n#").events.empty());
  const WholeTrace trace = must_read("T0|r(x)|1\r\n\r\n # c\r\n\tT 1 | w( x y ) | main.c: 7 ");
  ASSERT_EQ(trace.events.size(), 2u);
  EXPECT_EQ(trace.tables.threads(), (std::vector<std::string>{"T0", "T 1"}));
  EXPECT_EQ(*trace.tables.object_name(ObjectKind::kMemory, kX + 8), "x y");
  EXPECT_EQ(trace.tables.site(SiteId{1}).label, "main.c: 7");
}

TEST(StdReader, NumbersInOrderOfAppearance) {
  const WholeTrace trace =
      must_read("main|fork(A)|9\nB|w(y)|9\nA|r(x)|8\nA|acq(y)|7\nA|acq(z)|7\nA|rel(y)|7\nA|w(y)|8\nmain|join(B)|1\n");
  EXPECT_EQ(trace.tables.threads(), (std::vector<std::string>{"main", "A", "B"}));
  EXPECT_EQ(trace.events[0].object, 1u);
  EXPECT_EQ(trace.events[1].object, kX);
  EXPECT_EQ(trace.events[2].object, kX + 8);
  EXPECT_EQ(trace.events[3].object, 1u);
  EXPECT_EQ(trace.events[4].object, 2u);
  EXPECT_EQ(trace.events[5].object, 1u);
  EXPECT_EQ(trace.events[6].object, kX);
  EXPECT_EQ(trace.events[7].object, 2u);
  EXPECT_EQ(trace.tables.site_count(), 4u);
  EXPECT_EQ(trace.events[6].site, SiteId{1});
  EXPECT_EQ(*trace.tables.object_name(ObjectKind::kLock, 2), "z");
}

TEST(StdReader, FindsFilesAndLinesInLabels) {
  const struct {
    const char* label;
    const char* file;
    std::uint32_t line, column;
  } cases[] = {
      {"a.cc:12", "a.cc", 12, 0},
      {"a.cc:12:5", "a.cc", 12, 5},
      {"/x y/a.cc:1:2", "/x y/a.cc", 1, 2},
      {"C:\\a.cc:3", "C:\\a.cc", 3, 0},
      {"a:1:2:3", "a:1", 2, 3},
      {"345", "", 0, 0},
      {"12:5", "", 0, 0},
      {"12:5:7", "", 0, 0},
      {":5", "", 0, 0},
      {"a.cc:", "", 0, 0},
      {"a.cc:x", "", 0, 0},
      {"a.cc:0", "", 0, 0},
      {"a.cc:4294967296", "", 0, 0},
      {"a.cc:-1", "", 0, 0},
      {"lib.so+0x12", "", 0, 0},
  };
  for (const auto& c : cases) {
    const WholeTrace trace = must_read("T0|r(x)|" + std::string(c.label));
    const Site& site = trace.tables.site(SiteId{0});
    EXPECT_EQ(site.label, c.label);
    EXPECT_EQ(site.file, c.file) << c.label;
    EXPECT_EQ(site.line, c.line) << c.label;
    EXPECT_EQ(site.column, c.column) << c.label;
  }
}

TEST(StdReader, EqualNamesAreOneHoweverEscaped) {
  const WholeTrace trace = must_read("T%30|r(a%7cb)|%31\nT0|r(a%7Cb)|1\nT0|r(%61%7Cb)|1\nT0|acq(%30x5)|1\n");
  EXPECT_EQ(trace.tables.thread_count(), 1u);
  EXPECT_EQ(trace.tables.site_count(), 1u);
  EXPECT_EQ(trace.events[0], trace.events[1]);
  EXPECT_EQ(trace.events[0], trace.events[2]);
  EXPECT_EQ(*trace.tables.object_name(ObjectKind::kMemory, kX), "a|b");
  EXPECT_EQ(*trace.tables.object_name(ObjectKind::kLock, 1), "0x5");
}

TEST(StdReader, NamesAndNumbersNeverCollideSilently) {
  EXPECT_EQ(read_text("T0|acq(L)|1\nT0|acq(0x1)|1\n").status().message(),
            "t.std: line 2: `0x1` is taken by a lock that the file calls by its name");
  EXPECT_EQ(read_text("T0|acq(0x1)|1\nT0|acq(L)|1\n").status().message(),
            "t.std: line 2: no number is left for the lock `L`: numbers that the file itself writes are in the way; "
            "declare the name in front with `# sooth: name`");
  EXPECT_FALSE(read_text("T0|r(x)|1\nT0|r(0xfffffffffffe:3)|1\n").ok());
  EXPECT_FALSE(read_text("# sooth: name lock 0x2 M\nT0|acq(A)|1\nT0|acq(B)|1\n").ok());
  EXPECT_FALSE(read_text("T0|r(x)|1\n# sooth: name variable 0x1000000000000:4 y\n").ok());
  must_read("T0|r(x)|1\nT0|r(0xfffffffffffe:2)|1\nT0|r(0x0:8)|1\nT0|acq(L)|1\nT0|acq(0x2)|1\nT0|notify(0x1)|1\n");
}

TEST(StdReader, DeclaredNamesStandForTheirNumbers) {
  const WholeTrace trace = must_read(
      "# sooth: name variable 0x404040:4 counter\n# sooth: name lock 0x7f00 the lock\n"
      "# sooth: thread T7 worker\n# sooth: thread T8 worker\n"
      "T0|w(counter)|1\nT0|acq(the lock)|1\nT0|fork(T7)|1\nT8|r(0x404042:1)|1\n");
  EXPECT_EQ(trace.events[0].object, 0x404040u);
  EXPECT_EQ(trace.events[0].size, 4u);
  EXPECT_EQ(trace.events[1].object, 0x7f00u);
  EXPECT_EQ(*trace.tables.object_name(ObjectKind::kLock, 0x7f00), "the lock");
  EXPECT_EQ(trace.tables.threads(), (std::vector<std::string>{"T0", "worker", "worker"}));
  EXPECT_EQ(trace.events[2].object, 1u);
  EXPECT_EQ(trace.events[3].thread, ThreadId{2});
}

TEST(StdReader, ReadsValuesBranchesAndReaches) {
  const std::string text =
      "T0|branch|b|=1\nT0|w(x)|1|=7\nT0|r(0x10:4)|1|= 0xff\nT0|r(x)|1\nT1|branch()|b\nT0|branch|c|=0x10\n"
      "T0|callbegin(c)|2|=0x1000:64, 0x2000:8\nT0|callend(c)|2\nT0|w(0x20:32)|1|=1:4\nT0|branch|d|=2\n";
  const WholeTrace trace = must_read(text);
  ASSERT_EQ(trace.values.size(), trace.events.size());
  EXPECT_EQ(trace.values[0], (Value{7, 0, 8}));
  EXPECT_EQ(trace.values[1], (Value{0xff, 0, 4}));
  EXPECT_EQ(trace.values[2], Value{});
  EXPECT_EQ(trace.values[5], (Value{1, 0, 4}));
  const SiteId b{0};
  EXPECT_EQ(trace.branches, (std::vector<Branch>{{EventId{0}, ThreadId{0}, b, 1},
                                                 {EventId{3}, ThreadId{1}, b, 0},
                                                 {EventId{3}, ThreadId{0}, SiteId{2}, 16},
                                                 {EventId{6}, ThreadId{0}, SiteId{4}, 2}}));
  EXPECT_EQ(trace.reaches, (std::vector<Reach>{{EventId{3}, 0x1000, 64}, {EventId{3}, 0x2000, 8}}));
  EXPECT_EQ(trace.info.columns, kValues | kBranches | kReaches);

  const WholeTrace bare = must_read(text, kNoColumns);
  EXPECT_EQ(bare.events, trace.events);
  EXPECT_TRUE(bare.values.empty() && bare.stacks.empty() && bare.branches.empty() && bare.reaches.empty());
}

TEST(StdReader, FollowsCallStacks) {
  const WholeTrace trace = must_read(
      "T0|exit(g)|0\nT0|enter(f)|a.c:1\nT0|r(x)|a.c:2\nT0|enter(g)|a.c:3\nT0|w(x)|a.c:4\nT1|w(x)|a.c:5\n"
      "T0|exit(g)|a.c:6\nT0|r(x)|a.c:7\nT0|exit(f)|a.c:8\nT0|r(x)|a.c:9\n");
  const auto depth = [&](std::size_t event) { return trace.tables.frames(trace.stacks[event]).size(); };
  const std::size_t depths[] = {0, 0, 1, 1, 2, 0, 2, 1, 1, 0};
  ASSERT_EQ(trace.stacks.size(), std::size(depths));
  for (std::size_t i = 0; i < std::size(depths); ++i) {
    EXPECT_EQ(depth(i), depths[i]) << i;
  }
  const auto frames = trace.tables.frames(trace.stacks[4]);
  EXPECT_EQ(trace.tables.site(frames[0]).label, "a.c:3");
  EXPECT_EQ(trace.tables.site(frames[1]).line, 1u);
  const Site& function = trace.tables.site(SiteId(static_cast<std::uint32_t>(trace.events[1].object)));
  EXPECT_EQ(function.function, "f");
  EXPECT_EQ(trace.events[0].object, trace.events[3].object);
  EXPECT_NE(trace.info.columns & kStacks, 0);
}

TEST(StdReader, KnowsTheTraceBeforeItsFirstEvent) {
  auto reader = read_std_text("# sooth: exact=no columns=values,stacks program=./a.out -n%0A3\nT0|r(x)|1\n", "t");
  ASSERT_TRUE(reader.ok());
  EXPECT_FALSE((*reader)->info().exact);
  EXPECT_EQ((*reader)->info().columns, kValues | kStacks);
  EXPECT_EQ((*reader)->info().program, "./a.out -n\n3");

  auto plain = read_std_text("T0|r(x)|1\nT0|branch|2\n", "t");
  EXPECT_TRUE((*plain)->info().exact);
  EXPECT_EQ((*plain)->info().columns, kBranches);

  EXPECT_EQ(read_text("T0|r(x)|1\n# sooth: exact=no\n").status().message(),
            "t.std: line 2: what holds for the whole trace must stand in front of its first event");
}

TEST(StdReader, ReadsLongLinesAndManyBatches) {
  const std::string name(5'000'000, 'n');
  const WholeTrace trace = must_read("T0|r(" + name + ")|" + name + "\nT0|w(" + name + ")|1\n");
  ASSERT_EQ(trace.events.size(), 2u);
  EXPECT_EQ(trace.events[0].object, trace.events[1].object);
  EXPECT_EQ(trace.tables.site(SiteId{0}).label, name);

  std::string text;
  for (int i = 0; i < 200'000; ++i) {
    text += 'T';
    text += std::to_string(i % 7) + "|branch|1\nT0|w(x" + std::to_string(i % 1000) + ")|" + std::to_string(i % 10) +
            "|=" + std::to_string(i) + "\n";
  }
  text += "T0|branch|1";
  const WholeTrace many = must_read(text);
  ASSERT_EQ(many.events.size(), 200'000u);
  ASSERT_EQ(many.branches.size(), 200'001u);
  EXPECT_EQ(raw(many.branches.back().before), 200'000u);
  EXPECT_EQ(many.values[150'000].low, 150'000u);
  const WholeTrace only_branches = must_read([] {
    std::string lines;
    for (int i = 0; i < 10'000; ++i) lines += "T0|branch|1\n";
    return lines;
  }());
  EXPECT_EQ(only_branches.branches.size(), 10'000u);
}

TEST(StdReader, OpensFilesAndSaysWhyNot) {
  const TemporaryPath file;
  file.fill("T0|r(x)|1\nT0|w(x)|2");
  auto reader = open_std_trace(file.path(), {});
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ((*reader)->bytes_total(), 19u);
  const auto trace = drain(**reader);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->events.size(), 2u);
  EXPECT_EQ((*reader)->bytes_read(), 19u);

  EXPECT_EQ(open_std_trace("/nonexistent/t.std", {}).status().message(),
            "/nonexistent/t.std: No such file or directory");
  EXPECT_EQ(open_std_trace("/", {}).status().message(), "/: this is a directory, not a text trace");
  EXPECT_EQ(open_std_trace("/", {}).status().code(), ExitCode::kBadInput);
}

TEST(StdReader, ReadsPipes) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string text = "T0|r(x)|1\nT1|w(x)|2\n";
  ASSERT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::close(ends[1]);
  auto reader = open_std_trace("/dev/fd/" + std::to_string(ends[0]), {});
  ::close(ends[0]);
  ASSERT_TRUE(reader.ok()) << reader.status().message();
  const auto trace = drain(**reader);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->events.size(), 2u);
  EXPECT_EQ((*reader)->bytes_total(), 0u);
  EXPECT_EQ((*reader)->bytes_read(), text.size());
}

TEST(StdReader, SurvivesRandomBytes) {
  std::mt19937 random(4);
  const std::string pieces[] = {"T0",  "|",  "|",  "r",  "(",  ")",         "x",          "0x",     ":",
                                "=",   "12", "\n", "\n", "#",  "# sooth: ", "name lock ", "branch", "callbegin",
                                "acq", ",",  " ",  "%",  "7C", "\r",        "columns="};
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (std::size_t n = random() % 40; n > 0; --n) {
      text += random() % 20 == 0 ? std::string(1, static_cast<char>(random())) : pieces[random() % std::size(pieces)];
    }
    const auto trace = read_text(text);
    if (!trace.ok()) {
      ASSERT_TRUE(trace.status().message().starts_with("t.std: ")) << trace.status().message();
      ASSERT_EQ(trace.status().message().find('\n'), std::string::npos);
    }
  }
}

TEST(StdReader, CutOrDamagedTextIsNeverASilentlyShorterTrace) {
  const std::string text =
      "# sooth: exact=no\nT0|fork(T1)|a.c:1\nT1|acq(L)|a.c:2\nT1|w(0x10:4)|a.c:3|=77\nT1|callbegin(c)|9|=0x1:2,0x3:4\n"
      "T1|rel(L)|a.c:4\nT0|aload.acquire(y)|5\nT0|join(T1)|6\n";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    const std::string_view part = std::string_view(text).substr(0, cut);
    const auto lines = static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n'));
    const bool partial_line = !part.empty() && part.back() != '\n';
    if (const auto trace = read_text(part); trace.ok() && lines > 0) {
      EXPECT_EQ(trace->events.size(), lines - 1 + (partial_line ? 1 : 0)) << part;
    }
  }
}

}  // namespace
}  // namespace sooth
