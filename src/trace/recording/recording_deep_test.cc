// Deep records of recordings: STREAMS.md, "Records".
#include <gtest/gtest.h>

#include <random>

#include "base/test_environment.h"
#include "trace/recording/recording_testing.h"

namespace sooth {
namespace {

DeepRecord random_record(std::mt19937_64& random) {
  DeepRecord record;
  record.kind = DeepKind(random() % kDeepKindCount);
  const auto number = [&] { return static_cast<std::uint32_t>(random() >> (32 + random() % 32)); };
  if (record.kind == DeepKind::kEnter || record.kind == DeepKind::kReturn || record.kind == DeepKind::kLanded) {
    record.module = static_cast<std::uint16_t>(number());
    record.function = number();
    record.id = record.kind == DeepKind::kEnter ? 0 : number();
  }
  if (record.kind == DeepKind::kBranch) {
    record.value = random() % 4 == 0 ? number() : random() % 2;
  } else if (record.kind != DeepKind::kEnter && record.kind != DeepKind::kLanded) {
    record.value = random() >> random() % 64;
  }
  return record;
}

// A serial recording of two threads that write and say what they do, by turns; `expected` is what a reader must make of
// it.
TestRecording random_recording(std::uint64_t seed, std::uint64_t steps, DeepTrace& expected) {
  std::mt19937_64 random(seed);
  TestRecording recording(stream::kExactOrder | stream::kWithValues | stream::kWithDeep);
  std::vector<TestStream> streams;
  std::vector<SlotTable> slots(2, SlotTable(4));
  for (std::uint32_t i = 0; i < 2; ++i) {
    streams.push_back(recording.stream(i));
  }
  std::uint64_t ticket = 0;
  const auto add = [&](std::uint32_t thread, Op op, std::uint64_t object) {
    Event event;
    event.thread = ThreadId(thread);
    event.op = op;
    event.object = object;
    event.size = op == Op::kWrite ? 4 : 0;
    const Value value = op == Op::kWrite ? Value{random() % 100, 0, 4} : Value{};
    streams[thread].event(slots[thread].slot_for(streams[thread], event, 0), event, 0, nullptr, value);
    expected.events.push_back(event);
    expected.values.push_back(value);
  };
  for (std::uint32_t thread = 0; thread < 2; ++thread) {
    streams[thread].ticket(ticket++, stream::Record::kTurn);
    streams[thread].thread(thread);
    add(thread, Op::kBegin, 0);
    if (thread == 0) {
      add(0, Op::kFork, 1);
    }
  }
  for (std::uint64_t step = 0; step < steps; ++step) {
    const auto thread = static_cast<std::uint32_t>(random() % 2);
    streams[thread].ticket(ticket++, stream::Record::kTurn);
    for (std::uint64_t n = random() % 4; n > 0; --n) {
      DeepRecord record = random_record(random);
      streams[thread].deep(record);
      record.before = EventId{expected.events.size()};
      record.thread = ThreadId(thread);
      expected.deep.push_back(record);
    }
    if (random() % 3 != 0) {
      add(thread, Op::kWrite, 0x1000 + 8 * (random() % 64));
    }
  }
  return recording;
}

TEST(RecordingDeep, ReadsWhatWasWritten) {
  const std::uint64_t first = from_environment("SOOTH_SEED", 1);
  const TemporaryDirectory directory;
  for (std::uint64_t seed = first; seed < first + 300; ++seed) {
    DeepTrace expected;
    random_recording(seed, seed % 10 == 0 ? 20'000 : 100, expected).write(directory / "r");
    const Result<DeepTrace> read = read_deep(directory / "r");
    ASSERT_TRUE(read.ok()) << "seed " << seed << ": " << read.status().message();
    EXPECT_EQ(read->deep, expected.deep) << "seed " << seed;
    EXPECT_EQ(read->events.size(), expected.events.size()) << "seed " << seed;
    const Result<DeepTrace> without = read_deep(directory / "r", kAllColumns);
    ASSERT_TRUE(without.ok());
    EXPECT_TRUE(without->deep.empty());
    EXPECT_EQ(without->events.size(), expected.events.size());
    std::filesystem::remove_all(directory / "r");
  }
}

TEST(RecordingDeep, ManyRecordsWithoutAnEventAreSeveralBatches) {
  const TemporaryDirectory directory;
  TestRecording recording(stream::kExactOrder | stream::kWithValues | stream::kWithDeep);
  TestStream stream = recording.stream(0);
  stream.ticket(0, stream::Record::kTurn);
  stream.thread(0);
  for (std::uint64_t i = 0; i < 30'000; ++i) {
    stream.deep({.kind = DeepKind::kWord, .value = i});
  }
  recording.write(directory / "r");
  const Result<DeepTrace> read = read_deep(directory / "r");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_GT(read->batches, 2u);
  ASSERT_EQ(read->deep.size(), 30'000u);
  for (std::uint64_t i = 0; i < read->deep.size(); ++i) {
    ASSERT_EQ(read->deep[i].value, i);
    ASSERT_EQ(read->deep[i].before, EventId{0});
  }
}

// A write of 7, a read of 9 that nobody explains, and what the thread says around it.
TEST(RecordingDeep, WhatAnUnexplainedReadSawFollowsIt) {
  const TemporaryDirectory directory;
  TestRecording recording(stream::kExactOrder | stream::kWithValues | stream::kWithDeep);
  TestStream stream = recording.stream(0);
  stream.ticket(0, stream::Record::kTurn);
  stream.thread(0);
  SlotTable slots(4);
  Event event;
  event.object = 0x1000;
  event.size = 16;
  const auto add = [&](Op op, Value value) {
    event.op = op;
    stream.event(slots.slot_for(stream, event, 0), event, 0, nullptr, value);
  };
  add(Op::kWrite, {7, 0, 16});
  stream.deep({.kind = DeepKind::kBranch, .value = 1});
  add(Op::kRead, {9, 3, 16});
  stream.deep({.kind = DeepKind::kBranch, .value = 2});
  recording.write(directory / "r");
  const Result<DeepTrace> read = read_deep(directory / "r");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->values[1], Value{});
  const std::vector<DeepRecord> expected = {{EventId{1}, ThreadId{0}, DeepKind::kBranch, 0, 0, 0, 1},
                                            {EventId{2}, ThreadId{0}, DeepKind::kWord, 0, 0, 0, 9},
                                            {EventId{2}, ThreadId{0}, DeepKind::kWord, 0, 0, 0, 3},
                                            {EventId{2}, ThreadId{0}, DeepKind::kBranch, 0, 0, 0, 2}};
  EXPECT_EQ(read->deep, expected);
}

TEST(RecordingDeep, DamageIsReadOrRefused) {
  DeepTrace expected;
  expect_damage_is_read_or_refused(random_recording(1, 150, expected));
}

TEST(RecordingDeep, NamesWhatIsWrong) {
  const TemporaryDirectory directory;
  const auto complaint = [&](std::uint16_t number, const std::string& more) {
    TestRecording recording(stream::kExactOrder | stream::kWithDeep);
    TestStream stream = recording.stream(0);
    stream.ticket(0, stream::Record::kTurn);
    stream.thread(0);
    stream.raw_record(static_cast<std::uint16_t>(stream::kEscapeCode << stream::kSlotBits | number), more);
    recording.write(directory / "r");
    const Result<DeepTrace> read = read_deep(directory / "r");
    std::filesystem::remove_all(directory / "r");
    return read.ok() ? std::string() : read.status().message();
  };
  EXPECT_NE(complaint(stream::kDeepRecords | 7u << stream::kDeepKindShift, "").find("no deep record of kind 7"),
            std::string::npos);
  EXPECT_NE(
      complaint(stream::kDeepRecords | 1u << stream::kDeepKindShift | 9, "123456789").find("its value has 9 bytes"),
      std::string::npos);
  EXPECT_NE(complaint(stream::kDeepRecords, "\xff\xff\x7f\x01").find("code that is impossible"), std::string::npos);
}

}  // namespace
}  // namespace sooth
