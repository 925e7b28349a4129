#include "deep/walk.h"

#include <gtest/gtest.h>

namespace sooth {
namespace {

// main calls g, which is followed, and opaque, which calls back; g throws when it reads 3.
constexpr char kWalked[] = R"(
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
@x = global i32 0
declare i32 @opaque(ptr)
declare void @throw()
declare i32 @personality(...)

define internal i32 @g(i32 %n) {
entry:
  %v = load i32, ptr @x
  %c = icmp eq i32 %v, 3
  br i1 %c, label %bad, label %good
bad:
  call void @throw()
  unreachable
good:
  %s = add i32 %v, %n
  store i32 %s, ptr @x
  ret i32 %s
}

define void @back(i32 %k) {
  store i32 %k, ptr @x
  ret void
}

define i32 @main(i32 %argc) personality ptr @personality {
entry:
  %slot = alloca [4 x i8]
  %a = invoke i32 @g(i32 %argc) to label %next unwind label %caught
next:
  %o = call i32 @opaque(ptr @back)
  switch i32 %o, label %out [ i32 1, label %out
                              i32 2, label %copy ]
copy:
  call void @llvm.memset.p0.i64(ptr %slot, i8 0, i64 200, i1 false)
  br label %out
caught:
  %l = landingpad { ptr, i32 } cleanup
  br label %out
out:
  ret i32 0
}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
)";

// What a thread does, one step after the other.
class Trace {
 public:
  Trace& event(Op op, std::uint32_t size, bool valued = true) {
    Event e;
    e.op = op;
    e.size = size;
    e.object = 0x1000;
    events_.push_back(e);
    values_.push_back(valued ? Value{1, 0, static_cast<std::uint8_t>(size)} : Value{});
    return *this;
  }
  Trace& record(DeepKind kind, std::uint32_t function = 0, std::uint32_t id = 0, std::uint64_t value = 0) {
    records_.push_back({EventId{events_.size()}, ThreadId{0}, kind, 0, function, id, value});
    return *this;
  }
  Trace& word() { return record(DeepKind::kWord); }
  Trace& branch(std::uint64_t successor) { return record(DeepKind::kBranch, 0, 0, successor); }

  ThreadWalk walk() const {
    const DeepModuleText modules[] = {{kWalked, {}}};
    const Result<DeepProgram> program = DeepProgram::parse(modules);
    EXPECT_TRUE(program.ok());
    const std::vector<ThreadWalk> walks = walk_threads(*program, events_, values_, records_);
    return walks.empty() ? ThreadWalk{} : walks.front();
  }
  std::size_t records() const { return records_.size(); }
  Trace without(std::size_t record) const {
    Trace other = *this;
    other.records_.erase(other.records_.begin() + static_cast<std::ptrdiff_t>(record));
    return other;
  }

 private:
  std::vector<Event> events_;
  std::vector<Value> values_;
  std::vector<DeepRecord> records_;
};

constexpr std::uint32_t kG = 0, kBack = 1, kMain = 2;

Trace beginning() {
  return Trace()
      .event(Op::kBegin, 0)
      .record(DeepKind::kEnter, kMain)
      .word()
      .record(DeepKind::kAddress)
      .record(DeepKind::kEnter, kG);
}
Trace usual(std::uint64_t way) {
  return beginning()
      .event(Op::kRead, 4)
      .branch(1)
      .event(Op::kWrite, 4)
      .event(Op::kAcquire, 0)
      .record(DeepKind::kEnter, kBack)
      .word()
      .event(Op::kWrite, 4)
      .record(DeepKind::kReturn, kMain, 2, 5)
      .branch(way);
}

TEST(Walk, FollowsCallsAndCallbacks) {
  const ThreadWalk walk = usual(0).event(Op::kEnd, 0).walk();
  EXPECT_EQ(walk.stopped, "");
  EXPECT_EQ(walk.calls, 3u);
  EXPECT_EQ(walk.accesses, 3u);
  EXPECT_EQ(walk.outside, 3u);  // begin, acquire, end
  EXPECT_EQ(walk.unfinished, 0u);
}

TEST(Walk, FollowsEveryWayOfASwitch) {
  EXPECT_EQ(usual(1).event(Op::kEnd, 0).walk().stopped, "");
  EXPECT_EQ(usual(2).event(Op::kWrite, 200, false).event(Op::kEnd, 0).walk().stopped, "");
  EXPECT_NE(usual(2).event(Op::kRead, 4).walk().stopped.find("a copy or fill"), std::string::npos);
  EXPECT_NE(usual(3).event(Op::kEnd, 0).walk().stopped.find("a branch has fewer ways"), std::string::npos);
}

TEST(Walk, FollowsExceptions) {
  const ThreadWalk walk =
      beginning().event(Op::kRead, 4).branch(0).record(DeepKind::kLanded, kMain, 6).event(Op::kEnd, 0).walk();
  EXPECT_EQ(walk.stopped, "");
  EXPECT_EQ(walk.unfinished, 0u);
}

TEST(Walk, TakesTheBytesOfReadsWithoutAValue) {
  EXPECT_EQ(beginning().event(Op::kRead, 4, false).word().branch(1).event(Op::kWrite, 4).walk().stopped, "");
  EXPECT_NE(
      beginning().event(Op::kRead, 4, false).branch(1).event(Op::kWrite, 4).walk().stopped.find("bytes that were read"),
      std::string::npos);
  EXPECT_NE(beginning().event(Op::kRead, 4).word().branch(1).event(Op::kWrite, 4).walk().stopped, "");
}

TEST(Walk, LetsHandlersInterrupt) {
  const ThreadWalk walk = beginning()
                              .record(DeepKind::kEnter, kBack)
                              .word()
                              .event(Op::kWrite, 4)
                              .event(Op::kRead, 4)
                              .branch(1)
                              .event(Op::kWrite, 4)
                              .walk();
  EXPECT_EQ(walk.stopped, "");
  EXPECT_EQ(walk.calls, 3u);
}

TEST(Walk, NoticesEveryMissingRecord) {
  const Trace whole = usual(2).event(Op::kWrite, 200, false).event(Op::kEnd, 0);
  ASSERT_EQ(whole.walk().stopped, "");
  for (std::size_t i = 0; i < whole.records(); ++i) {
    EXPECT_NE(whole.without(i).walk().stopped, "") << "record " << i;
  }
}

TEST(Walk, SaysWhatIsWrong) {
  EXPECT_EQ(beginning().event(Op::kRead, 8).walk().stopped,
            "a read of 4 bytes is expected in g, instruction 0 (load), but the trace has event 1 (read of 8 bytes)");
  EXPECT_NE(beginning().event(Op::kWrite, 4).walk().stopped, "");
  EXPECT_NE(Trace().record(DeepKind::kEnter, 77).walk().stopped.find("not in the code"), std::string::npos);
  EXPECT_NE(Trace().record(DeepKind::kReturn, kMain, 2).walk().stopped.find("could return"), std::string::npos);
}

}  // namespace
}  // namespace sooth
