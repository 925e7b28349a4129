#include "confirm/explorer_log.h"

#include <gtest/gtest.h>

#include <cstring>

#include "confirm/explorer_races.h"
#include "schedule/strategy.h"
#include "trace/event.h"

namespace sooth {
namespace {

using control::LogRecord;
using control::RecordKind;
using control::StretchEnd;

// A log, written as the run time library does it.
class LogWriter {
 public:
  LogWriter() { log_.processes.resize(1); }

  LogWriter& module(std::uint32_t number, const std::string& path) {
    for (std::size_t at = 0;; at += 24) {
      char part[24] = {};
      const std::string rest = path.substr(std::min(at, path.size()), 24);
      std::memcpy(part, rest.data(), rest.size());
      std::uint64_t words[3];
      std::memcpy(words, part, sizeof part);
      log_.points.push_back({RecordKind::kModule, 0, number, words[0], words[1], words[2]});
      if (rest.size() < 24) {
        return *this;
      }
    }
  }
  LogWriter& at(std::uint32_t thread, std::uint64_t offset, std::uint32_t module, std::uint64_t events,
                std::uint64_t accesses) {
    log_.points.push_back({RecordKind::kStepAt, 0, thread, offset, events << 32 | module, accesses});
    return *this;
  }
  LogWriter& step(std::uint32_t thread, Op op, std::uint64_t granule, std::uint64_t last, std::uint64_t first_byte,
                  std::uint64_t bytes) {
    const bool writes = !is_access(op) || is_write(op);
    log_.points.push_back({RecordKind::kStep, 0, thread,
                           static_cast<std::uint64_t>(op) | std::uint64_t{writes} << 8 | first_byte << 16 | bytes << 32,
                           granule, last});
    return *this;
  }
  LogWriter& also(std::uint32_t thread, Op op, std::uint64_t granule) {
    log_.points.push_back({RecordKind::kStep, 0, thread,
                           static_cast<std::uint64_t>(op) | 1 << 8 | control::kWholeGranules, granule, granule});
    return *this;
  }
  LogWriter& early(std::uint32_t thread, std::uint64_t delay) {
    log_.points.push_back({RecordKind::kEarly, 0, thread, delay, 0, 0});
    return *this;
  }
  LogWriter& everything(std::uint32_t thread, Op op = Op::kCallBegin) {
    log_.points.push_back({RecordKind::kStep, 0, thread, static_cast<std::uint64_t>(op) | 3 << 8, 0, 0});
    return *this;
  }
  LogWriter& point(std::uint32_t thread, std::uint64_t ready, std::uint32_t chosen,
                   SchedulingPoint kind = SchedulingPoint::kOperation, StretchEnd how = StretchEnd::kPreempted) {
    log_.points.push_back({RecordKind::kPoint, 0, thread, ready, chosen,
                           static_cast<std::uint64_t>(kind) | static_cast<std::uint64_t>(how) << 8});
    return *this;
  }

  RunLog log_;
};

Execution read(const LogWriter& writer) {
  const Result<Execution> execution = execution_of(writer.log_);
  EXPECT_TRUE(execution.ok()) << execution.status().message();
  return execution.ok() ? *execution : Execution{};
}

TEST(ExplorerLog, ReadsBytesAndPlaces) {
  LogWriter writer;
  writer.module(0, "").module(1, "/opt/a/library/with/a/long/name.so");
  writer.at(0, 0x10, 0, 3, 7).step(0, Op::kWrite, 5, 5, 6, 4).step(0, Op::kWrite, 9, 9, 6, 4).point(0, 3, 0);
  writer.at(0, 0x20, 1, 3, 8).step(0, Op::kRead, 5, 5, 1, 2).point(0, 3, 1);
  const Execution execution = read(writer);
  ASSERT_EQ(execution.points.size(), 2u);
  const ExploredStep& first = *execution.points[0].pending[0];
  EXPECT_EQ(first.parts, (std::vector<ExploredStep::Part>{{5, 0xc0}, {9, 0x03}}));
  EXPECT_EQ(std::tuple(first.op, first.size, first.module, first.offset, first.events, first.accesses),
            std::tuple(Op::kWrite, 4u, std::string(), 0x10u, 3u, 7u));
  const ExploredStep& second = *execution.points[1].pending[0];
  EXPECT_EQ(second.module, "/opt/a/library/with/a/long/name.so");
  EXPECT_EQ(second.parts, (std::vector<ExploredStep::Part>{{5, 0x06}}));
  EXPECT_EQ(execution.points[0].done, execution.points[0].pending[0]);
  EXPECT_EQ(execution.points[1].done, nullptr) << "a thread that has not had a turn has nothing to show";
  EXPECT_EQ(execution.points[1].stretches, 0u);
  EXPECT_TRUE(execution.ends_process);
}

TEST(ExplorerLog, NeighboursDoNotMeet) {
  LogWriter writer;
  writer.point(0, 6, 1, SchedulingPoint::kBlocked, StretchEnd::kBlocked);
  writer.at(1, 1, 0, 0, 0).step(1, Op::kWrite, 0, 0, 0, 2).point(1, 6, 2);
  writer.at(2, 2, 0, 0, 0).step(2, Op::kRead, 0, 0, 2, 2).point(2, 6, 2);
  EXPECT_TRUE(meetings_in(read(writer)).empty());
  writer.at(2, 3, 0, 0, 1).step(2, Op::kRead, 0, 0, 1, 2).point(2, 6, 2);
  const Execution execution = read(writer);
  const std::vector<Meeting> meetings = meetings_in(execution);
  ASSERT_EQ(meetings.size(), 1u);
  EXPECT_EQ(std::tuple(meetings[0].point, meetings[0].here, meetings[0].other), std::tuple(3u, 2u, 1u));
  EXPECT_EQ(execution.points[3].stretches, 2u);
}

TEST(ExplorerLog, AStepMayBeAboutTwoThings) {
  LogWriter writer;
  writer.at(1, 1, 0, 0, 0).step(1, Op::kCondWait, 7, 7, 0, 1).also(1, Op::kCondWait, 3).point(1, 2, 1);
  EXPECT_EQ(read(writer).points[0].done->parts, (std::vector<ExploredStep::Part>{{3, 0xff}, {7, 0x01}}));
}

TEST(ExplorerLog, AFreeMeetsWhoUsesTheBlock) {
  LogWriter writer;
  writer.point(0, 6, 1, SchedulingPoint::kBlocked, StretchEnd::kBlocked);
  writer.at(1, 1, 0, 0, 0).step(1, Op::kFree, 0, 2, 0, 24).point(1, 6, 2);
  writer.early(0, 5);
  writer.at(2, 2, 0, 0, 0).step(2, Op::kAtomicLoad, 1, 1, 4, 4).point(2, 6, 2);
  const Execution execution = read(writer);
  ASSERT_EQ(meetings_in(execution).size(), 1u);
  EXPECT_EQ(execution.points[1].delay, 0u);
  EXPECT_EQ(execution.points[2].delay, 5u);
}

TEST(ExplorerLog, KnowsWhatIsDone) {
  LogWriter writer;
  writer.at(1, 1, 0, 0, 0).step(1, Op::kWrite, 0, 0, 0, 1).point(1, 2, 1);
  writer.point(1, 2, 1, SchedulingPoint::kYield, StretchEnd::kYielded);
  writer.at(1, 2, 0, 0, 1).step(1, Op::kAcquire, 1, 1, 0, 1).point(1, 2, 1);
  writer.at(1, 0, control::kNone, 1, 0)
      .step(1, Op::kEnd, 7, 7, 0, 1)
      .point(1, 1, 0, SchedulingPoint::kBlocked, StretchEnd::kEnded);
  const Execution execution = read(writer);
  ASSERT_EQ(execution.points.size(), 4u);
  EXPECT_EQ(execution.points[1].pending[1], nullptr) << "the write is done, and then it yields";
  EXPECT_TRUE(execution.points[2].done->ends_thread);
  EXPECT_EQ(execution.points[2].done->end, (ExploredStep::Part{7, 1}));
  EXPECT_EQ(execution.points[2].done->op, Op::kAcquire);
  auto join = std::make_shared<ExploredStep>();
  join->op = Op::kJoin;
  join->parts = {{7, 1}};
  EXPECT_EQ(relation(execution.points[2].done, join), StepRelation::kOrdered);
  EXPECT_EQ(relation(join, execution.points[2].done), StepRelation::kIndependent);
}

TEST(ExplorerLog, ATurnThatChangesNothingIsALook) {
  LogWriter writer;
  writer.at(1, 1, 0, 0, 0).step(1, Op::kAtomicRmw, 0, 0, 0, 4).point(1, 2, 1);
  writer.at(1, 0, control::kNone, 0, 0).everything(1, Op::kCallEnd);
  writer.at(1, 1, 0, 1, 0).step(1, Op::kAtomicRmw, 0, 0, 0, 4).point(1, 2, 1);
  const Execution execution = read(writer);
  ASSERT_EQ(execution.points.size(), 2u);
  EXPECT_FALSE(execution.points[0].done->writes);
  EXPECT_FALSE(execution.points[0].done->is_everything);
  EXPECT_TRUE(execution.points[0].pending[1]->writes) << "nobody knows before";
  EXPECT_TRUE(execution.points[1].done->writes);
}

// It has done what it announced, and does what nobody sees: it stands in front of nothing when it is ready again.
TEST(ExplorerLog, WhoComesBackFromOutsideAnnouncesNothing) {
  for (const StretchEnd how : {StretchEnd::kOutside, StretchEnd::kTaken}) {
    LogWriter writer;
    writer.at(1, 1, 0, 0, 0).step(1, Op::kWrite, 0, 0, 0, 4).point(1, 6, 1);
    writer.point(1, 4, 2, SchedulingPoint::kBlocked, how);
    writer.at(2, 1, 0, 1, 0).step(2, Op::kRead, 0, 0, 0, 4).point(2, 6, 1);
    const Execution execution = read(writer);
    ASSERT_EQ(execution.points.size(), 3u);
    EXPECT_NE(execution.points[0].pending[1], nullptr);
    EXPECT_EQ(execution.points[2].pending[1], nullptr);
    EXPECT_TRUE(meetings_in(execution).empty());
  }
}

// Of what it waits for nothing is announced: libgomp's threads meet at the beginning of a region like that.
TEST(ExplorerLog, WhoBlocksBehindAnAccessHasDoneIt) {
  struct Case {
    Op op;
    std::uint32_t offset;
    bool waits;
  };
  // A sleep is a look at the clock, which is nowhere in the code.
  for (const Case& each : {Case{Op::kWrite, 1, false},
                           {Op::kAtomicStore, 1, false},
                           {Op::kAcquire, 1, true},
                           {Op::kAtomicLoad, 0, true}}) {
    LogWriter writer;
    writer.module(0, "").at(1, each.offset, 0, 0, 0).step(1, each.op, 0, 0, 0, 4).point(1, 6, 1);
    writer.point(1, 4, 2, SchedulingPoint::kBlocked, StretchEnd::kBlocked);
    writer.at(2, 1, 0, 1, 0).step(2, Op::kRead, 0, 0, 0, 4).point(2, 6, 1);
    const Execution execution = read(writer);
    ASSERT_EQ(execution.points.size(), 3u);
    EXPECT_EQ(execution.points[2].pending[1] != nullptr, each.waits) << op_name(each.op);
  }
}

TEST(ExplorerLog, SaysWhenThereIsMore) {
  LogWriter writer;
  writer.at(1, 1, 0, 0, 0).everything(1).point(1, 2, 1);
  EXPECT_FALSE(read(writer).is_cut);
  EXPECT_TRUE(read(writer).points[0].done->is_everything);
  writer.log_.truncated = true;
  EXPECT_TRUE(read(writer).is_cut);
  EXPECT_FALSE(read(writer).ends_process);
  writer.log_.truncated = false;
  writer.log_.state = control::RunState::kDeadlocked;
  EXPECT_FALSE(read(writer).ends_process);
  writer.log_.processes[0].external = 1;
  EXPECT_FALSE(read(writer).is_repeatable);
  writer.at(70, 1, 0, 0, 0).everything(70).point(70, 2, 1);
  EXPECT_TRUE(read(writer).is_cut) << "more threads than a point has bits";
}

TEST(ExplorerLog, RefusesWhatNobodyWrites) {
  for (const LogRecord& record :
       {LogRecord{RecordKind::kStep, 0, 1, 255, 0, 0}, LogRecord{RecordKind::kStep, 0, 1, 0, 0, ~std::uint64_t{0} - 1},
        LogRecord{RecordKind::kStep, 0, 1, static_cast<std::uint64_t>(Op::kEnd) | 1 << 9, 0, 0},
        LogRecord{RecordKind::kPoint, 0, 1, 2, 3, 0}, LogRecord{RecordKind::kSpin, 0, 1, 0, 0, 0}}) {
    LogWriter writer;
    writer.log_.points.push_back(record);
    EXPECT_FALSE(execution_of(writer.log_).ok()) << static_cast<int>(record.kind) << " " << record.a;
  }
}

}  // namespace
}  // namespace sooth
