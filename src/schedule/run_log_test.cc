#include "schedule/run_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/test_environment.h"
#include "schedule/random.h"

namespace sooth {
namespace {

using control::LogRecord;
using control::RecordKind;

std::string log_bytes(const std::vector<LogRecord>& records, control::RunState state = control::RunState::kEnded) {
  control::LogHeader header{};
  header.magic = control::kLogMagic;
  header.capacity = header.count = records.size();
  header.state = state;
  header.processes = 1;
  header.hook_calls = 100;
  header.scheduling_points = 10;
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
  return bytes.append(reinterpret_cast<const char*>(records.data()), records.size() * sizeof(LogRecord));
}

std::uint64_t racing(std::uint32_t bytes, std::uint32_t kinds, bool first) {
  return bytes | std::uint64_t{kinds} << 32 | std::uint64_t{first} << 40;
}

// The next part of a path, of at most 24 bytes.
LogRecord module_part(std::uint32_t number, std::string_view part) {
  LogRecord record{RecordKind::kModule, 0, number, 0, 0, 0};
  std::memcpy(&record.a, part.data(), std::min<std::size_t>(part.size(), 24));
  return record;
}

std::vector<LogRecord> sample() {
  return {
      {RecordKind::kThread, 0, 1, 0, 0, 0},
      {RecordKind::kThread, 0, 2, 0, 1, 0},
      {RecordKind::kStretch, 0, 0, 5, 2, 1 | std::uint64_t{0xabcd} << 32},
      {RecordKind::kExternal, 1, 0, 0, 0, 0},
      {RecordKind::kStretch, 0, 1, 1, 0, 5 | 1 << 8},
      {RecordKind::kRace, 0, 2, 0x1a40, 1, racing(4, control::kWrites, true)},
      {RecordKind::kPoint, 0, 2, 6, 1, 0},
      {RecordKind::kNothing, 0, 0, 0, 0, 0},
      {RecordKind::kEarly, 0, 1, 300, 0, 0},
      {RecordKind::kRace, 0, 2, 0x1a40, 1, racing(4, control::kWrites, false)},
      {RecordKind::kTurnTaken, 1, 2, 0, 0, 0},
      {RecordKind::kRaceWith, 0, 1, 0x1a60, 0, racing(8, control::kReads, true)},
      {RecordKind::kRaceWith, 0, 3, 0x1a61, 0, racing(1, control::kReads | control::kAtomics, false)},
      {RecordKind::kLetGo, 0, 1, 0, 0, 0},
      {RecordKind::kLetGo, 0, 1, 1, 0, 0},
      {RecordKind::kSpin, 0, 1, 0, 0, 0},
      {RecordKind::kDiverged, 0, 2, 17, 2, 6},
      {RecordKind::kEarly, 0, 2, 1'000, 0, 0},
      {RecordKind::kEarly, 0, 1, 500, 0, 0},
      {RecordKind::kCrash, 0, 2, 11, 0, 0x30},
      module_part(0, ""),
      {RecordKind::kFrame, 0, 2, 0x30, 0, 0},
      {RecordKind::kDeadlock, 0, 0, 0, 0, 0},
      {RecordKind::kBlockedThread, 0, 0, 7, 1, 0x10},
      {RecordKind::kFrame, 0, 0, 0x10, 0, 0},
      {RecordKind::kBlockedThread, 0, 1, 1, control::kNone, 0x20 | control::kInLibrary},
      module_part(3, "/usr/lib/a/long/path/to/"),
      module_part(3, "libwait.so"),
      {RecordKind::kFrame, 0, 1, 0x20, 3, 0},
      {RecordKind::kFrame, 0, 1, 0x77, control::kNone, 0},  // in no module
      {RecordKind::kFrame, 0, 1, 0x11, 0, 0},
      {RecordKind::kStopped, 0, 0, 0, 0, 0},
      {RecordKind::kBlockedThread, 0, 5, 0, control::kNone, 0},
      {RecordKind::kFrame, 0, 5, 0x12, 0, 0},
  };
}

TEST(RunLog, TellsWhatWasNotTheNewest) {
  const std::uint64_t stores = 1 | std::uint64_t{2} << 16 | std::uint64_t{3} << 32 | std::uint64_t{5} << 48;
  const std::uint64_t load = static_cast<std::uint64_t>(Op::kAtomicLoad);
  const Result<RunLog> log = parse_run_log(log_bytes({
      {RecordKind::kMemory, 0, 2, std::uint64_t{7} << 32 | 2 << 16 | 4 << 8 | load, 0x1a40, 0x4010 + 1},
      {RecordKind::kMemoryStores, 0, 2, 10, 12, stores},
      {RecordKind::kMemoryPlaces, 0, 2, 0x1a60, 0x1a80, 0},
      {RecordKind::kMemory, 0, 1, std::uint64_t{8} << 32 | 3 << 8 | load, 0x1a44, 0},
  }));
  ASSERT_TRUE(log.ok()) << log.status().message();
  ASSERT_EQ(log->processes.front().older.size(), 1u) << "of the second the newest was taken";
  const OlderSeen& older = log->processes.front().older.front();
  EXPECT_EQ(older.choice, (control::MemoryChoice{7, 2}));
  EXPECT_EQ(older.thread, 2u);
  EXPECT_EQ(older.variable, 0x4010u);
  EXPECT_EQ(older.seen.value, 10u);
  EXPECT_EQ(older.seen.thread, 1u);
  EXPECT_EQ(older.seen.number, 3u);
  EXPECT_EQ(older.seen.offset, 0x1a60u);
  EXPECT_EQ(older.newest.value, 12u);
  EXPECT_EQ(older.newest.thread, 2u);
  EXPECT_EQ(older.newest.number, 5u);
  EXPECT_EQ(older.newest.offset, 0x1a80u);
  EXPECT_FALSE(parse_run_log(log_bytes({{RecordKind::kMemoryStores, 0, 2, 10, 12, stores}})).ok());
  EXPECT_FALSE(parse_run_log(log_bytes({{RecordKind::kMemoryPlaces, 0, 2, 10, 12, 0}})).ok());
}

TEST(RunLog, TellsWhatHappened) {
  const Result<RunLog> log = parse_run_log(log_bytes(sample(), control::RunState::kDeadlocked));
  ASSERT_TRUE(log.ok()) << log.status().message();
  EXPECT_EQ(log->state, control::RunState::kDeadlocked);
  EXPECT_EQ(log->hook_calls, 100u);
  EXPECT_EQ(log->scheduling_points, 10u);
  EXPECT_FALSE(log->truncated);
  ASSERT_EQ(log->processes.size(), 2u);
  const ProcessLog& process = log->processes[0];
  ASSERT_EQ(process.threads.size(), 2u);
  EXPECT_EQ(process.threads[1].child, 1u);
  ASSERT_EQ(process.stretches.size(), 2u);
  EXPECT_EQ(process.stretches[0].end, control::StretchEnd::kBlocked);
  EXPECT_EQ(process.stretches[0].hash, 0xabcdu);
  EXPECT_EQ(process.stretches[1].end, control::StretchEnd::kPostponed);
  EXPECT_EQ(process.stretches[1].timed_out, 1u);
  ASSERT_EQ(process.races.size(), 1u) << "a race of which one side was not written is none";
  const CreatedRace& race = process.races[0];
  EXPECT_EQ(race.stretch, 2u);
  EXPECT_EQ(race.delay, 300u) << "what came behind it plays no part";
  EXPECT_EQ(race.here.offset, 0x1a40u);
  EXPECT_EQ(race.here.range, 1u);
  EXPECT_EQ(race.here.kinds, control::kWrites);
  EXPECT_FALSE(race.here.first);
  ASSERT_EQ(race.others.size(), 2u);
  EXPECT_EQ(race.others[0].bytes, 8u);
  EXPECT_TRUE(race.others[0].first);
  EXPECT_EQ(race.others[1].kinds, control::kReads | control::kAtomics);
  EXPECT_EQ(process.let_go, 1u);
  EXPECT_EQ(process.impatient, 1u);
  EXPECT_EQ(process.spins, 1u);
  EXPECT_EQ(process.external, 0u);
  ASSERT_EQ(process.divergences.size(), 1u);
  EXPECT_EQ(process.divergences[0].stretch, 17u);
  EXPECT_EQ(process.divergences[0].what, control::Divergence::kEarly);
  ASSERT_EQ(process.deadlock.size(), 2u);
  EXPECT_EQ(process.deadlock[0].on, control::BlockedOn::kJoin);
  EXPECT_TRUE(process.deadlock[0].in_program);
  EXPECT_EQ(process.deadlock[1].holder, control::kNone);
  EXPECT_EQ(process.deadlock[1].offset, 0x20u);
  EXPECT_FALSE(process.deadlock[1].in_program);
  EXPECT_EQ(process.deadlock[0].stack, (std::vector<LoggedPlace>{{"", 0x10}}));
  EXPECT_EQ(process.deadlock[1].stack,
            (std::vector<LoggedPlace>{{"/usr/lib/a/long/path/to/libwait.so", 0x20}, {"", 0x11}}));
  ASSERT_EQ(process.stopped.size(), 1u);
  EXPECT_EQ(process.stopped[0].stack, (std::vector<LoggedPlace>{{"", 0x12}}));
  EXPECT_EQ(process.longest_delay, 1'000u);
  ASSERT_TRUE(process.crash.has_value());
  EXPECT_EQ(process.crash->thread, 2u);
  EXPECT_EQ(process.crash->signal, 11);
  EXPECT_EQ(process.crash->offset, 0x30u);
  EXPECT_TRUE(process.crash->in_program);
  EXPECT_EQ(process.crash->stack, (std::vector<LoggedPlace>{{"", 0x30}}));
  EXPECT_FALSE(log->processes[1].crash.has_value());
  EXPECT_EQ(log->processes[1].external, 1u);
  EXPECT_EQ(log->processes[1].turns_taken, 1u);
  EXPECT_EQ(log->points.size(), 7u) << "one, the parts of paths, and what fired early";
}

TEST(RunLog, OfAProgramThatNeverCameToLifeHasNoProcess) {
  const Result<RunLog> log = parse_run_log(log_bytes({}, control::RunState::kNotStarted));
  ASSERT_TRUE(log.ok());
  EXPECT_TRUE(log->processes.empty());
  EXPECT_EQ(parse_run_log(log_bytes({}, control::RunState::kRunning))->processes.size(), 1u);
}

TEST(RunLog, ThatWasFullIsAPrefix) {
  std::string bytes = log_bytes(sample());
  control::LogHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  header.count = 1000;
  header.capacity = 3;
  std::memcpy(bytes.data(), &header, sizeof(header));
  const Result<RunLog> log = parse_run_log(bytes);
  ASSERT_TRUE(log.ok());
  EXPECT_TRUE(log->truncated);
  EXPECT_EQ(log->processes[0].stretches.size(), 1u);
}

TEST(RunLog, NamesTheRecordThatIsWrong) {
  const auto message = [](const std::vector<LogRecord>& records) {
    const Result<RunLog> log = parse_run_log(log_bytes(records));
    return log.ok() ? "" : log.status().message();
  };
  const LogRecord fine = sample()[0];
  const LogRecord wrong[] = {
      {RecordKind::kRaceWith, 0, 1, 0, 0, 0},
      {RecordKind::kBlockedThread, 0, 1, 0, 0, 0},
      {RecordKind::kStretch, 0, 1, 0, 0, control::kStretchEndCount},
      {RecordKind::kDiverged, 0, 1, 0, 4, 0},
      {RecordKind::kFrame, 0, 1, 0, 0, 0},
      {static_cast<RecordKind>(999), 0, 1, 0, 0, 0},
  };
  for (const LogRecord& record : wrong) {
    EXPECT_EQ(message({fine, record}),
              "the log of the controlled run is damaged: record 1 is not one that a program writes");
  }
  EXPECT_NE(message({{RecordKind::kDeadlock, 0, 0, 0, 0, 0}, {RecordKind::kBlockedThread, 0, 0, 10, 0, 0}}), "");
  EXPECT_EQ(message({{RecordKind::kDeadlock, 0, 0, 0, 0, 0}, {RecordKind::kBlockedThread, 0, 0, 9, 0, 0}}), "");
}

TEST(RunLog, CutAnywhereIsRefused) {
  const std::string bytes = log_bytes(sample());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(parse_run_log(bytes.substr(0, size)).ok()) << size;
  }
  EXPECT_TRUE(parse_run_log(bytes + "more").ok()) << "room behind the last record is not looked at";
}

TEST(RunLog, SurvivesAnyBytes) {
  const std::uint64_t seed = from_environment("SOOTH_SEED", 1);
  SeededRandom random(seed);
  const std::string whole = log_bytes(sample());
  std::uint64_t accepted = 0;
  for (std::uint64_t i = from_environment("SOOTH_CASES", 10'000); i > 0; --i) {
    std::string bytes = whole;
    for (std::uint64_t flips = 1 + random.below(4); flips > 0; --flips) {
      bytes[random.below(bytes.size())] = static_cast<char>(random.next());
    }
    bytes.resize(bytes.size() - random.below(2) * random.below(bytes.size()));
    const Result<RunLog> log = parse_run_log(bytes);
    accepted += log.ok() ? 1 : 0;
    EXPECT_TRUE(log.ok() || !log.status().message().empty());
  }
  EXPECT_GT(accepted, 0u);
}

}  // namespace
}  // namespace sooth
